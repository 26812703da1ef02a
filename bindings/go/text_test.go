package petal

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func TestValuesPrintAsTheirNames(t *testing.T) {
	for value, want := range map[fmt.Stringer]string{
		XXH3: "xxh3", SipHash13: "siphash13", Hash(0): "default", Hash(77): "hash 77",
		KernelBest: "best", KernelNEON: "neon", Kernel(9): "kernel 9", OpenShare: "share", OpenMode(9): "mode 9",
		HandleSketch: "sketch", Handle(9): "handle 9",
		SessionRoleResponder: "responder", SessionRole(9): "role 9", SessionTurnFailed: "failed", SessionTurn(9): "turn 9",
		SessionMethodFilterAndRIBLT: "filter_and_riblt", SessionMethod(9): "method 9",
		CanInsert | CanInsertShared: "insert|insert_shared", Capabilities(0): "", Capabilities(1 << 40): "bit 40",
		StateInPlace | StateCanHash: "in_place|can_hash",
	} {
		if got := value.String(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	parameters := map[string]string{"z": "1", "a": "2"}
	secret := Spec{Kind: "bloom", Hash: SipHash13, Secret: [16]byte{77, 78}, Parameters: parameters}
	if got := secret.String(); got != "kind=bloom hash=siphash13 secret=given a=2 z=1" {
		t.Error(got)
	}
	if got := fmt.Sprint(Spec{}); got != "default" {
		t.Error(got)
	}
	path := filepath.Join(t.TempDir(), "filter.petal")
	f := filled(Spec{Kind: "blocked", Capacity: 1000}, 500)
	check(t, f.Save(path))
	opened := must(Open(path, nil))
	best := must(Plan(PlanRequest{Keys: 9, FalsePositiveRate: 0.1}))[0]
	lines := map[string]any{
		`^blocked, 500 keys of 1000, \d+ bytes, false-positive rate 0\.0\d+ at capacity$`:   f,
		`^blocked, 500 .* at capacity, read-only$`:                                          opened,
		`^\d+\.\d % full, false-positive rate \S+, about [45]\d\d keys$`:                    must(f.Statistics()),
		`^[45]\d\d \(95 %: [45]\d\d to [45]\d\d\)$`:                                         must(f.Estimate()),
		`^first .*, second .*, union .*, intersection .*, Jaccard 1\.000 .*, differences 0`: must(f.EstimateOverlap(opened)),
		`^\w+: \S+ bits a key, \d+ bytes, false-positive rate`:                              best,
	}
	for want, value := range lines {
		if got := fmt.Sprint(value); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%q is not %s", got, want)
		}
	}
	check(t, opened.Close())
	check(t, f.Close())
	if got := f.String(); got != "closed" {
		t.Error(got)
	}
	if got := (*Filter)(nil).String(); got != "closed" {
		t.Error(got)
	}
}

// names returns the names in a JSON object.
func names(t *testing.T, value any) []string {
	t.Helper()
	var object map[string]any
	check(t, json.Unmarshal(must(json.Marshal(value)), &object))
	var names []string
	for name := range object {
		names = append(names, name)
	}
	return names
}

// The names in JSON are the names of the C library's struct fields.
func TestJSONHasTheNamesOfC(t *testing.T) {
	f := filled(Spec{Capacity: 1000, Seed: 5}, 100)
	defer f.Close()
	header := headerText(t)
	every := Spec{"bloom", XXH64, 1, 0.5, 2, 3, KernelPortable, 4, [16]byte{5}, map[string]string{"a": "b"}}
	for structure, value := range map[string]any{
		"petal_description": must(f.Describe()), "petal_statistics": must(f.Statistics()),
		"petal_filter_estimate": must(f.Estimate()), "petal_filter_overlap": must(f.EstimateOverlap(f)),
		"petal_plan_request":       PlanRequest{1, 0.5, 3, CanInsert, true, 1, 0.5, 1, 1},
		"petal_plan_proposal":      PlanProposal{Err: ErrUnsupported},
		"petal_kind_info":          must(FindKind("bloom")),
		"petal_parameter_info":     ParameterInfo{},
		"petal_format_info":        must(FindFormat("guava")),
		"petal_spec":               every,
		"petal_session_statistics": SessionStatistics{},
	} {
		_, body, found := strings.Cut(header, "typedef struct "+structure+" {")
		if !found {
			t.Fatalf("no header has %s", structure)
		}
		body, _, _ = strings.Cut(body, "\n} ")
		for _, name := range names(t, value) {
			// What is a flag in C is a separate field here.
			if strings.Contains(header, "#define PETAL_"+strings.ToUpper(name)+" (1 << ") {
				continue
			}
			if !regexp.MustCompile(`(?m)^  \w+ ` + name + `(\[\w+\])?;`).MatchString(body) {
				t.Errorf("%s has no %s", structure, name)
			}
		}
	}
}

func TestJSONGoesRound(t *testing.T) {
	spec := Spec{
		Kind: "bloom", Hash: XXH64, Capacity: 1000, FalsePositiveRate: 0.01, Seed: 1<<64 - 1,
		Parameters: map[string]string{"derivation": "triple"},
	}
	const text = `{"kind":"bloom","hash":"xxh64","capacity":1000,"false_positive_rate":0.01,` +
		`"seed":18446744073709551615,"parameters":{"derivation":"triple"}}`
	if got := string(must(json.Marshal(spec))); got != text {
		t.Error(got)
	}
	var back Spec
	check(t, json.Unmarshal([]byte(text), &back))
	if !reflect.DeepEqual(back, spec) {
		t.Error(back)
	}
	for wrong, says := range map[string]string{
		`{"fpr":0.1}`:                         `unknown field "fpr"`,
		`{"key":"00"}`:                        `unknown field "key"`,
		`{"hash":"md5"}`:                      `"md5" is none of xxh3, xxh64, siphash13, external`,
		`{"kernel":""}`:                       `"" is none of best, portable, avx2, avx512, neon`,
		`{"capacity":-1}`:                     "-1",
		`{"false_positive_rate":"a hundred"}`: "false_positive_rate",
	} {
		err := json.Unmarshal([]byte(wrong), &back)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if !reflect.DeepEqual(back, spec) {
		t.Error("what was refused changed the spec")
	}
	f := filled(spec, 100)
	defer f.Close()
	description := must(f.Describe())
	var described Description
	check(t, json.Unmarshal(must(json.Marshal(description)), &described))
	if described != description {
		t.Errorf("%v, not %v", described, description)
	}
	integers := must(New(Spec{Kind: "exact_bits", Bits: 100, Hash: Identity}))
	defer integers.Close()
	ofIntegers := must(integers.Describe())
	check(t, json.Unmarshal(must(json.Marshal(ofIntegers)), &described))
	if described != ofIntegers || described.Hash.String() != "identity" {
		t.Errorf("%v, not %v", described, ofIntegers)
	}
	var mode OpenMode
	check(t, json.Unmarshal([]byte(`"share"`), &mode))
	var request PlanRequest
	check(t, json.Unmarshal([]byte(`{"keys":5,"capabilities":["insert","merge"],"is_static":true}`), &request))
	if mode != OpenShare || request != (PlanRequest{Keys: 5, Capabilities: CanInsert | CanMerge, Static: true}) {
		t.Error(mode, request)
	}
	// The filter is too full for an estimate.
	full := filled(Spec{Bits: 512, Hashes: 8, Kind: "bloom"}, 5000)
	defer full.Close()
	for _, value := range []any{
		must(full.Describe()), must(full.Statistics()), must(full.Estimate()), must(full.EstimateOverlap(full)),
		must(Plan(PlanRequest{Keys: 1 << 40, Memory: 100})), Kinds(),
	} {
		must(json.Marshal(value))
	}
	if text := must(full.Statistics()).String(); !strings.HasSuffix(text, "keys unknown") {
		t.Error(text)
	}
	if text := must(full.Estimate()).String(); text != "unknown" {
		t.Error(text)
	}
}

// headerText returns the text of all C headers. The headers do not exist if this module was downloaded alone.
func headerText(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob("../../include/*.h")
	if err != nil || len(names) == 0 {
		t.Skip("Petal's repository is not here")
	}
	var all strings.Builder
	for _, name := range names {
		all.Write(must(os.ReadFile(name)))
	}
	return all.String()
}
