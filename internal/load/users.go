package load

import (
	"math"
	"time"
)

// userTimetable is the [timetable] of simulated users. Those who come later are numbered in the order in which they
// start.
type userTimetable struct {
	rate    float64 // requests per second
	count   int
	turns   func(session uint64) int
	startNS int64
	// session and user are the numbers of the next user; sessions up to announced, exclusive, were announced.
	session, announced uint64
	user               uint64
	// waiting are those who have not started, by the time at which they do. Only the users of the first moment have
	// their numbers yet. leaving users are not replaced.
	waiting delays
	leaving int
	// starts counts those who have started.
	starts uint64
}

// gap returns the time between two turns of a user.
func (u *userTimetable) gap() float64 { return float64(u.count) / u.rate * second }

// newUserTimetable returns a timetable with the users of the first moment: those who would be there if users had been
// coming for long, each with the turns that are left, and one who begins.
func newUserTimetable(opt Users, session uint64, turns func(uint64) int) *userTimetable {
	u := &userTimetable{rate: opt.Rate, count: opt.Count, turns: turns, session: session, announced: session, user: 1}
	n := opt.Count
	length := max(1, int(math.RoundToEven(opt.MeanTurns))-1)
	stride := coprimeStride(n)
	for i := range n {
		age := (n - i) * length
		left := length - age/n
		if left <= 0 {
			u.user++
			continue
		}
		slot := age % n
		if gcd(n, length) != 1 {
			slot = i * stride % n
		}
		t := u.create(left)
		t.place.tick = uint64(n - slot)
		u.join(float64(n-slot)/u.rate*second, t)
	}
	u.join(0, u.create(math.MaxInt))
	return u
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// coprimeStride returns the smallest number from 2 on that shares no factor with n; 1 for at most two users.
func coprimeStride(n int) int {
	if n <= 2 {
		return 1
	}
	s := 2
	for gcd(n, s) != 1 {
		s++
	}
	return s
}

// create returns the first turn of the next user, who sends at most some turns.
func (u *userTimetable) create(most int) turn {
	all := max(1, u.turns(u.session))
	t := turn{session: u.session, user: u.user, count: min(most, all), partial: most < all}
	u.session++
	u.user++
	return t
}

// join adds a user who starts at an instant from the start of the phase; the zero turn is whoever is next then.
func (u *userTimetable) join(fromStart float64, t turn) {
	u.waiting.push(int64(math.Round(fromStart)), t)
}

func (u *userTimetable) start(nowNS int64) { u.startNS = nowNS }

func (u *userTimetable) next() (int64, bool) {
	if u.waiting.len() == 0 {
		return 0, false
	}
	return addNS(u.startNS, time.Duration(u.waiting.dueNS())), true
}

// pop starts a user and adds the one who takes its place later.
func (u *userTimetable) pop() turn {
	fromStart := u.waiting.dueNS()
	t := u.waiting.pop()
	tick := t.place.tick
	if t.user == 0 {
		t = u.create(math.MaxInt)
	}
	t.place = userPlace{start: u.starts, tick: tick}
	u.starts++
	t.intendedNS = u.startNS + fromStart
	if u.leaving > 0 {
		u.leaving--
	} else {
		next := turn{place: userPlace{tick: tick + uint64(t.count)*uint64(u.count)}}
		u.join(float64(fromStart)+float64(t.count)*u.gap(), next)
	}
	return t
}

// follow spaces the turns of a user evenly; a late response moves all that come after it.
func (u *userTimetable) follow(_ uint64, _ int, beforeNS, nowNS int64) (dueNS, intendedNS int64) {
	due := max(nowNS, beforeNS+int64(math.Round(u.gap())))
	return due, due
}

// resize changes the number of users; the rate of all together stays.
func (u *userTimetable) resize(count int, nowNS int64) {
	more := count - u.count
	u.count = count
	if stay := min(more, u.leaving); stay > 0 {
		u.leaving -= stay
		more -= stay
	}
	if more < 0 {
		u.leaving -= more
	}
	for i := range max(0, more) {
		u.join(float64(nowNS-u.startNS)+float64(i+1)/u.rate*second, turn{})
	}
}

func (u *userTimetable) announce(ahead int64, to func(Opening)) {
	first := u.user - u.session // wraps around below 0, and back
	for end := u.session + uint64(min(ahead, int64(u.count))); u.announced < end; u.announced++ {
		to(Opening{Session: u.announced, Conversation: -1, User: u.announced + first, Root: u.announced})
	}
}

func (u *userTimetable) drop(to func(uint64)) {
	for u.waiting.len() > 0 {
		if t := u.waiting.pop(); t.user != 0 {
			to(t.session)
		}
	}
	for ; u.announced > u.session; u.announced-- {
		to(u.announced - 1)
	}
}
