package load

import (
	"math"
	"time"
)

// cast is the timetable of simulated users. Those who come later are numbered in the order in which they start.
type cast struct {
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
}

// gap returns the time between two turns of a user.
func (c *cast) gap() float64 { return float64(c.count) / c.rate * second }

// newCast makes the users of the first moment: those who would be there if users had been coming for long, each
// with the turns that are left, and one who begins.
func newCast(u Users, session uint64, turns func(uint64) int) *cast {
	c := &cast{rate: u.Rate, count: u.Count, turns: turns, session: session, announced: session, user: 1}
	n := u.Count
	length := max(1, int(math.RoundToEven(u.MeanTurns))-1)
	stride := coprimeStride(n)
	for i := range n {
		age := (n - i) * length
		left := length - age/n
		if left <= 0 {
			c.user++
			continue
		}
		slot := age % n
		if gcd(n, length) != 1 {
			slot = i * stride % n
		}
		c.join(float64(n-slot)/c.rate*second, c.create(left))
	}
	c.join(0, c.create(math.MaxInt))
	return c
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

// create makes the next user, who sends at most some turns.
func (c *cast) create(most int) turn {
	t := turn{session: c.session, user: c.user, count: min(most, max(1, c.turns(c.session)))}
	c.session++
	c.user++
	return t
}

// join has a user start at an instant from the start of the phase; the zero turn is whoever is next then.
func (c *cast) join(fromStart float64, t turn) { c.waiting.push(int64(math.Round(fromStart)), t) }

func (c *cast) start(nowNS int64) { c.startNS = nowNS }

func (c *cast) next() (int64, bool) {
	if c.waiting.len() == 0 {
		return 0, false
	}
	return later(c.startNS, time.Duration(c.waiting.dueNS())), true
}

// pop starts a user and has the one join who comes after it.
func (c *cast) pop() turn {
	fromStart := c.waiting.dueNS()
	t := c.waiting.pop()
	if t.user == 0 {
		t = c.create(math.MaxInt)
	}
	t.intendedNS = c.startNS + fromStart
	if c.leaving > 0 {
		c.leaving--
	} else {
		c.join(float64(fromStart)+float64(t.count)*c.gap(), turn{})
	}
	return t
}

// follow paces the turns of a user; a late answer moves all that come after it.
func (c *cast) follow(t turn, nowNS int64) (dueNS, intendedNS int64) {
	due := max(nowNS, t.intendedNS+int64(math.Round(c.gap())))
	return due, due
}

// resize changes the number of users; the rate of all together stays.
func (c *cast) resize(count int, nowNS int64) {
	more := count - c.count
	c.count = count
	if stay := min(more, c.leaving); stay > 0 {
		c.leaving -= stay
		more -= stay
	}
	if more < 0 {
		c.leaving -= more
	}
	for i := range max(0, more) {
		c.join(float64(nowNS-c.startNS)+float64(i+1)/c.rate*second, turn{})
	}
}

func (c *cast) announce(ahead int64, to func(Opening)) {
	first := c.user - c.session // wraps around below 0, and back
	for end := c.session + uint64(min(ahead, int64(c.count))); c.announced < end; c.announced++ {
		to(Opening{Session: c.announced, Conversation: -1, User: c.announced + first, Root: c.announced})
	}
}

func (c *cast) drop(to func(uint64)) {
	for c.waiting.len() > 0 {
		if t := c.waiting.pop(); t.user != 0 {
			to(t.session)
		}
	}
	for ; c.announced > c.session; c.announced-- {
		to(c.announced - 1)
	}
}
