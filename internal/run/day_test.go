package run

import (
	"context"
	"math"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/random"
	"aiperf/internal/base/testkit"
	"aiperf/internal/load"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
)

const (
	daySeed  = 7
	daySlice = 10 * time.Minute
	// dayURLs are the base URLs among which the sessions of the day alternate.
	dayURLs = 3
	// clientTimeout ends a request that the server never answers.
	clientTimeout = 10 * time.Minute
)

// dayPlan is a day of load: 22:17:09 to about the same time of the next day, so that midnight is in it.
func dayPlan() load.Plan {
	grace := 30 * time.Second
	return load.Plan{Seed: random.Root(daySeed), URLs: dayURLs, Phases: []load.Phase{
		{Name: "warmup", Kind: load.Warmup, Concurrency: 4, Requests: 500},
		{Name: "ramp", Kind: load.Profiling, Duration: 20 * time.Hour, Grace: grace,
			Arrivals: load.Arrivals{Pattern: load.Poisson, Rate: 2,
				Ramp: load.RateRamp{Ramp: load.Ramp{Duration: time.Hour}, Interval: 10 * time.Second}},
			Cancellation: load.Cancellation{Percent: 3, Delay: 200 * time.Millisecond}},
		{Name: "few slots", Kind: load.Profiling, Duration: 2 * time.Hour, Grace: grace, Seamless: true, Concurrency: 6,
			Arrivals: load.Arrivals{Pattern: load.Constant, Rate: 3}},
		{Name: "even", Kind: load.Profiling, Duration: 2 * time.Hour, Grace: load.Infinite,
			Arrivals: load.Arrivals{Pattern: load.Gamma, Smoothness: 4, Rate: 2}},
	}}
}

// plannedNS returns the arrivals of a phase of the day, in nanoseconds from its start, by the definition of the
// processes: sums of draws with twice the precision of a float64, through the integral of the rate.
func plannedNS(p load.Phase) (next func() float64) {
	seed, k := random.Root(daySeed), uint64(0)
	poisson, gamma := seed.Stream("timing.request.poisson_interval"), seed.Stream("timing.request.gamma_interval")
	var units, lost float64
	return func() float64 {
		switch p.Arrivals.Pattern {
		case load.Constant: // in whole numbers
			k++
			return float64(k * uint64(time.Second) / uint64(p.Arrivals.Rate))
		case load.Poisson:
			draw := poisson.At(k)
			units, lost = exactSum(units, lost, draw.Exponential())
		case load.Gamma:
			draw := gamma.At(k)
			units, lost = exactSum(units, lost, draw.Gamma(p.Arrivals.Smoothness)/p.Arrivals.Smoothness)
		}
		k++
		took, rate := p.Arrivals.Ramp.Duration.Seconds(), p.Arrivals.Rate
		if took == 0 {
			return (units + lost) / rate * 1e9
		}
		// The rate grows from first to rate in the time of the ramp; in it are the mean of both times that many arrivals.
		first := rate * p.Arrivals.Ramp.Interval.Seconds() / took
		if ramped := took * (first + rate) / 2; units >= ramped {
			return (took + (units-ramped+lost)/rate) * 1e9
		}
		slope := (rate - first) / took
		return (math.Sqrt(first*first+2*slope*(units+lost)) - first) / slope * 1e9
	}
}

// exactSum adds to a sum of two parts, the second of which is what the first cannot hold.
func exactSum(sum, rest, more float64) (float64, float64) {
	total := sum + more
	grown := total - sum
	rest += (sum - (total - grown)) + (more - grown)
	return total, rest
}

// dayPhase is what the service saw of a phase.
type dayPhase struct {
	planned func() float64
	// arrivals is how many of the planned ones were passed on the way to the last credit.
	arrivals, sent, sessions, errors, completed, cut int64
	perURL                                           [dayURLs]int64
	startNS, lastIntendedNS, lastPlannedNS           int64
	// firstStart and lastEnd are wall times; busyNS is how long all requests took together.
	firstStart, lastEnd, busyNS int64
	// slices counts successes and failures by the slice of their start.
	slices  [24*time.Hour/daySlice + 1][2]int64
	figures *metrics.Engine
	cutOff  chan struct{}
}

// daySource is source, sender and server of the day.
type daySource struct {
	t      *testing.T
	engine *load.Engine
	clock  *clock.Clock
	script random.Stream
	all    sync.WaitGroup

	mu     sync.Mutex
	phases []*dayPhase
	open   map[uint64]bool
}

func (d *daySource) Turns(k uint64) int { return 1 + int(k%4) }
func (d *daySource) DelayNS(k uint64, turn int) int64 {
	return int64(k%7) * int64(turn) * int64(time.Second)
}
func (d *daySource) CutOff()                           { d.t.Error("all phases were cut off") }
func (d *daySource) CutOffPhase(phase int)             { close(d.phases[phase].cutOff) }
func (d *daySource) Prepare(_ int, k uint64, turn int) { d.mu.Lock(); d.open[k] = true; d.mu.Unlock() }
func (d *daySource) Forget(k uint64)                   { d.mu.Lock(); delete(d.open, k); d.mu.Unlock() }

// served is how the server behaves to one request.
type served struct {
	// contents are the instants of what it sends, from the start; end is that of the exchange.
	contents []int64
	end      time.Duration
	// fault is the type of the error, "" for none; cancelled is the client's.
	fault     string
	cancelled bool
}

// serve answers, refuses, breaks off and keeps silent.
func (d *daySource) serve(c load.Credit) (s served) {
	draw := d.script.At(c.Session*8 + uint64(c.Turn))
	kind, at := draw.Float64(), time.Duration(50+draw.IntN(200))*time.Millisecond
	for range 1 + draw.IntN(8) {
		s.contents = append(s.contents, int64(at))
		at += time.Duration(20+draw.IntN(40)) * time.Millisecond
	}
	s.end = time.Duration(s.contents[len(s.contents)-1])
	switch {
	case kind < 0.02:
		s = served{fault: "ConnectionRefused"}
	case kind < 0.05:
		s = served{fault: "Service Unavailable", end: 5 * time.Millisecond}
	case kind < 0.07:
		s.fault = "ConnectionReset"
	case kind < 0.072:
		s = served{fault: "Timeout", end: clientTimeout}
	}
	if after := time.Duration(c.CancelAfterNS); after >= 0 && after < s.end {
		s = served{fault: "RequestCancelled", end: after, cancelled: true}
	}
	return s
}

func (d *daySource) Send(c load.Credit) {
	d.mu.Lock()
	p := d.phases[c.Phase]
	p.sent++
	p.perURL[c.URLIndex]++
	if c.Turn == 0 {
		p.sessions++
	}
	d.checkIntended(p, c)
	d.mu.Unlock()
	s := d.serve(c)
	if s.end == 0 {
		d.end(c, s)
		return
	}
	d.all.Go(func() {
		select {
		case <-time.After(s.end):
			d.end(c, s)
		case <-p.cutOff:
			d.mu.Lock()
			p.cut++
			d.mu.Unlock()
			d.engine.Returned(c, load.CutOff)
		}
	})
}

// checkIntended fails where the credit is for no arrival of the plan, or was not issued at its instant.
func (d *daySource) checkIntended(p *dayPhase, c load.Credit) {
	if p.planned == nil {
		return
	}
	intended := c.IntendedNS - p.startNS
	for p.lastPlannedNS < intended-1 {
		p.lastPlannedNS = int64(p.planned())
		p.arrivals++
	}
	if off := intended - p.lastPlannedNS; off < -1 || off > 1 {
		d.t.Errorf("phase %d credit %d: intended %d ns after the start, arrival %d is at %d", c.Phase, c.ID, intended,
			p.arrivals, p.lastPlannedNS)
	}
	if c.IssuedNS != c.IntendedNS {
		d.t.Errorf("phase %d credit %d: issued %d ns late", c.Phase, c.ID, c.IssuedNS-c.IntendedNS)
	}
	p.lastIntendedNS = intended
}

// end counts a request that ended, records it and returns its credit; some are returned twice.
func (d *daySource) end(c load.Credit, s served) {
	r, outcome := d.record(c, s), load.Success
	failed := 0
	if s.fault != "" {
		outcome, failed = load.Failure, 1
	}
	start := r.Facts[record.StartWall]
	end := start + int64(s.end)
	d.mu.Lock()
	p := d.phases[c.Phase]
	p.completed++
	p.errors += int64(failed)
	p.busyNS += int64(s.end)
	if p.firstStart == 0 {
		p.firstStart = start
	}
	p.firstStart, p.lastEnd = min(p.firstStart, start), max(p.lastEnd, end)
	p.slices[(start-d.clock.WallNS(p.startNS))/int64(daySlice)][failed]++
	d.mu.Unlock()
	if p.figures != nil {
		p.figures.Add(r)
	}
	d.engine.Returned(c, outcome)
	if c.ID%16 == 0 {
		d.engine.Returned(c, load.Success)
	}
}

func (d *daySource) record(c load.Credit, s served) *record.Record {
	r := &record.Record{Facts: record.NewFacts()}
	f := &r.Facts
	f[record.StartWall] = d.clock.WallNS(c.IssuedNS)
	f[record.CreditIssued], f[record.End] = 0, int64(s.end)
	if c.IntendedNS != 0 {
		f[record.IntendedSend] = c.IntendedNS - c.IssuedNS
	}
	f[record.InputTokens] = 100
	if n := len(s.contents); n > 0 {
		f[record.FirstContent], f[record.FirstOutput] = s.contents[0], s.contents[0]
		f[record.LastContent], f[record.LastResponse] = s.contents[n-1], s.contents[n-1]
		f[record.Contents], f[record.OutputTokens] = int64(n), int64(n)
		for i, at := range s.contents[1:] {
			r.GapsNS = append(r.GapsNS, at-s.contents[i])
		}
	}
	if s.cancelled {
		f[record.Cancelled] = int64(s.end)
	}
	if s.fault != "" {
		f[record.Failed] = 1
		r.Err = &record.Error{Type: s.fault, Message: s.fault}
	}
	return r
}

// dayHeap is the memory in use at an instant of the day, and what had been recorded by then.
type dayHeap struct {
	bytes, records int64
	goroutines     int
}

func (d *daySource) heap() dayHeap {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h := dayHeap{bytes: int64(m.HeapAlloc), goroutines: runtime.NumGoroutine()}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.phases {
		h.records += p.completed
	}
	return h
}

// TestADay runs a day of load in virtual time: nothing drifts, nothing is lost and nothing stays.
func TestADay(t *testing.T) {
	if testing.Short() {
		t.Skip("a day of virtual time")
	}
	t.Run("engine alone", func(t *testing.T) {
		if !testkit.Full() {
			t.Skip("the day with figures has an engine, too")
		}
		d, result, early, late := runDay(t, nil)
		// Its state is what is open.
		checkDayMemory(t, early, late, 0)
		for i, s := range result.Phases {
			checkDayCounts(t, d.phases[i], s)
		}
	})
	cfg := metrics.DefaultConfig()
	cfg.Streaming, cfg.ProducesTokens, cfg.TokenizesInput, cfg.OpenLoop = true, true, true, true
	cfg.SliceNS = int64(daySlice)
	set, err := metrics.NewSet(cfg)
	if err != nil {
		t.Fatal(err)
	}
	d, result, early, late := runDay(t, set)
	// A row takes some 40 bytes here, and a gap 4, of which there are 3.5 a request.
	checkDayMemory(t, early, late, 64)
	for i, p := range dayPlan().Phases {
		t.Run(p.Name, func(t *testing.T) {
			checkDayCounts(t, d.phases[i], result.Phases[i])
			if p.Arrivals.Pattern != load.Burst {
				checkDaySchedule(t, p, d.phases[i], result.Phases[i])
				checkDaySlices(t, p, d.phases[i], d.clock)
			}
			checkDayFigures(t, d.phases[i], result.Phases[i])
		})
	}
	if seamless, before := result.Phases[2], result.Phases[1]; seamless.StartNS != before.SentEndNS {
		t.Errorf("the seamless phase begins %d ns after the one before has sent", seamless.StartNS-before.SentEndNS)
	}
}

// runDay runs the day, with figures unless the set is nil, and returns what was in use in hours 1 and 23, too. A
// goroutine that stays fails it: synctest waits for all that were started within.
func runDay(t *testing.T, set *metrics.Set) (d *daySource, result load.Result, early, late dayHeap) {
	plan := dayPlan()
	d = &daySource{t: t, script: random.Root(daySeed).Stream("service"), open: map[uint64]bool{}}
	for _, p := range plan.Phases {
		of := &dayPhase{}
		if set != nil {
			of.figures = set.NewEngine()
		}
		if p.Arrivals.Pattern != load.Burst {
			of.planned = plannedNS(p)
		}
		d.phases = append(d.phases, of)
	}
	synctest.Test(t, func(t *testing.T) {
		d.clock = clock.NewAt(time.Date(2026, time.November, 28, 22, 17, 9, 250, time.UTC).UnixNano())
		for _, p := range d.phases {
			p.cutOff = make(chan struct{})
		}
		timer := clock.NewPlainTimer(d.clock)
		defer timer.Stop()
		d.engine = load.New(plan, d, d, load.Options{Clock: d.clock, Timer: timer, Begin: d.begin})
		d.all.Go(func() {
			time.Sleep(time.Hour)
			early = d.heap()
			time.Sleep(22 * time.Hour)
			late = d.heap()
		})
		var err error
		if result, err = d.engine.Run(t.Context()); err != nil {
			t.Error(err)
		}
		d.all.Wait()
	})
	if n := len(d.open); n != 0 {
		t.Errorf("%d sessions were never forgotten", n)
	}
	if len(result.Phases) != len(plan.Phases) {
		t.Fatalf("%d phases began", len(result.Phases))
	}
	return d, result, early, late
}

// begin starts a phase at once.
func (d *daySource) begin(_ context.Context, phase int) (startNS int64, err error) {
	p := d.phases[phase]
	p.startNS = d.clock.NowNS()
	if p.figures != nil {
		p.figures.SliceFrom(d.clock.WallNS(p.startNS))
	}
	return p.startNS, nil
}

// checkDayMemory compares the memory in use in hours 1 and 23, where each request leaves some bytes.
func checkDayMemory(t *testing.T, early, late dayHeap, ofRequest int64) {
	const rest = 256 << 10
	requests := late.records - early.records
	if grown := late.bytes - early.bytes; grown > ofRequest*requests+rest {
		t.Errorf("the memory in use grew by %d bytes from hour 1 to hour 23 with %d requests, more than %d for each", grown,
			requests, ofRequest)
	} else {
		t.Logf("%d bytes more after %d requests", grown, requests)
	}
	// Goroutines are those of the requests in flight: 2 a second, of which one in 500 takes ten minutes.
	if late.goroutines > early.goroutines+30 {
		t.Errorf("%d goroutines in hour 1, %d in hour 23", early.goroutines, late.goroutines)
	}
}

// checkDayCounts compares the numbers of engine, service and figures, which add up.
func checkDayCounts(t *testing.T, p *dayPhase, s load.Stats) {
	for what, pair := range map[string][2]int64{
		"sent":               {s.RequestsSent, p.sent},
		"completed":          {s.RequestsCompleted, p.completed},
		"failed":             {s.RequestErrors, p.errors},
		"cut off":            {s.RequestsCancelled, p.cut},
		"returned":           {s.RequestsSent, s.RequestsCompleted + s.RequestsCancelled},
		"sessions":           {s.SentSessions, p.sessions},
		"given up":           {s.ForcedReturns, 0},
		"dropped":            {s.DroppedByCatchup, 0},
		"requests to URL 0":  {s.RequestsPerURL[0], p.perURL[0]},
		"requests to URL 1":  {s.RequestsPerURL[1], p.perURL[1]},
		"requests to URL 2":  {s.RequestsPerURL[2], p.perURL[2]},
		"requests to a URL":  {s.RequestsPerURL[0] + s.RequestsPerURL[1] + s.RequestsPerURL[2], p.sent},
		"start by the clock": {s.StartNS, p.startNS},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %d, want %d", what, pair[0], pair[1])
		}
	}
	if p.errors == 0 || p.sent < 500 {
		t.Errorf("%d requests, %d failures: the day was too quiet", p.sent, p.errors)
	}
}

// checkDaySchedule compares the end of the schedule with the plan: every arrival before it was used or found no slot.
func checkDaySchedule(t *testing.T, plan load.Phase, p *dayPhase, s load.Stats) {
	if took := time.Duration(s.SentEndNS - s.StartNS); took != plan.Duration {
		t.Errorf("sending took %v, want %v", took, plan.Duration)
	}
	// Where nothing was skipped, the last request was the last arrival.
	if s.SkippedArrivals == 0 {
		if off := p.lastIntendedNS - p.lastPlannedNS; off < -1 || off > 1 {
			t.Errorf("the last request was intended %d ns after its arrival", off)
		}
	}
	for p.lastPlannedNS < int64(plan.Duration) {
		p.lastPlannedNS = int64(p.planned())
		p.arrivals++
	}
	if used := s.RequestsSent + s.SkippedArrivals; used != p.arrivals-1 {
		t.Errorf("%d arrivals were used or skipped, the plan has %d", used, p.arrivals-1)
	}
	if limited := plan.Concurrency > 0; limited != (s.SkippedArrivals > 0) {
		t.Errorf("%d arrivals skipped", s.SkippedArrivals)
	}
}

// checkDaySlices compares the slices of time with what the service saw: one after the other from the start of the
// phase, past midnight.
func checkDaySlices(t *testing.T, plan load.Phase, p *dayPhase, c *clock.Clock) {
	all := p.figures.Slices()
	if want := int(plan.Duration / daySlice); len(all) != want {
		t.Fatalf("%d slices, want %d", len(all), want)
	}
	for i, s := range all {
		if s.StartNS != c.WallNS(p.startNS)+int64(i)*int64(daySlice) || s.Complete && s.EndNS-s.StartNS != int64(daySlice) {
			t.Errorf("slice %d is from %d to %d", i, s.StartNS, s.EndNS)
		}
		counts := map[string]int64{"request_count": p.slices[i][0], "error_request_count": p.slices[i][1]}
		for _, r := range s.Results {
			if want, ok := counts[r.Tag]; ok && int64(r.Stats.Avg) != want {
				t.Errorf("slice %d: %s %v, want %d", i, r.Tag, r.Stats.Avg, want)
			}
			delete(counts, r.Tag)
		}
		if counts["request_count"] != 0 {
			t.Errorf("slice %d has no count of requests, want %d", i, counts["request_count"])
		}
	}
}

// checkDayFigures compares the results over the whole phase with sums of whole nanoseconds.
func checkDayFigures(t *testing.T, p *dayPhase, s load.Stats) {
	seen := p.figures.Snapshot()
	if seen.Requests() != s.RequestsCompleted || seen.Errors != s.RequestErrors || seen.StartNS != p.firstStart ||
		seen.EndNS != p.lastEnd {
		t.Errorf("%+v, want %d requests, %d failures, from %d to %d", seen, s.RequestsCompleted, s.RequestErrors,
			p.firstStart, p.lastEnd)
	}
	span := float64(p.lastEnd-p.firstStart) / 1e9
	want := map[string]float64{
		"request_count":         float64(p.completed - p.errors),
		"error_request_count":   float64(p.errors),
		"effective_concurrency": float64(p.busyNS) / 1e9 / span,
	}
	for _, r := range p.figures.ResultsOf("request_count", "error_request_count", "effective_concurrency") {
		if v, ok := want[r.Tag]; ok && math.Abs(r.Stats.Avg-v) > 1e-9*v {
			t.Errorf("%s: %v, want %v", r.Tag, r.Stats.Avg, v)
		}
		delete(want, r.Tag)
	}
	for tag := range want {
		t.Errorf("no %s", tag)
	}
}
