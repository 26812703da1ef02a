package view_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/petal-filter/petal/bindings/go/filter"
	"github.com/petal-filter/petal/bindings/go/view"
)

// keyed is a filter with a secret key, as an image.
func keyed(t *testing.T, key [16]byte) []byte {
	t.Helper()
	made, err := filter.New(filter.Spec{Capacity: 50, Hash: filter.SipHash13, Secret: key})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := made.InsertString("apple"); err != nil {
		t.Fatal(err)
	}
	image, err := made.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// A filter, a spec and the options with a key print and encode the same for each key.
func TestOptionsAndFiltersDoNotShowTheirKey(t *testing.T) {
	shown := func(key [16]byte) string {
		var all strings.Builder
		of := []any{
			view.OpenOptions{Secret: key}, &view.OpenOptions{Secret: key}, filter.OpenOptions{Secret: key},
			&filter.OpenOptions{Secret: key},
			filter.Spec{Secret: key}, &filter.Spec{Secret: key},
			struct{ Of []view.OpenOptions }{[]view.OpenOptions{{Secret: key}}},
		}
		for _, value := range of {
			text, err := json.Marshal(value)
			fmt.Fprintf(&all, "%v|%+v|%#v|%s|%d|%x|%q|%s %v\n", value, value, value, value, value, value, value, text, err)
		}
		// The private fields of a filter, which package fmt prints without asking them, lack the key too.
		loaded, err := view.Load(keyed(t, key), &view.OpenOptions{Secret: key})
		if err != nil || !loaded.ContainsString("apple") || loaded.ContainsString("pear") {
			t.Error(err, loaded)
		}
		for _, verb := range []string{"%+v", "%#v", "%x", "%d"} {
			printed := fmt.Sprintf(verb, struct{ of *view.Filter }{loaded}) + fmt.Sprintf(verb, loaded)
			for _, half := range []uint64{binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:])} {
				for _, form := range []string{"%d", "%#x", "%x"} {
					if digits := fmt.Sprintf(form, half); strings.Contains(printed, digits) {
						t.Errorf("%s of a filter has its key %s", verb, digits)
					}
				}
			}
		}
		return all.String()
	}
	if one, other := shown([16]byte{1, 2, 3, 14: 200, 15: 77}), shown([16]byte{201, 4: 5, 99, 15: 8}); one != other {
		t.Errorf("a key is in one of these:\n%s\n%s", one, other)
	}
}

// A filter goes through JSON and XML, in base64 of its image. What has no image, and a copy of a filter, is refused.
func TestFiltersAreEncodedOrRefused(t *testing.T) {
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := view.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	type held struct {
		Name   string
		Seen   *view.Filter
		Others *filter.Filter
	}
	others, err := filter.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, coder := range map[string]struct {
		write func(any) ([]byte, error)
		read  func([]byte, any) error
	}{"JSON": {json.Marshal, json.Unmarshal}, "XML": {xml.Marshal, xml.Unmarshal}} {
		text, err := coder.write(&held{"a", opened, others})
		if err != nil {
			t.Fatal(name, err)
		}
		var read held
		if err := coder.read(text, &read); err != nil {
			t.Fatal(name, err)
		}
		for _, again := range []interface{ MarshalBinary() ([]byte, error) }{read.Seen, read.Others} {
			if bytes, err := again.MarshalBinary(); err != nil || string(bytes) != string(image) {
				t.Errorf("%s: another image: %v", name, err)
			}
		}
		// Without a pointer no encoder finds the methods: it says so, where it would write an empty object.
		copies := []any{*others, struct{ Of filter.Filter }{*others}, view.Map{}, &view.Live{}}
		for _, value := range copies {
			if text, err := coder.write(value); err == nil {
				t.Errorf("%s of %T is %s", name, value, text)
			}
		}
		// A closed handle has nothing to write.
		for _, value := range []any{&view.Filter{}, &view.Map{}, &filter.Filter{}} {
			if text, err := coder.write(value); !errors.Is(err, view.ErrClosed) {
				t.Errorf("%s of a closed %T is %s: %v", name, value, text, err)
			}
		}
	}
	// What cannot be read changes nothing.
	for _, wrong := range []string{`"`, `"*"`, `"AAAA"`, `{}`, `7`, `""`} {
		if err := json.Unmarshal([]byte(wrong), opened); err == nil || opened.String() == "closed" {
			t.Errorf("%s: %v, %v", wrong, err, opened)
		}
	}
	// A log has one line about a filter.
	var to bytes.Buffer
	slog.New(slog.NewJSONHandler(&to, nil)).Info("opened", "filter", opened, "others", others)
	if line := to.String(); len(line) > 500 || !strings.Contains(line, opened.String()) {
		t.Error(line)
	}
}

// A handle takes another image instead of its own, also where its own lies in a file.
func TestAnOpenedHandleTakesAnotherImage(t *testing.T) {
	mapped, err := view.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	other := keyed(t, [16]byte{5})
	capacity := func() uint64 {
		description, err := mapped.Describe()
		if err != nil {
			t.Error(err)
		}
		return description.Capacity
	}
	if err := mapped.UnmarshalBinary(other); err != nil || capacity() != 50 {
		t.Error(err, mapped)
	}
	if err := mapped.UnmarshalBinary(other[:99]); !errors.Is(err, view.ErrTruncated) || capacity() != 50 {
		t.Error(err, mapped)
	}
	var m view.Map
	if err := m.UnmarshalBinary(other); !errors.Is(err, view.ErrUnsupported) {
		t.Error(err)
	}
}

// Errors call a handle what it is.
func TestErrorsNameTheHandle(t *testing.T) {
	_, _, ofMap := (&view.Map{}).GetString("a")
	_, described := (*view.Map)(nil).Describe()
	_, ofFilter := (&view.Filter{}).InsertString("a")
	for err, want := range map[error]string{
		ofMap: "petal: the map is closed", described: "petal: the map is closed", ofFilter: "petal: the filter is closed",
	} {
		if !errors.Is(err, view.ErrClosed) || err.Error() != want {
			t.Errorf("%v, and not: %s", err, want)
		}
	}
	if _, err := view.OpenMap(path, nil); err == nil ||
		!strings.Contains(err.Error(), "the image is a filter, of the kind split_block, and not a map") {
		t.Error(err)
	}
	// A folder is none of its files.
	_, err := view.Open(t.TempDir(), nil)
	if !errors.Is(err, syscall.EISDIR) || !strings.HasPrefix(err.Error(), "open ") {
		t.Error(err)
	}
	_, err = view.Open(os.DevNull, nil)
	if !errors.Is(err, view.ErrUnsupported) || !strings.Contains(err.Error(), os.DevNull) {
		t.Error(err)
	}
	if _, err := view.Open(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
