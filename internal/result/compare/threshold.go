package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/manual"
	"aiperf/internal/base/pattern"
	"aiperf/internal/base/scalar"
	"aiperf/internal/base/suggest"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
)

// Threshold is a condition under which a result is a failure: a statistic of a metric, an operator
// and a limit in the metric's display unit.
type Threshold struct {
	// Text is the condition as written.
	Text      string
	Tag, Stat string
	// Op is "<", "<=", ">" or ">=".
	Op    string
	Limit float64
	Unit  string
}

// shape of a threshold: tag, statistic, operator, number, unit.
var shape = pattern.New(`^\s*([A-Za-z0-9_]+(?:\.[A-Za-z0-9_ -]*[A-Za-z0-9_])*)\s*(?::\s*([A-Za-z0-9.]+)\s*)?(<=|>=|<|>)\s*([-+]?` +
	scalar.Pattern + `)\s*([^\s].*?)?\s*$`)

// grammar explains the form of a condition in errors.
const grammar = "write TAG[:STAT]OP NUMBER[UNIT], for example 'time_to_first_token:p99>250ms', with one of < <= > >="

// ParseThreshold reads a condition. Further are the ranks of percentiles that the result has in addition to the usual
// ones; figures, if not nil, are those of a finished run, which may have metrics that this program does not know.
func ParseThreshold(text string, further []float64, figures *summary.Figures) (Threshold, error) {
	parts := shape.FindStringSubmatch(text)
	if parts == nil {
		return Threshold{}, fmt.Errorf("%s is not a condition: %s", quote(text), grammar)
	}
	t := Threshold{Text: strings.TrimSpace(text), Tag: parts[1], Stat: parts[2], Op: parts[3]}
	if t.Stat == "" {
		t.Stat = "avg"
	}
	t.Tag = metrics.Canonical(t.Tag)
	d, known := metrics.Lookup(t.Tag)
	block, present := summary.Block{}, false
	if figures != nil {
		block, present = figures.Find(t.Tag)
	}
	switch {
	case present:
		t.Unit = block.Unit
	case known:
		t.Unit = string(d.Display)
	default:
		return Threshold{}, fmt.Errorf("%s: %s is not a metric tag%s; %s lists them", quote(text),
			quote(t.Tag), Near(t.Tag), manual.Page("metrics"))
	}
	if t.Stat == "count" {
		t.Unit = ""
	}
	if err := checkStat(t.Stat, &d, known, further, figures != nil); err != nil {
		return Threshold{}, fmt.Errorf("%s: %w", quote(text), err)
	}
	limit, err := scalar.Number(parts[4])
	if err != nil || math.IsInf(limit, 0) {
		return Threshold{}, fmt.Errorf("%s: %s is not a finite number", quote(text), parts[4])
	}
	if t.Limit, err = inUnit(limit, parts[4], parts[5], t.Unit); err != nil {
		return Threshold{}, fmt.Errorf("%s: %s is measured in %s: %w", quote(text), t.Tag, unitName(t.Unit), err)
	}
	return t, nil
}

// Near returns a hint at the tag or alias that was probably meant: the nearest, or the one with the longest common
// prefix.
func Near(tag string) string {
	best, shared := suggest.Nearest(tag, metrics.Names()), 3
	if best != "" {
		return ", did you mean " + best + "?"
	}
	for _, d := range metrics.Table() {
		n := 0
		for n < min(len(tag), len(d.Tag)) && tag[n] == d.Tag[n] {
			n++
		}
		if n > shared {
			best, shared = d.Tag, n
		}
	}
	if best == "" {
		return ""
	}
	return ", did you mean " + best + "?"
}

var (
	distributionStats = []string{"avg", "min", "max", "std", "sum", "count"}
	timelineStats     = []string{"avg", "min", "max", "std", "p50", "p90", "p95", "p99"}
)

// checkStat returns an error if results cannot have the statistic. Which further percentiles a finished run has is not
// known here: a missing one is reported when the condition is evaluated.
func checkStat(stat string, d *metrics.Definition, known bool, further []float64, finished bool) error {
	rank, isPercentile := percentileOf(stat)
	if !isPercentile && !slices.Contains(distributionStats, stat) {
		return fmt.Errorf("%s is not a statistic; choose from %s and percentiles such as p99", quote(stat),
			strings.Join(distributionStats, ", "))
	}
	switch {
	case !known:
		return nil
	case d.Kind == metrics.KindAggregate || d.Kind == metrics.KindDerived:
		if stat != "avg" {
			return fmt.Errorf("%s is one number for the whole run: leave :%s out", d.Tag, stat)
		}
	case d.Kind == metrics.KindTimeline:
		if !slices.Contains(timelineStats, stat) {
			return fmt.Errorf("%s has no %s; choose from %s", d.Tag, stat, strings.Join(timelineStats, ", "))
		}
	case isPercentile && !finished && !slices.Contains(metrics.PercentileRanks[:], rank) &&
		!slices.Contains(further, rank):
		return fmt.Errorf("%s is not computed; ask for it with --percentiles %s", stat, strings.TrimPrefix(stat, "p"))
	}
	return nil
}

// percentileOf returns the rank that the name of a percentile means.
func percentileOf(stat string) (float64, bool) {
	number, ok := strings.CutPrefix(stat, "p")
	if !ok {
		return 0, false
	}
	rank, err := strconv.ParseFloat(number, 64)
	return rank, err == nil && rank > 0 && rank < 100 && metrics.RankKey(rank) == stat
}

// unitSpellings are other ways to write a unit.
var unitSpellings = map[string]metrics.Unit{
	"s": metrics.Seconds, "second": metrics.Seconds, "seconds": metrics.Seconds, "µs": metrics.Microseconds,
	"μs":    metrics.Microseconds,
	"req/s": metrics.RequestsPerSecond, "requests/s": metrics.RequestsPerSecond, "rps": metrics.RequestsPerSecond,
	"tok/s": metrics.TokensPerSecond, "tokens/s": metrics.TokensPerSecond, "tps": metrics.TokensPerSecond,
	"tokens/s/user": metrics.TokensPerSecondPerUser, "percent": metrics.Percent,
}

// inUnit converts a number to the display unit; without a unit it is in the display unit. Times may be written as
// 1m30s.
func inUnit(v float64, number, written, display string) (float64, error) {
	if written == "" || written == display {
		return v, nil
	}
	from := metrics.Unit(written)
	if other, ok := unitSpellings[written]; ok {
		from = other
	}
	if from == metrics.Percent && display == string(metrics.Ratio) {
		return v / 100, nil // a ratio of metrics is a part of a whole
	}
	ratio, err := metrics.RatioOf(from, metrics.Unit(display))
	if err != nil {
		if ns, isTime := metrics.RatioOf(metrics.Unit(display), metrics.Nanoseconds); isTime == nil {
			if v, err := scalar.In(time.Duration(ns), number+written); err == nil {
				return v, nil
			}
		}
		return 0, fmt.Errorf("%s cannot be converted to it", quote(written))
	}
	return v * ratio, nil
}

// amount is a number with a unit.
var amount = pattern.New(`^\s*([-+]?` + scalar.Pattern + `)\s*([^\s].*?)?\s*$`)

// Amount reads a limit of a metric: a number in its display unit, or one with a unit of its own, such as 300ms or 1%.
func Amount(text, tag string) (float64, error) {
	parts := amount.FindStringSubmatch(text)
	if parts == nil {
		return 0, fmt.Errorf("%s is not a number", quote(text))
	}
	v, err := scalar.Number(parts[1])
	if err != nil || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s is not a finite number", quote(text))
	}
	d, _ := metrics.Lookup(metrics.Canonical(tag))
	if v, err = inUnit(v, parts[1], parts[2], string(d.Display)); err != nil {
		return 0, fmt.Errorf("%s is measured in %s: %w", tag, unitName(string(d.Display)), err)
	}
	return v, nil
}

func unitName(u string) string {
	if u == "" {
		return "plain numbers"
	}
	return u
}

// quote returns what the user has written, quoted and shortened.
func quote(s string) string {
	const longest = 80
	if runes := []rune(s); len(runes) > longest {
		s = string(runes[:longest]) + "…"
	}
	return strconv.Quote(s)
}

// Judge evaluates the condition on the figures of a run.
func (t *Threshold) Judge(f *summary.Figures) Judgement {
	j := Judgement{Text: t.Text}
	block, ok := f.Find(t.Tag)
	if !ok {
		j.Failure = fmt.Sprintf("%s: the result has no %s", t.Text, t.Tag)
		return j
	}
	seen, ok := block.Stats[t.Stat]
	if !ok {
		j.Failure = fmt.Sprintf("%s: the result has no %s of %s", t.Text, t.Stat, t.Tag)
		return j
	}
	j.Seen = strings.TrimSpace(fmt.Sprintf("%s %s is %s %s", t.Tag, t.Stat, Number(seen), block.Unit))
	if t.Stat == "count" {
		j.Seen = fmt.Sprintf("%s has %.0f values", t.Tag, seen)
	}
	if t.holds(seen) {
		j.Failure = t.Text + ": " + j.Seen
	}
	return j
}

// Check returns why the figures are a failure, "" if they are not.
func (t *Threshold) Check(f *summary.Figures) string { return t.Judge(f).Failure }

func (t *Threshold) holds(seen float64) bool {
	switch t.Op {
	case "<":
		return seen < t.Limit
	case "<=":
		return seen <= t.Limit
	case ">":
		return seen > t.Limit
	default:
		return seen >= t.Limit
	}
}

// Judgement is a condition and why it is met; Failure is "" when it is not. Seen is what was measured, "" where the
// result lacks it.
type Judgement struct{ Text, Failure, Seen string }

// Line returns the judgement as one line, without a mark: the condition and what was measured.
func (j Judgement) Line() string {
	switch {
	case j.Failure != "":
		return j.Failure
	case j.Seen != "":
		return j.Text + ": " + j.Seen
	}
	return j.Text
}

// Failures counts the conditions that are met.
func Failures(list []Judgement) (n int) {
	for _, j := range list {
		if j.Failure != "" {
			n++
		}
	}
	return n
}

// Judge evaluates conditions as they were written; further are the ranks of further percentiles. One that cannot be
// read counts as met.
func Judge(texts []string, further []float64, f *summary.Figures) []Judgement {
	var out []Judgement
	for _, text := range texts {
		t, err := ParseThreshold(text, further, f)
		if err != nil {
			out = append(out, Judgement{Text: text, Failure: err.Error()})
			continue
		}
		out = append(out, t.Judge(f))
	}
	return out
}

// Number formats a figure as tables do, but so that a small one does not become 0.00.
func Number(v float64) string {
	if v != 0 && math.Abs(v) < 0.1 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return artifact.Fixed2(v)
}
