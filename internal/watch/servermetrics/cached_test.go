package servermetrics

import (
	"math"
	"testing"
)

// What a run's own repeats and its chat template explain is no sign of an earlier run.
func TestCachedShareAndWhatExplainsIt(t *testing.T) {
	server := func(cached float64) *ServerTotals {
		s := counting(100, 5000, 2000)
		s.Totals = append(s.Totals, Total{Quantity: CachedTokens, Metric: "hits", Value: cached})
		return s
	}
	own := func(tokens float64) *ClientTotals {
		c := run()
		c.Figures[2].Own = tokens
		return c
	}
	for _, c := range []struct {
		name           string
		server         *ServerTotals
		client         *ClientTotals
		repeats        float64
		share, explain float64
		warm           bool
	}{
		{"an empty cache", server(0), own(5000), 0, 0, 0, false},
		{"an earlier run", server(4900), own(5000), 0, 0.98, 0, true},
		{"its own repeats", server(2400), own(5000), 0.5, 0.48, 0.5, false},
		{"more than its own repeats", server(4000), own(5000), 0.5, 0.8, 0.5, true},
		{"a chat template of ten tokens", server(1000), own(4000), 0, 0.2, 0.2, false},
		{"a template and repeats", server(3000), own(4000), 0.5, 0.6, 0.6, false},
		{"a template of unknown length", server(4900), run(), 0, 0.98, 1, false},
		{"unknown repeats", server(4900), own(5000), -1, 0.98, -1, false},
		{"without usage", server(4900), tokenized(), 0, 0.98, 0, true},
	} {
		got := Reconcile(c.server, c.client).Cached(c.repeats)
		if got == nil || math.Abs(got.Share-c.share) > 1e-9 || math.Abs(got.Repeats-c.explain) > 1e-9 ||
			got.Metric != "hits" || got.Warm() != c.warm {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if got := Reconcile(counting(100, 5000, 2000), run()).Cached(0); got != nil || got.Warm() {
		t.Errorf("without a counter: %+v", got)
	}
	others := server(9800)
	others.Totals[0].Value, others.Totals[1].Value, others.Totals[2].Value = 200, 10000, 4000
	if got := Reconcile(others, run()).Cached(0); got != nil {
		t.Errorf("with other clients: %+v", got)
	}
}

// The server's count stands in the row also where the client has none.
func TestAbsentRowKeepsTheCountOfTheServer(t *testing.T) {
	s := counting(100, 5000, 2000)
	s.Totals = append(s.Totals, Total{Quantity: CachedTokens, Metric: "hits", Value: 4900})
	row := Reconcile(s, tokenized()).Row(CachedTokens)
	if row.Status != Absent || row.Server != 4900 || row.ServerMetric != "hits" || row.Reason != "the run has none" {
		t.Errorf("%+v", row)
	}
}
