package resolve

import (
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/config/parse"
)

func TestGoodputTakesAliasesAndUnits(t *testing.T) {
	slos, err := parse.SLOs("ttft:0.5s inter_token_latency:1_0 time_to_first_token:300ms unknown:5",
		fakeCatalog{}.Metric)
	if err != nil || len(slos) != 3 || slos[0] != (config.SLO{Tag: "time_to_first_token", Value: 300}) ||
		slos[1] != (config.SLO{Tag: "inter_token_latency", Value: 10}) || slos[2] != (config.SLO{Tag: "unknown",
		Value: 5}) {
		t.Errorf("%v, %v", slos, err)
	}
}

func TestParseSLOs(t *testing.T) {
	for _, text := range []string{"", "  ", "a", "a:", ":5", "a:x", "a:nan", "a:inf"} {
		if got, err := parse.SLOs(text, fakeCatalog{}.Metric); err == nil {
			t.Errorf("%q: accepted as %v", text, got)
		}
	}
}
