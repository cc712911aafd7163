package html

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/summary"
)

// The levels of a judgement.
const (
	good  = "good"
	warn  = "warn"
	bad   = "bad"
	plain = "plain"
)

// status adds the judgements of the run: how sure its figures are, what limited it, and whether it is within its
// thresholds and objectives.
func (v *view) status(r *summary.Result, run *Run) {
	judged := r.Judge()
	limits := judged.Limits()
	for _, line := range limits {
		v.Limits = append(v.Limits, statusOf(line))
	}
	first := judged.First()
	if len(limits) == 0 || first.Code != limits[0].Code {
		v.First = append(v.First, statusOf(first))
	}
	for _, line := range judged.Reliance() {
		if len(v.First) > 0 && line.Code == first.Code && line.Text == first.Text { // it stands at the top
			continue
		}
		v.Sure = append(v.Sure, statusOf(line))
	}
	v.Findings = clientFindings(r.ClientHealth)
	if s, ok := thresholdStatus(run.Thresholds); ok {
		v.Status = append(v.Status, s)
	}
	if s, ok := goodputStatus(r); ok {
		v.Status = append(v.Status, s)
	}
	if s := r.Submission; s != nil {
		state := status{Level: good, Title: "Scenario " + s.Scenario, Text: "The run complies with it."}
		if len(s.Reasons) > 0 {
			state = status{Level: bad, Title: "Scenario " + s.Scenario, Text: "The run does not comply with it:", Items: s.Reasons}
		}
		v.Status = append(v.Status, state)
	}
}

// statusOf is a finding as the page shows it.
func statusOf(line judge.Finding) status {
	s := status{Level: string(line.Level), Title: line.Title, Text: line.Text}
	if line.Advice != "" {
		s.Items = []string{line.Advice}
	}
	return s
}

// clientFindings are the reasons of the verdict on the client's own influence, with what to do.
func clientFindings(health artifact.Object) (out []string) {
	o, _ := normal(health).(artifact.Object)
	list, _ := o.Get("reasons")
	reasons, _ := list.([]any)
	for _, item := range reasons {
		reason, _ := item.(artifact.Object)
		message, _ := reason.Get("message")
		advice, _ := reason.Get("advice")
		out = append(out, strings.Trim(text(message)+"; "+text(advice), "; "))
	}
	return out
}

func thresholdStatus(list []compare.Judgement) (status, bool) {
	if len(list) == 0 {
		return status{}, false
	}
	s := status{Level: good, Marked: true}
	failed := 0
	for _, t := range list {
		if t.Failure != "" {
			failed++
			s.Items = append(s.Items, "✗\u00a0"+t.Failure)
		} else {
			s.Items = append(s.Items, "✓\u00a0"+t.Line())
		}
	}
	s.Title = "Thresholds passed"
	s.Text = fmt.Sprintf("None of the %s for a failure is met:", counted(len(list), "condition"))
	if len(list) == 1 {
		s.Text = "The condition for a failure is not met:"
	}
	if failed > 0 {
		s.Level, s.Title = bad, "Thresholds failed"
		s.Text = fmt.Sprintf("%d of %s for a failure met:", failed, counted(len(list), "condition"))
	}
	return s, true
}

func goodputStatus(r *summary.Result) (status, bool) {
	s := status{Level: plain}
	for _, of := range [...]struct{ goodput, fraction, what string }{
		{"goodput", "good_request_fraction", "requests"}, {"job_goodput", "good_job_fraction", "jobs"},
	} {
		goodput, ok := r.Find(of.goodput)
		if !ok {
			continue
		}
		if s.Title != "" {
			s.Title, s.Text = s.Title+", ", strings.TrimSuffix(s.Text, ":")+", "
		} else {
			s.Title = "Goodput "
		}
		s.Title += short(goodput.Stats.Avg) + " " + goodput.Unit
		if fraction, ok := r.Find(of.fraction); ok {
			s.Text += short(100*fraction.Stats.Avg) + " % of the " + of.what + " met every objective:"
		}
	}
	if s.Title == "" {
		return s, false
	}
	o, _ := normal(r.InputConfig).(artifact.Object)
	slos, _ := o.Get("slos")
	if again, ok := normal(r.Recomputed).(artifact.Object); ok {
		if other, ok := again.Get("slos"); ok {
			slos = other
		}
	}
	objectives, _ := slos.(artifact.Object)
	for _, m := range objectives {
		unit, compare := "", "≤"
		if d, ok := metrics.Lookup(m.Key); ok {
			unit = string(d.Display)
			if d.LargerIsBetter() {
				compare = "≥"
			}
		}
		s.Items = append(s.Items, m.Key+" "+compare+" "+text(m.Value)+" "+unit)
	}
	return s, true
}

// percentile is one of a metric, with its bounds; NaN where there is none.
type percentile struct {
	name             string
	value, low, high float64
	bounded          bool
}

func percentileOf(m *metrics.Metric, rank float64) (percentile, bool) {
	p := percentile{name: metrics.RankKey(rank), low: notKnown, high: notKnown, value: notKnown}
	if !m.Distribution {
		return p, false
	}
	p.value = m.Percentile(rank)
	for _, b := range m.Bounds {
		if b.Rank == rank {
			p.low, p.high, p.bounded = b.Low, b.High, true
		}
	}
	return p, artifact.Finite(p.value)
}

// interval writes bounds; "" where there are none.
func (p *percentile) interval() string {
	low, high := short(p.low), short(p.high)
	switch {
	case !p.bounded || low == "" && high == "":
		return ""
	case low == "":
		return "≤ " + high
	case high == "":
		return "≥ " + low
	}
	// Digits beyond the first of the width say nothing.
	if width := p.high - p.low; width > 0 {
		digits := func(v float64) int { return int(math.Floor(math.Log10(v))) }
		decimals := max(0, min(-digits(width), 3-digits(max(math.Abs(p.low), math.Abs(p.high)))))
		low, high = rounded(p.low, decimals), rounded(p.high, decimals)
	}
	return low + " – " + high
}

// rounded writes a figure with so many decimals and separators.
func rounded(v float64, decimals int) string {
	if whole, fraction, ok := strings.Cut(strconv.FormatFloat(v, 'f', decimals, 64), "."); ok {
		return artifact.GroupThousands(whole) + "." + fraction
	}
	return artifact.GroupThousands(strconv.FormatFloat(v, 'f', 0, 64))
}

// few reports that there are too few samples for an upper bound.
func (p *percentile) few() bool { return p.bounded && !artifact.Finite(p.high) }

// keyFigures are the metrics of the cards, as far as the run has them.
var keyFigures = []string{"time_to_first_token", "inter_token_latency", "request_latency", "output_token_throughput",
	"output_token_throughput_per_user", "request_throughput"}

func cards(r *summary.Result) []card {
	var out []card
	for _, tag := range keyFigures {
		m, ok := r.Find(tag)
		if !ok {
			continue
		}
		c := card{Title: m.Header, Unit: m.Unit, About: aboutOf(&m)}
		if !m.Distribution {
			c.Value = short(m.Stats.Avg)
			out = append(out, c)
			continue
		}
		for _, rank := range [...]float64{50, 90, 99} {
			p, ok := percentileOf(&m, rank)
			if !ok {
				continue
			}
			if rank == 50 {
				c.Value, c.What = short(p.value), "median"
			}
			if rank == 50 && p.interval() != "" {
				c.What += " (" + p.interval() + ")"
			}
			if rank != 50 {
				line := p.name + " " + short(p.value)
				if i := p.interval(); i != "" {
					line += " (" + i + ")"
				}
				c.Lines = append(c.Lines, cardLine{Text: line, Few: p.few()})
			}
		}
		out = append(out, c)
	}
	return out
}

func counted(n int, of string) string { return fmt.Sprintf("%d %s", n, plural(n, of)) }
