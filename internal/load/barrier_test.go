package load

import (
	"context"
	"testing"
	"time"
)

func TestBarrierReleasesAllTogether(t *testing.T) {
	p := scenario{
		plan:  one(Phase{Concurrency: 100, Requests: 150, Barrier: true}),
		serve: within(time.Second), gathers: true, gatherFor: 3 * time.Second,
	}.run(t)
	s := p.result.Phases[0]
	same(t, "size, released", []int{s.Barrier.Size, s.Barrier.Released}, []int{100, 100})
	same(t, "spread", s.Barrier.Spread(), 99*time.Microsecond)
	for _, c := range p.sent[:100] {
		same(t, "issued at the start", []int64{c.IssuedNS, c.IntendedNS}, []int64{s.StartNS, s.StartNS})
	}
	same(t, "the others follow", p.sent[100].IntendedNS, 0)
	same(t, "the clock starts when all are ready", p.took, 5*time.Second)
}

func TestBarrierKeepsTheLimits(t *testing.T) {
	p := scenario{
		plan: one(Phase{Concurrency: 10, Prefill: 4, Requests: 8, Barrier: true}), gathers: true,
		serve: within(time.Second),
	}.run(t)
	same(t, "sends", p.sends(0), "0s 0s 0s 0s 1s 1s 1s 1s")
	same(t, "size", p.result.Phases[0].Barrier.Size, 4)
}

func TestBarrierOfASenderThatCannotGather(t *testing.T) {
	p := scenario{plan: one(Phase{Concurrency: 5, Sessions: 3, Barrier: true}), serve: within(time.Second)}.run(t)
	same(t, "barrier", p.result.Phases[0].Barrier.Released, 3)
	same(t, "spread", p.result.Phases[0].Barrier.Spread(), time.Duration(0))
}

func TestBarrierIsNotWaitedForForever(t *testing.T) {
	p := scenario{
		plan: one(Phase{Concurrency: 2, Requests: 2, Barrier: true}), gathers: true, gatherFor: -1,
		opt: Options{GatherTimeout: 7 * time.Second},
	}.run(t)
	same(t, "took", p.took, 7*time.Second)
	same(t, "sent", len(p.sent), 2)
	p = scenario{
		plan: one(Phase{Concurrency: 2, Requests: 2, Barrier: true}), gathers: true, gatherFor: -1,
		during: func(_ context.CancelFunc, e *Engine) { time.Sleep(time.Second); e.Stop() },
	}.run(t)
	same(t, "took until the stop", p.took, time.Second)
	same(t, "sent after it", len(p.sent), 0)
}
