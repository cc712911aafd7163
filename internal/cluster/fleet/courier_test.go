package fleet

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
)

// channel loses batches and confirmations, and takes what comes in order.
type channel struct {
	mu     sync.Mutex
	rng    *rand.Rand
	lose   float64
	number uint64
	got    []int64
	to     *courier
}

func (c *channel) send(data []byte) error {
	c.mu.Lock()
	if c.rng.Float64() < c.lose {
		c.mu.Unlock()
		return nil
	}
	run, b, ok := readBatch(data)
	if !ok || run != "run" {
		panic("a message is not read back")
	}
	if b.number == c.number+1 {
		c.number++
		if err := recordfile.ReadBatch(b.data, func(r *record.Record) { c.got = append(c.got, r.SessionNum) }); err != nil {
			panic(err)
		}
	}
	number, confirm := c.number, c.rng.Float64() >= c.lose
	c.mu.Unlock()
	if confirm {
		go c.to.acknowledge(number)
	}
	return nil
}

func TestEveryRecordComesOnceAndInOrder(t *testing.T) {
	t.Parallel()
	for _, lose := range []float64{0, 0.3} {
		synctest.Test(t, func(t *testing.T) {
			ch := &channel{rng: rand.New(rand.NewPCG(1, 2)), lose: lose}
			path := filepath.Join(t.TempDir(), "journal")
			c := newCourier("run", false, openJournal(path), ch.send)
			ch.to = c
			c.begin()
			const n = 3000
			for i, r := range facts(n) {
				r.SessionNum = int64(i)
				c.add(r)
				if i%10 == 0 {
					time.Sleep(time.Millisecond)
				}
			}
			c.flush()
			for range 10000 {
				if _, _, left := c.counts(); left == 0 {
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
			c.end()
			if len(ch.got) != n {
				t.Fatalf("%d of %d records came", len(ch.got), n)
			}
			for i, k := range ch.got {
				if k != int64(i) {
					t.Fatalf("record %d came in place of %d", k, i)
				}
			}
			c.journal.close(false)
			rows := 0
			batches, err := recordsOf(path, func(*record.Record) { rows++ })
			if made, _, _ := c.counts(); err != nil || rows != n || batches != int(made) {
				t.Errorf("the journal has %d records in %d batches, %v", rows, batches, err)
			}
		})
	}
}

func TestWithoutTheCoordinatorRecordsAreKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := true
		var mu sync.Mutex
		ch := &channel{rng: rand.New(rand.NewPCG(1, 2))}
		c := newCourier("run", true, openJournal(filepath.Join(t.TempDir(), "journal")), func(data []byte) error {
			mu.Lock()
			defer mu.Unlock()
			if down {
				return errors.New("no connection")
			}
			return ch.send(data)
		})
		ch.to = c
		c.begin()
		for _, r := range facts(6000) { // 100 a second for a minute
			c.add(r)
			time.Sleep(10 * time.Millisecond)
		}
		mu.Lock()
		down = false
		mu.Unlock()
		time.Sleep(5 * time.Second)
		c.end()
		if _, _, left := c.counts(); left != 0 || len(ch.got) != 6000 {
			t.Errorf("%d came, %d are left", len(ch.got), left)
		}
	})
}

func TestAnAgentThatKeepsTooMuchEndsItsShare(t *testing.T) {
	t.Parallel()
	c := newCourier("run", true, openJournal(filepath.Join(t.TempDir(), "journal")), func([]byte) error { return nil })
	var told error
	c.full = func(err error) { told = err }
	c.bytes = maxUnacknowledgedBytes - 1
	c.add(facts(1)[0])
	c.flush()
	if told == nil {
		t.Error("nothing was said of too many bytes")
	}
}

func TestTornJournalsAreReadUpToTheTear(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	j := openJournal(path)
	for i := range uint64(3) {
		var w recordfile.BatchWriter
		if err := w.Add(facts(1)[0]); err != nil {
			t.Fatal(err)
		}
		if err := j.add(&batch{i + 1, 1, w.Take()}); err != nil {
			t.Fatal(err)
		}
	}
	j.close(false)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{len(data) - 1, headBytes + (len(data)-headBytes)*2/3 + 5} {
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := recordsOf(path, func(*record.Record) {}); got != 2 || err != nil {
			t.Errorf("%d of %d bytes: %d batches, %v", n, len(data), got, err)
		}
	}
	data[len(data)-1] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := recordsOf(path, func(*record.Record) {}); err == nil {
		t.Error("a changed byte was not noticed")
	}
}

// recordsOf calls add with each record of a journal.
func recordsOf(path string, add func(*record.Record)) (batches int, err error) {
	l, err := readJournal(path, func(b *batch) error { return recordfile.ReadBatch(b.data, add) })
	return int(l.Batches), err
}
