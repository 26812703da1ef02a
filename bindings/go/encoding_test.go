package petal

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/petal-filter/petal/bindings/go/filter"
	"github.com/petal-filter/petal/bindings/go/view"
)

// withImages returns a handle of each type that has an image, with something in it.
func withImages(t *testing.T) []encodable {
	t.Helper()
	m := must(NewMap(Spec{Kind: "approximator", Capacity: 100}))
	must(m.PutString("apple", 7))
	s := must(NewSketch(Spec{Kind: "iblt", Capacity: 10}))
	check(t, s.InsertUint64(5))
	r := routers(t, 2)[1]
	a := newAggregate(t, 0.01)
	must(a.AddString("sensor", AggregateStateValue{1, 2}))
	d, _ := smallDigest(t, "fixed")
	x := smallIndex(t)
	return []encodable{filled(Spec{Capacity: 100}, 100), m, s, r, a, d, x}
}

// Each handle with an image goes through JSON and XML, in each package that knows its kind.
func TestHandlesAreEncodedAsTheirImages(t *testing.T) {
	coders := map[string]struct {
		write func(any) ([]byte, error)
		read  func([]byte, any) error
	}{"JSON": {json.Marshal, json.Unmarshal}, "XML": {xml.Marshal, xml.Unmarshal}}
	for _, handle := range withImages(t) {
		image := must(handle.MarshalBinary())
		readers := []encodable{reflect.New(reflect.TypeOf(handle).Elem()).Interface().(encodable)}
		switch handle.(type) {
		case *Filter:
			readers = append(readers, &view.Filter{}, &filter.Filter{})
		case *Map:
			readers = append(readers, &view.Map{})
		}
		for name, coder := range coders {
			text, err := coder.write(handle)
			if err != nil || len(text) < len(image) {
				t.Errorf("%s of %T: %.99s, %v", name, handle, text, err)
				continue
			}
			for _, reader := range readers {
				check(t, coder.read(text, reader))
				again := must(reader.MarshalBinary())
				if !bytes.Equal(again, image) {
					t.Errorf("%s of %T is another image in %T", name, handle, reader)
				}
				if written := must(coder.write(reader)); name == "JSON" && !bytes.Equal(written, text) {
					t.Errorf("JSON of %T is %.99s, and not %.99s", reader, written, text)
				}
			}
			// A copy of a handle has no methods, and would be an empty object.
			if text, err := coder.write(reflect.ValueOf(handle).Elem().Interface()); err == nil {
				t.Errorf("%s of a copy of %T is %.99s", name, handle, text)
			}
		}
		// Logs have a line, and not the image.
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("made", "handle", handle)
		if line := fmt.Sprint(handle); line == "closed" || !strings.Contains(log.String(), line) || log.Len() > 500 {
			t.Errorf("%T: %s in the log %.600s", handle, line, log.String())
		}
		check(t, reflect.ValueOf(handle).Interface().(interface{ Close() error }).Close())
		if text, err := json.Marshal(handle); err == nil || fmt.Sprint(handle) != "closed" {
			t.Errorf("JSON of a closed %T is %s", handle, text)
		}
	}
}

// No handle of any package is an empty object: an encoder writes its image, or refuses it.
func TestNoHandleIsAnEmptyObject(t *testing.T) {
	handles := []any{
		Filter{}, Map{}, Sketch{}, Router{}, Aggregate{}, Digest{}, Index{},
		Builder{}, MapBuilder{}, IndexBuilder{}, Session{}, Stream{}, Filters{}, *NewFilters(),
		view.Filter{}, view.Map{}, filter.Filter{}, view.Live{},
	}
	for _, handle := range handles {
		pointer := reflect.New(reflect.TypeOf(handle))
		pointer.Elem().Set(reflect.ValueOf(handle))
		for _, value := range []any{handle, pointer.Interface(), struct{ Of any }{pointer.Interface()}} {
			text, err := json.Marshal(value)
			if err == nil && (bytes.Contains(text, []byte("{}")) || len(text) < 10) {
				t.Errorf("JSON of %T is %s", value, text)
			}
		}
	}
}

// Whatever takes a secret key prints and encodes the same for each key.
func TestOptionsDoNotShowTheirKey(t *testing.T) {
	shown := func(key [16]byte) string {
		var all strings.Builder
		for _, value := range []any{
			Spec{Secret: key}, &Spec{Secret: key}, OpenOptions{Secret: key}, &OpenOptions{Secret: key},
			CompactOptions{Secret: key},
			ImportOptions{Secret: key}, []OpenOptions{{Secret: key}}, map[string]Spec{"a": {Secret: key}},
		} {
			text, err := json.Marshal(value)
			fmt.Fprintf(&all, "%v|%+v|%#v|%s|%d|%x|%q|%s %v\n", value, value, value, value, value, value, value, text, err)
			var log bytes.Buffer
			slog.New(slog.NewTextHandler(&log, nil)).Info("opened", "options", value)
			all.WriteString(log.String()[strings.Index(log.String(), "level"):])
		}
		return all.String()
	}
	if one, other := shown([16]byte{1, 2, 3, 14: 200, 15: 77}), shown([16]byte{201, 4: 5, 99, 15: 8}); one != other {
		t.Errorf("a key is in one of these:\n%s\n%s", one, other)
	}
}
