package browse

import (
	"math"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/result/chart"
)

// waterfall is a request as a picture of its steps: each has a row of a table with a bar on a common axis of time.
type waterfall struct {
	Steps []step
	// Marks are the times of the axis.
	Marks []axisMark
	// Gaps says how the chunks of the reply came; "" for fewer than two.
	Gaps string
}

// step is a part of a request. At and Width place its bar, Ticks the chunks in it and Longest the longest gap between
// two of them, all in percent of the axis.
type step struct {
	Name, Class       string
	From, Takes       string
	Share             string
	At, Width         float64
	Ticks             []float64
	Longest, LongestW float64
}

// axisMark is a time of the axis. Anchor is how its text lies to its place.
type axisMark struct {
	At           float64
	Text, Anchor string
}

// The classes of steps, by which they have their colours.
const (
	inClient   = "client"
	onWayOut   = "connection"
	atServer   = "server"
	inPrefill  = "prefill"
	inTokens   = "tokens"
	afterwards = "rest"
	inFailure  = "failure"
)

// newWaterfall returns the picture of the request of a line; nil if the line does not say enough.
func newWaterfall(line []byte) *waterfall {
	r, err := recordfile.Parse(line)
	if err != nil {
		if r, err = recordfile.ParseOriginal(line); err != nil {
			return nil
		}
	}
	p := lane{r: r}
	p.client()
	p.connection()
	p.server()
	p.reply()
	if p.low == p.high {
		return nil
	}
	return p.picture()
}

// lane follows a request from one instant to the next, in ns from its start.
type lane struct {
	r         *record.Record
	at        int64
	low, high int64
	spans     []span
	chunks    []int64
}

// span is a step in ns.
type span struct {
	name, class string
	from, to    int64
	isTokens    bool
}

// add adds the step from an instant to another, which is the next one's start.
func (p *lane) add(name, class string, from, to int64) {
	p.low, p.high = min(p.low, from), max(p.high, to)
	if to > from {
		p.spans = append(p.spans, span{name: name, class: class, from: from, to: to})
	}
	p.at = max(p.at, to)
}

// client is the time between the planned arrival, or the admission, and the sending.
func (p *lane) client() {
	if at, ok := p.r.First(record.IntendedSend, record.CreditIssued); ok && at < 0 {
		p.add("Client: due, not yet sent", inClient, at, 0)
	}
}

// connection are the steps until the request is on its way.
func (p *lane) connection() {
	for _, s := range []struct {
		field record.Field
		name  string
	}{
		{record.Blocked, "Blocked: wait for a connection"}, {record.DNSLookup, "Name lookup"},
		{record.Connecting, "Connect"}, {record.Sending, "Send"},
	} {
		if d, ok := p.r.Get(s.field); ok {
			p.add(s.name, onWayOut, p.at, p.at+d)
		}
	}
}

// server is the wait for the headers, and for the first content.
func (p *lane) server() {
	if at, ok := p.r.Get(record.Ack); ok && at > p.at {
		p.add("Wait for the headers", atServer, p.at, at)
	}
	first, ok := p.r.Get(record.FirstContent)
	if !ok {
		return
	}
	name := "Wait for the first token"
	if last, ok := p.r.Get(record.LastContent); !ok || last <= first {
		name = "Wait for the reply"
	}
	p.add(name, inPrefill, p.at, max(p.at, first))
}

// reply is what came after the first content, or instead of it.
func (p *lane) reply() {
	first, some := p.r.Get(record.FirstContent)
	if last, ok := p.r.Get(record.LastContent); some && ok && last > first {
		p.chunks = []int64{first}
		for _, gap := range p.r.GapsNS {
			p.chunks = append(p.chunks, p.chunks[len(p.chunks)-1]+gap)
		}
		name := "Tokens"
		if n, ok := p.r.Get(record.Contents); ok {
			name += " in " + plural(int(n), "chunk")
		}
		p.add(name, inTokens, first, last)
		p.spans[len(p.spans)-1].isTokens = true
	}
	end, ok := p.r.First(record.End, record.LastResponse)
	switch {
	case !ok || end <= p.at:
	case p.r.Err != nil:
		p.add("Until it failed", inFailure, p.at, end)
	default:
		p.add("End of the reply", afterwards, p.at, end)
	}
}

// picture places the steps on the axis.
func (p *lane) picture() *waterfall {
	whole := float64(p.high - p.low)
	place := func(ns int64) float64 { return rounded(100 * float64(ns-p.low) / whole) }
	w := &waterfall{}
	for _, s := range p.spans {
		out := step{Name: s.name, Class: s.class, From: milliseconds(s.from), Takes: milliseconds(s.to - s.from),
			Share: artifact.Short(rounded(100 * float64(s.to-s.from) / whole)), At: place(s.from),
			Width: rounded(100 * float64(s.to-s.from) / whole)}
		if s.isTokens {
			for _, at := range p.chunks {
				out.Ticks = append(out.Ticks, place(at))
			}
			out.Ticks = slices.Compact(out.Ticks) // those of the same place are one
			w.Gaps = p.gaps(&out, place)
		}
		w.Steps = append(w.Steps, out)
	}
	w.marks(p.low, p.high, place)
	return w
}

// gaps describes the time between chunks, and marks the longest one where it stands out.
func (p *lane) gaps(s *step, place func(int64) float64) string {
	gaps := p.r.GapsNS
	if len(gaps) == 0 {
		return ""
	}
	longest := 0
	for i, gap := range gaps {
		if gap > gaps[longest] {
			longest = i
		}
	}
	sorted := slices.Sorted(slices.Values(gaps))
	median := sorted[len(sorted)/2]
	text := "Between chunks: median " + milliseconds(median) + " ms, longest " + milliseconds(gaps[longest]) +
		" ms, before chunk " + artifact.Short(float64(longest+2)) + " at " + milliseconds(p.chunks[longest+1]) + " ms."
	const standsOut = 2
	if len(gaps) > 2 && gaps[longest] > standsOut*median {
		s.Longest = place(p.chunks[longest])
		s.LongestW = place(p.chunks[longest+1]) - s.Longest
	}
	return text
}

// marks puts round times on the axis, few enough for a phone.
func (w *waterfall) marks(low, high int64, place func(int64) float64) {
	const most = 4
	step := chart.NiceStep(float64(high-low) / most)
	for k := math.Ceil(float64(low)/step) + 0; k*step <= float64(high); k++ {
		at := place(int64(k * step))
		anchor := "middle"
		if at < 5 {
			anchor = "start"
		} else if at > 95 {
			anchor = "end"
		}
		w.Marks = append(w.Marks, axisMark{at, artifact.Short(k*step/1e6 + 0), anchor})
	}
}

// rounded is a place on the axis, to a tenth of a pixel of a wide page.
func rounded(v float64) float64 { return math.Round(v*100) / 100 }

func milliseconds(ns int64) string { return artifact.Short(float64(ns) / 1e6) }
