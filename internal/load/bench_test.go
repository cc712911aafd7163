package load

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"aiperf/internal/base/random"
)

// echo is a sender and source that answers each credit at once, with each of its outcomes.
type echo struct {
	engine   *Engine
	outcomes []Outcome
	turns    int
}

func (e *echo) Turns(uint64) int        { return max(1, e.turns) }
func (*echo) DelayNS(uint64, int) int64 { return 0 }
func (*echo) Prepare(int, uint64, int)  {}
func (*echo) Forget(uint64)             {}
func (*echo) CutOff()                   {}
func (e *echo) Send(c Credit) {
	for _, o := range e.outcomes {
		e.engine.Returned(c, o)
	}
}

// pool answers from goroutines of its own, as a real sender does.
type pool struct {
	echo
	credits chan Credit
}

func (p *pool) Send(c Credit) { p.credits <- c }

func BenchmarkCredits(b *testing.B) {
	for _, turns := range []int{1, 4} {
		b.Run(fmt.Sprintf("echo/turns=%d", turns), func(b *testing.B) {
			s := &echo{outcomes: []Outcome{Success}, turns: turns}
			benchmark(b, s, &s.engine)
		})
	}
	b.Run("goroutines", func(b *testing.B) {
		p := &pool{credits: make(chan Credit, 64)}
		done := make(chan struct{})
		for range 4 {
			go func() {
				for c := range p.credits {
					p.engine.Returned(c, Success)
				}
				done <- struct{}{}
			}()
		}
		benchmark(b, p, &p.engine)
		close(p.credits)
		for range 4 {
			<-done
		}
	})
}

func benchmark(b *testing.B, s interface {
	Source
	Sender
}, engine **Engine) {
	b.ReportAllocs()
	*engine = New(one(Phase{Concurrency: 32, Requests: int64(b.N)}), s, s, Options{})
	if _, err := (*engine).Run(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "credits/s")
}

// BenchmarkPacing shows how late arrivals are issued.
func BenchmarkPacing(b *testing.B) {
	for _, rate := range []float64{1000, 10_000} {
		b.Run(fmt.Sprintf("rate=%.0f", rate), func(b *testing.B) {
			s := &echo{outcomes: []Outcome{Success}}
			paced := &lagging{echo: s}
			s.engine = New(one(Phase{Arrivals: constantly(rate), Requests: int64(b.N)}), s, paced,
				Options{MaxCatchup: 10 * time.Millisecond})
			if _, err := s.engine.Run(context.Background()); err != nil {
				b.Fatal(err)
			}
			slices.Sort(paced.lags)
			for _, percent := range []int{50, 99, 100} {
				b.ReportMetric(float64(paced.lags[(len(paced.lags)-1)*percent/100])/1000,
					fmt.Sprintf("µs-p%d", percent))
			}
		})
	}
}

type lagging struct {
	*echo
	lags []int64
}

func (l *lagging) Send(c Credit) {
	l.lags = append(l.lags, c.IssuedNS-c.IntendedNS)
	l.echo.Send(c)
}

// BenchmarkShareOfArrivals reports what an arrival of a share costs: those of the other shares are drawn, too.
func BenchmarkShareOfArrivals(b *testing.B) {
	for _, a := range []Arrivals{{Pattern: Constant, Rate: 1000}, {Pattern: Poisson, Rate: 1000},
		{Pattern: Gamma, Rate: 1000, Smoothness: 2}} {
		for _, of := range []int{1, 16, 1000} {
			b.Run(fmt.Sprintf("%v/of=%d", a.Pattern, of), func(b *testing.B) {
				p := a.pacer(nil, random.Root(1), 0, Share{Index: of - 1, Of: of})
				for b.Loop() {
					p.advance()
				}
			})
		}
	}
}
