package capacity_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/testkit"
	"aiperf/internal/config"
	"aiperf/internal/experiment/capacity"
	"aiperf/internal/experiment/search"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
	"aiperf/internal/run"
)

// queue simulates servers that take one request at a time, from one queue, and has a judge observe it: Poisson arrivals
// at a rate, service times with a mean of 1 s and a coefficient of variation, each times the number of servers.
type queue struct {
	rate, cv float64
	servers  int
	seconds  float64
	// settling makes service times grow from half of their mean towards it, as a batch fills.
	settling float64
	seed     uint64
}

// observed plays the queue; it returns when the judge asked for the end.
func (q queue) observed(j *capacity.Judge) {
	r := rand.New(rand.NewPCG(q.seed, 3))
	free := make([]float64, q.servers)
	type done struct{ sent, ended float64 }
	var all []done
	for at := 0.0; at < q.seconds; at += r.ExpFloat64() / q.rate {
		next := slices.Index(free, slices.Min(free))
		mean := float64(q.servers)
		if q.settling > 0 {
			mean *= 1 - math.Exp(-at/q.settling)/2
		}
		shape := 1 / (q.cv * q.cv)
		service := mean * gamma(r, shape) / shape
		free[next] = max(free[next], at) + service
		all = append(all, done{at, free[next]})
	}
	ended := slices.Clone(all)
	slices.SortFunc(ended, func(a, b done) int {
		if a.ended < b.ended {
			return -1
		}
		return 1
	})
	sent, back := 0, 0
	// One of each is enough: a judge keeps no request, and only the last snapshot. It halves the time of these tests.
	request, state := requestOf(0, 0, 0), snapshot(0, 0, 0)
	for now := 0.0; now < q.seconds; now += 0.5 {
		for sent < len(all) && all[sent].sent <= now {
			sent++
		}
		for back < len(ended) && ended[back].ended <= now {
			setRequest(request, int64(back), ended[back].sent, ended[back].ended-ended[back].sent)
			j.Record(request)
			back++
		}
		setSnapshot(state, now, int64(sent), int64(back))
		j.Show(state)
	}
}

// gamma draws by Marsaglia and Tsang's method, shape at least 1, or as a sum of exponential values.
func gamma(r *rand.Rand, shape float64) float64 {
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := math.Pow(1+c*x, 3)
		if v > 0 && math.Log(1-r.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// epoch is when simulated phases begin.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

func requestOf(number int64, sent, latency float64) *record.Record {
	r := &record.Record{Facts: record.NewFacts()}
	r.Phase = record.PhaseProfiling
	setRequest(r, number, sent, latency)
	return r
}

// setRequest makes what requestOf returned another request.
func setRequest(r *record.Record, number int64, sent, latency float64) {
	r.SessionNum = number
	r.Facts[record.StartWall] = epoch + int64(sent*1e9)
	r.Facts[record.FirstContent] = int64(latency * 5e8)
	r.Facts[record.LastContent] = int64(latency * 1e9)
}

func snapshot(elapsed float64, sent, back int64) *progress.Snapshot {
	s := &progress.Snapshot{Phases: []progress.Phase{{Kind: progress.ProfilingKind, State: progress.PhaseStarted,
		Remaining: time.Minute}}}
	setSnapshot(s, elapsed, sent, back)
	return s
}

// setSnapshot makes what snapshot returned a later one.
func setSnapshot(s *progress.Snapshot, elapsed float64, sent, back int64) {
	p := &s.Phases[0]
	p.Elapsed, p.RequestsSent, p.RequestsCompleted = time.Duration(elapsed*1e9), sent, back
}

func openLoop() *config.Run {
	return &config.Run{Phases: []config.Phase{{Kind: config.ProfilingPhase, Mode: config.Rate, Rate: 1}}}
}

func closedLoop(concurrency int) *config.Run {
	return &config.Run{Phases: []config.Phase{{Kind: config.ProfilingPhase, Mode: config.Burst,
		Concurrency: &concurrency}}}
}

// A load above the capacity is recognised, with the rates as evidence; loads that the server carries are not, however
// long the queue is for a while, nor what grows only until batches are full.
func TestTrapOverSaturationIsGrowthWithoutBound(t *testing.T) {
	const all = 100
	seeds := testkit.Seeds(12, all)
	for _, c := range []struct {
		name        string
		q           queue
		least, most int // of all seeds, that are called saturated
	}{
		{"a fifth too much", queue{rate: 1.2, cv: 0.5, servers: 4, seconds: 900}, 95, 100},
		{"half as much again", queue{rate: 1.5, cv: 0.5, servers: 4, seconds: 400}, 98, 100},
		{"three times too much", queue{rate: 3, cv: 0.5, servers: 4, seconds: 200}, 98, 100},
		{"one server, half as much again", queue{rate: 1.5, cv: 0.5, servers: 1, seconds: 300}, 95, 100},
		{"half load", queue{rate: 0.5, cv: 0.5, servers: 4, seconds: 900}, 0, 0},
		{"80 %", queue{rate: 0.8, cv: 0.5, servers: 4, seconds: 900}, 0, 1},
		{"80 %, one server with exponential service", queue{rate: 0.8, cv: 1, servers: 1, seconds: 900}, 0, 3},
		{"95 %", queue{rate: 0.95, cv: 0.5, servers: 4, seconds: 900}, 0, 5},
		{"the very limit", queue{rate: 1, cv: 0.5, servers: 4, seconds: 900}, 0, 8},
		{"60 %, settling", queue{rate: 0.6, cv: 0.3, servers: 16, seconds: 900, settling: 60}, 0, 0},
		{"many servers fill", queue{rate: 0.7, cv: 0.3, servers: 64, seconds: 900}, 0, 0},
	} {
		n := 0
		for seed := range uint64(seeds) {
			c.q.seed = seed
			j := capacity.NewJudge(openLoop(), capacity.JudgeOptions{})
			c.q.observed(j)
			v := j.Verdict()
			if !v.Saturated {
				continue
			}
			n++
			if v.Decision != capacity.Violated || !strings.Contains(v.Evidence, "requests/s arrived") ||
				v.Confidence < 0.95 {
				t.Errorf("%s: %+v", c.name, v)
			}
		}
		t.Logf("%s: %d of %d seeds", c.name, n, seeds)
		least, most := c.least*seeds/all, (c.most*seeds+all-1)/all
		if n < least || n > most {
			t.Errorf("%s: saturated with %d of %d seeds, want %d to %d", c.name, n, seeds, least, most)
		}
	}
}

// In a closed loop there is never more in flight than the concurrency: a queue there is no growth.
func TestTrapClosedLoopIsNeverSaturated(t *testing.T) {
	j := capacity.NewJudge(closedLoop(4), capacity.JudgeOptions{})
	queue{rate: 3, cv: 0.5, servers: 4, seconds: 200, seed: 1}.observed(j)
	if v := j.Verdict(); v.Saturated || v.Decision != capacity.Undecided {
		t.Errorf("%+v", v)
	}
}

// steadily has a judge observe a closed loop whose latencies are drawn independently, until it decides.
func steadily(j *capacity.Judge, seed uint64, requests int, draw func(*rand.Rand) float64) {
	r := rand.New(rand.NewPCG(seed, 5))
	request, state := requestOf(0, 0, 0), snapshot(0, 0, 0)
	for i := range requests {
		setRequest(request, int64(i), float64(i)/10, draw(r))
		j.Record(request)
		if i%5 == 0 {
			setSnapshot(state, float64(i)/10, int64(i)+4, int64(i))
			j.Show(state)
		}
	}
}

func lognormal(median, sigma float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return median * math.Exp(sigma*r.NormFloat64()) }
}

func latency(stat, op string, threshold float64) search.Filter {
	return search.Filter{Metric: "request_latency", Stat: stat, Op: op, Threshold: threshold}
}

// The verdict is wrong with at most the probability that its level leaves, at any look, also of several filters.
func TestTrapVerdictIsRightAtItsLevel(t *testing.T) {
	seeds := testkit.Seeds(40, 300)
	most := 0.05 + 3*math.Sqrt(0.05*0.95/float64(seeds)) // three standard errors
	exactly := func(rank, factor float64) float64 {      // the true quantile in ms, times a factor
		return 1000 * math.Exp(0.4*math.Sqrt2*math.Erfinv(2*rank-1)) * factor
	}
	for _, c := range []struct {
		name    string
		filters []search.Filter
		wrong   capacity.Decision
	}{
		{"p90 that is just violated", []search.Filter{latency("p90", search.LE, exactly(0.9, 0.999))}, capacity.Met},
		{"p90 that is just met", []search.Filter{latency("p90", search.LE, exactly(0.9, 1.001))}, capacity.Violated},
		{"p99 that is just violated", []search.Filter{latency("p99", search.LT, exactly(0.99, 0.999))}, capacity.Met},
		{"p99 that is just met", []search.Filter{latency("p99", search.LT, exactly(0.99, 1.001))}, capacity.Violated},
		{"a mean that is just met", []search.Filter{latency("avg", search.LE, 1000*math.Exp(0.08)*1.001)},
			capacity.Violated},
		{"a mean that is just violated", []search.Filter{latency("avg", search.LE, 1000*math.Exp(0.08)*0.999)},
			capacity.Met},
		{"one of three just violated", []search.Filter{latency("p50", search.LE, 1e6),
			latency("p90", search.LE, exactly(0.9, 0.999)), latency("p99", search.LE, 1e6)}, capacity.Met},
		{"all of three just met", []search.Filter{latency("p50", search.LE, exactly(0.5, 1.001)),
			latency("p90", search.LE, exactly(0.9, 1.001)), latency("p99", search.LE, exactly(0.99, 1.001))},
			capacity.Violated},
	} {
		wrong := 0
		for seed := range uint64(seeds) {
			j := capacity.NewJudge(closedLoop(4), capacity.JudgeOptions{Filters: c.filters})
			steadily(j, seed, 1500, lognormal(1, 0.4))
			if j.Verdict().Decision == c.wrong {
				wrong++
			}
		}
		t.Logf("%s: wrong with %d of %d seeds", c.name, wrong, seeds)
		if float64(wrong) > most*float64(seeds) {
			t.Errorf("%s: wrong with %d of %d seeds", c.name, wrong, seeds)
		}
	}
}

// Clear cases are decided soon; every kind of filter that can be judged is.
func TestClearVerdicts(t *testing.T) {
	share := func(metric, op string, threshold float64) search.Filter {
		return search.Filter{Metric: metric, Stat: "avg", Op: op, Threshold: threshold}
	}
	for _, c := range []struct {
		filter search.Filter
		want   capacity.Decision
		most   int64
	}{
		{latency("p50", search.LE, 2000), capacity.Met, 60},
		{latency("p95", search.LT, 3000), capacity.Met, 400},
		{latency("p99", search.LE, 5000), capacity.Met, 1200},
		{latency("p95", search.LE, 900), capacity.Violated, 50},
		{latency("p1", search.GE, 100), capacity.Met, 1200},
		{latency("p10", search.GT, 1000), capacity.Violated, 80},
		{latency("avg", search.LE, 1300), capacity.Met, 600},
		{latency("avg", search.LE, 900), capacity.Violated, 1000},
		{latency("max", search.LE, 800), capacity.Violated, 40},
		{latency("min", search.GE, 1000), capacity.Violated, 40},
		{latency("max", search.LE, 1e6), capacity.Undecided, 0},
		{latency("std", search.LE, 1e6), capacity.Undecided, 0},
		{share("request_error_rate", search.LE, 5), capacity.Met, 200},
		{share("request_error_rate", search.LE, 0), capacity.Undecided, 0},
		{share("good_request_fraction", search.GE, 0.9), capacity.Violated, 40},
		{share("error_request_count", search.LE, 3), capacity.Undecided, 0},
		{share("request_throughput", search.GE, 9), capacity.Met, 800},
		{share("request_throughput", search.GE, 11), capacity.Violated, 800},
		{share("goodput", search.GE, 1), capacity.Violated, 400},
		{share("no_such_metric", search.GE, 1), capacity.Undecided, 0},
	} {
		j := capacity.NewJudge(closedLoop(4), capacity.JudgeOptions{Filters: []search.Filter{c.filter}})
		steadily(j, 1, 1500, lognormal(1, 0.4))
		v := j.Verdict()
		if v.Decision != c.want || c.want != capacity.Undecided && v.Requests > c.most {
			t.Errorf("%s: %s after %d requests, want %s within %d", c.filter, v.Decision, v.Requests, c.want, c.most)
		}
	}
}

// Failed requests count for error rates and shares, not for latencies.
func TestFailedRequestsCountWhereTheyShould(t *testing.T) {
	j := capacity.NewJudge(closedLoop(1), capacity.JudgeOptions{Filters: []search.Filter{
		latency("p50", search.LE, 10_000),
		{Metric: "request_error_rate", Stat: "avg", Op: search.LE, Threshold: 10},
	}})
	for i := range 400 {
		r := requestOf(int64(i), float64(i), 1)
		if i%2 == 0 {
			r.Facts[record.Failed], r.Err = 1, &record.Error{Type: "X"}
			r.Facts[record.LastContent] = int64(1e15)
		}
		j.Record(r)
		j.Show(snapshot(float64(i), int64(i)+1, int64(i)))
	}
	v := j.Verdict()
	if v.Decision != capacity.Violated || v.Binding != 1 || v.Filters[0].Decision != capacity.Met {
		t.Errorf("%+v", v)
	}
	if f := v.Filters[1]; f.Value == nil || math.Abs(*f.Value-50) > 1 || *f.Margin < 39 || *f.Margin > 41 {
		t.Errorf("%+v", f)
	}
}

// The standard error of a margin is that of repeated probes.
func TestStandardErrorOfAMargin(t *testing.T) {
	for _, f := range []search.Filter{latency("p90", search.LE, 1800), latency("avg", search.LE, 1100)} {
		var margins, errors []float64
		for seed := range uint64(200) {
			j := capacity.NewJudge(closedLoop(1), capacity.JudgeOptions{Filters: []search.Filter{f}})
			steadily(j, seed, 600, lognormal(1, 0.4))
			v := j.Verdict().Filters[0]
			margins, errors = append(margins, *v.Margin), append(errors, *v.StandardError)
		}
		scatter, claimed := deviation(margins), average(errors)
		if ratio := claimed / scatter; ratio < 0.9 || ratio > 1.6 {
			t.Errorf("%s: the margins scatter by %.3g, their standard error is said to be %.3g", f, scatter, claimed)
		}
	}
}

func average(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

func deviation(values []float64) float64 {
	m, s := average(values), 0.0
	for _, v := range values {
		s += (v - m) * (v - m)
	}
	return math.Sqrt(s / float64(len(values)-1))
}

// A probe in which the client was the bottleneck is neither feasible nor infeasible, and does not end early.
func TestTrapClientLimitedProbeHasNoVerdict(t *testing.T) {
	ends := make(chan run.End, 1)
	j := capacity.NewJudge(closedLoop(1), capacity.JudgeOptions{Filters: []search.Filter{latency("p50", search.LE, 1)},
		End: ends})
	limited := &progress.Client{Verdict: "client_limited"}
	for i := range 200 {
		j.Record(requestOf(int64(i), float64(i), 1))
		s := snapshot(float64(i), int64(i)+1, int64(i))
		s.Client = limited
		j.Show(s)
	}
	j.End(&progress.Ending{Last: &progress.Snapshot{Client: limited}})
	if v := j.Verdict(); v.Decision != capacity.Undecided || !v.ClientLimited || v.EndedEarly || len(ends) > 0 {
		t.Errorf("%+v", v)
	}
}

// Replies that come after the last request was sent count, too.
func TestVerdictOfTheLastReplies(t *testing.T) {
	j := capacity.NewJudge(closedLoop(1), capacity.JudgeOptions{
		Filters: []search.Filter{latency("p50", search.LE, 5000)}})
	for i := range 60 {
		j.Record(requestOf(int64(i), float64(i), 1))
	}
	if v := j.Verdict(); v.Decision != capacity.Undecided {
		t.Errorf("before a look: %+v", v)
	}
	j.End(&progress.Ending{Last: &progress.Snapshot{}})
	if v := j.Verdict(); v.Decision != capacity.Met || v.Requests != 59 || v.EndedEarly {
		t.Errorf("%+v", v)
	}
}

// BenchmarkRecord is what a judge of three conditions costs for each request, BenchmarkShow for each look after 100,000.
func BenchmarkRecord(b *testing.B) {
	j := capacity.NewJudge(closedLoop(4), capacity.JudgeOptions{Filters: threeFilters})
	r := requestOf(9, 1, 1)
	for i := 0; b.Loop(); i++ {
		r.Facts[record.LastContent] = int64(i%1000) * 1e6
		j.Record(r)
	}
}

func BenchmarkShow(b *testing.B) {
	j := capacity.NewJudge(closedLoop(4), capacity.JudgeOptions{Filters: threeFilters})
	for i := range 100_000 {
		j.Record(requestOf(int64(i), 1, float64(i%1000)/1000))
	}
	s := snapshot(1000, 100_004, 100_000)
	for b.Loop() { // without a decision, so that each look tries to make one
		j.Show(s)
	}
	if v := j.Verdict(); v.Decision != capacity.Undecided {
		b.Fatalf("%s for %s", v.Decision, v.Reason)
	}
}

var threeFilters = []search.Filter{latency("p90", search.LE, 900), latency("p99", search.LE, 1000),
	latency("avg", search.LE, 1000)}

// A verdict is written without what is not known.
func TestVerdictAsItStandsInFiles(t *testing.T) {
	j := capacity.NewJudge(closedLoop(1), capacity.JudgeOptions{Filters: []search.Filter{
		latency("p50", search.LE, 5000),
		{Metric: "inter_chunk_latency", Stat: "p99", Op: search.LT, Threshold: 1}}})
	steadily(j, 1, 100, func(*rand.Rand) float64 { return 1 })
	v := j.Verdict()
	text, err := artifact.AppendJSON(nil, v.Object())
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Decision string
		Binding  string `json:"binding_filter"`
		Requests int
		Filters  []struct {
			Filter, Decision string
			Value, Margin    *float64
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Decision != "undecided" || got.Requests != 99 || got.Binding != "request_latency:p50:le:5000.0" ||
		len(got.Filters) != 2 {
		t.Fatalf("%s", text)
	}
	if f := got.Filters[0]; f.Decision != "met" || *f.Value != 1000 || *f.Margin != -4000 {
		t.Errorf("%s", text)
	}
	if f := got.Filters[1]; f.Decision != "undecided" || f.Value != nil || f.Margin != nil {
		t.Errorf("%s", text)
	}
}

// A load that changes says nothing of its rest: ramps, recordings, searches within a phase and several phases run to
// their end.
func TestTrapChangingLoadIsNotCutShort(t *testing.T) {
	two := closedLoop(1)
	two.Phases = append(two.Phases, two.Phases[0])
	ramp := closedLoop(4)
	ramp.Phases[0].ConcurrencyRamp = time.Second
	schedule := &config.Run{Phases: []config.Phase{{Kind: config.ProfilingPhase, Mode: config.FixedSchedule,
		Schedule: &config.Schedule{}}}}
	series := openLoop()
	series.Phases[0].Series = []config.RatePoint{{Rate: 1}, {Seconds: 9, Rate: 2}}
	for name, cfg := range map[string]*config.Run{"two phases": two, "ramp": ramp, "schedule": schedule, "series": series} {
		ends := make(chan run.End, 1)
		j := capacity.NewJudge(cfg, capacity.JudgeOptions{Filters: []search.Filter{latency("p50", search.LE, 1)},
			End: ends})
		steadily(j, 1, 500, lognormal(1, 0.4))
		if v := j.Verdict(); v.Decision != capacity.Undecided || len(ends) > 0 || v.Filters[0].Margin == nil {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// The first requests of a closed loop are all sent at once; what they suffer is not the service at that concurrency.
func TestTrapFirstWaveIsNoEvidence(t *testing.T) {
	j := capacity.NewJudge(closedLoop(30), capacity.JudgeOptions{
		Filters: []search.Filter{latency("p50", search.LE, 2000)}})
	for i := range 400 {
		v := 1.0
		if i < 30 {
			v = 60
		}
		j.Record(requestOf(int64(i), float64(i), v))
		j.Show(snapshot(float64(i), int64(i)+30, int64(i)))
	}
	if v := j.Verdict(); v.Decision != capacity.Met {
		t.Errorf("%+v", v)
	}
}

// warming has a judge observe a warm-up of at most so many requests, and returns how many there were at its end.
func warming(cfg *config.Run, requests int, latency func(i int, r *rand.Rand) float64,
	seed uint64) (n int, v capacity.Verdict) {
	ends := make(chan run.End, 2)
	j := capacity.NewJudge(cfg, capacity.JudgeOptions{End: ends})
	r := rand.New(rand.NewPCG(seed, 7))
	for i := range requests {
		rec := requestOf(int64(i), float64(i), latency(i, r))
		rec.Phase = record.PhaseWarmup
		j.Record(rec)
		s := snapshot(float64(i), int64(i)+4, int64(i))
		s.Phases[0].Kind = progress.WarmupKind
		j.Show(s)
		if len(ends) > 0 {
			return i + 1, j.Verdict()
		}
	}
	return requests, j.Verdict()
}

// A warm-up ends when its figures are stationary, never while they still change, and at the latest when it was to.
func TestTrapWarmupEndsWhenItsFiguresAreStationary(t *testing.T) {
	cfg := &config.Run{Phases: []config.Phase{
		{Kind: config.WarmupPhase, Mode: config.Burst}, {Kind: config.ProfilingPhase, Mode: config.Burst},
	}}
	const most = 2000
	for _, c := range []struct {
		name        string
		latency     func(i int, r *rand.Rand) float64
		least, most int
	}{
		{"steady from the start", func(_ int, r *rand.Rand) float64 { return 1 + r.Float64()/5 }, 30, 60},
		{"slow requests first", func(i int, r *rand.Rand) float64 {
			return 1 + 9*math.Exp(-float64(i)/20) + r.Float64()/5
		}, 120, 600},
		{"noisy", func(_ int, r *rand.Rand) float64 { return math.Exp(0.5 * r.NormFloat64()) }, 200, 1800},
		{"growing all the time", func(i int, r *rand.Rand) float64 { return 1 + float64(i) + r.Float64()/5 }, most, most},
	} {
		for seed := range uint64(20) {
			n, v := warming(cfg, most, c.latency, seed)
			if n < c.least || n > c.most {
				t.Errorf("%s: the warm-up ended after %d requests, want %d to %d", c.name, n, c.least, c.most)
			}
			if n < most && (v.Saved != time.Minute || v.EndedEarly || v.Decision != capacity.Undecided) {
				t.Errorf("%s: %+v", c.name, v)
			}
		}
	}
}

func TestIndependentProbesHaveSeedsOfTheirOwn(t *testing.T) {
	seed := uint64(42)
	cfg := &config.Run{RandomSeed: &seed, Dataset: config.Dataset{Kind: config.SyntheticDataset}}
	seen := map[uint64]bool{seed: true}
	for i := range 50 {
		own, remark := capacity.Independent(cfg, i)
		again, _ := capacity.Independent(cfg, i)
		if *own.RandomSeed != *again.RandomSeed || seen[*own.RandomSeed] || remark != "" {
			t.Errorf("probe %d: seeds %d and %d, %q", i, *own.RandomSeed, *again.RandomSeed, remark)
		}
		seen[*own.RandomSeed] = true
	}
	if *cfg.RandomSeed != 42 {
		t.Error("the configuration was changed")
	}
	cfg.Dataset.Kind = config.FileDataset
	if _, remark := capacity.Independent(cfg, 1); !strings.Contains(remark, "--reset-kv-cache") {
		t.Errorf("a file: %q", remark)
	}
	cfg.Endpoint.ResetCache = &config.CacheReset{}
	if _, remark := capacity.Independent(cfg, 1); remark != "" {
		t.Errorf("a file with a reset of the cache: %q", remark)
	}
}
