package parse_test

import (
	"reflect"
	"testing"

	"aiperf/internal/config/document"
	"aiperf/internal/config/parse"
)

// The flat form says the same as the block.
func TestFlatKeysSayWhatTheBlockSays(t *testing.T) {
	for _, phase := range []*document.Node{
		document.Of(object("adaptive_scale", object("sustain_duration", int64(5), "window", int64(2),
			"control", object("variable", "users", "min", int64(2), "max", int64(9)),
			"strategy", object("step_policy", "fixed_percent_step", "step_percent", 10.0), "sla", latencyBelow500))),
		document.Of(object("adaptive_scale", "yes", "adaptive_control_max", int64(4), "sla",
			[]any{object("metric_tag", "request_latency", "op", "lt", "threshold", int64(3))})),
		document.Of(object("adaptive_scale", object("enabled", false, "control_max", int64(4)))),
		document.Of(object("requests", int64(4))),
	} {
		report := func(_ *document.Node, path, format string, args ...any) {
			t.Errorf("%s: "+format, append([]any{path}, args...)...)
		}
		want, flat := parse.Adaptive(phase, "p", report), parse.FlatAdaptive(phase)
		if got := parse.Adaptive(flat, "p", report); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
		if n := flat.Get("adaptive_scale"); n != nil && n.Kind != document.Bool {
			t.Error("the block is no switch")
		}
		if n := flat.Get("sla"); n != nil && n.Items[0].Get("stat") == nil {
			t.Error("a limit without a statistic")
		}
	}
}
