package mlflow

import (
	"strings"
	"time"
	"unicode/utf8"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
)

// diagnostics begins the keys of metrics that say how something was measured; MLflow shows them apart.
const diagnostics = "system/"

// key is the key of a metric.
func key(m *metrics.Result) string {
	if isDiagnostic(m) {
		return diagnostics + m.Tag
	}
	return m.Tag
}

// isDiagnostic reports whether a metric is about the steps of the exchange, what servers say of their tokens, where
// these differ from ours, or the power of GPUs.
func isDiagnostic(m *metrics.Result) bool {
	switch m.Group {
	case metrics.GroupHTTPTrace, metrics.GroupUsage, metrics.GroupCache, metrics.GroupPrediction, metrics.GroupGPU,
		metrics.GroupGPUNVIDIA, metrics.GroupGPUAMD:
		return true
	}
	if m.Flags&(metrics.HTTPTraceOnly|metrics.Internal|metrics.Experimental|metrics.UsageDiffOnly) != 0 {
		return true
	}
	for _, prefix := range []string{"usage_", "total_usage_", "osl_mismatch_"} {
		if strings.HasPrefix(m.Tag, prefix) {
			return true
		}
	}
	return false
}

// The keys of counts beside the metrics.
const (
	keyCompleted = "aiperf.completed_requests"
	keyExpected  = "aiperf.total_expected_requests"
)

// finals are the metrics of a run with results: what the files have of them, under their tags. NaN and infinities have no
// place in JSON and are left out, as they are there.
func finals(e *progress.Ending, at time.Time) []point {
	var list []point
	add := func(key string, v float64) {
		if artifact.Finite(v) && len(key) <= maxKey {
			list = append(list, point{Key: key, Value: v, Timestamp: at.UnixMilli()})
		}
	}
	for i := range e.Metrics {
		m := &e.Metrics[i]
		k := key(m)
		add(k, m.Stats.Avg)
		if !m.Distribution {
			continue
		}
		for _, f := range m.Figures()[1:] {
			add(k+"."+f.Key, f.Value)
		}
	}
	add(keyCompleted, float64(e.Completed))
	var expected int64
	for i := range e.Last.Phases {
		if p := &e.Last.Phases[i]; p.Kind == record.PhaseProfiling {
			expected = p.ExpectedRequests
		}
	}
	if expected > 0 {
		add(keyExpected, float64(expected))
	}
	return list
}

// fit cuts values to the lengths that the server takes.
func fit(list []Entry, limit int) []Entry {
	var out []Entry
	for _, e := range list {
		if len(e.Key) > maxKey {
			continue
		}
		out = append(out, Entry{e.Key, cut(e.Value, limit)})
	}
	return out
}

func cut(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit-1]) + "…"
}
