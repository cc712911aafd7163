package metrics

import (
	"math"

	"aiperf/internal/measure/record"
)

// Quarters is how many parts a [Trend] divides the time of sending into.
const Quarters = 4

// Trend describes how the load changed while requests were sent: by quarters of the time from the first to the last
// send.
type Trend struct {
	// SendingNS is that time.
	SendingNS int64
	// Sent and Ended count the requests that began and ended within each quarter; InFlight are those in flight at its
	// end.
	Sent, Ended, InFlight [Quarters]int64
	// Wait is the mean time to the first token of the requests sent in each quarter, in milliseconds, where replies are
	// not streamed that to their end; NaN where none succeeded.
	Wait [Quarters]float64
}

// waitFields are the columns that a trend reads.
var waitFields = [...]record.Field{record.StartWall, record.End, record.LastResponse, record.FirstContent,
	record.Failed}

// Trend returns how the load changed; nil beyond the number of requests that are kept one by one, and where all were
// sent at one instant.
func (e *Engine) Trend() *Trend {
	f := e.freeze()
	if f.overflow != nil || f.rows == 0 {
		return nil
	}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	f.eachWait(func(start, _, _ int64) { first, last = min(first, start), max(last, start) })
	if last <= first {
		return nil
	}
	t := &Trend{SendingNS: last - first}
	var waited, waits [Quarters]int64
	f.eachWait(func(start, end, wait int64) {
		at := quarter(start-first, t.SendingNS)
		t.Sent[at]++
		if wait >= 0 {
			waited[at] += wait
			waits[at]++
		}
		if end < last {
			t.Ended[quarter(end-first, t.SendingNS)]++
		}
	})
	var sent, ended int64
	for i := range Quarters {
		sent, ended = sent+t.Sent[i], ended+t.Ended[i]
		t.InFlight[i] = sent - ended
		t.Wait[i] = math.NaN()
		if waits[i] > 0 {
			t.Wait[i] = float64(waited[i]) / float64(waits[i]) / 1e6
		}
	}
	return t
}

// quarter returns in which quarter of a length an instant lies.
func quarter(at, length int64) int {
	return min(Quarters-1, int(float64(at)/float64(length)*Quarters))
}

// eachWait calls yield with the wall instants of the start and the end of each request, and how long it waited for its
// first token; -1 for one that failed.
func (f *frozen) eachWait(yield func(start, end, wait int64)) {
	var values [len(waitFields)][blockRows]int64
	row := record.NewFacts()
	for _, b := range f.blocks {
		for k, i := range waitFields {
			b.columns[i].unpack(values[k][:b.rows])
		}
		for n := range b.rows {
			for k, i := range waitFields {
				row[i] = values[k][n]
			}
			start, end, wait := row[record.StartWall], row.Ended(), int64(-1)
			if !row.IsError() {
				if first, ok := row.First(record.FirstContent, record.LastResponse, record.End); ok {
					wait = first
				}
			}
			yield(start, start+end, wait)
		}
	}
}
