package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"aiperf/internal/base/clock"
	"aiperf/internal/load"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
)

// facts returns records as a unary run makes them.
func facts(n int) []*record.Record {
	list := make([]*record.Record, n)
	for i := range list {
		f := record.NewFacts()
		f[record.StartWall] = 1_764_000_000_000_000_000 + int64(i)*1_000_003
		f[record.CreditIssued], f[record.IntendedSend], f[record.Ack] = -21_000-int64(i%911), -25_000, 19_000_000+int64(i%7919)
		f[record.FirstContent] = 20_000_000 + int64(i%104729)
		f[record.FirstOutput], f[record.LastContent] = f[record.FirstContent], f[record.FirstContent]
		f[record.LastResponse], f[record.End] = f[record.FirstContent], f[record.FirstContent]+40_000
		f[record.Contents], f[record.InputTokens], f[record.OutputTokens] = 1, 32, 1
		f[record.RequestedTokens], f[record.UsagePrompt], f[record.UsageCompletion] = 1, 32, 1
		list[i] = &record.Record{Facts: f, Identity: record.Identity{
			SessionNum: int64(i), ConversationID: fmt.Sprintf("session_%06d", i%100), WorkerID: "worker_1",
			ProcessorID: "record_processor_1", Phase: record.PhaseProfiling, PhaseName: "profiling",
		}}
	}
	return list
}

// counter is the sink of a benchmark: the engine that counts, and nothing else.
type counter struct {
	engine *metrics.Engine
	rows   atomic.Int64
}

func newCounter(b *testing.B, kept int64) *counter {
	set, err := metrics.NewSet(metrics.Config{ProducesTokens: true, MaxRecords: kept})
	if err != nil {
		b.Fatal(err)
	}
	return &counter{engine: set.NewEngine()}
}

func (c *counter) Phase(int, load.Stats) {}
func (c *counter) Record(_ int, r *record.Record) {
	c.engine.Add(r)
	c.rows.Add(1)
}
func (c *counter) Lost(int, error) {}
func (c *counter) Abort(error)     {}

// BenchmarkRows reports how many rows of facts the coordinator takes on one core: decoded, converted to its clock and
// counted by its engine, below the number of requests up to which figures are exact, and beyond it.
func BenchmarkRows(b *testing.B) {
	for _, c := range []struct {
		name string
		kept int64
	}{{"exact", math.MaxInt64}, {"beyond", 0}} {
		b.Run(c.name, func(b *testing.B) { rows(b, c.kept) })
	}
}

func rows(b *testing.B, kept int64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	w := recordfile.BatchWriter{WithoutIDs: true}
	const rows = 750
	for _, r := range facts(rows) {
		if err := w.Add(r); err != nil {
			b.Fatal(err)
		}
	}
	packed := w.Take()
	c := newCounter(b, kept)
	f := &Fleet{changed: make(chan struct{})}
	r := &fleetRun{fleet: f, sink: c}
	m := &member{clock: offset{samples: make([]sample, 1), offsetNS: 5}}
	n, used := 0, cpuTime()
	for b.Loop() {
		if n%rows == 0 {
			if err := r.recordBatch(m, &batch{data: packed}); err != nil {
				b.Fatal(err)
			}
		}
		n++
	}
	b.ReportMetric(float64(c.rows.Load())/b.Elapsed().Seconds(), "rows/s")
	if used = cpuTime() - used; used > 0 {
		b.ReportMetric(float64(c.rows.Load())/used.Seconds(), "rows/cpu-s")
	}
}

// BenchmarkThousandAgents reports what 1,000 agents cost the coordinator that send 100 rows a second each: connections
// of their own, and made-up facts.
func BenchmarkThousandAgents(b *testing.B) {
	const agents, rate, batches = 1000, 100, 20
	for b.Loop() {
		c := newCounter(b, 1_000_000)
		f, err := Open(context.Background(), Options{Version: "test", Agents: agents, Listen: "127.0.0.1:0",
			Security: Security{Token: NewToken()}, Show: func(string) {}, Log: slog.New(slog.DiscardHandler), Clock: clock.New(),
			Heartbeat: time.Minute})
		if err != nil {
			b.Fatal(err)
		}
		on := &fleetRun{fleet: f, id: "run", sink: c, joinSent: map[int]bool{}}
		links := make([]*nats.Conn, agents)
		var all sync.WaitGroup
		for i := range links {
			m := &member{joinRequest: joinRequest{ID: fmt.Sprint(i), Name: fmt.Sprint(i)}, share: i, lastHeard: time.Now(),
				clock: offset{samples: make([]sample, 1)}}
			f.members, on.shares = append(f.members, m), append(on.shares, m)
		}
		f.mu.Lock()
		f.running = on
		f.mu.Unlock()
		for i := range links {
			if links[i], err = connect(b.Context(), f.Address(), "agent", &f.options.Security); err != nil {
				b.Fatal(err)
			}
		}
		w := recordfile.BatchWriter{WithoutIDs: true}
		for _, r := range facts(rate / 20) {
			if err := w.Add(r); err != nil {
				b.Fatal(err)
			}
		}
		data := w.Take()
		begin, used := time.Now(), cpuTime()
		for i, link := range links {
			all.Go(func() {
				subject := f.prefix + recordSubject + fmt.Sprint(i)
				for k := range batches { // one each 50 ms, as a courier does
					time.Sleep(time.Until(begin.Add(time.Duration(k)*batchAge + time.Duration(i)*batchAge/agents)))
					_ = link.Publish(subject, appendBatch(nil, "run", &batch{uint64(k + 1), rate / 20, data}))
				}
				_ = link.Flush()
			})
		}
		all.Wait()
		for c.rows.Load() < agents*batches*rate/20 && time.Since(begin) < time.Minute {
			time.Sleep(time.Millisecond)
		}
		took := time.Since(begin)
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		b.ReportMetric(float64(memory.Sys)/1e6, "MB")
		b.ReportMetric((cpuTime() - used).Seconds(), "cpu-s")
		b.ReportMetric(float64(c.rows.Load())/took.Seconds(), "rows/s")
		b.ReportMetric(float64(agents*batches*rate/20-c.rows.Load()), "lost")
		for _, link := range links {
			link.Close()
		}
		f.Close()
	}
}
