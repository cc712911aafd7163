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

// diagnostics is the prefix of diagnostic metrics, which MLflow shows apart.
const diagnostics = "system/"

// key returns the key of a metric.
func key(m *metrics.Metric) string {
	tag := strings.Map(keyRune, m.Tag) // the name of a task may have characters that the server does not allow
	if isDiagnostic(m) {
		return diagnostics + tag
	}
	return tag
}

// isDiagnostic reports whether a metric is about the steps of the exchange, the usage that servers report, its
// difference from the counted tokens, or the power of GPUs.
func isDiagnostic(m *metrics.Metric) bool {
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

// finals returns the metrics of a run with results as in its files, under their tags. NaN and infinities, which JSON
// has not, are left out.
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
			expected += p.ExpectedRequests
		}
	}
	if expected > 0 {
		add(keyExpected, float64(expected))
	}
	return list
}

// fit cuts values to the length that the server accepts, and leaves out keys that are too long.
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
