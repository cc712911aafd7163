package compare

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
)

// keyFigure is a figure that is shown unless others are asked for.
type keyFigure struct {
	tag, stat string
	// word is its name in a sentence.
	word string
	// rank is its importance: of all that are there, the most important ones are shown.
	rank int
}

// keyFigures are in the order in which they are shown.
var keyFigures = []keyFigure{
	{"request_throughput", "avg", "throughput", 0},
	{"output_token_throughput", "avg", "output tokens/s", 1},
	{"goodput", "avg", "goodput", 3},
	{"jobs_per_hour", "avg", "jobs/h", 3},
	{"job_latency", "p50", "job latency", 3},
	{"request_error_rate", "avg", "error rate", 2},
	{"time_to_first_token", "p50", "TTFT", 4},
	{"time_to_first_token", "p99", "TTFT p99", 5},
	{"inter_token_latency", "p50", "ITL", 6},
	{"inter_token_latency", "p99", "ITL p99", 9},
	{"request_latency", "p50", "latency", 7},
	{"request_latency", "p99", "latency p99", 8},
	{"output_sequence_length", "avg", "output length", 10},
}

// mostKeyFigures is the number of rows unless all are asked for.
const mostKeyFigures = 8

// Key returns the places of the figures that matter most, in the order in which they are shown: all of them where they
// were asked for by name.
func (c *Comparison) Key() (list []int) {
	if c.chosen {
		for i := range c.Figures {
			list = append(list, i)
		}
		return list
	}
	type place struct{ at, rank, order int }
	var places []place
	for order, k := range keyFigures {
		at := c.place(k.tag, k.stat)
		if k.stat == "p50" && (at < 0 || c.Figures[at].Verdict == Undecided) {
			if avg := c.place(k.tag, "avg"); avg >= 0 && (at < 0 || c.Figures[avg].Verdict != Undecided) {
				at = avg
			}
		}
		if at < 0 || k.tag == "request_error_rate" && c.Figures[at].Base == 0 && c.Figures[at].New == 0 {
			continue
		}
		places = append(places, place{at, k.rank, order})
	}
	// Other kinds of endpoints have figures of their own.
	for at := range c.Figures {
		f := &c.Figures[at]
		known := slices.ContainsFunc(keyFigures, func(k keyFigure) bool { return k.tag == f.Tag })
		if !known && f.Stat == "avg" && direction(f.Tag, f.Unit) != 0 && f.Tag != "request_error_rate" {
			places = append(places, place{at, len(keyFigures) + at, len(keyFigures) + at})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.rank, b.rank) })
	places = places[:min(len(places), mostKeyFigures)]
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.order, b.order) })
	for _, p := range places {
		list = append(list, p.at)
	}
	return list
}

// place is where a figure stands; −1 if there is none.
func (c *Comparison) place(tag, stat string) int {
	return slices.IndexFunc(c.Figures, func(f Figure) bool { return f.Tag == tag && f.Stat == stat })
}

// word is the name of a figure in a sentence.
func (f *Figure) word() string {
	for _, k := range keyFigures {
		if k.tag == f.Tag && k.stat == f.Stat {
			return k.word
		}
	}
	for _, k := range keyFigures {
		if k.tag == f.Tag && f.Stat == "avg" {
			return k.word + " avg"
		}
	}
	return f.short()
}

// short is the label of a figure in narrow places, without its unit.
func (f *Figure) short() string {
	label, aggregate := f.Header, false
	if d, ok := metrics.Lookup(f.Tag); ok {
		label, aggregate = d.Short, d.Kind == metrics.KindAggregate || d.Kind == metrics.KindDerived
	}
	if aggregate && f.Stat == "avg" {
		return label
	}
	return label + " " + f.Stat
}

// factor is how many times the larger value is the smaller one.
func (f *Figure) factor() float64 {
	a, b := math.Abs(f.Base), math.Abs(f.New)
	return max(a, b) / min(a, b)
}

// phrase says how a figure changed: "4.5 × lower throughput", "ITL 20 % worse".
func (f *Figure) phrase() string {
	higher := "lower"
	if f.New > f.Base {
		higher = "higher"
	}
	switch factor := f.factor(); {
	case f.IsShare():
		return fmt.Sprintf("%s %s, was %s", f.word(), f.value(f.New), f.value(f.Base))
	case !artifact.Finite(factor):
		return fmt.Sprintf("%s %s (%s, was %s)", f.word(), higher, artifact.Short(f.New), artifact.Short(f.Base))
	case factor >= 2:
		return fmt.Sprintf("%s × %s %s", twoDigits(factor), higher, f.word())
	case f.Verdict == Differs:
		return fmt.Sprintf("%s %s %% %s", f.word(), twoDigits(math.Abs(f.Percent())), higher)
	}
	return fmt.Sprintf("%s %s %% %s", f.word(), twoDigits(math.Abs(f.Percent())), f.Verdict)
}

// twoDigits writes a positive number with two digits that matter at least.
func twoDigits(v float64) string {
	switch {
	case v >= 9.95:
		return artifact.GroupThousands(fmt.Sprintf("%.0f", v))
	case v >= 0.95:
		return artifact.Trimmed(v, 1)
	}
	return fmt.Sprintf("%.2g", v)
}

// value writes a value of the figure: of a share with its sign.
func (f *Figure) value(v float64) string {
	if f.IsShare() {
		return artifact.Short(v) + " %"
	}
	return artifact.Short(v)
}

// Headline says in one line what the comparison shows: the name of the new system and how its figures changed, the
// worse ones first.
func (c *Comparison) Headline() string { return c.NewName() + ": " + c.Finding() }

// Finding is the headline without the name: the states of the runs, what was asked differently, how the figures changed.
func (c *Comparison) Finding() string {
	var parts []string
	for _, part := range []string{stateText(c.States()), c.NotTheSame(), c.Changes()} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ". ")
}

// Changes says how the figures that matter most changed, the worse ones first.
func (c *Comparison) Changes() string {
	key := c.Key()
	var shown, differs []*Figure
	judged := 0
	for _, at := range key {
		f := &c.Figures[at]
		if f.Verdict != Undecided {
			judged++
		}
		if (f.Verdict == Better || f.Verdict == Worse) && !said(shown, f) {
			shown = append(shown, f)
		}
		if f.Verdict == Differs && !said(differs, f) {
			differs = append(differs, f)
		}
	}
	if len(shown) == 0 || len(c.Asked) > 0 {
		shown = append(shown, differs...)
	}
	if len(shown) == 0 {
		return c.nothing(key, judged)
	}
	slices.SortStableFunc(shown, func(a, b *Figure) int {
		return cmp.Or(cmp.Compare(worseFirst(a), worseFirst(b)))
	})
	const most = 4
	var parts []string
	for _, f := range shown[:min(len(shown), most)] {
		parts = append(parts, f.phrase())
	}
	text := strings.Join(parts, ", ")
	if n := len(shown) - most; n > 0 {
		text += fmt.Sprintf(", %d more", n)
	}
	return text
}

func worseFirst(f *Figure) int {
	if f.Verdict == Worse {
		return 0
	}
	return 1
}

// said reports whether a figure adds nothing to those before it: another statistic of the same metric with the same
// verdict, or the other rate by the same factor.
func said(before []*Figure, f *Figure) bool {
	return slices.ContainsFunc(before, func(b *Figure) bool {
		same := b.Verdict == f.Verdict
		if b.Tag == f.Tag {
			return same
		}
		_, rate := yields[b.Tag]
		_, other := yields[f.Tag]
		return rate && other && same && math.Abs(math.Log(b.New/b.Base)-math.Log(f.New/f.Base)) < 0.05
	})
}

// nothing is the finding where nothing is better or worse; the difference that the data leave room for says how much
// that means.
func (c *Comparison) nothing(key []int, judged int) string {
	worse, better := c.with(Worse), c.with(Better)
	switch {
	case len(c.Missing) > 0:
		return fmt.Sprintf("no %s, which %s has", strings.Join(c.Missing, ", "), shortName(c.Base.Name, c.New.Name))
	case worse+better > 0:
		return fmt.Sprintf("no difference is shown in the most important figures; of the others %d worse, %d better",
			worse, better)
	case judged == 0:
		return "undecided: the figures have no interval"
	case !slices.ContainsFunc(key, func(at int) bool { return c.Figures[at].Verdict == NotShown }):
		return "no difference"
	}
	for _, at := range key {
		f := &c.Figures[at]
		if f.Verdict == NotShown && f.Base != 0 && f.Method != MethodNone {
			return fmt.Sprintf("no difference is shown (%s %s)", f.word(), f.Interval())
		}
	}
	return "no difference is shown"
}

// NewName is the short name of the new system, unless the base has the same one.
func (c *Comparison) NewName() string { return shortName(c.New.Name, c.Base.Name) }

// shortName is the last part of a path, or the whole if another one ends in the same.
func shortName(name, other string) string {
	short := filepath.Base(filepath.Clean(name))
	if short == "." || short == string(filepath.Separator) || filepath.Base(filepath.Clean(other)) == short {
		return name
	}
	return short
}
