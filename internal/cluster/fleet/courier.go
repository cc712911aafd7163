package fleet

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
)

const (
	// A batch goes out when it has so many bytes, or is so old.
	batchBytes = 48 << 10
	batchAge   = 50 * time.Millisecond
	// maxInFlightBytes is how many bytes may be sent without an acknowledgement, so that a slow coordinator is not
	// flooded; maxUnacknowledgedBytes is how many may wait for one in memory, after which the share ends.
	maxInFlightBytes       = 4 << 20
	maxUnacknowledgedBytes = 256 << 20
	// resendAfter is the wait for an acknowledgement after which everything is sent again that has none (go-back-N: the
	// coordinator takes batches in order only, so that what follows a lost one is of no use to it).
	resendAfter = 2 * time.Second
)

// courier brings the records of a share to the coordinator: it packs them into numbered batches, writes these into the
// journal, sends them in order, and keeps each until it is acknowledged.
type courier struct {
	run string
	// send hands a message to the network; it may be lost.
	send    func(data []byte) error
	journal *journal
	// full is called once when too much waits for an acknowledgement, note when something went wrong.
	full func(error)
	note func(string)

	mu     sync.Mutex
	writer recordfile.BatchWriter
	// unacknowledged are the batches without an acknowledgement, the first sent of which are under way.
	unacknowledged       []batch
	sent                 int
	inFlightBytes, bytes int
	number               uint64
	records              int64
	lastAck              time.Time
	overfull             bool

	wake chan struct{}
	done chan struct{}
	ends sync.WaitGroup
}

func newCourier(run string, withoutIDs bool, j *journal, send func([]byte) error) *courier {
	c := &courier{run: run, send: send, journal: j, wake: make(chan struct{}, 1), done: make(chan struct{})}
	c.writer.WithoutIDs = withoutIDs
	c.full, c.note = func(error) {}, func(string) {}
	return c
}

// begin starts the goroutine that sends.
func (c *courier) begin() {
	if c.journal.broken != nil {
		c.note(fmt.Sprintf("its journal cannot be written: %v", c.journal.broken))
	}
	c.ends.Go(func() {
		ticks := time.NewTicker(batchAge)
		defer ticks.Stop()
		for {
			select {
			case <-c.done:
				return
			case <-ticks.C:
				c.flush()
			case <-c.wake:
			}
			c.transmit()
		}
	})
}

// add takes a record; from any goroutine.
func (c *courier) add(r *record.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.writer.Add(r); err != nil {
		c.note(err.Error())
		return
	}
	c.records++
	if c.writer.Len() >= batchBytes {
		c.seal()
	}
}

// flush makes a batch of what there is.
func (c *courier) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writer.Rows() > 0 {
		c.seal()
	}
}

// seal makes the batch; the courier is locked.
func (c *courier) seal() {
	rows := c.writer.Rows()
	c.number++
	b := batch{c.number, rows, c.writer.Take()}
	if err := c.journal.add(&b); err != nil {
		c.note(fmt.Sprintf("its journal cannot be written any more: %v", err))
	}
	if len(c.unacknowledged) == 0 {
		c.lastAck = time.Now()
	}
	c.unacknowledged, c.bytes = append(c.unacknowledged, b), c.bytes+len(b.data)
	if c.bytes > maxUnacknowledgedBytes && !c.overfull {
		c.overfull = true
		c.full(fmt.Errorf("%d bytes of records wait for the coordinator, which is the most that an agent keeps", c.bytes))
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// transmit sends what may be sent.
func (c *courier) transmit() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.unacknowledged) > 0 && c.sent > 0 && time.Since(c.lastAck) > resendAfter {
		c.sent, c.inFlightBytes, c.lastAck = 0, 0, time.Now()
	}
	for c.sent < len(c.unacknowledged) {
		b := &c.unacknowledged[c.sent]
		if c.inFlightBytes > 0 && c.inFlightBytes+len(b.data) > maxInFlightBytes {
			return // one batch always goes, however large it is
		}
		if c.send(appendBatch(nil, c.run, b)) != nil {
			return // tried again at the next tick
		}
		c.sent, c.inFlightBytes = c.sent+1, c.inFlightBytes+len(b.data)
	}
}

// acknowledge takes the number of the last batch that has come with all before it.
func (c *courier) acknowledge(number uint64) {
	c.mu.Lock()
	n := 0
	for n < len(c.unacknowledged) && c.unacknowledged[n].number <= number {
		c.bytes -= len(c.unacknowledged[n].data)
		if n < c.sent {
			c.inFlightBytes -= len(c.unacknowledged[n].data)
		}
		n++
	}
	if n > 0 {
		c.unacknowledged, c.sent, c.lastAck = append([]batch(nil), c.unacknowledged[n:]...), max(0, c.sent-n), time.Now()
	}
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// counts returns how many batches and records there were, and how many records are not acknowledged.
func (c *courier) counts() (batches uint64, records, unconfirmed int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.unacknowledged {
		unconfirmed += int64(b.rows)
	}
	return c.number, c.records, unconfirmed + int64(c.writer.Rows())
}

// end ends the goroutine.
func (c *courier) end() {
	close(c.done)
	c.ends.Wait()
}

// appendBatch makes the message of a batch: run, number, rows, data.
func appendBatch(dst []byte, run string, b *batch) []byte {
	dst = append(binary.AppendUvarint(dst, uint64(len(run))), run...)
	dst = binary.AppendUvarint(dst, b.number)
	dst = binary.AppendUvarint(dst, uint64(b.rows))
	return append(dst, b.data...)
}

// readBatch reads the message of a batch.
func readBatch(data []byte) (run string, b batch, ok bool) {
	var n, rows uint64
	take := func(to *uint64) {
		v, used := binary.Uvarint(data)
		if used <= 0 {
			data, v = nil, 1<<62
			used = 0
		}
		*to, data = v, data[used:]
	}
	if take(&n); n > uint64(len(data)) {
		return "", batch{}, false
	}
	run, data = string(data[:n]), data[n:]
	take(&b.number)
	take(&rows)
	if data == nil || rows > uint64(len(data)) {
		return "", batch{}, false
	}
	b.rows, b.data = int(rows), data
	return run, b, true
}
