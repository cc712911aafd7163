package intake_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/intake"
)

func numbered(t testing.TB, n int) *intake.Job {
	j := streamed(t, event{1, delta(`"content":"x"`)})
	j.Identity.SessionNum = int64(n)
	return j
}

func TestPoolDeliversEveryRecordOnce(t *testing.T) {
	for _, queue := range []int{0, 3, 1000} {
		const jobs, submitters = 200, 4
		var mu sync.Mutex
		seen := map[int64]int{}
		p := intake.NewPool(intake.New(options()), 2, queue, func(r *record.Record) {
			mu.Lock()
			defer mu.Unlock()
			seen[r.SessionNum]++
		})
		var wg sync.WaitGroup
		for s := range submitters {
			wg.Go(func() {
				for i := range jobs {
					p.Submit(numbered(t, s*jobs+i))
				}
			})
		}
		wg.Wait()
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for n := range int64(jobs * submitters) {
			if seen[n] != 1 {
				t.Fatalf("queue %d: record %d was delivered %d times", queue, n, seen[n])
			}
		}
	}
}

func TestFullQueueMakesTheSubmitterWork(t *testing.T) {
	release, busy := make(chan struct{}), make(chan struct{}, 1)
	var delivered atomic.Int64
	p := intake.NewPool(intake.New(options()), 1, 2, func(r *record.Record) {
		if r.SessionNum == 0 {
			busy <- struct{}{}
			<-release
		}
		delivered.Add(1)
	})
	p.Submit(numbered(t, 0))
	<-busy // the only worker is held
	p.Submit(numbered(t, 1))
	p.Submit(numbered(t, 2)) // the queue is full now
	p.Submit(numbered(t, 3))
	if n := delivered.Load(); n != 1 {
		t.Errorf("%d records were made by the submitter, want 1", n)
	}
	close(release)
	if err := p.Close(t.Context()); err != nil || delivered.Load() != 4 {
		t.Errorf("after Close: %d records, %v", delivered.Load(), err)
	}
}

func TestCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := intake.NewPool(intake.New(options()), 1, 5, func(*record.Record) { <-release })
		p.Submit(numbered(t, 0))
		synctest.Wait()
		p.Submit(numbered(t, 1))
		p.Submit(numbered(t, 2))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := p.Close(ctx)
		if want := fmt.Sprintf("3 finished requests were not turned into records in time: %v",
			context.DeadlineExceeded); err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
		if waiting, done := p.Progress(); waiting != 3 || done != 0 {
			t.Errorf("%d wait, %d are done", waiting, done)
		}
		close(release)
		if err := p.Close(t.Context()); err != nil {
			t.Errorf("the second Close: %v", err)
		}
		if waiting, done := p.Progress(); waiting != 0 || done != 3 {
			t.Errorf("at the end %d wait, %d are done", waiting, done)
		}
	})
}

func TestSubmitAfterCloseWorksInline(t *testing.T) {
	n := 0
	p := intake.NewPool(intake.New(options()), 1, 5, func(*record.Record) { n++ })
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Submit(numbered(t, 0))
	if n != 1 {
		t.Errorf("%d records", n)
	}
	cut := numbered(t, 1)
	cut.Exchange.CutOff = true
	p.Submit(cut)
	if n != 1 {
		t.Error("a request that was cut off was delivered")
	}
}
