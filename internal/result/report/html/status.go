package html

import (
	"fmt"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/stats"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/summary"
)

// The levels of a judgement.
const (
	good  = "good"
	warn  = "warn"
	bad   = "bad"
	plain = "plain"
)

// status adds the judgements of the run: whether it is complete, valid, and within its thresholds and objectives.
func (v *view) status(r *summary.Result, run *Run) {
	v.Status = append(v.Status, completeness(r))
	if s, ok := clientStatus(r.ClientHealth); ok {
		v.Status = append(v.Status, s)
	}
	if s, ok := thresholdStatus(run.Thresholds); ok {
		v.Status = append(v.Status, s)
	}
	if s, ok := goodputStatus(r); ok {
		v.Status = append(v.Status, s)
	}
	if s := r.Submission; s != nil {
		state := status{good, "Scenario " + s.Scenario, "The run complies with it.", nil, false}
		if len(s.Reasons) > 0 {
			state = status{bad, "Scenario " + s.Scenario, "The run does not comply with it:", s.Reasons, false}
		}
		v.Status = append(v.Status, state)
	}
}

func completeness(r *summary.Result) status {
	errors := ""
	if n := r.Counts.Errors; n > 0 {
		all := r.Counts.Completed()
		errors = fmt.Sprintf(" %s of %s requests failed (%s %%).", integer(n), integer(all),
			short(100*float64(n)/float64(all)))
	}
	if n := r.Counts.Skipped; n > 0 {
		errors += fmt.Sprintf(" %s of %s requests were skipped: their context was too long.", integer(n),
			integer(r.Counts.Completed()))
	}
	switch {
	case r.Incomplete != "":
		return status{bad, "Run incomplete", r.Incomplete + ". " + summary.PartOnly + errors, nil, false}
	case r.WasCancelled:
		return status{warn, "Run cancelled",
			"It was stopped early; the figures cover the requests up to then." + errors, nil, false}
	case errors != "" && r.Counts.Successes == 0:
		return status{bad, "All requests failed", strings.TrimSpace(errors), nil, false}
	case errors != "":
		return status{warn, "Run complete, with errors", strings.TrimSpace(errors), nil, false}
	}
	return status{good, "Run complete", "All " + integer(r.Counts.Successes) + " requests succeeded.", nil, false}
}

// clientStatus is the verdict on the client's own influence.
func clientStatus(health artifact.Object) (status, bool) {
	o, _ := normal(health).(artifact.Object)
	verdict, ok := o.Get("verdict")
	if !ok {
		return status{}, false
	}
	s := status{Level: warn, Title: "Client: " + strings.ReplaceAll(text(verdict), "_", " "),
		Text: "Check these findings before you rely on the figures:"}
	switch text(verdict) {
	case "valid":
		s.Level, s.Text = good, "The requested load was sent, and the client's own share in the figures is small."
	case "client_limited":
		s.Level, s.Text = bad, "The client was the bottleneck; the server may be faster than the figures say:"
	}
	list, _ := o.Get("reasons")
	reasons, _ := list.([]any)
	for _, item := range reasons {
		reason, _ := item.(artifact.Object)
		message, _ := reason.Get("message")
		advice, _ := reason.Get("advice")
		s.Items = append(s.Items, strings.Trim(text(message)+"; "+text(advice), "; "))
	}
	return s, true
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
			s.Items = append(s.Items, "✓\u00a0"+t.Text)
		}
	}
	s.Title = "Thresholds passed"
	s.Text = fmt.Sprintf("None of the %d conditions for a failure is met:", len(list))
	if failed > 0 {
		s.Level, s.Title = bad, "Thresholds failed"
		s.Text = fmt.Sprintf("%d of %d conditions for a failure are met:", failed, len(list))
	}
	return s, true
}

func goodputStatus(r *summary.Result) (status, bool) {
	goodput, ok := r.Find("goodput")
	if !ok {
		return status{}, false
	}
	s := status{Level: plain, Title: "Goodput " + short(goodput.Stats.Avg) + " " + goodput.Unit}
	if fraction, ok := r.Find("good_request_fraction"); ok {
		s.Text = short(100*fraction.Stats.Avg) + " % of the requests met every objective:"
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

// card is a key figure.
type card struct {
	Title, Value, Unit, What string
	Lines                    []string
	// Few says that there are too few samples to know a percentile.
	Few string
}

// percentile is one of a metric, with its bounds; NaN where there is none.
type percentile struct {
	name             string
	value, low, high float64
	bounded          bool
}

func percentileOf(m *metrics.Result, rank float64) (percentile, bool) {
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
	return low + " – " + high
}

// few reports that there are too few samples for an upper bound.
func (p *percentile) few() bool { return p.bounded && !artifact.Finite(p.high) }

// needed is how many samples a percentile needs.
func needed(rank float64) int64 { return stats.SamplesForBounds(rank, metrics.BoundsConfidence) }

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
		c := card{Title: m.Header, Unit: m.Unit}
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
				c.Lines = append(c.Lines, line)
			}
			if p.few() && c.Few == "" {
				c.Few = fmt.Sprintf("%s requests are too few for %s; it needs %s", integer(m.Stats.Count), p.name,
					integer(needed(rank)))
			}
		}
		out = append(out, c)
	}
	return out
}
