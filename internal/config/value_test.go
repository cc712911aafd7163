package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/workload/recipe"
)

func wantObject(t *testing.T, got, want Object) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v\nwant %#v", got, want)
	}
}

func TestCoerce(t *testing.T) {
	for text, want := range map[string]any{
		"true": true, "False": false, "NONE": nil, "null": nil, "7": int64(7), "-3": int64(-3), "-0": int64(0),
		"0":   int64(0),
		"007": "007", "+5": "+5", "1e-3": "1e-3", "1.2.3": "1.2.3", ".9": 0.9, "5.": 5.0, "-1.50": -1.5, ".": ".",
		"": "", "-": "-",
		"99999999999999999999": json.Number("99999999999999999999"), `["a","b"]`: `["a","b"]`, "0x10": "0x10",
	} {
		if got := Coerce(text); !reflect.DeepEqual(got, want) {
			t.Errorf("Coerce(%q) = %#v, want %#v", text, got, want)
		}
	}
}

func TestPairs(t *testing.T) {
	for _, c := range []struct {
		tokens []string
		want   Object
	}{
		{[]string{"a:1, b:2"}, Object{{Key: "a", Value: int64(1)}, {Key: "b", Value: int64(2)}}},
		{[]string{`stop:["a","b"]`}, Object{{Key: "stop", Value: `["a","b"]`}}},
		{[]string{"a:1", "b:2", "a:3"}, Object{{Key: "a", Value: int64(3)}, {Key: "b", Value: int64(2)}}},
		{[]string{" k : v "}, Object{{Key: "k", Value: "v"}}},
		{[]string{"a:true", "b:007", "c:1.50", "d:null", "e:-3", "f:1e5"},
			Object{{Key: "a", Value: true}, {Key: "b", Value: "007"}, {Key: "c", Value: 1.5}, {Key: "d", Value: nil},
				{Key: "e", Value: int64(-3)}, {Key: "f", Value: "1e5"}}},
		{[]string{`{"z":{"y":[1,2.0,"x",null,true]},"a":1e3}`},
			Object{{Key: "z", Value: Object{{Key: "y", Value: []any{int64(1), 2.0, "x", nil, true}}}},
				{Key: "a", Value: 1000.0}}},
		{nil, Object{}},
	} {
		got, err := parsePairs(c.tokens)
		if err != nil {
			t.Errorf("%v: %v", c.tokens, err)
			continue
		}
		wantObject(t, got, c.want)
	}
	for _, token := range []string{"foo", ":1", `{"a":1`, `{"a":1} x`, "{a:1}", `{"a":1e999}`} {
		if _, err := parsePairs([]string{token}); err == nil {
			t.Errorf("%s: accepted", token)
		}
	}
}

func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		token string
		want  Object
	}{
		{"A:1,B:2", Object{{Key: "A", Value: "1"}, {Key: "B", Value: "2"}}},
		{"Accept:a/b,c/d", Object{{Key: "Accept", Value: "a/b,c/d"}}},
		{"X-Flag:true", Object{{Key: "X-Flag", Value: "true"}}},
		{"X: a:b ", Object{{Key: "X", Value: "a:b"}}},
		{"X-N:007", Object{{Key: "X-N", Value: "007"}}},
		{`{"A":"b","N":5,"F":2.0,"T":true}`,
			Object{{Key: "A", Value: "b"}, {Key: "N", Value: "5"}, {Key: "F", Value: "2.0"},
				{Key: "T", Value: "true"}}},
	} {
		got, err := parseHeaders([]string{c.token})
		if err != nil {
			t.Errorf("%s: %v", c.token, err)
			continue
		}
		wantObject(t, got, c.want)
	}
	got, _ := parseHeaders([]string{"X-A:1", "x-a:2"})
	wantObject(t, got, Object{{Key: "x-a", Value: "2"}})
	for _, token := range []string{"Bearer-secret", "a b:c", "X:1\r\nY:2"} {
		if _, err := parseHeaders([]string{token}); err == nil {
			t.Errorf("%q: accepted", token)
		} else if s := err.Error(); strings.Contains(s, "secret") {
			t.Errorf("%q: the message repeats the value: %s", token, s)
		}
	}
}

func TestSequenceDistribution(t *testing.T) {
	pair := func(isl int, islStddev float64, osl int, oslStddev, percent float64) recipe.LengthPair {
		return recipe.LengthPair{ISL: isl, ISLStddev: islStddev, OSL: osl, OSLStddev: oslStddev, Percent: percent}
	}
	for text, want := range map[string][]recipe.LengthPair{
		"128,64:25;512,128:75":            {pair(128, 0, 64, 0, 25), pair(512, 0, 128, 0, 75)},
		"256,128:40;512,256:60;":          {pair(256, 0, 128, 0, 40), pair(512, 0, 256, 0, 60)},
		"256|10,128|5.5:40; 512 , 256:60": {pair(256, 10, 128, 5.5, 40), pair(512, 0, 256, 0, 60)},
		"[(256,128):40,(512|.5,256):60]":  {pair(256, 0, 128, 0, 40), pair(512, .5, 256, 0, 60)},
		"[ (256,128):40 (512,256):60 ]":   {pair(256, 0, 128, 0, 40), pair(512, 0, 256, 0, 60)},
		`{"pairs":[{"isl":256,"osl":128,"prob":40,"isl_stddev":3},{"isl":512,"osl":256,"prob":60}]}`: {pair(256, 3, 128,
			0, 40), pair(512, 0, 256, 0, 60)},
		"1,1:33.3333;2,2:33.3333;3,3:33.3334": {pair(1, 0, 1, 0, 33.3333), pair(2, 0, 2, 0, 33.3333),
			pair(3, 0, 3, 0, 33.3334)},
	} {
		got, err := ParseSequenceDistribution(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, part := range map[string]string{
		"128,64:0.25;512,128:0.75":                "not 1.0",
		"256,128:33.33;512,256:33.33;64,32:33.33": "not 99.99",
		"256.5,128:100":                           "256.5,128:100",
		"256|x,128:100":                           "256|x,128:100",
		"256 |1,128:100":                          "not a pair",
		"0,5:100":                                 "at least 1",
		"":                                        "not a pair",
		"[]":                                      "no pair",
		"[(1,1):50,foo,(2,2):50]":                 "foo",
		"[(1,1):50,(2,2:50)]":                     "(2,2:50)",
		`{"pairs":[{"isl":1,"prob":100}]}`:        "lacks",
		`{"pears":[]}`:                            "not a list of pairs",
	} {
		if _, err := ParseSequenceDistribution(text); err == nil {
			t.Errorf("%s: accepted", text)
		} else {
			wantText(t, text, err.Error(), part)
		}
	}
}

func TestParseSLOs(t *testing.T) {
	for _, text := range []string{"", "  ", "a", "a:", ":5", "a:x", "a:nan", "a:inf"} {
		if got, err := ParseSLOs(text, fakeCatalog{}.Metric); err == nil {
			t.Errorf("%q: accepted as %v", text, got)
		}
	}
}

func TestFormatFloat(t *testing.T) {
	for v, want := range map[float64]string{5: "5.0", 0.25: "0.25", 1e16: "1e+16", 1e15: "1000000000000000.0",
		1e-5: "1e-05", 0: "0.0", -1.5: "-1.5"} {
		if got := FormatFloat(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
}

func TestGPUItems(t *testing.T) {
	csv := writeFile(t, "m.csv", "x")
	got, err := parseGPUItems([]string{csv, "dashboard", "n1:9400", "http://n2/metrics"})
	if err != nil || got.csv != csv || !got.dashboard ||
		!reflect.DeepEqual(got.exporters, []GPUExporter{{URL: "http://n1:9400"}, {URL: "http://n2/metrics"}}) {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = parseGPUItems([]string{"dcgm:n1:9400", "amd_dme:https://n2/metrics", "dcgm:9400", "amd_dme:9400/x"})
	want := []GPUExporter{{"http://n1:9400", "dcgm"}, {"https://n2/metrics", "amd_dme"}, {"http://dcgm:9400", ""},
		{"http://amd_dme:9400/x", ""}}
	if err != nil || !reflect.DeepEqual(got.exporters, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := parseGPUItems([]string{"adm_dme:http://n1:9400"}); err == nil ||
		!strings.Contains(err.Error(), "Unknown GPU telemetry collector 'adm_dme'") ||
		!strings.Contains(err.Error(), "amd_dme") {
		t.Errorf("got %v", err)
	}
	for _, items := range [][]string{{"missing.csv"}, {"foo"}, {"pynvml", "n1:9400"}, {"pynvml", "amdsmi"},
		{t.TempDir() + "/"}, {"amdsmi", "http://n1"}, {"ftp://n1:9400"}, {"grpc://n1"}} {
		if _, err := parseGPUItems(items); err == nil {
			t.Errorf("%v: accepted", items)
		}
	}
}

// The word dashboard is exact, the names of the local collectors are not.
func TestTrapDashboardIsAnExactWord(t *testing.T) {
	for _, item := range []string{"Dashboard", "DASHBOARD", " dashboard", "dash"} {
		if got, err := parseGPUItems([]string{item}); err == nil ||
			!strings.HasPrefix(err.Error(),
				"Invalid GPU telemetry item: "+item+
					". Valid options are: 'pynvml', 'amdsmi', 'dashboard', '.csv' file, and URLs.") {
			t.Errorf("%q: %+v, %v", item, got, err)
		}
	}
	if got, err := parseGPUItems([]string{"dashboard"}); err != nil || !got.dashboard || got.collector != "" ||
		got.exporters != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	for item, want := range map[string]string{"pynvml": "pynvml", "PYNVML": "pynvml", "PyNVML": "pynvml",
		"amdsmi": "amdsmi", "AMDSMI": "amdsmi"} {
		if got, err := parseGPUItems([]string{item}); err != nil || got.collector != want || got.dashboard {
			t.Errorf("%s: %+v, %v", item, got, err)
		}
	}
	// The order of the tests: a name that ends in .csv is a file, whatever else it looks like.
	if _, err := parseGPUItems([]string{"http://n1:9400/pynvml.csv"}); err == nil ||
		!strings.HasPrefix(err.Error(), "GPU metrics file not found: ") {
		t.Errorf("got %v", err)
	}
}
