package run

import (
	"strings"
	"testing"

	"aiperf/internal/workload/jinja"
	"aiperf/internal/workload/tokenizer"
)

func TestAnEndlessChatTemplateIsGivenUp(t *testing.T) {
	t.Parallel()
	template, err := jinja.ParseChat("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "", "")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	counter := &templated{Counter: tokenizer.NewMemo(tokenizer.Builtin()), template: template,
		warn: func(err error) { told = append(told, err.Error()) }}
	for range 2 {
		if n, ok := counter.CountMessages([]byte(`[{"role":"user","content":"a"}]`)); ok {
			t.Errorf("counted %d", n)
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], "does not end by itself") || !counter.off.Load() {
		t.Errorf("told %q", told)
	}
}
