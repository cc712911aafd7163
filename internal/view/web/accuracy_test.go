package web

import (
	"strings"
	"testing"

	"aiperf/internal/measure/metrics"
)

func TestGradedAnswersAsPrometheusText(t *testing.T) {
	results := []metrics.Metric{
		metrics.AccuracyResult(metrics.AccuracyOverall, 3, 4),
		metrics.AccuracyResult(metrics.AccuracyTask+"computer science", 1, 2),
		metrics.AccuracyResult(metrics.AccuracyTask+`quo"te`, 2, 2),
		metrics.AccuracyResult(metrics.AccuracyUnparsed, 0, 4),
		metrics.AccuracyResult(metrics.AccuracyUnparsedTask+"computer science", 0, 2),
	}
	text := string(appendAccuracy(nil, results, `model="m"`))
	for _, line := range []string{
		`aiperf_accuracy_overall_avg_ratio{model="m"} 0.75`,
		`aiperf_accuracy_task_avg_ratio{model="m",task="computer science"} 0.5`,
		`aiperf_accuracy_task_count_ratio{model="m",task="quo\"te"} 2`,
		`aiperf_accuracy_unparsed_task_sum_ratio{model="m",task="computer science"} 0`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("the text lacks %s:\n%s", line, text)
		}
	}
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			if seen[name] {
				t.Errorf("the family is begun twice: %s", name)
			}
			seen[name] = true
		}
	}
	if len(seen) != 12 {
		t.Errorf("%d families, want those of four shares", len(seen))
	}
}
