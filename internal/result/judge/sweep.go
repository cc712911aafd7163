package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/stats"
)

// The codes of findings about the loads of a sweep.
const (
	CodeAllowed       = "sweep_allowed"
	CodeNoneAllowed   = "sweep_none_allowed"
	CodeAllAllowed    = "sweep_all_allowed"
	CodeNotDecided    = "sweep_not_decided"
	CodeBend          = "sweep_bend"
	CodeNoBend        = "sweep_no_bend"
	CodeShapeQueue    = "sweep_queue"
	CodeShapeDecode   = "sweep_decode"
	CodeShapeOverload = "sweep_overload"
	CodeShapeFlat     = "sweep_not_loaded"
	CodeShapeFull     = "sweep_saturated"
	CodeLoadsLimited  = "sweep_client_limited"
	CodeLoadsFailed   = "sweep_failed"
)

// Loads are the cells of a sweep over one parameter.
type Loads struct {
	// Name is that of the parameter, such as concurrency. Effort reports that a larger value asks more of the server,
	// as a concurrency or a rate does: only then the curves have a shape that says why.
	Name   string
	Effort bool
	// Counted reports that the values count what the name says, such as users: "8 users", not "users 8".
	Counted bool
	// Objectives are what requests must meet, in words; none if nothing was asked for.
	Objectives []string
	Cells      []Load
}

// Load is one cell. Figures that are not known are NaN.
type Load struct {
	Value float64
	// Throughput and Goodput are in requests per second; Good is the share of requests that met the objectives.
	Throughput, Goodput, Good float64
	// Jobs are what is known of those that met objectives for jobs; nil where there are none.
	Jobs *GoodJobs
	// TTFT, ITL and Latency are averages in milliseconds.
	TTFT, ITL, Latency float64
	// Missed reports that a figure missed a limit.
	Missed bool
	// ClientLimited reports that the client was the bottleneck, so that the cell says nothing about the server.
	ClientLimited bool
	// Failed reports that no run of the cell succeeded.
	Failed bool
}

// GoodJobs are the jobs of a cell that met the objectives for jobs: how many in an hour, and which share of all.
type GoodJobs struct{ PerHour, Share float64 }

// SweepAnswer is what the cells of a sweep say together.
type SweepAnswer struct {
	// Allowed, Knee and Recommended are indices of cells, -1 for none: the largest load that met the objectives, that
	// beyond which more load costs more latency than it yields, and that to run at.
	Allowed, Knee, Recommended int
	// Findings are in order: the answer, where the curve bends, its shape, then what is to be known of the cells.
	Findings []Finding
}

// The growth of figures from the smallest to the largest load by which a shape is told.
const (
	// tokensGrow is the growth of the inter-token latency, or of any latency, that is more than noise.
	tokensGrow = 1.3
	// waitGrows is the growth of the time to the first token that shows that requests wait: within a batch, prefills
	// add up to less.
	waitGrows = 2
	// waitLeads is by how much the time to the first token must outgrow the time between tokens to be the cause.
	waitLeads = 3
	// yieldFalls is the share of the largest throughput below which it has fallen.
	yieldFalls = 0.9
	// yieldFollows is the share of the growth of the load from which the throughput follows it.
	yieldFollows = 0.7
)

// loads are the cells in order.
type loads struct {
	*Loads
	// order are all cells by load, usable those that say something about the server.
	order, usable []int
	SweepAnswer
}

// Find returns the first finding with one of some codes; false without one.
func (s *SweepAnswer) Find(codes ...string) (Finding, bool) {
	i := slices.IndexFunc(s.Findings, func(f Finding) bool { return slices.Contains(codes, f.Code) })
	if i < 0 {
		return Finding{}, false
	}
	return s.Findings[i], true
}

// Shape returns what the curves say that the server ran out of; false if they do not.
func (s *SweepAnswer) Shape() (Finding, bool) {
	return s.Find(CodeShapeQueue, CodeShapeDecode, CodeShapeOverload, CodeShapeFull)
}

// Sweep judges the cells of a sweep over one parameter.
func Sweep(of *Loads) SweepAnswer {
	s := &loads{Loads: of, SweepAnswer: SweepAnswer{Allowed: -1, Knee: -1, Recommended: -1}}
	for i := range of.Cells {
		s.order = append(s.order, i)
	}
	slices.SortStableFunc(s.order, func(a, b int) int { return cmp.Compare(of.Cells[a].Value, of.Cells[b].Value) })
	for _, i := range s.order {
		if c := &of.Cells[i]; !c.Failed && !c.ClientLimited {
			s.usable = append(s.usable, i)
		}
	}
	if s.Effort {
		s.Knee = s.knee()
	}
	s.allowed()
	if s.Effort {
		s.bend()
		s.shape()
	}
	s.states()
	return s.SweepAnswer
}

func (s *loads) add(f Finding) { s.Findings = append(s.Findings, f) }

func (s *loads) name(i int) string { return s.names([]int{i}) }

// noun is what the values are of.
func (s *loads) noun() string {
	if s.Counted {
		return "number of " + s.Name
	}
	return s.Name
}

// does returns the form of a verb that goes with cells: of several counted things the plural.
func (s *loads) does(singular, plural string, list ...int) string {
	if s.Counted && (len(list) > 1 || s.Cells[list[0]].Value != 1) {
		return plural
	}
	return singular
}

func (s *loads) names(list []int) string {
	var values []string
	for _, i := range list {
		values = append(values, artifact.Short(s.Cells[i].Value))
	}
	text := strings.Join(values, ", ")
	switch {
	case s.Counted && text == "1":
		return text + " " + strings.TrimSuffix(s.Name, "s")
	case s.Counted:
		return text + " " + s.Name
	}
	return s.Name + " " + text
}

// meets reports whether a cell met the objectives: no limit was missed, and nearly all requests were good.
func (c *Load) meets() bool {
	return !c.Missed && !(c.Good < someMissed) && !(c.Jobs != nil && c.Jobs.Share < someMissed)
}

// fewest returns the smaller one of the shares of requests and of jobs that met their objectives, and of what it is one;
// false where neither is known.
func (c *Load) fewest() (share float64, of string, known bool) {
	if c.Jobs != nil && !(c.Jobs.Share >= c.Good) {
		return c.Jobs.Share, "jobs", true
	}
	return c.Good, "requests", !math.IsNaN(c.Good)
}

// knee returns the cell with the largest throughput per latency; -1 if the curve does not bend.
func (s *loads) knee() int {
	var at []int
	var latency, yield []float64
	for _, i := range s.usable {
		if c := &s.Cells[i]; c.Latency > 0 && c.Throughput > 0 {
			at, latency, yield = append(at, i), append(latency, c.Latency), append(yield, c.Throughput)
		}
	}
	if k, ok := stats.Knee(latency, yield); ok {
		return at[k]
	}
	return -1
}

// allowed finds the largest load within the objectives.
func (s *loads) allowed() {
	if len(s.Objectives) == 0 {
		s.Recommended = s.Knee
		return
	}
	var missed []int
	for _, i := range s.usable {
		if s.Cells[i].meets() {
			s.Allowed = i
		} else {
			missed = append(missed, i)
		}
	}
	s.Recommended = s.Allowed
	within := strings.Join(s.Objectives, ", ")
	switch {
	case len(s.usable) == 0:
		s.add(Finding{Code: CodeNotDecided, Kind: Outcome, Level: Warn, Title: "Not decided",
			Text: "No " + s.noun() + " says whether the server keeps " + within + ".", Brief: "no cell says whether " + within})
	case s.Allowed < 0:
		least := s.usable[0]
		name := s.name(least) + " " + s.does("keeps", "keep", least) + " "
		s.add(Finding{Code: CodeNoneAllowed, Kind: Outcome, Level: Bad, Title: "No " + s.noun() + " meets the objectives",
			Text: "Not even " + name + within + s.share(least) + ".", Evidence: s.evidence(least),
			Brief:  "not even " + name + within,
			Advice: "try smaller values, or loosen the objectives"})
	default:
		s.largest(within, missed)
	}
}

// largest says what the largest load within the objectives yields, and what lies beyond.
func (s *loads) largest(within string, missed []int) {
	a := s.Allowed
	meets := s.name(a) + " " + s.does("meets", "meet", a) + " the objectives"
	f := Finding{Code: CodeAllowed, Kind: Outcome, Level: Good, Title: meets,
		Evidence: s.evidence(a)}
	f.Brief = s.name(a) + ": " + s.yields(a) + "within " + within
	next := slices.IndexFunc(missed, func(i int) bool { return s.Cells[i].Value > s.Cells[a].Value })
	if next < 0 {
		f.Code, f.Title = CodeAllAllowed, "At least "+meets
		f.Text = "No larger value was measured."
		if left := s.larger(a); len(left) > 0 {
			f.Text = "Whether " + s.names(left) + " " + s.does("does", "do", left...) + " is not known."
		}
		f.Text, f.Advice = sentence(f.Brief)+" "+f.Text, "try larger values"
		s.add(f)
		return
	}
	b := missed[next]
	beyond := s.beyond(a, b)
	f.Brief += beyond
	f.Text = sentence(f.Brief)
	if beyond == "" {
		f.Text = sentence(f.Brief + "; " + s.name(b) + " " + s.does("does", "do", b) + " not")
	}
	if good, of, known := s.Cells[b].fewest(); known && good < someMissed {
		f.Text += fmt.Sprintf(" At %s %s of the %s meet them.", s.name(b), percentOf(good), of)
	}
	f.Evidence = append(f.Evidence, s.evidence(b)...)
	if between := s.between(a, b); len(between) > 0 {
		f.Text += " Whether " + s.names(between) + " " + s.does("meets", "meet", between...) + " them is not known."
	}
	if next > 0 {
		f.Text += " Against the order, " + s.names(missed[:next]) + " missed them."
	}
	s.add(f)
}

// larger are the cells beyond a load that say nothing about the server.
func (s *loads) larger(than int) (list []int) {
	for _, i := range s.order {
		if s.Cells[i].Value > s.Cells[than].Value {
			list = append(list, i)
		}
	}
	return list
}

// between are the cells between two loads, which say nothing about the server.
func (s *loads) between(a, b int) (list []int) {
	for _, i := range s.larger(a) {
		if s.Cells[i].Value < s.Cells[b].Value {
			list = append(list, i)
		}
	}
	return list
}

// yields says the throughput of a cell with a space behind it.
func (s *loads) yields(i int) string {
	c := &s.Cells[i]
	switch {
	case c.Jobs != nil && c.Jobs.PerHour > 0:
		return artifact.Significant(c.Jobs.PerHour) + " good jobs/hour "
	case c.Goodput > 0:
		return artifact.Significant(c.Goodput) + " good requests/s "
	case c.Throughput > 0:
		return artifact.Significant(c.Throughput) + " requests/s "
	}
	return ""
}

// share says how many requests of a cell were good; "" if that is not known.
func (s *loads) share(i int) string {
	if good, of, known := s.Cells[i].fewest(); known {
		return ": " + percentOf(good) + " of the " + of + " meet them"
	}
	return ""
}

// beyond says what more load than a brings, measured at b; "" if nothing stands out.
func (s *loads) beyond(a, b int) string {
	word := s.word(a, b)
	if word == "" {
		return ""
	}
	return "; beyond it " + word + " (" + strings.Join(s.growths(a, b), ", ") + " at " + artifact.Short(s.Cells[b].Value) + ")"
}

// word says what grows or falls from one cell to another.
func (s *loads) word(a, b int) string {
	p, q := &s.Cells[a], &s.Cells[b]
	const stands = 1.5
	wait, tokens := q.TTFT/p.TTFT, q.ITL/p.ITL
	switch {
	case q.Throughput < yieldFalls*p.Throughput:
		return "the throughput falls"
	case wait >= stands && !(tokens*stands > wait):
		return "the queue grows"
	case tokens >= tokensGrow:
		return "tokens come more slowly"
	case q.Latency >= stands*p.Latency:
		return "the latency grows"
	}
	return ""
}

// growths are the growths of the figures from one cell to another.
func (s *loads) growths(a, b int) (list []string) {
	p, q := &s.Cells[a], &s.Cells[b]
	for _, f := range [...]struct {
		name     string
		from, to float64
	}{{"TTFT", p.TTFT, q.TTFT}, {"ITL", p.ITL, q.ITL}} {
		if r := f.to / f.from; artifact.Finite(r) && r > 0 {
			list = append(list, f.name+" × "+factor(r))
		}
	}
	if r := q.Latency / p.Latency; len(list) == 0 && artifact.Finite(r) {
		list = append(list, "latency × "+factor(r))
	}
	if r := q.Throughput / p.Throughput; artifact.Finite(r) {
		list = append(list, "throughput "+changeOf(r))
	}
	return list
}

// factor writes a ratio with one decimal, also where that is zero: "1.0" says that nothing changed.
func factor(r float64) string { return fmt.Sprintf("%.1f", r) }

// changeOf writes a ratio as a change, or as a factor where it more than doubles.
func changeOf(r float64) string {
	switch change := 100 * (r - 1); {
	case r >= 2:
		return "× " + factor(r)
	case change < 0:
		return "− " + artifact.Trimmed(-change, 1) + " %"
	default:
		return "+ " + artifact.Trimmed(change, 1) + " %"
	}
}

func percentOf(share float64) string { return artifact.Trimmed(100*share, 1) + " %" }

// sentence makes a sentence of words.
func sentence(text string) string {
	return upper(text) + "."
}

// evidence are the figures of a cell.
func (s *loads) evidence(i int) (list []Evidence) {
	c := &s.Cells[i]
	jobs := GoodJobs{math.NaN(), math.NaN()}
	if c.Jobs != nil {
		jobs = *c.Jobs
	}
	for _, f := range [...]struct {
		metric, unit string
		value        float64
	}{
		{"job_goodput", "jobs/hour", jobs.PerHour}, {"good_job_fraction", "ratio", jobs.Share},
		{"request_throughput", "requests/sec", c.Throughput}, {"good_request_fraction", "ratio", c.Good},
		{"time_to_first_token", "ms", c.TTFT}, {"inter_token_latency", "ms", c.ITL},
		{"request_latency", "ms", c.Latency},
	} {
		if artifact.Finite(f.value) {
			list = append(list, Evidence{Metric: f.metric, Value: f.value, Unit: f.unit, Window: s.name(i)})
		}
	}
	return list
}

// bend says where more load begins to cost more than it yields.
func (s *loads) bend() {
	const fewest = 3
	if len(s.usable) < fewest {
		return
	}
	last := s.usable[len(s.usable)-1]
	if s.Knee < 0 {
		first := s.usable[0]
		p, q := &s.Cells[first], &s.Cells[last]
		switch before, after := p.Throughput/p.Latency, q.Throughput/q.Latency; {
		case math.IsNaN(before) || math.IsNaN(after):
		case after < before:
			s.add(Finding{Code: CodeBend, Kind: Cause, Level: Plain, Title: "Bends at or below " + s.name(first),
				Text: "The smallest " + s.noun() + " already yields most throughput for its latency: smaller ones were not " +
					"measured.", Brief: "bends at or below " + s.name(first), Advice: "measure smaller values"})
		default:
			s.add(Finding{Code: CodeNoBend, Kind: Cause, Level: Plain, Title: "No bend up to " + s.name(last),
				Text: "Up to " + s.name(last) + " more load brings more throughput than latency.",
				Brief: "no bend up to " + s.name(last) + ": " + strings.Join(s.growths(first, last), ", ") + " from " +
					s.name(first), Advice: "measure larger values"})
		}
		return
	}
	k := s.Knee
	f := Finding{Code: CodeBend, Kind: Cause, Level: Plain, Title: "Bends at " + s.name(k), Evidence: s.evidence(k)}
	p, q := &s.Cells[k], &s.Cells[last]
	fall := 1 - (q.Throughput/q.Latency)/(p.Throughput/p.Latency)
	f.Text = fmt.Sprintf("Throughput divided by latency is largest at %s, and %s lower at %s.", s.name(k),
		artifact.Trimmed(100*fall, 0)+" %", s.name(last))
	f.Brief = "bends at " + s.name(k) + ": " + s.yields(k)
	if p.TTFT > 0 {
		f.Brief += "with TTFT " + artifact.Significant(p.TTFT) + " ms"
	} else {
		f.Brief += "with latency " + artifact.Significant(p.Latency) + " ms"
	}
	if k != s.Allowed { // else the first finding says it
		f.Brief += s.beyond(k, last)
	}
	s.add(f)
}

// shape says from the curves what the server ran out of.
func (s *loads) shape() {
	if len(s.usable) < 2 {
		return
	}
	first, last := s.usable[0], s.usable[len(s.usable)-1]
	peak := first
	for _, i := range s.usable {
		if s.Cells[i].Throughput > s.Cells[peak].Throughput {
			peak = i
		}
	}
	p, q := &s.Cells[first], &s.Cells[last]
	wait, tokens, latency := q.TTFT/p.TTFT, q.ITL/p.ITL, q.Latency/p.Latency
	follows := q.Throughput/p.Throughput >= yieldFollows*q.Value/p.Value
	f := Finding{Kind: Cause, Level: Plain, Confidence: Likely}
	if !(tokens > 0) { // without a time between tokens the wait alone does not say where
		f.Confidence = Possible
	}
	switch {
	case q.Throughput < yieldFalls*s.Cells[peak].Throughput:
		first = peak
		f.Code, f.Level, f.Title = CodeShapeOverload, Warn, "Overload: the throughput falls"
		f.Text = "More load than " + s.name(peak) + " lowers the throughput: work is done twice or thrown away, as with " +
			"preemptions, timeouts or retries"
		f.Advice, f.Confirm = "keep the load at "+s.name(peak)+" or below", "preemptions and aborted requests on the server's metrics page"
	case wait >= waitGrows && (!(tokens >= tokensGrow) || wait >= waitLeads*tokens):
		f.Code, f.Title = CodeShapeQueue, "Batch slots: requests wait"
		f.Text = "Requests wait before their first token, while tokens come as fast as before: the server has no free slot"
		f.Advice = "raise the slots of the batch (vLLM --max-num-seqs, SGLang --max-running-requests, TensorRT-LLM " +
			"--max_batch_size, llama.cpp --parallel) or add replicas"
		f.Confirm = "waiting requests on the server's metrics page (--server-metrics)"
	case tokens >= tokensGrow:
		f.Code, f.Title = CodeShapeDecode, "Decode: tokens slow down as the batch grows"
		f.Text = "The time between tokens grows with the load: the decode batch, or the memory of the KV cache, is the limit"
		f.Advice = "cap the batch for a lower latency, or add replicas or tensor parallelism for more throughput"
		f.Confirm = "KV cache usage and preemptions on the server's metrics page (--server-metrics)"
	case wait >= waitGrows:
		return
	case latency < tokensGrow && follows:
		f.Code, f.Title, f.Confidence = CodeShapeFlat, "Not yet loaded", Certain
		f.Text = "Latency stays as it was and the throughput follows the load: the server has room"
		f.Advice = "measure larger values"
	case math.IsNaN(wait) && latency >= tokensGrow && !follows:
		f.Code, f.Title = CodeShapeFull, "Saturated"
		f.Text = "The latency grows and the throughput does not follow the load"
		f.Advice = "stream replies (--streaming): TTFT and ITL show whether requests wait or tokens slow down"
	default:
		return
	}
	growths := strings.Join(s.growths(first, last), ", ")
	f.Text += fmt.Sprintf(" (%s from %s to %s).", growths, s.name(first), artifact.Short(q.Value))
	f.Brief = lower(f.Title) + " (" + growths + " from " + s.name(first) + " to " +
		artifact.Short(q.Value) + ")"
	f.Evidence = append(s.evidence(first), s.evidence(last)...)
	s.add(f)
}

// states says which cells say nothing about the server.
func (s *loads) states() {
	var limited, failed []int
	for _, i := range s.order {
		switch c := &s.Cells[i]; {
		case c.Failed:
			failed = append(failed, i)
		case c.ClientLimited:
			limited = append(limited, i)
		}
	}
	if n := len(failed); n > 0 {
		f := Finding{Code: CodeLoadsFailed, Kind: Outcome, Level: Warn, Title: "Failed: " + s.names(failed),
			Text: "No run of " + s.names(failed) + " succeeded.", Brief: "no run of " + s.names(failed) + " succeeded"}
		if n == len(s.Cells) {
			f.Level = Bad
		}
		s.add(f)
	}
	if len(limited) > 0 {
		s.add(LimitedLoads(s.names(limited)))
	}
}

// LimitedLoads says at which loads the client was the bottleneck.
func LimitedLoads(names string) Finding {
	return Finding{Code: CodeLoadsLimited, Kind: Reliance, Level: Warn, Title: "Client-limited: " + names,
		Text:   "At " + names + " the client was the bottleneck, and nothing is known of the server.",
		Brief:  "at " + names + " the client was the bottleneck",
		Advice: "measure again on an idle or larger machine"}
}
