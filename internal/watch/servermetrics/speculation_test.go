package servermetrics

import (
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
		{"Accept Rate (%)", 50, 25, 75, 50, 70, 1},
		{"Accept Length", 2.5, 1, 4, 2, 3.5, 2},
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
