package control

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// RoundTripOptions shape a Prober.
type RoundTripOptions struct {
	// Targets are the servers, each probed for itself.
	Targets []string
	// Connect makes one probe, from any goroutine; it ends with its context.
	Connect func(ctx context.Context, target string) (RoundTripProbe, error)
	// Interval is the time between the starts of two probes; a probe that takes longer delays the next one.
	Interval time.Duration
	// Timeout bounds a probe.
	Timeout time.Duration
	// MinSamples is how many probes of a target must have succeeded for an estimate. What is missing at the end of a
	// short run is collected then, within TopUp.
	MinSamples int
	TopUp      time.Duration
	// RoundTripSample gets every probe, one at a time; nil for none.
	Sample func(RoundTripSample)
	// Warn gets warnings for the user; nil drops them.
	Warn func(message string)
}

// RoundTripProbe is one measurement of a round trip.
type RoundTripProbe struct {
	Remote string
	RTT    time.Duration
	// Kernel is true when the RTT is free of this program's own delays.
	Kernel bool
}

// RoundTripSample is a probe with its result.
type RoundTripSample struct {
	Target string
	// At is when the probe began.
	At time.Time
	RoundTripProbe
	Err error
}

// Prober probes from Start to Finish or Close.
type Prober struct {
	opts    RoundTripOptions
	targets []*serverAccount

	mu     sync.Mutex // also of what Sample and Warn are called under
	cancel context.CancelFunc
	loops  sync.WaitGroup
}

// serverAccount is the account of one server.
type serverAccount struct {
	name    string
	samples int64
	failed  int64
	sumNS   int64
	err     error // the last one
}

// NewProber makes a prober.
func NewProber(opts RoundTripOptions) *Prober {
	p := &Prober{opts: opts}
	for _, name := range opts.Targets {
		p.targets = append(p.targets, &serverAccount{name: name})
	}
	return p
}

// Start begins to probe, now and each interval; a second call does nothing.
func (p *Prober) Start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	for _, t := range p.targets {
		p.loops.Go(func() { p.loop(ctx, t) })
	}
}

func (p *Prober) loop(ctx context.Context, t *serverAccount) {
	ticker := time.NewTicker(p.opts.Interval)
	defer ticker.Stop()
	for {
		p.probe(ctx, t)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// probe makes one probe; one that ctx cut off does not count.
func (p *Prober) probe(ctx context.Context, t *serverAccount) (ok bool) {
	s := RoundTripSample{Target: t.name, At: time.Now()}
	limited, cancel := context.WithTimeout(ctx, p.opts.Timeout)
	defer cancel()
	s.RoundTripProbe, s.Err = p.opts.Connect(limited, t.name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.Err == nil {
		t.samples++
		t.sumNS += int64(s.RTT)
	} else {
		if ctx.Err() != nil {
			return false
		}
		if t.failed++; t.failed == 1 {
			p.warn(fmt.Sprintf("a probe of the network's round trip to %s failed: %v", t.name, s.Err))
		}
		t.err = s.Err
	}
	if p.opts.Sample != nil {
		p.opts.Sample(s)
	}
	return s.Err == nil
}

func (p *Prober) warn(message string) {
	if p.opts.Warn != nil {
		p.opts.Warn(message)
	}
}

// Close ends the probing.
func (p *Prober) Close() {
	p.mu.Lock()
	if p.cancel == nil {
		p.cancel = func() {} // a prober that was not started cannot be started any more
	}
	cancel := p.cancel
	p.mu.Unlock()
	cancel()
	p.loops.Wait()
}

// Finish ends the probing and returns the mean round trip over all targets, each with the same weight; ok
// is false if there is none. Targets with too few samples are left out, with a warning. A prober that
// was never started makes no probe.
func (p *Prober) Finish(ctx context.Context) (mean time.Duration, ok bool) {
	p.mu.Lock()
	started := p.cancel != nil
	p.mu.Unlock()
	p.Close()
	if !started {
		return 0, false
	}
	p.topUp(ctx)
	var sum float64
	n := 0
	for _, t := range p.targets {
		if t.samples < int64(p.opts.MinSamples) {
			p.warn(p.lacking(t))
			continue
		}
		sum += float64(t.sumNS) / float64(t.samples)
		n++
	}
	if n == 0 {
		return 0, false
	}
	return time.Duration(sum/float64(n) + 0.5), true
}

// topUpPause is the time between two probes at the end of a run.
const topUpPause = 20 * time.Millisecond

// topUp collects the samples that targets lack, with as many attempts again for failures.
func (p *Prober) topUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, p.opts.TopUp)
	defer cancel()
	var all sync.WaitGroup
	for _, t := range p.targets {
		missing := p.opts.MinSamples - int(t.samples)
		if missing <= 0 || p.opts.TopUp <= 0 {
			continue
		}
		all.Go(func() {
			for attempts := 2 * missing; attempts > 0 && missing > 0 && ctx.Err() == nil; attempts-- {
				if p.probe(ctx, t) {
					missing--
				}
				select {
				case <-time.After(topUpPause):
				case <-ctx.Done():
				}
			}
		})
	}
	all.Wait()
}

// lacking returns why a target has no estimate.
func (p *Prober) lacking(t *serverAccount) string {
	text := fmt.Sprintf("the network's round trip to %s is not known: %d of %d probes succeeded, %d must", t.name,
		t.samples, t.samples+t.failed, p.opts.MinSamples)
	if t.err != nil {
		text += fmt.Sprintf(" (%v)", t.err)
	}
	if len(p.targets) == 1 {
		return text + "; the report has no network-adjusted metrics. --network-latency-mean gives them a round trip " +
			"measured elsewhere"
	}
	return text + "; the mean leaves it out"
}
