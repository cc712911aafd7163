package config

import (
	"reflect"
	"testing"
)

func TestLengthRange(t *testing.T) {
	for line, want := range map[string]*LengthRange{
		"-m m":                          nil,
		"-m m --random-range-ratio 0.3": {0.3, 0.3, "vllm"},
		`-m m --random-range-ratio {"input":0.3,"output":0}`:                                    {0.3, 0, "vllm"},
		"-m m --random-range-ratio 1 --random-range-ratio-mode sglang":                          {1, 1, "sglang"},
		"-m m --random-range-ratio .5 --random-corpus-style sglang":                             {0.5, 0.5, "sglang"},
		"-m m --random-range-ratio 0 --random-corpus-style vllm --random-range-ratio-mode vllm": {0, 0, "vllm"},
	} {
		d := check(t, line)
		if got := d.dataset.build().Range; !reflect.DeepEqual(got, want) || len(d.faults) > 0 {
			t.Errorf("%s: %+v, faults %v", line, got, d.faults)
		}
	}
	for _, bad := range []string{"x", "-0.1", "1", `{"input":0.3}`, `{"input":0.3,"output":0,"more":1}`,
		`{"input":2,"output":0}`, "nan", "1e400"} {
		if f := check(t, "-m m --random-range-ratio "+bad).faults; len(f) == 0 {
			t.Errorf("%s is accepted", bad)
		}
	}
}

// One style decides the window and the tokens that are drawn.
func TestOneStyleOfRandomPrompts(t *testing.T) {
	both := resolveError(t, "-m m --random-range-ratio 0.5 --random-corpus-style sglang --random-range-ratio-mode vllm")
	wantText(t, "two styles", both.Error(), "--random-range-ratio-mode", "--random-corpus-style")
	for line, want := range map[string]string{
		"":                                 "vllm",
		"--random-corpus-style sglang":     StyleSGLang,
		"--random-range-ratio-mode sglang": StyleSGLang,
	} {
		run, warnings := mustResolve(t,
			"-m m --request-count 1 --concurrency 1 --prompt-corpus random --random-range-ratio 0.5 "+line)
		if run.Dataset.CorpusStyle != want || run.Dataset.Range.Mode != want || len(warnings) > 0 {
			t.Errorf("%s: tokens as %s, window as %s, %v", line, run.Dataset.CorpusStyle, run.Dataset.Range.Mode,
				warnings)
		}
	}
	_, warnings := mustResolve(t, "-m m --random-range-ratio-mode sglang")
	wantText(t, "a style of nothing", texting(warnings), "--random-range-ratio-mode has no effect")
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
