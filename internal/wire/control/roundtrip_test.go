package control_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/wire/control"
)

const ms = time.Millisecond

var errRefused = errors.New("connection refused")

// network answers probes in fake time: each server takes its round trip; one without is not there.
type network map[string]time.Duration

func (n network) connect(ctx context.Context, target string) (control.RoundTripProbe, error) {
	rtt, ok := n[target]
	if !ok {
		return control.RoundTripProbe{}, errRefused
	}
	select {
	case <-time.After(rtt):
		return control.RoundTripProbe{Remote: target, RTT: rtt}, nil
	case <-ctx.Done():
		return control.RoundTripProbe{}, ctx.Err()
	}
}

// account is what a prober told its caller.
type account struct {
	samples  []control.RoundTripSample
	warnings []string
}

func (a *account) options(n network, targets ...string) control.RoundTripOptions {
	return control.RoundTripOptions{
		Targets: targets, Connect: n.connect, Interval: time.Second, Timeout: 5 * time.Second, MinSamples: 5,
		TopUp:  3 * time.Second,
		Sample: func(s control.RoundTripSample) { a.samples = append(a.samples, s) },
		Warn:   func(m string) { a.warnings = append(a.warnings, m) },
	}
}

func TestMeanOfOneProbeEachInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a account
		o := a.options(nil, "a")
		begin := time.Now()
		o.Connect = func(ctx context.Context, target string) (control.RoundTripProbe, error) {
			n := network{"a": 10 * ms}
			if time.Since(begin) >= 5*time.Second {
				n["a"] = 20 * ms
			}
			return n.connect(ctx, target)
		}
		p := control.NewProber(o)
		p.Start()
		p.Start()
		time.Sleep(5500 * ms)
		mean, ok := p.Finish(context.Background())
		if want := (5*10*ms + 20*ms) / 6; !ok || mean.Round(time.Microsecond) != want.Round(time.Microsecond) {
			t.Errorf("mean %v, %t, want %v", mean, ok, want)
		}
		for i, s := range a.samples {
			if got := s.At.Sub(begin); got != time.Duration(i)*time.Second {
				t.Errorf("probe %d at %v", i, got)
			}
		}
		if len(a.samples) != 6 || len(a.warnings) != 0 {
			t.Errorf("%d samples, warnings %q", len(a.samples), a.warnings)
		}
	})
}

func TestShortRunIsToppedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a account
		p := control.NewProber(a.options(network{"a": 10 * ms}, "a"))
		p.Start()
		time.Sleep(1500 * ms)
		begin := time.Now()
		mean, ok := p.Finish(context.Background())
		if !ok || mean != 10*ms || len(a.samples) != 5 {
			t.Errorf("mean %v, %t of %d samples", mean, ok, len(a.samples))
		}
		if took := time.Since(begin); took > 200*ms {
			t.Errorf("the missing probes took %v", took)
		}
	})
}

func TestWithoutTopUpAShortRunHasNoEstimate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a account
		o := a.options(network{"a": 10 * ms}, "a")
		o.TopUp = 0
		p := control.NewProber(o)
		p.Start()
		time.Sleep(1500 * ms)
		if mean, ok := p.Finish(context.Background()); ok || len(a.samples) != 2 {
			t.Errorf("mean %v of %d samples", mean, len(a.samples))
		}
		if len(a.warnings) != 1 || !strings.Contains(a.warnings[0],
			"2 of 2 probes succeeded, 5 must; the report has no network-adjusted metrics") {
			t.Errorf("warnings %q", a.warnings)
		}
	})
}

func TestServerThatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a account
		p := control.NewProber(a.options(network{}, "a"))
		p.Start()
		time.Sleep(2500 * ms)
		if mean, ok := p.Finish(context.Background()); ok {
			t.Errorf("mean %v of nothing", mean)
		}
		if want := 3 + 2*5; len(a.samples) != want {
			t.Errorf("%d probes, want %d", len(a.samples), want)
		}
		if len(a.warnings) != 2 || !strings.Contains(a.warnings[0], "a failed: connection refused") ||
			!strings.Contains(a.warnings[1], "a is not known: 0 of 13 probes succeeded, 5 must (connection refused)") ||
			!strings.Contains(a.warnings[1], "--network-latency-mean") {
			t.Errorf("warnings %q", a.warnings)
		}
	})
}

func TestServersWeighTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a account
		p := control.NewProber(a.options(network{"near": 10 * ms, "far": 1900 * ms}, "near", "far", "gone"))
		p.Start()
		time.Sleep(20 * time.Second)
		mean, ok := p.Finish(context.Background())
		if !ok || mean != (10*ms+1900*ms)/2 {
			t.Errorf("mean %v, %t: the far server has fewer samples, but the same weight", mean, ok)
		}
		if len(a.warnings) != 2 || !strings.Contains(a.warnings[1], "gone is not known") ||
			!strings.Contains(a.warnings[1], "the mean leaves it out") {
			t.Errorf("warnings %q", a.warnings)
		}
	})
}

func TestProbesEndWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a account
		var under atomic.Int64
		o := a.options(network{"a": time.Hour}, "a")
		connect := o.Connect
		o.Connect = func(ctx context.Context, target string) (control.RoundTripProbe, error) {
			under.Add(1)
			defer under.Add(-1)
			return connect(ctx, target)
		}
		p := control.NewProber(o)
		p.Start()
		time.Sleep(2 * time.Second)
		p.Close()
		if under.Load() != 0 || len(a.samples) != 0 || len(a.warnings) != 0 {
			t.Errorf("%d probes go on, samples %v, warnings %q", under.Load(), a.samples, a.warnings)
		}
		p.Start()
		synctest.Wait()
		if under.Load() != 0 {
			t.Error("a closed prober probes")
		}
	})
}

// A server that swallows what it gets costs a time limit each, and the end of a run no more than its own.
func TestSilentServerHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a account
		p := control.NewProber(a.options(network{"a": time.Hour}, "a"))
		p.Start()
		time.Sleep(12 * time.Second)
		synctest.Wait()
		if len(a.samples) != 2 {
			t.Errorf("%d probes in 12 s, want 2 of 5 s", len(a.samples))
		}
		begin := time.Now()
		if _, ok := p.Finish(context.Background()); ok {
			t.Error("an estimate without samples")
		}
		if took := time.Since(begin); took > 3*time.Second {
			t.Errorf("the end took %v", took)
		}
	})
}

func TestNeverStartedMakesNoProbe(t *testing.T) {
	var a account
	if _, ok := control.NewProber(a.options(network{"a": ms}, "a")).Finish(context.Background()); ok || len(a.samples) != 0 ||
		len(a.warnings) != 0 {
		t.Errorf("ok %t, samples %v, warnings %q", ok, a.samples, a.warnings)
	}
}
