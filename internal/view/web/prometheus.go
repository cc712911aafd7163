package web

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"aiperf/internal/base/pattern"
	"aiperf/internal/measure/metrics"
)

// prometheus answers with the newest figures as Prometheus text.
func (v *View) prometheus(w http.ResponseWriter, _ *http.Request) {
	v.mu.Lock()
	text := v.exposition()
	v.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(text)
}

// exposition makes the text: a gauge that says what is measured, then the metrics. The series of a metric have the
// labels of that gauge but the version.
func (v *View) exposition() []byte {
	if v.run == nil {
		return nil
	}
	var labels []string
	label := func(name, value string) {
		if value != "" {
			labels = append(labels, name+`="`+escape(value)+`"`)
		}
	}
	label("benchmark_id", v.run.BenchmarkID)
	label("model", modelsOf(v.run))
	label("endpoint_type", v.run.EndpointType)
	label("streaming", strconv.FormatBool(v.run.Streaming))
	label("concurrency", concurrencyOf(v.run))
	label("request_rate", rateOf(v.run))
	own := strings.Join(labels, ",")
	label("version", v.o.Version)
	dst := fmt.Appendf(nil, "# HELP aiperf_info AIPerf benchmark information\n# TYPE aiperf_info gauge\n"+
		"aiperf_info{%s} 1\n",
		strings.Join(labels, ","))
	results := v.results()
	for i := range results {
		if r := &results[i]; public(r) && !metrics.IsAccuracy(r.Tag) {
			dst = appendFamilies(dst, r, own)
		}
	}
	return appendAccuracy(dst, results, own)
}

// appendAccuracy appends the shares of graded answers, those of tasks with a label for the task.
func appendAccuracy(dst []byte, results []metrics.Metric, labels string) []byte {
	for i := range results {
		r := &results[i]
		if metrics.IsAccuracy(r.Tag) && accuracyTask(r.Tag) == "" {
			dst = appendFamilies(dst, r, labels)
		}
	}
	for _, prefix := range []string{metrics.AccuracyTask, metrics.AccuracyUnparsedTask} {
		for stat, of := range []func(*metrics.Metric) float64{
			func(r *metrics.Metric) float64 { return r.Stats.Avg },
			func(r *metrics.Metric) float64 { return float64(r.Stats.Count) },
			func(r *metrics.Metric) float64 { return r.Stats.Sum },
		} {
			name := "aiperf_" + unitName(prefix) + "_" + [...]string{"avg", "count", "sum"}[stat] + "_ratio"
			begun := false
			for i := range results {
				task, ok := strings.CutPrefix(results[i].Tag, prefix)
				if !ok {
					continue
				}
				if !begun {
					dst = fmt.Appendf(dst, "# HELP %s Of the answers to a task\n# TYPE %s gauge\n", name, name)
					begun = true
				}
				dst = fmt.Appendf(dst, "%s{%s,task=\"%s\"} %s\n", name, labels, escape(task), number(of(&results[i])))
			}
		}
	}
	return dst
}

// accuracyTask returns the task of a share of graded answers, "" for one of all tasks.
func accuracyTask(tag string) string {
	for _, prefix := range []string{metrics.AccuracyUnparsedTask, metrics.AccuracyTask} {
		if task, ok := strings.CutPrefix(tag, prefix); ok {
			return task
		}
	}
	return ""
}

// quantiles are the percentiles of a summary, in the order of metrics.PercentileRanks.
var quantiles = [len(metrics.PercentileRanks)]string{"0.01", "0.05", "0.1", "0.25", "0.5", "0.75", "0.9", "0.95",
	"0.99"}

// appendFamilies appends a metric: a distribution as a summary and gauges, anything else as a gauge.
func appendFamilies(dst []byte, r *metrics.Metric, labels string) []byte {
	unit := unitName(r.Unit)
	name := "aiperf_" + strings.ReplaceAll(r.Tag, ".", "_")
	of := func(parts ...string) string {
		whole := name
		for _, p := range parts {
			if p != "" {
				whole += "_" + p
			}
		}
		return whole
	}
	in := ""
	if r.Unit != "" {
		in = " (in " + r.Unit + ")"
	}
	family := func(name, kind, help string) {
		dst = fmt.Appendf(dst, "# HELP %s %s\n# TYPE %s %s\n", name, helpText(help), name, kind)
	}
	sample := func(name, further string, value float64) {
		dst = fmt.Appendf(dst, "%s{%s%s} %s\n", name, labels, further, number(value))
	}
	s := &r.Stats
	if r.Distribution && !math.IsNaN(s.Percentiles.At(50)) {
		summary := of(unit)
		family(summary, "summary", r.Header+in)
		for i, q := range quantiles {
			sample(summary, `,quantile="`+q+`"`, s.Percentiles[i])
		}
		sample(summary+"_sum", "", s.Sum)
		sample(summary+"_count", "", float64(s.Count))
	}
	gauge := func(stat, words string, value float64) {
		if !math.IsNaN(value) {
			family(of(stat, unit), "gauge", r.Header+" "+words+in)
			sample(of(stat, unit), "", value)
		}
	}
	gauge("avg", "average", s.Avg)
	if r.Distribution {
		gauge("min", "minimum", s.Min)
		gauge("max", "maximum", s.Max)
		gauge("std", "standard deviation", s.Std)
		return dst
	}
	if s.Count > 0 {
		gauge("count", "count", float64(s.Count))
		gauge("sum", "sum", s.Sum)
	}
	return dst
}

var notInNames = pattern.New(`[^a-z0-9_]`)

// unitName is a unit as a part of a name: tokens/sec/user is tps_per_user.
func unitName(unit string) string {
	s := strings.ReplaceAll(unit, "%", "percent")
	s = strings.ReplaceAll(s, "/", "_per_")
	s = strings.ReplaceAll(strings.ToLower(s), "tokens_per_sec", "tps")
	s = notInNames.ReplaceAllString(s, "_")
	for strings.Contains(s, "__") {
		s = strings.ReplaceAll(s, "__", "_")
	}
	return strings.Trim(s, "_")
}

func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func escape(value string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value)
}

func helpText(text string) string { return strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(text) }
