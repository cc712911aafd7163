package series

import (
	"strings"
	"testing"

	"aiperf/internal/watch/servermetrics"
)

// An experiment says once how many of its runs found their prompts in the server's cache.
func TestWarmNote(t *testing.T) {
	runs := successes(1, 2, 3)
	if got := WarmNote(runs); got != "" {
		t.Error(got)
	}
	runs[0].Cached = &servermetrics.Cached{Share: 0.3, Repeats: 0.3}
	runs[1].Cached = &servermetrics.Cached{Share: 0.98, Repeats: 0}
	runs[2].Cached = &servermetrics.Cached{Share: 0.5, Repeats: 0}
	if got := WarmNote(runs); !strings.HasPrefix(got, "in 2 of 3 runs more of the prompt tokens (up to 98 %)") {
		t.Error(got)
	}
}

// A run that is taken over from an earlier start keeps what its file says of the cache.
func TestRecordedRunKeepsItsCache(t *testing.T) {
	r, err := Recorded(Run{}, []byte(`{"request_count": {"unit": "requests", "avg": 10.0},
		"prefix_cache": {"share": 0.9, "server_metric": "hits", "repeats_share": 0.1}}`))
	if err != nil || r.Cached == nil || *r.Cached != (servermetrics.Cached{Metric: "hits", Share: 0.9, Repeats: 0.1}) {
		t.Errorf("%v: %+v", err, r.Cached)
	}
}
