package collect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
)

func TestScheduleIsFixed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScripted(func(ctx context.Context, url string, n int) (string, error) {
			if n == 1 { // a slow one leaves out a turn, and moves none
				if err := pause(ctx, 400*time.Millisecond); err != nil {
					return "", err
				}
			}
			return counting(ctx, url, n)
		})
		r := newRig(t, Options{URLs: []string{"h"}}, p)
		r.Start()
		r.Start() // once is enough
		time.Sleep(1700 * time.Millisecond)
		want := []string{"0s", "333ms", "999ms", "1.332s", "1.665s"}
		if got := p.times(); !slices.Equal(got, want) {
			t.Errorf("requests at %v", got)
		}
		if got := r.values("http://h/metrics"); !slices.Equal(got, []float64{0, 1, 2, 3, 4}) {
			t.Errorf("values %v", got)
		}
		if got := r.log.with("INFO Server Metrics: Started 1 collector(s) successfully"); len(got) != 1 ||
			len(r.log.lines) != 2 {
			t.Errorf("log %q", r.log.lines)
		}
	})
}

func TestOneScrapeIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScripted(func(ctx context.Context, url string, n int) (string, error) {
			if strings.Contains(url, "slow") {
				if err := pause(ctx, 1150*time.Millisecond); err != nil {
					return "", err
				}
			}
			return counting(ctx, url, n)
		})
		r := newRig(t, Options{URLs: []string{"slow"}, Interval: 100 * time.Millisecond}, p)
		r.Start()
		time.Sleep(2250 * time.Millisecond)
		if got := p.times(); !slices.Equal(got, []string{"0s", "1.2s"}) {
			t.Errorf("requests at %v", got)
		}
		if got := r.log.with("WARN Server metrics: http://slow/metrics takes longer to answer"); len(got) != 1 {
			t.Errorf("warnings %q", got)
		}
	})
}

func TestFinishScrapesOnceMoreAndEndsTheSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScripted(counting)
		r := newRig(t, Options{URLs: []string{"h"}}, p)
		r.Start()
		time.Sleep(400 * time.Millisecond)
		r.Finish(context.Background())
		r.Finish(context.Background())
		time.Sleep(time.Minute)
		r.Start()
		r.scrapeOnce()
		if got := p.times(); !slices.Equal(got, []string{"0s", "333ms", "400ms"}) {
			t.Errorf("requests at %v", got)
		}
		if got := r.log.with("INFO Server Metrics: Profiling complete, capturing final metrics..."); len(got) != 1 {
			t.Errorf("log %q", r.log.lines)
		}
	})
}

func TestFinishIsBounded(t *testing.T) {
	hang := func(ctx context.Context, url string, n int) (string, error) {
		if strings.Contains(url, "fine") {
			return counting(ctx, url, n)
		}
		return "", pause(ctx, time.Hour)
	}
	for name, c := range map[string]struct {
		limit, want time.Duration
		warnings    int
	}{
		"by its budget":  {time.Hour, 10 * time.Second, 1},
		"by its context": {3 * time.Second, 3 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Options{URLs: []string{"fine", "hangs"}}, newScripted(hang))
				r.Start()
				time.Sleep(2 * time.Second)
				ctx, cancel := context.WithTimeout(context.Background(), c.limit)
				defer cancel()
				start := time.Now()
				r.Finish(ctx)
				if got := time.Since(start); got != c.want {
					t.Errorf("took %s", got)
				}
				if got := r.log.with("no final scrape within 10s from http://hangs/metrics"); len(got) != c.warnings {
					t.Errorf("log %q", r.log.lines)
				}
				if len(r.Errors()) != 0 {
					t.Errorf("scrapes cut off at the end are no errors: %v", r.Errors())
				}
				if got := r.values("http://fine/metrics"); len(got) != 8 {
					t.Errorf("values %v", got)
				}
			})
		})
	}
}

func TestBaselineAndBoundaryAreAwaitedAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := time.Second
		p := newScripted(func(ctx context.Context, url string, n int) (string, error) {
			if err := pause(ctx, wait); err != nil {
				return "", err
			}
			return counting(ctx, url, n)
		})
		r := newRig(t, Options{URLs: []string{"h"}}, p)
		took := func(step func(context.Context)) time.Duration {
			start := time.Now()
			step(context.Background())
			return time.Since(start)
		}
		if got := took(r.Baseline); got != time.Second || len(r.sink.all()) != 1 {
			t.Errorf("baseline took %s, kept %d", got, len(r.sink.all()))
		}
		wait = 2 * time.Second
		if got := took(r.Boundary); got != 2*time.Second || len(r.sink.all()) != 2 {
			t.Errorf("boundary took %s, kept %d", got, len(r.sink.all()))
		}
		wait = time.Minute
		if got := took(r.Boundary); got != boundaryBudget {
			t.Errorf("boundary took %s", got)
		}
		if got := took(r.Baseline); got != baselineBudget {
			t.Errorf("baseline took %s", got)
		}
		time.Sleep(time.Minute)
		if len(r.sink.all()) != 3 {
			t.Errorf("kept %d: what hung when another step came is dropped, what came late counts", len(r.sink.all()))
		}
		if got := r.log.warnings(); len(got) != 2 {
			t.Errorf("warnings %q", got)
		}
	})
}

func TestBoundaryIsTheReferenceSample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{URLs: []string{"h"}}, newScripted(counting))
		r.Baseline(context.Background())
		r.Start()
		time.Sleep(400 * time.Millisecond)
		r.Boundary(context.Background())
		time.Sleep(time.Millisecond)
		start := time.Now().UnixNano()
		time.Sleep(time.Second)
		r.Finish(context.Background())
		series := r.Store().Endpoints()[0].Series()[0]
		sample, ok := series.LastBefore(start)
		if !ok || sample.Value != 3 || start-sample.TimestampNS != int64(time.Millisecond) {
			t.Errorf("reference %+v", sample)
		}
	})
}

func TestTrapConstantServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		constant := func(context.Context, string, int) (string, error) { return "# TYPE a gauge\na 5\n", nil }
		r := newRig(t, Options{URLs: []string{"h"}}, newScripted(constant))
		r.Baseline(context.Background())
		time.Sleep(time.Second)
		r.Start()
		time.Sleep(57*defaultInterval + time.Millisecond)
		r.Finish(context.Background())
		info := r.Store().Endpoints()[0].Info()
		if info.TotalFetches != 60 || info.UniqueUpdates != 1 || info.DurationSeconds != 0 ||
			info.AvgUpdateIntervalMS != 0 || info.MedianUpdateIntervalMS != nil {
			t.Errorf("%+v", info)
		}
		lines := r.sink.all()
		if len(lines) != 60 {
			t.Fatalf("%d lines", len(lines))
		}
		for i, sc := range lines {
			if len(sc.Samples) != 1 || sc.Samples[0].Value != 5 || sc.Duplicate != (i > 0) ||
				sc.TimestampNS != sc.FirstByteNS {
				t.Fatalf("line %d: %+v", i, sc)
			}
		}
	})
}

// A run shorter than the interval has one scrape after its start, the final one.
func TestShortRunOfAConstantServerKeepsItsSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		constant := func(context.Context, string, int) (string, error) {
			return "# TYPE a gauge\na 5\n# TYPE b_total counter\nb_total 7\n# TYPE c_info gauge\nc_info{v=\"1\"} 1\n",
				nil
		}
		r := newRig(t, Options{URLs: []string{"h"}}, newScripted(constant))
		r.Baseline(context.Background())
		r.Start()
		time.Sleep(time.Millisecond)
		r.Boundary(context.Background())
		time.Sleep(time.Millisecond)
		phase := servermetrics.Window{StartNS: time.Now().UnixNano()}
		time.Sleep(100 * time.Millisecond)
		phase.EndNS = time.Now().UnixNano()
		time.Sleep(time.Millisecond)
		r.Finish(context.Background())
		got := map[string][]metrics.Statistic{}
		for _, f := range servermetrics.Compute(r.Store(), servermetrics.Settings{Phase: phase}).Families {
			got[f.Name] = f.Series[0].Fields()[:2]
		}
		want := map[string][]metrics.Statistic{
			"a": {{Key: "avg", Value: 5}, {Key: "min", Value: 5}}, "b": {{Key: "total"}, {Key: "rate"}},
			"c_info": {{Key: "avg", Value: 1}, {Key: "min", Value: 1}},
		}
		if !maps.EqualFunc(got, want, slices.Equal[[]metrics.Statistic]) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

func TestEmptyPagesAreNoScrapes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bodies := []string{"", "# nothing\n", "a 1\n", "a 1\n", " \n", "a 1\n", "# nothing\n", "# nothing\n", "a 2\n"}
		r := newRig(t, Options{URLs: []string{"h"}},
			newScripted(func(_ context.Context, _ string, n int) (string, error) { return bodies[n], nil }))
		for range bodies {
			r.scrapeOnce()
		}
		if got := r.values("http://h/metrics"); !slices.Equal(got, []float64{1, 1, 1, 2}) || len(r.log.lines) != 0 ||
			len(r.Errors()) != 0 {
			t.Errorf("values %v, log %q, errors %v", got, r.log.lines, r.Errors())
		}
	})
}

// notYet says that the servers have not counted all yet.
func notYet() bool { return false }

// Without a page that counts requests there is nothing to wait for.
func TestSettleWithoutPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{FlushPeriod: 2 * time.Second}, newScripted(counting))
		end := time.Now()
		r.Settle(context.Background(), end, notYet)
		if got := time.Since(end); got != 0 {
			t.Errorf("waited until %s after the end", got)
		}
	})
}

// The wait ends with its context, and with the flush period, also if that is over before.
func TestSettleEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{URLs: []string{"h"}, FlushPeriod: 2 * time.Second},
			newScripted(func(context.Context, string, int) (string, error) {
				return "# TYPE requests_total counter\nrequests_total 1\n", nil
			}))
		r.Final(context.Background())
		end := time.Now()
		time.Sleep(500 * time.Millisecond)
		r.Settle(context.Background(), end, notYet)
		if got := time.Since(end); got != 2*time.Second {
			t.Errorf("waited until %s after the end", got)
		}
		r.Settle(context.Background(), end, notYet)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		r.Settle(ctx, time.Now(), notYet)
		if got := time.Since(end); got != 3*time.Second {
			t.Errorf("waited until %s after the end", got)
		}
	})
}

// Nothing is waited for once the servers have counted all that the client knows of.
func TestSettleEndsWhenAllIsCounted(t *testing.T) {
	for _, c := range []struct {
		name  string
		after int // looks until all is counted
		waits time.Duration
	}{{"at once", 0, 0}, {"at the second look", 2, 750 * time.Millisecond}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				r := newRig(t, Options{URLs: []string{"h"}, FlushPeriod: 2 * time.Second},
					newScripted(func(context.Context, string, int) (string, error) {
						asked++
						return fmt.Sprintf("# TYPE requests_total counter\nrequests_total %d\n", asked), nil
					}))
				r.Final(context.Background())
				end := time.Now()
				r.Settle(context.Background(), end, func() bool { return asked > c.after })
				if got := time.Since(end); got != c.waits {
					t.Errorf("waited for %s, want %s", got, c.waits)
				}
				if said := strings.Contains(strings.Join(r.log.lines, "\n"), "waiting up to 2.0 s"); said != (c.waits > 0) {
					t.Errorf("the log is %q", r.log.lines)
				}
			})
		})
	}
}

// Requests that a server counts after their replies belong to the run; what a server that is done says then is
// dropped.
func TestSettleWaitsForLateCounters(t *testing.T) {
	for _, c := range []struct {
		name, series string
		late, kept   []float64 // what the pages say from the final one on
		none         bool      // it counts no requests
	}{
		{name: "late", series: "vllm:request_success_total", late: []float64{14, 16, 16, 17}, kept: []float64{14, 16, 17}},
		{name: "once a second", series: "vllm:request_success_total", late: []float64{14, 14, 14, 17},
			kept: []float64{14, 17}},
		{name: "for long", series: "http_requests_total{handler=\"/v1/completions\"}", late: []float64{1, 2, 3, 4, 5},
			kept: []float64{1, 2, 3, 4}},
		{name: "done", series: "vllm:request_success_total", late: []float64{16, 16, 16, 16}, kept: []float64{16}},
		{name: "processor time", series: "process_cpu_seconds_total", late: []float64{1, 2}, kept: []float64{1}, none: true},
		{name: "the page itself", series: "http_requests_total{handler=\"/metrics\"}", late: []float64{1, 2},
			kept: []float64{1}, none: true},
		{name: "the page among others", series: "http_requests_total", late: []float64{1, 2}, kept: []float64{1},
			none: true},
		{name: "a queue", series: "vllm:num_requests_running", late: []float64{1, 2}, kept: []float64{1}, none: true},
		{name: "restarted", series: "vllm:request_success_total", late: []float64{16, 0, 1, 2}, kept: []float64{16}},
		{name: "tokens", series: "llamacpp:tokens_predicted_total", late: []float64{5, 9, 9, 9}, kept: []float64{5, 9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kind := "counter"
				if c.name == "a queue" {
					kind = "gauge"
				}
				family, _, _ := strings.Cut(c.series, "{")
				asked := 0
				r := newRig(t, Options{URLs: []string{"h"}, FlushPeriod: 2 * time.Second},
					newScripted(func(_ context.Context, _ string, n int) (string, error) {
						asked++
						return fmt.Sprintf("# TYPE %s %s\n%s %g\n", family, kind, c.series, c.late[n]), nil
					}))
				end, waits, pages := time.Now(), 2*time.Second, 4
				if c.none {
					waits, pages = 0, 1
				}
				r.Final(context.Background())
				r.Settle(context.Background(), end, notYet)
				if got := time.Since(end); got != waits {
					t.Errorf("waited until %s after the end, want %s", got, waits)
				}
				r.Finish(context.Background())
				if got := r.values("http://h/metrics"); !slices.Equal(got, c.kept) || asked != pages {
					t.Errorf("kept %v of %d pages, want %v", got, asked, c.kept)
				}
				if got := r.Store().Endpoints()[0].Info().TotalFetches; got != int64(len(c.kept)) {
					t.Errorf("%d fetches in the store", got)
				}
			})
		})
	}
}

type hangingSink struct{ release chan struct{} }

func (s hangingSink) Scraped(Scrape) { <-s.release }

func TestSinkThatHangsHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := hangingSink{make(chan struct{})}
		c, err := newCollector(Options{URLs: []string{"h"}, Sink: sink}, newScripted(counting))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		c.Boundary(context.Background())
		c.Finish(context.Background())
		if err := c.Close(); err == nil {
			t.Error("a scrape could not be written")
		}
		if got := time.Since(start); got != boundaryBudget+finalBudget+sinkBudget+closeBudget {
			t.Errorf("took %s", got)
		}
		close(sink.release)
		synctest.Wait()
		if got := c.Store().Endpoints()[0].Info().TotalFetches; got != 1 {
			t.Errorf("%d fetches: nothing is stored after the end", got)
		}
	})
}

func TestStepsMayBeLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScripted(counting)
		ctx := context.Background()
		newRig(t, Options{URLs: []string{"h"}}, p)
		r := newRig(t, Options{URLs: []string{"h"}}, p)
		r.Finish(ctx)
		empty := newRig(t, Options{}, p)
		empty.Discover(ctx)
		if empty.Probe(ctx) {
			t.Error("there is no endpoint")
		}
		empty.Baseline(ctx)
		empty.Start()
		empty.Boundary(ctx)
		empty.Finish(ctx)
		if err := empty.Close(); err != nil {
			t.Error(err)
		}
		if got := p.times(); len(got) != 1 || len(empty.log.lines) != 0 {
			t.Errorf("requests at %v, log %q", got, empty.log.lines)
		}
	})
}

func TestLongReadGapIsRemarkedOnOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for interval, want := range map[time.Duration]int{300 * time.Millisecond: 0, 299 * time.Millisecond: 1} {
			r := newRig(t, Options{URLs: []string{"h", "i"}, Interval: interval}, newScripted(counting))
			r.Start()
			time.Sleep(time.Second)
			if got := r.log.warnings(); len(got) != want {
				t.Errorf("interval %s: warnings %q", interval, got)
			}
		}
	})
}

func TestFailedScrapesAreCountedAndToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures := []error{
			&prom.Error{Code: 503, Type: "Service Unavailable", Message: "answered with status 503"},
			&prom.Error{Type: "ClientConnectorError", Message: "refused"},
		}
		p := newScripted(func(ctx context.Context, url string, n int) (string, error) {
			if n < 6 && strings.Contains(url, "bad") {
				return "", failures[n%2]
			}
			return counting(ctx, url, n)
		})
		r := newRig(t, Options{URLs: []string{"bad", "good"}}, p)
		for range 8 {
			r.scrapeOnce()
		}
		want := []ErrorCount{
			{prom.ErrorKey{Code: 503, Type: "Service Unavailable", Message: "answered with status 503"}, 3},
			{prom.ErrorKey{Type: "ClientConnectorError", Message: "refused"}, 3},
		}
		if got := r.Errors(); !slices.Equal(got, want) {
			t.Errorf("errors %v", got)
		}
		if got := r.log.warnings(); len(got) != 2 || !strings.Contains(got[0], "http://bad/metrics") {
			t.Errorf("warnings %q", got)
		}
		if good, bad := r.values("http://good/metrics"), r.values("http://bad/metrics"); len(good) != 8 ||
			len(bad) != 2 {
			t.Errorf("values %v and %v", good, bad)
		}
	})
}

func TestErrorsThatNeverRepeatAreCountedTogether(t *testing.T) {
	var f failures
	for i := range 5 * maxFailures {
		f.count(prom.ErrorKey{Type: "T", Message: fmt.Sprint(i)})
	}
	last := f.counts[len(f.counts)-1]
	if len(f.counts) != maxFailures+1 || last.Message != "other errors" || last.Count != 4*maxFailures {
		t.Errorf("%d kinds, the last %+v", len(f.counts), last)
	}
}

func TestUnreadablePagesAreAskedForLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fixed atomic.Bool
		p := newScripted(func(ctx context.Context, url string, n int) (string, error) {
			if !fixed.Load() {
				return "", &prom.Error{Type: unreadablePage, Message: "too large"}
			}
			return counting(ctx, url, n)
		})
		r := newRig(t, Options{URLs: []string{"h"}, Interval: time.Second}, p)
		r.Start()
		time.Sleep(100*time.Second + time.Millisecond)
		if got := p.times(); !slices.Equal(got, []string{"0s", "1s", "3s", "7s", "15s", "31s", "1m3s", "1m35s"}) {
			t.Errorf("requests at %v", got)
		}
		fixed.Store(true)
		time.Sleep(30 * time.Second)
		if got := p.times(); !slices.Equal(got[8:], []string{"2m7s", "2m8s", "2m9s", "2m10s"}) {
			t.Errorf("requests at %v", got[8:])
		}
		if got := r.log.warnings(); len(got) != 1 {
			t.Errorf("warnings %q", got)
		}
	})
}
