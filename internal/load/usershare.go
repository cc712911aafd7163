package load

import "slices"

// userPlace is the place of a user among all users. Users who come on time have turns at even distances, 1 ÷ rate, one
// user each; tick counts these distances up to the user's first turn, start the users who started before.
type userPlace struct {
	start, tick uint64
	// of is the share of the users, whose credits are numbered by their ticks; nil where the users are not shared.
	of *sharedUsers
}

// sharedUsers is the [timetable] of a share of the users. A user and all who take that place later belong to the same
// share. The starts of all users are known before the phase: it goes through them and leaves out those of other shares.
type sharedUsers struct {
	*userTimetable
	share Share
	// most is how many users of all shares start, 0 = no limit; sessions and requests are the limits of the share, 0 =
	// none.
	most               uint64
	sessions, requests int64
	// coming are the users of the share who start next; so many of them were announced.
	coming    []userStart
	announced int
	// left are, where users stop to come, the first ticks without the users of each place.
	left []uint64
}

// userStart is the first turn of a user and its instant from the start of the phase.
type userStart struct {
	fromStart int64
	turn      turn
}

// newSharedUsers returns the timetable of a share of users who have not begun to start.
func newSharedUsers(all *userTimetable, share Share, whole Phase) *sharedUsers {
	u := &sharedUsers{userTimetable: all, share: share, most: uint64(whole.Sessions)}
	if whole.Sessions > 0 {
		u.sessions = u.countStarts()
	}
	if n := int64(all.count); whole.Requests > 0 {
		u.requests = whole.Requests/n*share.Part(n) + share.Part(whole.Requests%n)
	}
	return u
}

// countStarts returns how many of the users who start belong to the share.
func (u *sharedUsers) countStarts() (n int64) {
	trial := *u.userTimetable
	trial.waiting.items = slices.Clone(trial.waiting.items)
	for range u.most {
		if u.takes(trial.pop()) {
			n++
		}
	}
	for _, d := range trial.waiting.items {
		u.left = append(u.left, d.turn.place.tick)
	}
	return n
}

// number returns the number of the credit of a turn among those of all shares, as if all users had come on time: its
// tick, less those in which no user sends any more.
func (u *sharedUsers) number(t *turn) int64 {
	tick, count := t.place.tick+uint64(t.index)*uint64(u.count), uint64(u.count)
	number := tick
	for _, left := range u.left {
		if left < tick {
			number -= (tick - left + count - 1) / count
		}
	}
	return int64(number)
}

// takes reports whether a user belongs to the share.
func (u *sharedUsers) takes(t turn) bool {
	return t.place.tick%uint64(u.count)%uint64(u.share.Of) == uint64(u.share.Index)
}

// fill looks for users of the share until some are known, and reports whether any is.
func (u *sharedUsers) fill(some int) bool {
	for len(u.coming) < some && (u.most == 0 || u.starts < u.most) {
		fromStart := u.waiting.dueNS()
		if t := u.userTimetable.pop(); u.takes(t) {
			t.place.of = u
			u.coming = append(u.coming, userStart{fromStart, t})
		}
	}
	return len(u.coming) > 0
}

func (u *sharedUsers) next() (int64, bool) {
	if !u.fill(1) {
		return 0, false
	}
	return u.startNS + u.coming[0].fromStart, true
}

func (u *sharedUsers) pop() turn {
	first := u.coming[0]
	u.coming = u.coming[1:]
	u.announced = max(0, u.announced-1)
	first.turn.intendedNS = u.startNS + first.fromStart
	return first.turn
}

func (u *sharedUsers) announce(ahead int64, to func(Opening)) {
	u.fill(int(min(ahead, u.share.Part(int64(u.count)))))
	for ; u.announced < len(u.coming); u.announced++ {
		t := u.coming[u.announced].turn
		to(Opening{Session: t.session, Conversation: -1, User: t.user, Root: t.session})
	}
}

func (u *sharedUsers) drop(to func(uint64)) {
	for _, c := range u.coming[:u.announced] {
		to(c.turn.session)
	}
	u.coming, u.announced = nil, 0
}
