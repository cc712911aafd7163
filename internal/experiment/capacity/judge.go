package capacity

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/experiment/search"
	"aiperf/internal/measure/hint"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
	"aiperf/internal/run"
)

// DefaultConfidence is the confidence of a verdict if none is given.
const DefaultConfidence = 0.95

// JudgeOptions configure a judge.
type JudgeOptions struct {
	Filters []search.Filter
	// Confidence is that of the verdict, in (0, 1); 0 means the default.
	Confidence float64
	// End takes the requests to end a phase, see [run.Options]; nil has the judge only judge. It needs room for a
	// request for each phase.
	End chan<- run.End
	// AnyClient judges whether or not the client is the bottleneck, as on machines that are busy with other work.
	AnyClient bool
	// Bar is what a verdict needs, beside being certain, for the probe to end.
	Bar Bar
	// Steady ends a closed loop without a verdict, too, once its figures are steady and clear of the limits.
	Steady bool
}

// Bar keeps a probe going whose figures are near their limits: those of the next minute may differ from those so far by
// more than their errors say, since requests that are near in time are alike. Margins are relative to the threshold.
type Bar struct {
	// Met is the least room of every filter, After the least measured time, before levels that are met end the probe.
	Met   float64
	After time.Duration
	// Violated is the least excess of a filter before it ends the probe.
	Violated float64
}

// Judge judges one run. It is a [progress.RecordObserver]: it is passed with the observers of the run, and asked for
// its verdict when the run has ended.
type Judge struct {
	options JudgeOptions
	// profiling is the index of the only profiling phase, -1 if there are several or its load is not constant.
	profiling int
	// open reports an open loop; wave is the number of requests that a closed loop sends at its start.
	open bool
	wave int
	warm map[int]bool
	// growing reports that later requests are longer than the first ones, as those of users whose conversations begin
	// with the phase: what is violated stays so, what is met may not.
	growing bool

	mu         sync.Mutex
	conditions []*condition
	saturation saturation
	steadiness map[int]*steadiness
	requests   int64
	// latencies are those of the requests that succeeded, in the unit of computing.
	latencies Blocks
	// refused are those of the requests that the server refused as too long.
	refused int64
	verdict Verdict
	ended   map[int]bool
	last    *progress.Snapshot
	// latency and ttft are the metrics by which queues and warm-ups are judged.
	latency, ttft metrics.Definition
}

// The least number of requests of a verdict, also in waves of a closed loop, the first of which is left out: its
// requests are all sent at once. The bounds of shares hold for any number; these keep an unlucky start, which is not
// exchangeable with the rest of the run, from deciding.
const (
	minRequests = 20
	minWaves    = 3
)

// The wait for the requests in flight of a saturated probe, in multiples of the latency before it was, and at least:
// their own latencies say how long the probe was, not how fast the server is.
const (
	drainLatencies = 4
	minDrain       = time.Second
)

// NewJudge returns a judge of a run with a configuration.
func NewJudge(cfg *config.Run, o JudgeOptions) *Judge {
	o.Confidence = cmp.Or(o.Confidence, DefaultConfidence)
	j := &Judge{options: o, profiling: -1, warm: map[int]bool{}, ended: map[int]bool{},
		steadiness: map[int]*steadiness{}}
	j.latency, _ = metrics.Lookup("request_latency")
	j.ttft, _ = metrics.Lookup("time_to_first_token")
	several := false
	for i := range cfg.Phases {
		p := &cfg.Phases[i]
		switch {
		case p.Kind == config.WarmupPhase && constant(p):
			j.warm[i] = true
			j.steadiness[i] = &steadiness{}
		case p.Kind == config.ProfilingPhase && j.profiling < 0 && !several:
			several = true
			if j.growing = p.Mode == config.UserCentric; constant(p) || j.growing {
				j.profiling, j.open = i, p.Mode == config.Rate
				if p.Concurrency != nil && !j.open {
					j.wave = *p.Concurrency
				}
			}
		case p.Kind == config.ProfilingPhase:
			j.profiling = -1
		}
	}
	for _, f := range o.Filters {
		j.conditions = append(j.conditions, newCondition(f))
	}
	return j
}

// Attach returns the options of a run with a judge among its observers, which ends the run early if the configuration
// asks for that. A confidence of 0 means that of the configuration.
func Attach(cfg *config.Run, own JudgeOptions, o run.Options) (run.Options, *Judge) {
	own.Confidence = cmp.Or(own.Confidence, cfg.Probes.Confidence)
	if cfg.Probes.EarlyStop {
		ends := make(chan run.End, len(cfg.Phases))
		own.End, o.Ends = ends, ends
	}
	j := NewJudge(cfg, own)
	o.Observers = append(slices.Clone(o.Observers), j)
	return o, j
}

// constant reports whether the load of a phase is the same from its start to its end, so that one part of it says what
// the others do.
func constant(p *config.Phase) bool {
	return (p.Mode == config.Rate && !p.AtOnce() || p.Mode == config.Burst) && len(p.Series) == 0 &&
		p.Schedule == nil && p.Lanes == nil && p.Adaptive == nil &&
		p.ConcurrencyRamp == 0 && p.PrefillRamp == 0 && p.RateRamp == 0
}

// Begin implements progress.Observer.
func (j *Judge) Begin(*progress.Run) progress.Needs { return progress.Needs{Client: true} }

// Record implements progress.RecordObserver.
func (j *Judge) Record(r *record.Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if s := j.steadiness[r.PhaseIndex]; s != nil && r.Phase == record.PhaseWarmup {
		if !r.IsError() {
			s.add(value(&j.latency, r), value(&j.ttft, r))
		}
		return
	}
	if r.Phase != record.PhaseProfiling {
		return
	}
	if start, ok := r.Get(record.StartWall); ok && j.open && !r.IsError() {
		if v := value(&j.latency, r); !math.IsNaN(v) {
			j.saturation.returned(start, v/1e9)
		}
	}
	if r.SessionNum < int64(j.wave) {
		return
	}
	j.requests++
	if j.options.Steady && !r.IsError() {
		if v := value(&j.latency, r); !math.IsNaN(v) {
			j.latencies.Add(v)
		}
	}
	if tooLong(r.Err) {
		j.refused++
	}
	for _, c := range j.conditions {
		c.add(r)
	}
}

// tooLong reports that a server refused a request because of its length.
func tooLong(e *record.Error) bool {
	if e == nil {
		return false
	}
	h, known := hint.For(e)
	return known && (h.Name == hint.ContextTooLong || h.Name == hint.TooLarge)
}

// refusal says that most requests were refused as too long, "" if they were not.
func (j *Judge) refusal() string {
	if 2*j.refused <= j.requests {
		return ""
	}
	return fmt.Sprintf("the server refused %d of %d prompts as too long", j.refused, j.requests)
}

// value returns the metric of a request in its unit of computing, NaN if it has none.
func value(d *metrics.Definition, r *record.Record) float64 {
	if v, ok := d.ValueOf(&r.Facts); ok {
		return v
	}
	return math.NaN()
}

// Show implements progress.Observer.
func (j *Judge) Show(s *progress.Snapshot) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last = s
	for i := range s.Phases {
		p := &s.Phases[i]
		if p.State != progress.PhaseStarted {
			continue
		}
		switch {
		case j.warm[p.Index]:
			j.endWarmup(p)
		case p.Index == j.profiling:
			j.look(p, s.Client)
		}
	}
}

// endWarmup ends a warm-up whose figures are stationary.
func (j *Judge) endWarmup(p *progress.Phase) {
	if j.ended[p.Index] || j.options.End == nil {
		return
	}
	if evidence, ok := j.steadiness[p.Index].steady(int(p.RequestsInFlight())); ok {
		j.end(p, run.End{Phase: p.Index, Reason: evidence, Confidence: 0.95})
	}
}

// look decides if it can, and ends the probe then.
func (j *Judge) look(p *progress.Phase, client *progress.Client) {
	if j.open {
		j.saturation.observe(p.Elapsed.Seconds(), float64(p.RequestsInFlight()+p.SkippedArrivals),
			float64(p.RequestsSent+p.SkippedArrivals))
	}
	for _, c := range j.conditions {
		c.inFlight = max(1, float64(p.RequestsInFlight()))
		c.closeInterval(p.Elapsed.Seconds())
	}
	// What the server refuses it refuses whatever this machine is busy with.
	if j.verdict.Decision == "" && (j.limited(client) && j.refusal() == "" || !j.decide()) {
		j.endSteady(p, client)
		return
	}
	if j.options.End != nil && !j.ended[p.Index] && j.clearsBar(p.Elapsed) {
		end := run.End{Phase: p.Index, Reason: j.verdict.Reason, Confidence: j.verdict.Confidence}
		if j.verdict.Saturated {
			end.Grace = minDrain + time.Duration(drainLatencies*j.saturation.unloaded()*float64(time.Second))
		}
		j.verdict.EndedEarly = j.end(p, end)
	}
}

// clearsBar reports whether the verdict clears the bar.
func (j *Judge) clearsBar(elapsed time.Duration) bool {
	if j.verdict.Saturated || j.verdict.Refused != "" {
		return true
	}
	largest := math.Inf(-1) // margin of a filter, relative to its threshold
	for _, c := range j.conditions {
		v, _ := c.figure()
		m := c.filter.Margin(v) / math.Abs(c.filter.Threshold)
		if math.IsNaN(m) || math.IsInf(m, 0) {
			continue // a threshold of 0 has no relative margin
		}
		largest = max(largest, m)
	}
	if j.verdict.Decision == Violated {
		return largest >= j.options.Bar.Violated
	}
	return elapsed >= j.options.Bar.After && (j.options.Bar.Met == 0 || largest <= -j.options.Bar.Met)
}

// end asks for the end of a phase and reports whether that was taken: a channel without room means that the run is over
// or ends already. What is left of the phase is saved then, and only once a phase.
func (j *Judge) end(p *progress.Phase, end run.End) bool {
	select {
	case j.options.End <- end:
		j.ended[p.Index] = true
		j.verdict.Saved += max(0, p.Remaining)
		return true
	default: // nobody takes it any more
		return false
	}
}

// limited reports that the client was the bottleneck, so that the figures say nothing of the server.
func (j *Judge) limited(c *progress.Client) bool {
	return c != nil && c.Verdict == "client_limited" && !j.options.AnyClient
}

// decide makes the verdict if there is one.
//
// All filters are met for certain when each is, at the full level: to be wrong, one of them must be (an
// intersection-union test). That one of k conditions is violated, saturation among them, takes evidence against each at
// the k-th part of the error (Bonferroni), which is ln k more of a logarithm.
func (j *Judge) decide() bool {
	if j.requests < int64(max(minRequests, minWaves*j.wave)) {
		return false
	}
	if text := j.refusal(); text != "" {
		j.verdict.Decision, j.verdict.Confidence, j.verdict.Requests = Violated, j.options.Confidence, j.requests
		j.verdict.Refused, j.verdict.Reason = text, text
		return true
	}
	alpha := 1 - j.options.Confidence
	parts := float64(len(j.conditions))
	if j.open {
		parts++
		if evidence, saturated := j.saturation.judge(alpha / parts); saturated {
			j.verdict.Saturated, j.verdict.Evidence = true, evidence
			j.verdict.Decision, j.verdict.Confidence = Violated, j.options.Confidence
			j.verdict.Reason = "the server is saturated: " + evidence
			j.verdict.Requests = j.requests
			return true
		}
	}
	leastMet, mostViolated, violated := math.Inf(1), math.Inf(-1), -1
	for i, c := range j.conditions {
		c.weigh(1 - alpha/parts)
		leastMet = min(leastMet, c.metEvidence)
		if c.violatedEvidence > mostViolated {
			mostViolated, violated = c.violatedEvidence, i
		}
	}
	switch certain := -math.Log(alpha); {
	case violated >= 0 && mostViolated >= certain+math.Log(parts):
		j.verdict.Decision, j.verdict.Confidence = Violated, 1-parts*math.Exp(-mostViolated)
		j.verdict.Reason = fmt.Sprintf("%s is violated", j.conditions[violated].filter)
	case len(j.conditions) > 0 && leastMet >= certain && !j.rising() && !j.growing:
		j.verdict.Decision, j.verdict.Confidence = Met, 1-math.Exp(-leastMet)
		j.verdict.Reason = "all service levels are met"
	default:
		return false
	}
	j.verdict.Requests = j.requests
	return true
}

// rising reports that the work in an open loop still grows, be it by chance: the levels may be met only so far.
func (j *Judge) rising() bool { return j.open && j.saturation.rising() }

// End implements progress.Observer.
func (j *Judge) End(e *progress.Ending) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last = e.Last
	j.verdict.ClientLimited = e.Last != nil && j.limited(e.Last.Client)
	if j.verdict.Decision == "" && j.profiling >= 0 && !j.verdict.ClientLimited {
		j.decide() // the last replies may have decided it
	}
}

// Verdict returns what the run showed; it is final when the run has ended.
func (j *Judge) Verdict() Verdict {
	j.mu.Lock()
	defer j.mu.Unlock()
	v := j.verdict
	v.Decision, v.Refused = cmp.Or(v.Decision, Undecided), j.refusal()
	if v.Requests == 0 {
		v.Requests = j.requests
	}
	if v.ClientLimited {
		v.Decision, v.Confidence = Undecided, 0
	}
	v.Binding = -1
	nearest := math.Inf(-1)
	for i, c := range j.conditions {
		f := j.filterVerdict(c)
		v.Filters = append(v.Filters, f)
		if f.Margin == nil {
			continue
		}
		distance := *f.Margin
		if f.StandardError != nil && *f.StandardError > 0 {
			distance /= *f.StandardError
		} else if t := math.Abs(c.filter.Threshold); t > 0 {
			distance /= t
		}
		if distance > nearest {
			nearest, v.Binding = distance, i
		}
	}
	return v
}

// filterVerdict returns what is known of one filter.
func (j *Judge) filterVerdict(c *condition) FilterVerdict {
	f := FilterVerdict{Filter: c.filter, Decision: Undecided, Inflation: 1, Judged: c.kind != notJudged}
	if c.values.N() == 0 {
		return f
	}
	f.Inflation = c.inflation()
	value, deviation := c.figure()
	if !math.IsNaN(value) {
		margin := c.filter.Margin(value)
		f.Value, f.Margin = &value, &margin
	}
	if !math.IsNaN(deviation) {
		f.StandardError = &deviation
	}
	switch certain := -math.Log(1 - j.options.Confidence); {
	case c.violatedEvidence >= certain:
		f.Decision, f.Confidence = Violated, 1-math.Exp(-c.violatedEvidence)
	case c.metEvidence >= certain:
		f.Decision, f.Confidence = Met, 1-math.Exp(-c.metEvidence)
	}
	return f
}
