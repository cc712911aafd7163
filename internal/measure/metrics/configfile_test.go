package metrics

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"aiperf/internal/base/artifact"
)

func TestConfigIsReadBackAsItWas(t *testing.T) {
	c := chatConfig()
	c.SLOs = []SLO{{"request_latency", 250.5}}
	c.Percentiles = []float64{99.9}
	c.SliceNS = 1 << 60
	c.ContextOverflow = nil
	for _, want := range []Config{c, DefaultConfig(), {}} {
		text, err := artifact.AppendJSON(nil, want.Object())
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseConfig(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestConfigNamesItsMembersInSnakeCase(t *testing.T) {
	var keys []string
	for _, m := range new(Config).Object() {
		keys = append(keys, m.Key)
	}
	for _, want := range []string{"streaming", "use_server_tokens", "slos", "osl_mismatch_percent", "slice_ns",
		"max_slices", "usage_diff_percent"} {
		if !slices.Contains(keys, want) {
			t.Errorf("no member %s among %v", want, keys)
		}
	}
	if len(keys) != reflect.TypeFor[Config]().NumField() {
		t.Errorf("%d members", len(keys))
	}
}

func TestConfigThatCannotBe(t *testing.T) {
	for _, text := range []string{"", "[]", `{"streaming": 3}`, `{"slos": {}}`} {
		if _, err := ParseConfig([]byte(text)); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}
