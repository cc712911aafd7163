package loader

import (
	"fmt"
	"math"
)

// applyTimes applies what is asked of recorded times to conversations that were not made of rows. Those of traces were
// filtered request by request, others have no times that a window could leave out.
func (l *load) applyTimes() {
	if l.options.IgnoreTimes {
		for i := range l.conversations {
			for j := range l.conversations[i].Turns {
				t := &l.conversations[i].Turns[j]
				t.TimestampMS, t.DelayMS, t.Think = nil, nil, nil
			}
		}
	}
	if !l.options.Scheduled {
		return
	}
	l.warnBackwards()
	for i := range l.conversations {
		c := &l.conversations[i]
		if len(c.Turns) > 0 && c.Turns[0].TimestampMS == nil {
			l.line = l.starts[i]
			l.refuseUntimed(c.SessionID)
		}
	}
}

// refuseUntimed refuses a conversation that a schedule cannot place.
func (f *faults) refuseUntimed(id string) {
	f.errorf("%s has no timestamp for its first turn, which a fixed schedule needs", conversationName(id))
}

// warnBackwards warns of conversations whose times go back: a turn never goes out before the one ahead of it is
// answered.
func (l *load) warnBackwards() {
	count, first := 0, ""
	for i := range l.conversations {
		c, last := &l.conversations[i], math.Inf(-1)
		for t := range c.Turns {
			at := c.Turns[t].TimestampMS
			if at == nil {
				continue
			}
			if *at < last {
				if count++; count == 1 {
					first = fmt.Sprintf("%s:%d: the times of %s go back: turn %d at %v ms comes after one at %v ms",
						l.path, l.starts[i], conversationName(c.SessionID), t+1, *at, last)
				}
				break
			}
			last = *at
		}
	}
	if count > 0 {
		l.warnings = append(l.warnings,
			fmt.Sprintf("%s; a turn is sent when the one before it is answered (%d conversations are like this)",
				first, count))
	}
}

func conversationName(id string) string {
	if id == "" {
		return "the conversation"
	}
	return fmt.Sprintf("the conversation %q", shorten(id))
}
