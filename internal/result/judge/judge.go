// Package judge is the one place where a run is judged: a pure function from the facts of a run to its state and an
// ordered list of findings. Whatever people read about a run, in the terminal, on pages, in files and lists, prints
// these; no other package concludes anything from figures.
//
// Vocabulary: a finding is one sentence about a run with its evidence and what to do; its kind says what it is about:
// the outcome of the run, what limited it, or how far its figures can be relied on. The state is what is to be known of
// the run first. A load is open where requests are sent by a plan of arrivals, whatever the server does; it is closed
// where a number of requests is kept in flight. A server is overloaded if the requests in flight grow as long as an
// open load goes on.
//
// Invariants: the judgement is a function of the facts alone, so that the same records and the same state of a run give
// the same judgement. A cause is named only if a figure shows it; where none does, the finding says what is not known
// and what would show it. The worst comes first. Texts of servers have no control characters.
package judge

import (
	"cmp"
	"slices"
)

// Level is how a finding is to be taken.
type Level string

// The levels.
const (
	Good  Level = "good"
	Plain Level = "plain"
	Warn  Level = "warn"
	Bad   Level = "bad"
)

// Kind is what a finding is about.
type Kind string

// The kinds.
const (
	// Outcome is what became of the requests, and whether they met what was asked for.
	Outcome Kind = "state"
	// Cause is what limited the run, or made it slow.
	Cause Kind = "cause"
	// Reliance is how far the figures can be relied on.
	Reliance Kind = "sure"
)

// Confidence is how sure a cause is.
type Confidence string

// The confidences: a figure is the cause itself, figures point to the cause alone, or to it among others.
const (
	Certain  Confidence = "certain"
	Likely   Confidence = "likely"
	Possible Confidence = "possible"
)

// Finding is what the figures of a run mean, in words.
type Finding struct {
	// Code names the finding; it does not change.
	Code  string `json:"code"`
	Kind  Kind   `json:"kind,omitempty"`
	Level Level  `json:"level"`
	// Title has a few words, for a narrow place. Text are sentences. Advice is what to do, without a full stop; ""
	// for nothing.
	Title      string     `json:"title"`
	Text       string     `json:"text"`
	Evidence   []Evidence `json:"evidence,omitempty"`
	Confidence Confidence `json:"confidence,omitempty"`
	Advice     string     `json:"advice,omitempty"`
	// Confirm is what to measure to be sure, without a full stop; "" where nothing is to be confirmed.
	Confirm string `json:"confirm,omitempty"`
	// Brief is the text for one line, without a full stop; "" where there is nothing to say.
	Brief string `json:"brief,omitempty"`
}

// weight orders findings before their place in the rules does: what is wrong with a run comes before what is only to be
// known of it.
func (f *Finding) weight() int {
	wrong := f.Level == Bad || f.Level == Warn
	if wrong && (f.Kind != Reliance || f.Code == CodeDoubtful) {
		return 0
	}
	return 1
}

// Evidence is a figure on which a finding rests.
type Evidence struct {
	// Metric is the name in the files: a tag, or a family of a server's page.
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit,omitempty"`
	// Window says when, where that is not the whole profiling phase: "at most", "last quarter".
	Window string `json:"window,omitempty"`
}

// Judgement is what is to be thought of a run.
type Judgement struct {
	State State `json:"state"`
	// Findings are in order, the worst first; there is always one.
	Findings []Finding `json:"findings"`
	// NotSeen are what would have said more.
	NotSeen []Unseen `json:"not_seen,omitempty"`
}

// Judge judges a run.
func Judge(facts *Facts) Judgement {
	f := &view{Facts: facts, growth: growthOf(facts)}
	for _, group := range order {
		if group.kind == Cause && f.noneSucceeded() {
			continue // there is nothing to explain but the errors
		}
		for _, rule := range group.rules {
			if finding, ok := rule(f); ok {
				finding.Kind = group.kind
				f.found = append(f.found, finding)
			}
		}
	}
	slices.SortStableFunc(f.found, func(a, b Finding) int { return cmp.Compare(a.weight(), b.weight()) })
	return Judgement{State: f.state(), Findings: f.found, NotSeen: f.unseen()}
}

// view is what the rules read.
type view struct {
	*Facts
	growth growth
	found  []Finding
}

// rule returns a finding, false if it finds nothing.
type rule func(*view) (Finding, bool)

// caused reports whether something was found so far that limited the run: a cold start made it slow at first only.
func (f *view) caused() bool {
	return slices.ContainsFunc(f.found, func(l Finding) bool { return l.Kind == Cause && l.Code != CodeColdStart })
}

// order are the rules by what they are about, the worst first.
var order = [...]struct {
	kind  Kind
	rules []rule
}{
	{Outcome, []rule{(*view).whole}},
	{Outcome, []rule{(*view).allFailed}},
	{Outcome, []rule{(*view).mostErrors, (*view).manyErrors}},
	{Outcome, []rule{(*view).objectives}},
	{Cause, []rule{(*view).client}},
	{Outcome, []rule{(*view).someErrors}},
	{Reliance, []rule{(*view).doubtful}},
	{Cause, []rule{(*view).refused, (*view).overload, (*view).gpuHeat, (*view).gpuPower, (*view).gpuClocks, (*view).cache,
		(*view).unevenReplicas, (*view).queue, (*view).cap, (*view).prefillLimit, (*view).network, (*view).frontend,
		(*view).speculation, (*view).prefixMissed, (*view).gpuMemory, (*view).coldStart, (*view).tooFew,
		(*view).prefillCompute, (*view).prefillStalls, (*view).decodeBatch, (*view).load}},
	{Outcome, []rule{(*view).warm}},
	{Outcome, []rule{(*view).complete}},
	{Reliance, []rule{(*view).early, (*view).twin, (*view).clientShare, (*view).intervals, (*view).totals}},
}

// First returns the first finding.
func (j *Judgement) First() Finding { return j.Findings[0] }

// Has reports whether something was found.
func (j *Judgement) Has(code string) bool {
	_, found := j.Find(code)
	return found
}

// Find returns the finding with a code; false without one.
func (j *Judgement) Find(code string) (Finding, bool) {
	i := slices.IndexFunc(j.Findings, func(f Finding) bool { return f.Code == code })
	if i < 0 {
		return Finding{}, false
	}
	return j.Findings[i], true
}

// Explains returns what made the run slow or limited it: the first cause that is wrong with it, or errors that are. False
// where nothing shows one, or the load itself was the limit.
func (j *Judgement) Explains() (Finding, bool) {
	for _, f := range j.Limits() {
		if f.Brief != "" && (f.Level == Warn || f.Level == Bad) {
			return f, true
		}
	}
	return Finding{}, false
}

// OfKind returns the findings of some kinds in their order.
func (j *Judgement) OfKind(kinds ...Kind) []Finding {
	var out []Finding
	for _, f := range j.Findings {
		if slices.Contains(kinds, f.Kind) {
			out = append(out, f)
		}
	}
	return out
}

// Limits returns what limited the run, with what became of its requests; the weightiest first.
func (j *Judgement) Limits() []Finding {
	return slices.DeleteFunc(j.OfKind(Outcome, Cause), func(f Finding) bool {
		return f.Code == CodeInterrupted || f.Code == CodeWarmCache || f.Code == CodeComplete
	})
}

// Reliance returns how far the figures can be relied on: whether the run is whole, and what its client added. A client
// that was the bottleneck is among [Judgement.Limits].
func (j *Judgement) Reliance() []Finding {
	return slices.DeleteFunc(slices.Clone(j.Findings), func(f Finding) bool {
		whole := f.Code == CodeInterrupted || f.Code == CodeComplete
		return f.Kind != Reliance && !whole && f.Code != CodeWarmCache
	})
}

// Brief says on one line what limited the run; "" if nothing shows it.
func (j *Judgement) Brief() string {
	for _, f := range j.Limits() {
		if f.Brief != "" {
			return f.Brief
		}
	}
	return ""
}
