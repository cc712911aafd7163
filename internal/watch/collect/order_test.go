package collect

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// lasting are pages that each take their time, the last one's for all after it, and count their requests when they
// arrive.
func lasting(times ...time.Duration) *scripted {
	return newScripted(func(ctx context.Context, url string, n int) (string, error) {
		if err := pause(ctx, times[min(n, len(times)-1)]); err != nil {
			return "", err
		}
		return counting(ctx, url, n)
	})
}

func TestEndpointsTakeTurnsWithinTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScripted(counting)
		r := newRig(t, Options{URLs: []string{"a", "b", "c", "d"}, Interval: 200 * time.Millisecond}, p)
		r.Start()
		time.Sleep(320 * time.Millisecond)
		r.stopSchedule()
		if got := p.times(); !slices.Equal(got, []string{"0s", "50ms", "100ms", "150ms", "200ms", "250ms", "300ms"}) {
			t.Errorf("requests at %v", got)
		}
		for url, want := range map[string]int{"http://a/metrics": 2, "http://d/metrics": 1} {
			if got := r.values(url); len(got) != want {
				t.Errorf("%s: %v", url, got)
			}
		}
	})
}

func TestStepsWaitForTheScrapeUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := lasting(0, 200*time.Millisecond, 600*time.Millisecond, 0)
		r := newRig(t, Options{URLs: []string{"h"}}, p)
		r.Baseline(context.Background())
		r.Start()
		time.Sleep(50 * time.Millisecond)
		r.Boundary(context.Background())
		// The boundary scrape goes from 200 to 800 ms: ticks leave it alone.
		time.Sleep(time.Until(p.start.Add(1100 * time.Millisecond)))
		if got := p.times(); !slices.Equal(got, []string{"0s", "0s", "200ms", "999ms"}) {
			t.Errorf("requests at %v", got)
		}
		if got := r.values("http://h/metrics"); !slices.Equal(got, []float64{0, 1, 2, 3}) ||
			len(r.log.warnings()) != 0 {
			t.Errorf("values %v, warnings %q", got, r.log.warnings())
		}
	})
}

func TestFinalPageIsTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := lasting(300*time.Millisecond, 0)
		r := newRig(t, Options{URLs: []string{"h"}}, p)
		r.Start()
		time.Sleep(100 * time.Millisecond)
		r.Finish(context.Background())
		if got := p.times(); !slices.Equal(got, []string{"0s", "300ms"}) {
			t.Errorf("requests at %v", got)
		}
		if got := r.values("http://h/metrics"); !slices.Equal(got, []float64{0, 1}) {
			t.Errorf("values %v", got)
		}
	})
}

func TestScrapeThatHangsDelaysTheBoundaryByHalfItsBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := lasting(20*time.Second, time.Millisecond)
		r := newRig(t, Options{URLs: []string{"h"}, Interval: 30 * time.Second}, p)
		r.Start()
		time.Sleep(time.Second)
		start := time.Now()
		r.Boundary(context.Background())
		if got := time.Since(start); got != boundaryBudget/2+time.Millisecond {
			t.Errorf("took %s", got)
		}
		time.Sleep(25 * time.Second)
		// What hung came in the end, when a later page was there.
		if got := r.values("http://h/metrics"); !slices.Equal(got, []float64{1}) || len(r.log.warnings()) != 0 {
			t.Errorf("values %v, warnings %q", got, r.log.warnings())
		}
		if got := r.Store().Endpoints()[0].Info().TotalFetches; got != 1 || len(r.Errors()) != 0 {
			t.Errorf("%d fetches, errors %v", got, r.Errors())
		}
	})
}

func TestStepsOfOneEndpointAtOnceComeOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := lasting(time.Second)
		r := newRig(t, Options{URLs: []string{"h"}}, p)
		go r.Boundary(context.Background())
		synctest.Wait()
		r.Finish(context.Background())
		if got := p.times(); !slices.Equal(got, []string{"0s", "1s"}) {
			t.Errorf("requests at %v", got)
		}
	})
}

// A page may take longer than the interval: the next one is asked for when it is there, so that no page can come out of
// order.
func TestScrapesOfOneEndpointNeverOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := lasting(500*time.Millisecond, 400*time.Millisecond, 0)
		r := newRig(t, Options{URLs: []string{"h"}, Interval: 200 * time.Millisecond}, p)
		r.Start()
		time.Sleep(1500 * time.Millisecond)
		r.stopSchedule()
		if got := p.times(); !slices.Equal(got, []string{"0s", "600ms", "1s", "1.2s", "1.4s"}) &&
			!slices.Equal(got, []string{"0s", "600ms", "1.2s", "1.4s"}) {
			t.Errorf("requests at %v", got)
		}
		if len(r.log.with("longer to answer than the interval of 200ms")) != 1 {
			t.Errorf("warnings %q", r.log.warnings())
		}
	})
}
