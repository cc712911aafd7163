package twin

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"sync"

	"aiperf/internal/measure/record"
)

// Collector collects the requests of a replay, from several goroutines at once.
type Collector struct {
	mu    sync.Mutex
	list  []Request
	sent  []Sent
	named bool
}

// Sent says which turn of which conversation a request was.
type Sent struct {
	Conversation string
	Turn         int
	AtMS         float64
}

// NewCollector returns an empty one; named ones keep which turn each request was.
func NewCollector(named bool) *Collector { return &Collector{named: named} }

// Add takes a request that has ended.
func (c *Collector) Add(r *record.Record) {
	started, ok := r.Get(record.StartWall)
	if !ok {
		return
	}
	id := fnv.New64a()
	id.Write([]byte(r.CorrelationID))
	q := Request{Session: id.Sum64(), Turn: r.TurnIndex, AtMS: float64(started) / 1e6,
		TookMS: float64(max(0, r.Ended())) / 1e6, ThinkMS: math.NaN(), Input: -1, Output: -1, Failed: r.IsError()}
	if n, ok := r.Get(record.InputTokens); ok {
		q.Input = n
	}
	q.Output = replyTokens(&r.Facts)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.list) > Most {
		return
	}
	c.list = append(c.list, q)
	if c.named {
		c.sent = append(c.sent, Sent{r.ConversationID, r.TurnIndex, q.AtMS})
	}
}

// replyTokens is the length of a reply, as the server counted it where it did; -1 if it is not known. A recorder counts
// in the same way.
func replyTokens(f *record.Facts) int64 {
	if n, ok := f.Get(record.UsageCompletion); ok && n > 0 {
		return n
	}
	text, hasText := f.Get(record.OutputTokens)
	reasoning, hasReasoning := f.Get(record.ReasoningTokens)
	switch {
	case hasText && hasReasoning:
		return text + reasoning
	case hasText:
		return text
	case hasReasoning:
		return reasoning
	}
	return -1
}

// Requests returns those that were collected, with the think times between them, and which turns they were; false for
// more than are compared.
func (c *Collector) Requests() (list []Request, sent []Sent, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.list) > Most {
		return nil, nil, false
	}
	slices.SortFunc(c.list, func(a, b Request) int { // sums do not depend on the order in which requests ended
		return cmp.Or(cmp.Compare(a.AtMS, b.AtMS), cmp.Compare(a.Session, b.Session), a.Turn-b.Turn)
	})
	type place struct {
		session uint64
		turn    int
	}
	ended := make(map[place]float64, len(c.list))
	for i := range c.list {
		q := &c.list[i]
		ended[place{q.Session, q.Turn}] = q.AtMS + q.TookMS
	}
	for i := range c.list {
		q := &c.list[i]
		if before, known := ended[place{q.Session, q.Turn - 1}]; known {
			q.ThinkMS = max(0, q.AtMS-before)
		}
	}
	return c.list, c.sent, true
}
