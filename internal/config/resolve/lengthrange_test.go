package resolve

import (
	"reflect"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/config/configtest"
)

func TestLengthRange(t *testing.T) {
	for line, want := range map[string]*config.LengthRange{
		"-m m":                          nil,
		"-m m --random-range-ratio 0.3": {Input: 0.3, Output: 0.3, Mode: "vllm"},
		`-m m --random-range-ratio {"input":0.3,"output":0}`: {Input: 0.3, Output: 0,
			Mode: "vllm"},
		"-m m --random-range-ratio 1 --random-range-ratio-mode sglang": {Input: 1, Output: 1,
			Mode: "sglang"},
		"-m m --random-range-ratio .5 --random-corpus-style sglang": {Input: 0.5,
			Output: 0.5, Mode: "sglang"},
		"-m m --random-range-ratio 0 --random-corpus-style vllm --random-range-ratio-mode vllm": {Input: 0, Output: 0,
			Mode: "vllm"},
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
	configtest.WantText(t, "two styles", both.Error(), "--random-range-ratio-mode", "--random-corpus-style")
	for line, want := range map[string]string{
		"":                                 "vllm",
		"--random-corpus-style sglang":     config.StyleSGLang,
		"--random-range-ratio-mode sglang": config.StyleSGLang,
	} {
		run, warnings := mustResolve(t,
			"-m m --request-count 1 --concurrency 1 --prompt-corpus random --random-range-ratio 0.5 "+line)
		if run.Dataset.CorpusStyle != want || run.Dataset.Range.Mode != want || len(warnings) > 0 {
			t.Errorf("%s: tokens as %s, window as %s, %v", line, run.Dataset.CorpusStyle, run.Dataset.Range.Mode,
				warnings)
		}
	}
	_, warnings := mustResolve(t, "-m m --random-range-ratio-mode sglang")
	configtest.WantText(t, "a style of nothing", configtest.Texting(warnings),
		"--random-range-ratio-mode has no effect")
}
