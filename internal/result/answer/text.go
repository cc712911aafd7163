package answer

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
)

// Between writes an interval with as many digits as its width calls for: "11.9–12.9", or none where both ends are whole
// numbers. It is "" without an interval.
func Between(low, high float64) string {
	if !artifact.Finite(low) || !artifact.Finite(high) {
		return ""
	}
	decimals, to := decimalsOf(high-low), "–"
	if low == math.Trunc(low) && high == math.Trunc(high) {
		decimals = 0
	}
	if low < 0 {
		to = " to "
	}
	return fixed(low, decimals) + to + fixed(high, decimals)
}

// decimalsOf returns the decimals that a width calls for: an interval that is 1 wide has one.
func decimalsOf(width float64) int {
	if !(width > 0) {
		return 0
	}
	return min(max(-int(math.Floor(math.Log10(width/2))), 0), 6)
}

func fixed(v float64, decimals int) string {
	whole, rest, dotted := strings.Cut(fmt.Sprintf("%.*f", decimals, v), ".")
	if whole = artifact.GroupThousands(whole); dotted {
		return whole + "." + rest
	}
	return whole
}

// Measured writes a value with its unit and its interval: "12.4 requests/s, 95 %: 11.9–12.9".
func Measured(v, low, high, level float64, unit string) string {
	text := strings.TrimSpace(artifact.Short(v) + " " + unit)
	if interval := Between(low, high); interval != "" {
		if high > low && v != math.Trunc(v) {
			text = strings.TrimSpace(fixed(v, decimalsOf(high-low)) + " " + unit)
		}
		text += ", " + Percent(level) + ": " + interval
	}
	return text
}

// Percent writes a share as a percentage.
func Percent(share float64) string { return artifact.Trimmed(100*share, 3) + " %" }

// loadWords are how loads that have a unit are named in sentences.
var loadWords = map[string]struct{ unit, prefix, noun, largest string }{
	"rate":  {"requests/s", "", "rate", "largest rate"},
	"users": {"users", "", "number of users", "largest number of users"},
	"isl":   {"tokens", "prompts of ", "prompt length", "longest prompt"},
	"osl":   {"tokens", "replies of ", "reply length", "longest reply"},
}

// NewParameter returns the parameter of a path, with the unit that loads of its name have.
func NewParameter(path string) Parameter {
	p := Parameter{Name: path[strings.LastIndexByte(path, '.')+1:], Path: path}
	p.Unit = loadWords[p.Name].unit
	return p
}

// Value writes a load: "concurrency 186", or "12.4 requests/s" and "prompts of 2,048 tokens" where it has a unit.
func (p Parameter) Value(v float64) string {
	return p.before() + strings.TrimSpace(artifact.Short(v)+" "+p.Unit)
}

// before is what goes before a value of a load.
func (p Parameter) before() string {
	if p.Unit == "" {
		return p.Name + " "
	}
	return loadWords[p.Name].prefix
}

// noun names a load in a sentence.
func (p Parameter) noun() string { return cmp.Or(loadWords[p.Name].noun, p.Name) }

// Largest names what a search for the boundary of a load looks for, such as "longest prompt".
func (p Parameter) Largest() string {
	return cmp.Or(loadWords[p.Name].largest, "largest "+strings.ReplaceAll(p.Name, "_", " "))
}

// Headline says in one sentence what load the server takes.
func (c *Capacity) Headline() string {
	switch c.Outcome {
	case Found:
		return c.Load.before() + Measured(c.Value, c.Low, c.High, c.Level, c.Load.Unit) + c.atRate()
	case WholeRange:
		return "at least " + c.Load.Value(c.Hi) + c.atRate() + ": the largest load of the range meets all limits"
	case NotEvenSmallest:
		return "none: not even " + c.Load.Value(c.Lo) + " meets the limits"
	}
	switch {
	case artifact.Finite(c.Low) && artifact.Finite(c.High):
		return "not decided: " + strings.TrimSpace(c.Load.noun()+" between "+artifact.Short(c.Low)+" and "+
			artifact.Short(c.High)+" "+c.Load.Unit)
	case artifact.Finite(c.Value):
		return "not decided: " + c.Load.Value(c.Value) + " met the limits, beyond is not known"
	}
	return "not decided"
}

// Measured says which loads on both sides of the boundary were measured, and where the curve between them meets the
// limit; "" where the boundary was not found.
func (c *Capacity) Measured() string {
	if c.Outcome != Found {
		return ""
	}
	var parts []string
	if artifact.Finite(c.Within) {
		parts = append(parts, c.Load.Value(c.Within)+" met the limits")
	}
	if artifact.Finite(c.Beyond) {
		parts = append(parts, c.Load.Value(c.Beyond)+" did not")
	}
	if e := c.estimated(); len(parts) > 0 && e != c.Within {
		parts = append(parts, "estimate of the boundary "+artifact.Short(e))
	}
	return strings.Join(parts, ", ")
}

// atRate says the throughput at the answer.
func (c *Capacity) atRate() string {
	r := c.Rate
	if !artifact.Finite(r.Mean) || r.Mean == 0 {
		return ""
	}
	unit := "requests/s"
	if c.InJobs {
		unit = "jobs/hour"
	}
	if r.HasInterval() {
		return " (" + Measured(r.Mean, r.Low, r.High, c.Level, unit) + ")"
	}
	return " (" + artifact.Short(r.Mean) + " " + unit + ")"
}

// Bound says what bound first; "" if that is not known.
func (c *Capacity) Bound() string {
	if c.BoundBy != "" || c.Binding < 0 || c.Binding >= len(c.Limits) {
		return c.BoundBy
	}
	l := c.Limits[c.Binding]
	var sides []string
	if l.Passing != nil {
		sides = append(sides, artifact.Short(*l.Passing)+" "+l.Unit+" at the largest load within the limits")
	}
	if l.Failing != nil {
		where := " at the smallest load"
		if l.Passing != nil {
			where = " at the smallest beyond"
		}
		sides = append(sides, artifact.Short(*l.Failing)+" "+l.Unit+where)
	}
	return strings.TrimSuffix(LimitText(l)+": "+strings.Join(sides, ", "), ": ")
}

// Point describes a point of the curve: its load, latency, throughput and throughput per user.
func (c *Curve) Point(i int) string {
	if i < 0 || i >= len(c.Points) {
		return ""
	}
	p := &c.Points[i]
	parts := []string{}
	for _, m := range []Metric{c.Throughput, c.PerUser, c.Latency} {
		if v := p.At(m); m.Tag != "" && !math.IsNaN(v) {
			parts = append(parts, m.Title()+" "+strings.TrimSpace(artifact.Short(v)+" "+m.Unit))
		}
	}
	text := c.Load.Value(p.Load)
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

// String says what an answer cost: "9 runs, 4,312 requests, 1,204,331 tokens, 3 min 12 s".
func (s Spent) String() string {
	text := fmt.Sprintf("%s, %s, %s, %s", plural(s.Runs, "run"), plural(s.Requests, "request"),
		plural(s.Tokens, "token"), Took(s.Time))
	if s.Saved > 0 {
		text += "; " + Took(s.Saved) + " saved by early verdicts"
	}
	return text
}

func plural(n int64, of string) string {
	text := artifact.GroupThousands(fmt.Sprint(n)) + " " + of
	if n != 1 {
		text += "s"
	}
	return text
}

// Took writes a duration for people: "3 min 12 s".
func Took(d time.Duration) string {
	if d < time.Minute {
		return artifact.Trimmed(d.Seconds(), 1) + " s"
	}
	d = d.Round(time.Second)
	hours, minutes, seconds := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	if hours > 0 {
		return fmt.Sprintf("%d h %d min", hours, minutes)
	}
	return fmt.Sprintf("%d min %d s", minutes, seconds)
}
