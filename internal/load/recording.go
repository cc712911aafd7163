package load

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"
)

// entries are the conversations of a recording in the order of their first times. There may be many millions: what is
// kept of each is its number, and not even that where they stand in order.
type entries struct {
	source Recorded
	// order lists the conversations; nil: as they are, all of them.
	order []int32
	// total counts the turns.
	total int64
}

func (e *entries) len() int {
	if e.order != nil {
		return len(e.order)
	}
	return e.source.Conversations()
}

// conversation returns the number of an entry's.
func (e *entries) conversation(i int) int {
	if e.order != nil {
		return int(e.order[i])
	}
	return i
}

// turns returns the number of turns of an entry.
func (e *entries) turns(i int) int { return e.source.ConversationTurns(e.conversation(i)) }

func (e *entries) atNS(i int) int64 { return e.source.TurnTime(e.conversation(i), 0).AtNS }

// readRecording sorts the conversations of a source by time. It keeps no order where they are sorted and complete
// already: there may be many millions.
func readRecording(source Recorded) (*entries, error) {
	e := &entries{source: source}
	n := source.Conversations()
	if n > math.MaxInt32 {
		return nil, fmt.Errorf("the recording contains %d conversations, and at most %d can be replayed", n,
			math.MaxInt32)
	}
	sorted, all, last := true, true, int64(math.MinInt64)
	for c := range n {
		turns := source.ConversationTurns(c)
		if turns == 0 {
			all = false
			continue
		}
		first := source.TurnTime(c, 0)
		if !first.Timed {
			return nil, fmt.Errorf("conversation %d cannot be replayed: its first turn has no timestamp", c)
		}
		e.total += int64(turns)
		sorted = sorted && first.AtNS >= last
		last = first.AtNS
	}
	if e.total == 0 {
		return nil, fmt.Errorf("the recording contains no conversation to replay")
	}
	if sorted && all {
		return e, nil
	}
	e.order = make([]int32, 0, n)
	for c := range n {
		if source.ConversationTurns(c) > 0 {
			e.order = append(e.order, int32(c))
		}
	}
	slices.SortStableFunc(e.order, func(a, b int32) int {
		return cmp.Compare(source.TurnTime(int(a), 0).AtNS, source.TurnTime(int(b), 0).AtNS)
	})
	return e, nil
}

// recording is the timetable of a schedule: each entry once, in order.
type recording struct {
	entries *entries
	// session is the number of the first entry's session.
	session uint64
	// zeroNS is the recorded time of the phase's start, which is at startNS.
	zeroNS, startNS int64
	// The entries from first up to end, exclusive, are played, and of these those of the share; total counts their
	// turns.
	first, end int
	share      Share
	total      int64
	// started and announced are the next entries.
	started, announced int
}

func newRecording(entries *entries, s Schedule, session uint64, share Share) *recording {
	r := &recording{entries: entries, session: session, zeroNS: int64(s.StartOffset), total: entries.total,
		share: share}
	r.first, r.end = entries.window(s)
	r.started, r.announced = r.first+share.Index, r.first+share.Index
	if s.AutoOffset {
		r.zeroNS = entries.atNS(r.first)
	}
	if r.end-r.first < entries.len() {
		r.total = 0
		for i := r.first; i < r.end; i++ {
			r.total += int64(entries.turns(i))
		}
	}
	return r
}

// window returns the entries of a schedule, from the first up to the end, exclusive.
func (e *entries) window(s Schedule) (first, end int) {
	end = e.len()
	if s.From != nil {
		first = sort.Search(end, func(i int) bool { return e.atNS(i) >= int64(*s.From) })
	}
	if s.Until != nil {
		end = sort.Search(end, func(i int) bool { return e.atNS(i) > int64(*s.Until) })
	}
	return first, end
}

// limits returns the counts at which the replay ends: its own unless lower ones are asked for.
// For a share they are those of its part.
func (r *recording) limits(sessions, requests int64) (int64, int64) {
	least := func(asked, own int64) int64 {
		if asked == 0 {
			return own
		}
		return min(asked, own)
	}
	all := int64(r.end - r.first)
	sessions = least(sessions, all)
	if r.share.Whole() && sessions == all {
		return sessions, least(requests, r.total)
	}
	room := make([]int64, r.step())
	total := int64(0)
	for i := range int(sessions) {
		turns := int64(r.entries.turns(r.first + i))
		room[i%len(room)] += turns
		total += turns
	}
	return r.share.Part(sessions), partWithin(least(requests, total), room, r.share.Index)
}

// step is the distance of the entries that are played.
func (r *recording) step() int { return max(1, r.share.Of) }

func (r *recording) start(nowNS int64) { r.startNS = nowNS }

// dueNS returns the instant of a recorded time.
func (r *recording) dueNS(atNS int64) int64 {
	return max(1, addNS(r.startNS, time.Duration(atNS-r.zeroNS))) // 0 means never
}

func (r *recording) next() (int64, bool) {
	if r.started >= r.end {
		return 0, false
	}
	return r.dueNS(r.entries.atNS(r.started)), true
}

func (r *recording) pop() turn {
	t := turn{
		session:    r.sessionOf(r.started),
		count:      r.entries.turns(r.started),
		intendedNS: r.dueNS(r.entries.atNS(r.started)),
	}
	r.started += r.step()
	return t
}

func (r *recording) sessionOf(entry int) uint64 { return r.session + uint64(entry-r.first) }

func (r *recording) follow(session uint64, turn int, _, nowNS int64) (dueNS, intendedNS int64) {
	entry := r.first + int(session-r.session)
	recorded := r.entries.source.TurnTime(r.entries.conversation(entry), turn)
	switch {
	case recorded.Timed:
		intendedNS = r.dueNS(recorded.AtNS)
	default:
		intendedNS = addNS(nowNS, time.Duration(max(0, recorded.DelayNS)))
	}
	return max(nowNS, intendedNS), intendedNS
}

func (r *recording) announce(ahead int64, to func(Opening)) {
	for end := min(r.end, r.started+int(ahead)*r.step()); r.announced < end; r.announced += r.step() {
		session := r.sessionOf(r.announced)
		to(Opening{Session: session, Conversation: r.entries.conversation(r.announced), Root: session})
	}
}

func (r *recording) drop(to func(uint64)) {
	for i := r.started; i < r.announced; i += r.step() {
		to(r.sessionOf(i))
	}
	r.announced = r.started
}
