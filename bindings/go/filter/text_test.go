package filter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/petal-filter/petal/bindings/go/filter"
)

// Specs go through JSON, where a name that is none is refused.
func TestSpecsHaveAFormInJSON(t *testing.T) {
	spec := filter.Spec{
		Kind: "bloom", Hash: filter.XXH64, Capacity: 1000, FalsePositiveRate: 0.01, Seed: 1<<64 - 1,
		Parameters: settings{"derivation": "triple"},
	}
	const text = `{"kind":"bloom","hash":"xxh64","capacity":1000,"false_positive_rate":0.01,` +
		`"seed":18446744073709551615,"parameters":{"derivation":"triple"}}`
	if got := string(must(json.Marshal(spec))); got != text {
		t.Error(got)
	}
	var back filter.Spec
	check(t, json.Unmarshal([]byte(text), &back))
	for wrong, says := range map[string]string{
		`{"fpr":0.1}`:  `unknown field "fpr"`,
		`{"key":"00"}`: `unknown field "key"`,
		`{"hash":"?"}`: `"?" is none of xxh3, xxh64, siphash13, external`,
	} {
		if err := json.Unmarshal([]byte(wrong), &back); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if !reflect.DeepEqual(back, spec) {
		t.Error(back)
	}
	keyed := filter.Spec{Kind: "bloom", Hash: filter.SipHash13, Secret: [16]byte{77}}
	keyed.Parameters = settings{"b": "1", "a": "2"}
	if got := keyed.String(); got != "kind=bloom hash=siphash13 secret=given a=2 b=1" {
		t.Error(got)
	}
	if got := fmt.Sprint(filter.Spec{}); got != "default" {
		t.Error(got)
	}
}

// What a filter says of itself prints as one line, and goes through JSON.
func TestMeasurementsPrintAsALine(t *testing.T) {
	f := must(filter.New(filter.Spec{Capacity: 1000}))
	for i := range uint64(500) {
		must(f.InsertUint64(i))
	}
	full := must(filter.New(filter.Spec{Kind: "bloom", Bits: 512, Hashes: 8}))
	for i := range uint64(5000) {
		must(full.InsertUint64(i))
	}
	for want, value := range map[string]any{
		`^blocked, 500 keys of 1000, \d+ bytes, false-positive rate 0\.0\d+ at capacity$`: f,
		`^blocked, 500 keys of 1000, \d+ bytes, .* at capacity$`:                          must(f.Describe()),
		`^writable\|can_hash$`: must(f.Describe()).State,
		`^\d+\.\d % full, false-positive rate \S+, about [45]\d\d keys$`: must(f.Statistics()),
		`^100\.0 % full, false-positive rate 1, keys unknown$`:           must(full.Statistics()),
		`^[45]\d\d \(95 %: [45]\d\d to [45]\d\d\)$`:                      must(f.Estimate()),
		`^unknown$`: must(full.Estimate()),
		`^first .*, second .*, union .*, intersection .*, Jaccard 1\.000 .*, differences 0`: must(f.EstimateOverlap(f)),
	} {
		if got := fmt.Sprint(value); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%q is not %s", got, want)
		}
	}
	description := must(f.Describe())
	text := string(must(json.Marshal(description)))
	if !strings.HasPrefix(text, `{"kind":"blocked","hash":"xxh3","seed":0,"format_version":1,"layout_version":1,`+
		`"state":["writable","can_hash"],`) {
		t.Error(text)
	}
	var back filter.Description
	check(t, json.Unmarshal([]byte(text), &back))
	if back != description {
		t.Errorf("%+v, and not %+v", back, description)
	}
	for _, wrong := range []string{`{"kind":"quadruple"}`, `{"state":["drunk"]}`, `{"hash":""}`} {
		if err := json.Unmarshal([]byte(wrong), &back); !errors.Is(err, filter.ErrUnknownValue) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
