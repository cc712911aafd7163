package load

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// SLA is a limit on a metric of a window.
type SLA struct {
	Metric, Stat string
	// Op is lt, le, gt or ge.
	Op        string
	Threshold float64
}

// String names the limit as files do.
func (s SLA) String() string {
	return s.Metric + ":" + s.Stat + ":" + s.Op + ":" + strconv.FormatFloat(s.Threshold, 'g', -1, 64)
}

// latencies are the metrics of single requests.
var latencies = map[string]func(Sample) float64{
	"request_latency":     func(s Sample) float64 { return s.LatencyMS },
	"time_to_first_token": func(s Sample) float64 { return s.TTFTMS },
	"ttft":                func(s Sample) float64 { return s.TTFTMS },
	"inter_token_latency": func(s Sample) float64 { return s.ITLMS },
	"itl":                 func(s Sample) float64 { return s.ITLMS },
	"tpot":                func(s Sample) float64 { return s.ITLMS },
}

// percentiles are the statistics of latencies besides avg, min and max.
var percentiles = map[string]float64{
	"p1": 1, "p5": 5, "p10": 10, "p25": 25, "p50": 50, "p75": 75, "p90": 90, "p95": 95, "p99": 99,
}

// rates are the metrics of a whole window; all their statistics are the same.
var rates = map[string]func(assessment) float64{
	"throughput":                   assessment.throughput,
	"request_throughput":           assessment.throughput,
	"completed_request_throughput": assessment.throughput,
	"output_token_throughput":      assessment.tokenThroughput,
	"goodput":                      func(a assessment) float64 { return a.perSecond(a.good) },
	"goodput_ratio":                func(a assessment) float64 { return ratio(a.good, a.attempts()) },
	"success_rate":                 assessment.successRate,
	"request_success_rate":         assessment.successRate,
	"cancellation_rate":            assessment.cancellationRate,
	"request_cancellation_rate":    assessment.cancellationRate,
	"error_rate":                   assessment.errorPercent,
	"request_error_rate":           assessment.errorPercent,
}

// SLAMetrics returns the metrics that a limit may be on, those of single requests first.
func SLAMetrics() []string {
	return append(slices.Sorted(maps.Keys(latencies)), slices.Sorted(maps.Keys(rates))...)
}

// SLAStats returns the statistics of a limit. Those of a metric of a whole window are all the same.
func SLAStats() []string {
	names := []string{"avg", "min", "max"}
	ranks := slices.SortedFunc(maps.Keys(percentiles), func(a, b string) int {
		return cmp.Compare(percentiles[a], percentiles[b])
	})
	return append(names, ranks...)
}

// SLAOps returns the comparisons of a limit.
func SLAOps() []string { return []string{"lt", "le", "gt", "ge"} }

// OfRequests reports whether the limit is on a latency of single requests.
func (s SLA) OfRequests() bool { return latencies[s.Metric] != nil }

// NeedsStream reports whether the metric of the limit is only known of replies that are streamed.
func (s SLA) NeedsStream() bool { return s.OfRequests() && s.Metric != "request_latency" }

// OfGoodRequests reports whether the limit counts the requests that meet the limits on latencies.
func (s SLA) OfGoodRequests() bool { return s.Metric == "goodput" || s.Metric == "goodput_ratio" }

// Unit returns the unit of the metric, "" for a fraction.
func (s SLA) Unit() string {
	switch {
	case s.OfRequests():
		return "ms"
	case strings.HasSuffix(s.Metric, "error_rate"):
		return "%"
	case s.Metric == "output_token_throughput":
		return "tokens/s"
	case strings.HasSuffix(s.Metric, "throughput"), s.Metric == "goodput":
		return "requests/s"
	}
	return ""
}

// validateSLA returns the first SLA that is not valid. Goodput is the rate of requests that meet the latencies of the
// others, so that it needs one.
func validateSLA(all []SLA) error {
	if len(all) == 0 {
		return errors.New("an adaptive phase needs at least one SLA")
	}
	needsLatency, hasLatency := false, false
	for _, s := range all {
		switch {
		case !slices.Contains(SLAMetrics(), s.Metric):
			return fmt.Errorf("SLA %s: unknown metric %q, want one of %v", s, s.Metric, SLAMetrics())
		case !slices.Contains(SLAStats(), s.Stat):
			return fmt.Errorf("SLA %s: unknown statistic %q, want one of %v", s, s.Stat, SLAStats())
		case !slices.Contains(SLAOps(), s.Op):
			return fmt.Errorf("SLA %s: unknown comparison %q, want lt, le, gt or ge", s, s.Op)
		case math.IsNaN(s.Threshold) || math.IsInf(s.Threshold, 0):
			return fmt.Errorf("SLA %s: the threshold must be finite", s)
		}
		hasLatency = hasLatency || s.OfRequests()
		needsLatency = needsLatency || s.OfGoodRequests()
	}
	if needsLatency && !hasLatency {
		return errors.New("goodput needs at least one SLA on a latency")
	}
	return nil
}

// holds reports whether a value is within the limit.
func (s SLA) holds(value float64) bool {
	switch s.Op {
	case "lt":
		return value < s.Threshold
	case "le":
		return value <= s.Threshold
	case "gt":
		return value > s.Threshold
	}
	return value >= s.Threshold
}

// margin returns by how much a value is better than the limit, as a fraction of it.
func (s SLA) margin(value float64) float64 {
	better := value - s.Threshold
	if s.Op == "lt" || s.Op == "le" {
		better = -better
	}
	if better == 0 {
		return 0
	}
	return better / math.Abs(s.Threshold)
}

// verdict is what a window says of its value.
type verdict uint8

const (
	inconclusive verdict = iota
	passed
	failedSLA
)

// String names the verdict as events do.
func (v verdict) String() string {
	return [...]string{reasonInconclusive, reasonStepUp, reasonBoundary}[v]
}

// assessment is one window, measured.
type assessment struct {
	Window
	// own are the successes that were issued with the value of the window: those before it, which were under way when
	// it was changed, say nothing about it. Latencies are those of these.
	own []Sample
	// sorted are the latencies by metric that were asked for.
	sorted   map[string][]float64
	before   float64 // the value in the window
	from, to int64
	tally    tally
	sent     int64
	good     int64
	values   []float64 // of the SLAs
	binding  int       // the SLA with the smallest margin, -1 = none
	margin   float64
	verdict  verdict
	// onlyFailures: nothing but errors and cancellations.
	onlyFailures bool
	// What was decided.
	step       float64
	discovered bool
}

// measureWindow takes the window that ends now and judges it. Requests that were sent before the value was changed say
// nothing about it and are left out; without enough others the window is inconclusive, unless nothing but failures
// came back: a longer wait would not make it pass.
func (c *controller) measureWindow(nowNS int64, t tally) assessment {
	a := assessment{
		Window: c.windows.TakeWindow(c.phase), before: c.value,
		from: c.sinceNS, to: nowNS, tally: t, sent: t.sent - c.sent, binding: -1, margin: math.Inf(1),
		sorted: map[string][]float64{},
	}
	a.own = make([]Sample, 0, len(a.Successes))
	changedNS := c.clock.WallNS(c.changedNS)
	for _, s := range a.Successes {
		if c.opt.isGood(s) {
			a.good++
		}
		if s.IssuedNS == 0 || s.IssuedNS >= changedNS {
			a.own = append(a.own, s)
		}
	}
	passes := true
	for i, sla := range c.opt.SLA {
		value := a.measure(sla)
		a.values = append(a.values, value)
		passes = passes && sla.holds(value)
		if m := sla.margin(value); a.binding < 0 || m < a.margin {
			a.binding, a.margin = i, m
		}
	}
	enough := int64(len(a.own)) >= c.opt.MinCompleted
	a.onlyFailures = len(a.Successes) == 0 && a.Errors+a.Cancelled > 0
	switch {
	case a.onlyFailures && !c.opt.covers(a.Window):
		a.verdict = failedSLA
	case !enough && !a.onlyFailures:
		a.verdict = inconclusive
	case passes:
		a.verdict = passed
	default:
		a.verdict = failedSLA
	}
	return a
}

// covers reports whether the limits are all on errors or cancellations and cover all that happened.
func (a Adaptive) covers(w Window) bool {
	var errorRate, cancellationRate bool
	for _, s := range a.SLA {
		switch s.Metric {
		case "error_rate", "request_error_rate":
			errorRate = true
		case "cancellation_rate", "request_cancellation_rate":
			cancellationRate = true
		default:
			return false
		}
	}
	return (w.Errors == 0 || errorRate) && (w.Cancelled == 0 || cancellationRate)
}

// isGood reports whether a success meets every limit on a latency by itself.
func (a Adaptive) isGood(s Sample) bool {
	for _, sla := range a.SLA {
		if of, ok := latencies[sla.Metric]; ok {
			value := of(s)
			if math.IsNaN(value) {
				value = math.Inf(1)
			}
			if !sla.holds(value) {
				return false
			}
		}
	}
	return true
}

func (a assessment) measure(s SLA) float64 {
	if rate, ok := rates[s.Metric]; ok {
		return rate(a)
	}
	return statistic(a.latencies(s.Metric), s.Stat)
}

// latencies returns the values of a metric in ascending order.
func (a assessment) latencies(metric string) []float64 {
	if values, known := a.sorted[metric]; known {
		return values
	}
	of := latencies[metric]
	values := make([]float64, 0, len(a.own))
	for _, s := range a.own {
		if value := of(s); !math.IsNaN(value) {
			values = append(values, value)
		}
	}
	slices.Sort(values)
	if a.sorted != nil {
		a.sorted[metric] = values
	}
	return values
}

// statistic returns that of ascending values; without any it is infinite. Percentiles are interpolated linearly between
// the ranks p/100·(n−1).
func statistic(sorted []float64, stat string) float64 {
	n := len(sorted)
	if n == 0 {
		return math.Inf(1)
	}
	switch stat {
	case "avg":
		sum := 0.0
		for _, v := range sorted {
			sum += v
		}
		return sum / float64(n)
	case "min":
		return sorted[0]
	case "max":
		return sorted[n-1]
	}
	rank := percentiles[stat] / 100 * float64(n-1)
	below := int(rank)
	if below == n-1 {
		return sorted[below]
	}
	return sorted[below] + (rank-float64(below))*(sorted[below+1]-sorted[below])
}

func (a assessment) seconds() float64 { return float64(a.to-a.from) / second }

func (a assessment) attempts() int64 {
	return int64(len(a.Successes)) + a.Errors + a.Cancelled
}

func (a assessment) perSecond(n int64) float64 {
	if a.to <= a.from {
		return 0
	}
	return float64(n) / a.seconds()
}

func (a assessment) throughput() float64 { return a.perSecond(int64(len(a.Successes))) }

func (a assessment) tokenThroughput() float64 {
	var tokens int64
	for _, s := range a.Successes {
		tokens += s.OutputTokens
	}
	return a.perSecond(tokens)
}

func ratio(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

func (a assessment) successRate() float64 { return ratio(int64(len(a.Successes)), a.attempts()) }

func (a assessment) cancellationRate() float64 { return ratio(a.Cancelled, a.attempts()) }

func (a assessment) errorPercent() float64 {
	return 100 * ratio(a.Errors, a.Errors+int64(len(a.Successes)))
}
