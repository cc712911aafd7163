package config

import (
	"reflect"
	"testing"
)

func TestLengthRange(t *testing.T) {
	for line, want := range map[string]*LengthRange{
		"-m m":                          nil,
		"-m m --random-range-ratio 0.3": {0.3, 0.3, "vllm"},
		`-m m --random-range-ratio {"input":0.3,"output":0}`:                                      {0.3, 0, "vllm"},
		"-m m --random-range-ratio 1 --random-range-ratio-mode sglang":                            {1, 1, "sglang"},
		"-m m --random-range-ratio .5 --random-corpus-style sglang":                               {0.5, 0.5, "sglang"},
		"-m m --random-range-ratio 0 --random-corpus-style sglang --random-range-ratio-mode vllm": {0, 0, "vllm"},
	} {
		d := check(t, line)
		if got := d.dataset().Range; !reflect.DeepEqual(got, want) || len(d.faults) > 0 {
			t.Errorf("%s: %+v, faults %v", line, got, d.faults)
		}
	}
	for _, bad := range []string{"x", "-0.1", "1", `{"input":0.3}`, `{"input":0.3,"output":0,"more":1}`, `{"input":2,"output":0}`, "nan", "1e400"} {
		if f := check(t, "-m m --random-range-ratio "+bad).faults; len(f) == 0 {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func FuzzParseRange(f *testing.F) {
	for _, s := range []string{"0.3", `{"input":0.3,"output":0}`, "{", "1e9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRange(text)
		if err == nil && r.Mode != "" {
			t.Errorf("%q sets the mode %q", text, r.Mode)
		}
		if err != nil && r != (LengthRange{}) {
			t.Errorf("%q is %+v and %v", text, r, err)
		}
	})
}
