package servermetrics

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/watch/prom"
)

// speculative returns a gauge at an endpoint whose labels are pairs of a name and a value.
func speculative(url string, g metrics.Stats, labels ...string) SeriesStats {
	s := SeriesStats{EndpointURL: url, Gauge: &g}
	for i := 0; i < len(labels); i += 2 {
		s.Labels = append(s.Labels, prom.Label{Name: labels[i], Value: labels[i+1]})
	}
	return s
}

func speculationResults(rates, lengths []SeriesStats) *Results {
	return &Results{Families: []FamilyStats{
		{Family: prom.Family{Name: acceptLength, Type: prom.Gauge}, Series: lengths},
		{Family: prom.Family{Name: acceptRate, Type: prom.Gauge}, Series: rates},
	}}
}

const metricsURL = "http://h:8000/metrics"

func speculationLabels(rows []Speculation) (list []string) {
	for _, r := range rows {
		list = append(list, r.Label)
	}
	return list
}

func TestSpeculationRows(t *testing.T) {
	rate := metrics.Stats{Avg: 0.5, Min: 0.25, Max: 0.75, Percentiles: metrics.Percentiles{4: 0.5, 6: 0.7}}
	length := metrics.Stats{Avg: 2.5, Min: 1, Max: 4, Percentiles: metrics.Percentiles{4: 2, 6: 3.5}}
	rows, warnings := Speculations(speculationResults(
		[]SeriesStats{speculative(metricsURL, rate, "model_name", "M"),
			speculative(metricsURL, rate, "model_name", "m", "tp_rank", "1")},
		[]SeriesStats{
			speculative(metricsURL, length, "model_name", "m", "pp_rank", "0", "tp_rank", "0"),
			speculative(metricsURL, length, "model_name", "other"),
			speculative(metricsURL, length), speculative(metricsURL, length, "model_name", "m", "pp_rank", "1"),
		},
	), []string{"m"})
	want := []Speculation{
		{Label: "Accept Rate (%)", Mean: 50, Min: 25, Max: 75, P50: 50, P90: 70, Decimals: 1},
		{Label: "Accept Length", Mean: 2.5, Min: 1, Max: 4, P50: 2, P90: 3.5, Decimals: 2},
	}
	if !slices.Equal(rows, want) || warnings != nil {
		t.Errorf("%+v, %q", rows, warnings)
	}
}

// A server that speculates says its length: as long as that is 0, its rate says nothing.
func TestTrapNoSpeculationWhereAllLengthsAreZero(t *testing.T) {
	rates := []SeriesStats{speculative(metricsURL, metrics.Stats{Avg: 0.5, Max: 0.5}, "model_name", "m")}
	for name, c := range map[string]struct {
		rates, lengths []SeriesStats
		want           int
	}{
		"lengths of 0":    {rates, []SeriesStats{speculative(metricsURL, metrics.Stats{}, "model_name", "m")}, 0},
		"no length":       {rates, nil, 1},
		"another model's": {rates, []SeriesStats{speculative(metricsURL, metrics.Stats{}, "model_name", "x")}, 1},
		"neither":         {nil, nil, 0},
		"rates of 0":      {[]SeriesStats{speculative(metricsURL, metrics.Stats{}, "model_name", "m")}, nil, 0},
		"length and rates": {rates, []SeriesStats{speculative(metricsURL, metrics.Stats{Max: 1}, "model_name", "m")},
			2},
	} {
		if rows, _ := Speculations(speculationResults(c.rates, c.lengths), []string{"m"}); len(rows) != c.want {
			t.Errorf("%s: %d rows, want %d", name, len(rows), c.want)
		}
	}
}

func TestSpeculationRowsOfSeveralSeries(t *testing.T) {
	g := metrics.Stats{Max: 1}
	one := func(labels ...string) SeriesStats { return speculative(metricsURL, g, labels...) }
	for name, c := range map[string]struct {
		series []SeriesStats
		want   []string
	}{
		"endpoints": {[]SeriesStats{one("model_name", "m"), speculative("http://i:8000/metrics", g, "model_name", "m")},
			[]string{"Accept Length (endpoint=h:8000)", "Accept Length (endpoint=i:8000)"}},
		"models and labels": {[]SeriesStats{one("z", "1", "b", "1", "model_name", "m", "same", "1"),
			one("z", "2", "b", "2", "model_name", "n", "same", "1")},
			[]string{"Accept Length (model_name=m, b=1, z=1)", "Accept Length (model_name=n, b=2, z=2)"}},
		"a label of one": {[]SeriesStats{one("model_name", "m"), one("model_name", "m", "moe_ep_rank", "0")},
			[]string{"Accept Length (series=1)", "Accept Length (moe_ep_rank=0)"}},
	} {
		rows, _ := Speculations(speculationResults(nil, c.series), []string{"m", "n"})
		if got := speculationLabels(rows); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestSpeculationRowThatIsNotFinite(t *testing.T) {
	rows, warnings := Speculations(speculationResults(
		[]SeriesStats{speculative(metricsURL, metrics.Stats{Avg: math.Inf(1), Max: 1}, "model_name", "m")},
		[]SeriesStats{speculative(metricsURL, metrics.Stats{Max: 3}, "model_name", "m")},
	), []string{"m"})
	if got := speculationLabels(rows); !slices.Equal(got, []string{"Accept Length"}) {
		t.Errorf("%q", got)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "Accept Rate (%)") {
		t.Errorf("%q", warnings)
	}
}

// The counters of vLLM 0.32 after a run with n-grams, shared among two engines, and what follows from them.
func TestSpeculationByCounters(t *testing.T) {
	series := func(total float64, labels ...string) SeriesStats {
		s := speculative(metricsURL, metrics.Stats{}, labels...)
		s.Gauge, s.Counter = nil, &CounterStats{Total: total}
		return s
	}
	at := func(total float64, place string) SeriesStats {
		return series(total, "model_name", "tiny", "engine", "0", "position", place)
	}
	r := &Results{Families: []FamilyStats{
		{Family: prom.Family{Name: "vllm:spec_decode_num_drafts", Type: prom.Counter}, Series: []SeriesStats{
			series(500, "model_name", "tiny", "engine", "0"), series(42, "model_name", "tiny", "engine", "1"),
			series(1000, "model_name", "other", "engine", "0")}},
		{Family: prom.Family{Name: "vllm:spec_decode_num_draft_tokens", Type: prom.Counter}, Series: []SeriesStats{
			series(1400, "model_name", "tiny", "engine", "0"), series(81, "model_name", "tiny", "engine", "1")}},
		{Family: prom.Family{Name: "vllm:spec_decode_num_accepted_tokens", Type: prom.Counter}, Series: []SeriesStats{
			series(1253, "model_name", "tiny", "engine", "0")}},
		{Family: prom.Family{Name: "vllm:spec_decode_num_accepted_tokens_per_pos", Type: prom.Counter},
			Series: []SeriesStats{at(360, "2"), at(487, "0"), at(406, "1"), at(9, "x"), at(9, "-1")}},
	}}
	rows, warnings := Speculations(r, []string{"Tiny"})
	var got []string
	for _, row := range rows {
		if !row.Single {
			t.Errorf("%+v", row)
		}
		got = append(got, fmt.Sprintf("%s %.*f", row.Label, row.Decimals, row.Mean))
	}
	want := []string{"Accept Rate (%) 84.6", "Accept Length 3.31", "Accept Rate at Place 1 (%) 89.9",
		"Accept Rate at Place 2 (%) 74.9", "Accept Rate at Place 3 (%) 66.4"}
	if !slices.Equal(got, want) || warnings != nil {
		t.Errorf("%q, %q", got, warnings)
	}
	if rows, _ := Speculations(r, []string{"an-adapter"}); len(rows) != 5 || rows[0].Label != "Accept Rate (%) (model_name=tiny)" {
		t.Errorf("without the model: %+v", rows)
	}
	r.Families[0].Series = r.Families[0].Series[2:]
	if rows, _ := Speculations(r, []string{"Tiny"}); len(rows) != 0 {
		t.Errorf("without a draft: %+v", rows)
	}
}
