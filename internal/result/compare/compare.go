package compare

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/manual"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
)

// Verdict is the result of comparing a figure of two systems.
type Verdict string

// The verdicts. Differs is for figures of which neither direction is better. Same is for figures that are equal or whose
// difference is smaller than the smallest one that counts; NotShown for those whose difference may be chance; a figure without
// an interval is undecided.
const (
	Better    Verdict = "better"
	Worse     Verdict = "worse"
	Differs   Verdict = "differs"
	Same      Verdict = "no difference"
	NotShown  Verdict = "not shown"
	Undecided Verdict = "undecided"
)

// Shown reports whether the data show what the verdict says.
func (v Verdict) Shown() bool { return v != NotShown && v != Undecided }

// Options configure a comparison.
type Options struct {
	// Tags are the metrics; none means those of the main console table.
	Tags []string
	// Stats are the statistics of distributions; none means avg, p50 and p99.
	Stats []string
	// Confidence of the intervals, in (0, 1); 0 is 0.95.
	Confidence float64
	// MinPercent is the smallest difference that counts, in percent of the base; 0 is [SmallestEffect], and with a
	// negative value every difference counts.
	MinPercent float64
}

// SmallestEffect is the smallest difference that counts unless another one is asked for, in percent of the base: large
// runs show differences that matter to nobody.
const SmallestEffect = 1

// Figure is one line of a comparison.
type Figure struct {
	Tag, Stat, Header, Unit string
	Base, New               float64
	// Low and High are the interval of New − Base; NaN where there is none.
	Low, High float64
	Method    Method
	Verdict   Verdict
	// toward is whether the figure became better or worse where what was asked differs and the verdict is no judgement.
	toward Verdict
	// Noise is the coefficient of variation among the runs of the base, NaN for a single one.
	Noise float64
}

// IsShare reports whether the figure is a share in percent: its differences are points of it.
func (f *Figure) IsShare() bool { return f.Unit == string(metrics.Percent) }

// Percent returns the difference in percent of the base.
func (f *Figure) Percent() float64 { return 100 * (f.New - f.Base) / math.Abs(f.Base) }

// Comparison is the comparison of one system with the base.
type Comparison struct {
	Base, New  *System
	Confidence float64
	// MinPercent is the smallest difference that counts, in percent of the base.
	MinPercent float64
	// Asked names what was asked differently in both systems: their differences are then those of tests, and none is
	// judged.
	Asked []string
	// Notes are reasons why the runs may not be comparable.
	Notes   []string
	Figures []Figure
	// Answers compares the graded answers; nil where they have no problem in common.
	Answers *summary.Difference
	// Missing are the requested metrics that the base has and the new system has not.
	Missing []string
	// Incomplete reports that a run of either system did not complete.
	Incomplete bool
	// Configuration lists what differs in the configurations.
	Configuration []Difference
	// chosen reports that the figures were asked for by their names.
	chosen bool
}

// Compare compares a system with the base.
func Compare(base, next *System, o Options) (*Comparison, error) {
	c, err := compareFigures(base, next, o)
	if err == nil {
		c.remark()
	}
	return c, err
}

// compareFigures compares a system with the base, without notes on the intervals.
func compareFigures(base, next *System, o Options) (*Comparison, error) {
	o.Tags = slices.Clone(o.Tags)
	for i, name := range o.Tags {
		o.Tags[i] = metrics.Canonical(name)
	}
	if err := checkAsked(base, next, o); err != nil {
		return nil, err
	}
	chosen := len(o.Tags)+len(o.Stats) > 0
	if o.Confidence == 0 {
		o.Confidence = 0.95
	}
	if o.MinPercent == 0 {
		o.MinPercent = SmallestEffect
	}
	if len(o.Stats) == 0 {
		o.Stats = []string{"avg", "p50", "p99"}
	}
	c := &Comparison{Base: base, New: next, Confidence: o.Confidence, Incomplete: incomplete(base, next),
		MinPercent: max(0, o.MinPercent), Asked: askedDifferences(base, next), Configuration: differences(base, next),
		chosen: chosen}
	c.Notes = notes(base, next, c.Configuration)
	var missing []string
	var err error
	if c.Answers, err = answersOf(base, next, o.Confidence); err != nil {
		return nil, err
	}
	for _, tag := range tagsOf(o.Tags) {
		if !next.has(tag) && base.has(tag) {
			missing = append(missing, tag)
		}
		for _, stat := range o.Stats {
			f, ok, err := c.figure(tag, stat)
			if err != nil {
				return nil, err
			}
			if ok {
				f.Verdict = verdict(&f, c.MinPercent)
				if len(c.Asked) > 0 && (f.Verdict == Better || f.Verdict == Worse) {
					f.toward, f.Verdict = f.Verdict, Differs
				}
				c.Figures = append(c.Figures, f)
			}
		}
	}
	if len(c.Figures) == 0 {
		return nil, fmt.Errorf("%s and %s have no metric in common", base.Name, next.Name)
	}
	if len(missing) > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%s has no %s, which %s has", next.Name, strings.Join(missing, ", "),
			base.Name))
	}
	// Each tool has metrics that others lack, and benchmark reports have no place for most of ours.
	if chosen || base.origin() == next.origin() && base.converted() == next.converted() {
		c.Missing = missing
	}
	return c, nil
}

// remark adds notes on how far the intervals can be trusted.
func (c *Comparison) remark() {
	if slices.ContainsFunc(c.Figures, func(f Figure) bool { return f.Method.within() }) {
		c.Notes = append(c.Notes, "intervals from single runs cover only the noise between requests: repeated runs "+
			"may differ by more; compare folders of repeats")
	}
	if slices.ContainsFunc(c.Figures, func(f Figure) bool { return f.Method == MethodTooFew }) {
		c.Notes = append(c.Notes, tooFewNote(c))
	}
	if n := c.judged(); n > 1 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d figures are judged: at %.4g %% confidence about %.2g of them would "+
			"differ by chance alone; choose the figures that matter with --metrics and --stats", n, 100*c.Confidence,
			float64(n)*(1-c.Confidence)))
	}
}

// checkAsked returns an error for requested metrics and statistics that neither side has.
func checkAsked(base, next *System, o Options) error {
	var faults []error
	for _, tag := range o.Tags {
		if base.has(tag) || next.has(tag) {
			continue
		}
		hint := ""
		if _, known := metrics.Lookup(tag); !known {
			hint = Near(tag) + "; " + manual.Page("metrics") + " lists the metrics"
		}
		faults = append(faults, fmt.Errorf("neither %s nor %s has %s%s", base.Name, next.Name, quote(tag), hint))
	}
	for _, stat := range o.Stats {
		_, percentile := percentileOf(stat)
		switch {
		case !percentile && !slices.Contains(distributionStats, stat):
			faults = append(faults, fmt.Errorf("%s is not a statistic; choose from %s and percentiles such as p99",
				quote(stat), strings.Join(distributionStats, ", ")))
		case base.hasStat(stat) || next.hasStat(stat):
		case percentile:
			faults = append(faults, fmt.Errorf("neither %s nor %s has a %s; aiperf report RUN --percentiles %s "+
				"computes it", base.Name, next.Name, stat, stat[1:]))
		default:
			faults = append(faults, fmt.Errorf("neither %s nor %s has the statistic %s", base.Name, next.Name, stat))
		}
	}
	return errors.Join(faults...)
}

// tagsOf returns the metrics to compare, in the order of the metric table.
func tagsOf(asked []string) []string {
	var out []string
	for _, d := range metrics.Table() {
		wanted := (d.Group == metrics.GroupDefault || d.Group == metrics.GroupJobs) && d.Kind != metrics.KindAdjusted
		if len(asked) > 0 {
			wanted = slices.Contains(asked, d.Tag)
		}
		if wanted {
			out = append(out, d.Tag)
		}
	}
	for _, tag := range asked {
		if _, known := metrics.Lookup(tag); !known {
			out = append(out, tag)
		}
	}
	return out
}

// figure compares one statistic of a metric; it returns false when a side has none.
func (c *Comparison) figure(tag, stat string) (Figure, bool, error) {
	a, okA := c.Base.moments(tag, stat)
	b, okB := c.New.moments(tag, stat)
	if !okA || !okB {
		return Figure{}, false, nil
	}
	f := Figure{Tag: tag, Stat: stat, Header: tag, Unit: c.Base.unitOf(tag, stat), Base: a.mean, New: b.mean,
		Low: math.NaN(), High: math.NaN(), Noise: math.NaN()}
	if d, known := metrics.Lookup(tag); known {
		f.Header = d.Header
	}
	if a.n > 1 && a.mean != 0 {
		f.Noise = math.Sqrt(a.variance) / math.Abs(a.mean)
	}
	found, ok := fromRepeats(a, b, c.Confidence)
	if !ok {
		var err error
		if found, ok, err = c.fromSingleRuns(tag, stat); err != nil {
			return f, false, err
		}
	}
	switch {
	case ok:
		f.Low, f.High, f.Method = found.low, found.high, found.method
	case found.method == MethodTooFew:
		f.Method = MethodTooFew
	}
	return f, true, nil
}

// fromSingleRuns compares one run with one run.
func (c *Comparison) fromSingleRuns(tag, stat string) (interval, bool, error) {
	if len(c.Base.Runs) != 1 || len(c.New.Runs) != 1 {
		return interval{}, false, nil
	}
	if tag == "request_error_rate" && stat == "avg" {
		found, ok := fromShares(&c.Base.Runs[0].Figures, &c.New.Runs[0].Figures, tag, c.Confidence)
		return found, ok, nil
	}
	x, err := c.Base.Runs[0].readRequests()
	if err != nil {
		return interval{}, false, err
	}
	y, err := c.New.Runs[0].readRequests()
	if err != nil {
		return interval{}, false, err
	}
	if pair(&c.Base.Runs[0], &c.New.Runs[0]) { // the hashes of the datasets differ by the ids alone
		note := differInNote(c.Base, c.New, "dataset", nil)
		c.Notes = slices.DeleteFunc(c.Notes, func(n string) bool { return n == note || strings.HasPrefix(n, note+": ") })
	}
	if _, rate := yields[tag]; rate && stat == "avg" {
		found, ok := fromRates(x, y, tag, c.Confidence)
		return found, ok, nil
	}
	if found, ok := fromRequests(x, y, tag, stat, c.Confidence); ok || found.method == MethodTooFew {
		return found, ok, nil
	}
	a, _ := c.Base.Runs[0].Figures.Find(tag)
	b, _ := c.New.Runs[0].Figures.Find(tag)
	found, ok := fromBounds(a, b, stat, c.Confidence)
	return found, ok, nil
}

// chance reports whether the difference may be chance: no difference is in its interval.
func (f *Figure) chance() bool { return (interval{low: f.Low, high: f.High}).containsZero() }

func verdict(f *Figure, minPercent float64) Verdict {
	switch {
	case f.Base == f.New:
		return Same
	case f.Method == MethodNone, f.Method == MethodTooFew:
		return Undecided
	case math.Abs(f.Percent()) < minPercent && !f.chance(),
		max(-f.Low, f.High) < minPercent/100*math.Abs(f.Base):
		return Same
	case f.chance():
		return NotShown
	}
	switch sign := direction(f.Tag, f.Unit); {
	case sign == 0:
		return Differs
	case (f.New > f.Base) == (sign > 0):
		return Better
	default:
		return Worse
	}
}

// with returns the number of figures with a verdict.
func (c *Comparison) with(v Verdict) (n int) {
	for i := range c.Figures {
		if c.Figures[i].Verdict == v {
			n++
		}
	}
	return n
}

// judged returns the number of figures with an interval.
func (c *Comparison) judged() int {
	n := 0
	for i := range c.Figures {
		if !math.IsNaN(c.Figures[i].Low) {
			n++
		}
	}
	return n
}

// tooFewNote lists the statistics with too few requests, and how many they need.
func tooFewNote(c *Comparison) string {
	need := map[string]int64{}
	var parts []string
	for i := range c.Figures {
		f := &c.Figures[i]
		_, rate := yields[f.Tag]
		switch {
		case f.Method != MethodTooFew:
		case !rate:
			need[f.Stat] = fewest(f.Stat, c.Confidence)
		case parts == nil:
			parts = append(parts, fmt.Sprintf("a rate needs a run that sends for %d mean latencies", fewestBlocks))
		}
	}
	for _, stat := range slices.Sorted(maps.Keys(need)) {
		parts = append(parts, fmt.Sprintf("%s needs %d in each run", stat, need[stat]))
	}
	return "too few requests to judge: " + strings.Join(parts, ", ")
}

// Worse returns the number of figures that became worse, also where they are not judged because what was asked differs.
func (c *Comparison) Worse() int {
	n := 0
	for i := range c.Figures {
		if c.Figures[i].Verdict == Worse || c.Figures[i].toward == Worse {
			n++
		}
	}
	return n
}

// inFiles is the verdict as files have it: there, what is not shown is no difference, and a member of its own says that
// it is not shown.
func (v Verdict) inFiles() Verdict {
	if v == NotShown {
		return Same
	}
	return v
}
