package load

import (
	"fmt"
	"slices"
	"time"
)

// timetable says when the sessions of a phase start and when their turns follow, whatever the service does.
type timetable interface {
	// start sets the instant of the phase's start.
	start(nowNS int64)
	// next is when the next session starts, if one does; pop gives its first turn.
	next() (dueNS int64, any bool)
	pop() turn
	// follow is when a turn goes out whose predecessor has returned now, and when it was intended to.
	follow(t turn, nowNS int64) (dueNS, intendedNS int64)
	// announce tells of sessions that will start soon and were not announced.
	announce(ahead int64, to func(Opening))
	// drop tells of the sessions that were announced and did not start.
	drop(to func(session uint64))
}

// entry is one conversation of a recording.
type entry struct {
	conversation, turns int
	atNS                int64
}

// readRecording lists the conversations in the order of their first times.
func readRecording(source Recorded) ([]entry, error) {
	var entries []entry
	for c := range source.Conversations() {
		times := source.Recording(c)
		if len(times) == 0 {
			continue
		}
		if !times[0].Timed {
			return nil, fmt.Errorf("conversation %d cannot be replayed: its first turn has no timestamp", c)
		}
		entries = append(entries, entry{c, len(times), times[0].AtNS})
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("the recording holds no conversation to replay")
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		switch {
		case a.atNS < b.atNS:
			return -1
		case a.atNS > b.atNS:
			return 1
		}
		return 0
	})
	return entries, nil
}

// recording is the timetable of a schedule: each entry once, in order.
type recording struct {
	source  Recorded
	entries []entry
	// session is the number of the first entry's session.
	session uint64
	// zeroNS is the recorded time of the phase's start, which is at startNS.
	zeroNS, startNS int64
	// started and announced count entries.
	started, announced int
}

func newRecording(source Recorded, entries []entry, s Schedule, session uint64) *recording {
	r := &recording{source: source, entries: entries, session: session, zeroNS: int64(s.StartOffset)}
	if s.AutoOffset {
		r.zeroNS = entries[0].atNS
	}
	return r
}

// limits are the counts at which the replay ends: its own unless lower ones are asked for.
func (r *recording) limits(sessions, requests int64) (int64, int64) {
	turns := int64(0)
	for _, e := range r.entries {
		turns += int64(e.turns)
	}
	least := func(asked, own int64) int64 {
		if asked == 0 {
			return own
		}
		return min(asked, own)
	}
	return least(sessions, int64(len(r.entries))), least(requests, turns)
}

func (r *recording) start(nowNS int64) { r.startNS = nowNS }

// dueNS is the instant of a recorded time.
func (r *recording) dueNS(atNS int64) int64 {
	return max(1, later(r.startNS, time.Duration(atNS-r.zeroNS))) // 0 means never
}

func (r *recording) next() (int64, bool) {
	if r.started == len(r.entries) {
		return 0, false
	}
	return r.dueNS(r.entries[r.started].atNS), true
}

func (r *recording) pop() turn {
	e := r.entries[r.started]
	t := turn{
		session: r.session + uint64(r.started), entry: r.started,
		count: e.turns, intendedNS: r.dueNS(e.atNS),
	}
	r.started++
	return t
}

func (r *recording) follow(t turn, nowNS int64) (dueNS, intendedNS int64) {
	recorded := r.source.Recording(r.entries[t.entry].conversation)[t.index]
	switch {
	case recorded.Timed:
		intendedNS = r.dueNS(recorded.AtNS)
	default:
		intendedNS = later(nowNS, time.Duration(max(0, recorded.DelayNS)))
	}
	return max(nowNS, intendedNS), intendedNS
}

func (r *recording) announce(ahead int64, to func(Opening)) {
	for end := min(len(r.entries), r.started+int(ahead)); r.announced < end; r.announced++ {
		session := r.session + uint64(r.announced)
		to(Opening{Session: session, Conversation: r.entries[r.announced].conversation, Root: session})
	}
}

func (r *recording) drop(to func(uint64)) {
	for i := r.started; i < r.announced; i++ {
		to(r.session + uint64(i))
	}
	r.announced = r.started
}
