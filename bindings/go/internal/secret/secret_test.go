package secret

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// Whatever prints or encodes a key says the same of two different keys, and something else of none.
func TestAKeyDoesNotPrintItself(t *testing.T) {
	one, other := Key{}, Key{}
	copy(one[:], "not for the logs")
	copy(other[:], "another such key")
	type config struct {
		Name string
		Key  Key
	}
	encoded := func(text []byte, err error) string { return fmt.Sprint(string(text), err) }
	forms := map[string]func(k Key) string{
		"text":          func(k Key) string { return encoded(k.MarshalText()) },
		"GoString":      func(k Key) string { return k.GoString() },
		"JSON":          func(k Key) string { return encoded(json.Marshal(config{"a", k})) },
		"XML":           func(k Key) string { return encoded(xml.Marshal(config{"a", k})) },
		"a key in JSON": func(k Key) string { return encoded(json.Marshal(map[Key]int{k: 1})) },
		"slog": func(k Key) string {
			var to bytes.Buffer
			slog.New(slog.NewTextHandler(&to, &slog.HandlerOptions{ReplaceAttr: withoutTime})).Info("a", "key", k)
			slog.New(slog.NewJSONHandler(&to, &slog.HandlerOptions{ReplaceAttr: withoutTime})).Info("a", "of", config{"a", k})
			return to.String()
		},
	}
	// Without %p and %w: a value that is neither a pointer nor an error prints there without its methods, and go vet says
	// that the verb is wrong.
	for _, verb := range strings.Fields("%v %+v %#v %s %q %x %X %#x %d %o %O %b %c %U %e %20v %-20s %.3s") {
		forms[verb] = func(k Key) string { return fmt.Sprintf(verb, config{"a", k}) }
		forms[verb+" of a key"] = func(k Key) string { return fmt.Sprintf(verb, k) }
		forms[verb+" of a list"] = func(k Key) string { return fmt.Sprintf(verb, []Key{k}) }
	}
	for name, form := range forms {
		if a, b := form(one), form(other); a != b {
			t.Errorf("%s shows the key: %q and %q", name, a, b)
		}
		if a := form(one); a == form(Key{}) {
			t.Errorf("%s does not say whether there is a key: %q", name, a)
		}
	}
}

func withoutTime(_ []string, attribute slog.Attr) slog.Attr {
	if attribute.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return attribute
}

// A configuration gives a key in digits. What a key writes does not read as another key.
func TestAKeyIsReadFromDigits(t *testing.T) {
	var read struct{ Key Key }
	const digits = "000102030405060708090a0B0C0d0e0f"
	if err := json.Unmarshal([]byte(`{"Key":"`+digits+`"}`), &read); err != nil || read.Key[1] != 1 || read.Key[15] != 15 {
		t.Error(err, read.Key[:])
	}
	before := read
	for _, wrong := range []string{"secret", "", digits[1:], digits + "0", "g" + digits[1:]} {
		err := read.Key.UnmarshalText([]byte(wrong))
		if err == nil || read != before || len(wrong) > 6 && strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"Key":"none"}`), &read); err != nil || read.Key != (Key{}) {
		t.Error(err, read.Key[:])
	}
	if err := json.Unmarshal([]byte(`{"Key":[1,2,3]}`), &read); err == nil {
		t.Error("numbers are a key")
	}
}
