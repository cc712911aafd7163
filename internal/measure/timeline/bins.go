package timeline

import (
	"time"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
)

// finest is the length of bins at first, a 64th of a second; it doubles as often as it must.
const finest = int64(time.Second) / 64

// MaxBins bounds the bins of a recorder; lastInstant is what a request can reach, beyond which stamps are wrong.
const (
	MaxBins     = 1024
	lastInstant = int64(10*365*24) * int64(time.Hour)
)

// BandPrecision is the precision of the [Sketch] of a band in a bin: 1.6 % on average.
const BandPrecision = 5

// Bands are the latencies of which there is a band, by their place in a bin.
const (
	FirstToken = iota
	BetweenTokens
	Latency
	// SendLag is from when a request was due to when it was sent: in open loops the arrival of the plan, else
	// the admission. ReadLag is how long bytes of a response lay unread.
	SendLag
	ReadLag
	bandCount
)

// banded are the metrics of the first bands.
var banded = [...]string{FirstToken: "time_to_first_token", BetweenTokens: "inter_token_latency",
	Latency: "request_latency"}

// bin is what happened in a stretch of time.
type bin struct {
	sent, done, failed int64
	input, output      int64 // tokens: sent, and arrived
	// own is what requests that were in flight for a part of the bin add, in ns; step how many more than in
	// the bin before are in flight all the time.
	own, step int64
	bands     [bandCount]Sketch
}

// Join implements stats.Bin.
func (b *bin) Join(o *bin, afterNS int64) {
	b.sent += o.sent
	b.done += o.done
	b.failed += o.failed
	b.input += o.input
	b.output += o.output
	b.own += o.own - o.step*afterNS // the step comes in the middle of b
	b.step += o.step
	for k := range o.bands {
		b.bands[k].merge(&o.bands[k])
	}
}

// bins are those from the start on, by ns after it; earlier instants are in the first.
type bins struct {
	stats.Bins[bin, *bin]
}

// newBins has one more bin than the requests reach, for the last step down.
func newBins() bins { return bins{stats.Bins[bin, *bin]{Width: finest, Most: MaxBins - 1, Spare: 1}} }

// at returns the bin of an instant after the start.
func (b *bins) at(ns int64) *bin { return &b.List[b.Index(ns)] }

// inFlight adds a request that was in flight between two instants.
func (b *bins) inFlight(from, to int64) {
	b.edge(from, 1)
	b.edge(to, -1)
}

func (b *bins) edge(at, sign int64) {
	i := b.Index(at)
	b.List[i].own += sign * (int64(i+1)*b.Width - at)
	b.List[i+1].step += sign
}

// tokens spreads n tokens evenly from one instant to another, each counted whole in a bin.
func (b *bins) tokens(n, from, to int64) {
	from, to = max(0, from), max(0, to)
	first, last := b.Index(from), b.Index(to)
	if first == last || to <= from {
		b.List[last].output += n
		return
	}
	var before int64
	for i := first; i <= last; i++ {
		until := n
		if end := int64(i+1) * b.Width; end < to {
			until = int64(float64(n) * (float64(end-from) / float64(to-from)))
		}
		b.List[i].output += until - before
		before = until
	}
}

// take adds a request whose facts are at an instant after the start.
func (b *bins) take(f *record.Facts, start int64, values *[len(banded)]optional) {
	start = min(max(start, 0), lastInstant)
	end := min(start+max(0, f.Ended()), lastInstant)
	b.Cover(0, end)
	at := b.at(start)
	at.sent++
	b.inFlight(start, end)
	if lag, ok := sendLag(f); ok {
		at.bands[SendLag].Add(lag, BandPrecision)
	}
	if lag, ok := f.Get(record.ReadLag); ok {
		at.bands[ReadLag].Add(lag, BandPrecision)
	}
	if f.IsError() {
		b.at(end).failed++
		return
	}
	b.at(end).done++
	for i, v := range values {
		if v.ok {
			at.bands[i].Add(v.value, BandPrecision)
		}
	}
	if n, ok := f.Get(record.InputTokens); ok {
		at.input += n
	}
	if n := outputTokens(f); n > 0 {
		first := end
		if ns, ok := f.Get(record.FirstContent); ok {
			first = start + ns
		}
		b.tokens(n, first, end)
	}
}

func outputTokens(f *record.Facts) int64 {
	v, _ := outputLength.ValueOf(f)
	return int64(v)
}

var outputLength = definition("output_sequence_length")

func sendLag(f *record.Facts) (int64, bool) {
	ns, ok := f.First(record.IntendedSend, record.CreditIssued)
	return -ns, ok
}

// definition returns the metric of a tag that the table has.
func definition(tag string) *metrics.Definition {
	d, ok := metrics.Lookup(tag)
	if !ok {
		panic("no metric " + tag)
	}
	return &d
}
