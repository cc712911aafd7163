package loader

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/workload/dataset"
)

// settleTimes applies the recorded times to the conversations of formats that are not traces; traces
// were filtered row by row.
func (l *load) settleTimes(trace bool) error {
	if l.options.IgnoreTimes {
		for i := range l.conversations {
			for j := range l.conversations[i].Turns {
				t := &l.conversations[i].Turns[j]
				t.TimestampMS, t.DelayMS, t.Think = nil, nil, nil
			}
		}
	}
	if !l.options.Scheduled {
		return nil
	}
	if !trace {
		l.filterConversations()
	}
	l.warnBackwards()
	for i := range l.conversations {
		c := &l.conversations[i]
		if len(c.Turns) > 0 && c.Turns[0].TimestampMS == nil {
			l.line = l.lines[i]
			l.errorf("%s has no timestamp for its first turn, which a fixed schedule needs", conversationName(c))
		}
	}
	return nil
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
					first = fmt.Sprintf("%s:%d: the times of %s go back: turn %d at %v ms stands behind one at %v ms",
						l.path, l.lines[i], conversationName(c), t+1, *at, last)
				}
				break
			}
			last = *at
		}
	}
	if count > 0 {
		l.warnings = append(l.warnings,
			fmt.Sprintf("%s; it goes out when that is answered (%d conversations are like this)", first, count))
	}
}

func conversationName(c *dataset.Conversation) string {
	if c.SessionID == "" {
		return "the conversation"
	}
	return fmt.Sprintf("the conversation %q", shorten(c.SessionID))
}

// filterConversations drops those whose first turn was recorded outside of the window.
func (l *load) filterConversations() {
	if l.options.Window.open() {
		return
	}
	conversations, lines := l.conversations[:0], l.lines[:0]
	for i, c := range l.conversations {
		if t := c.Turns[0].TimestampMS; t != nil && !l.options.Window.Holds(*t) {
			l.dropped.outside++
			continue
		}
		conversations, lines = append(conversations, c), append(lines, l.lines[i])
	}
	l.conversations, l.lines = conversations, lines
}

// dropped counts what the filters left out or changed.
type dropped struct{ outside, long, capped, contexts, agents int }

// notes tell what the filters did.
func (d dropped) notes(what string) (notes []string) {
	for _, x := range []struct {
		n    int
		text string
	}{
		{d.outside, "%d " + what + " outside of the schedule's window left out"},
		{d.long, "%d " + what + " with more input than --synthesis-max-isl left out"},
		{d.capped, "%d " + what + " had their output lowered to --synthesis-max-osl"},
		{d.contexts, "%d recordings with a context longer than --max-context-length left out"},
		{d.agents, "%d agents without requests, or called before the first request, left out"},
	} {
		if x.n > 0 {
			notes = append(notes, fmt.Sprintf(x.text, x.n))
		}
	}
	return notes
}

// empty is the error of a file from which nothing is left.
func (l *load) empty() error {
	switch d := l.dropped; {
	case d.outside > 0 && d.long > 0:
		return fmt.Errorf("%s: nothing is left: %d records are outside of --fixed-schedule-start-offset and "+
			"--fixed-schedule-end-offset, %d are longer than --synthesis-max-isl", l.path, d.outside, d.long)
	case d.outside > 0:
		return fmt.Errorf("%s: nothing is left: all %d records are outside of --fixed-schedule-start-offset and "+
			"--fixed-schedule-end-offset", l.path, d.outside)
	case d.long > 0:
		return fmt.Errorf("%s: nothing is left: all %d records are longer than --synthesis-max-isl %d", l.path, d.long,
			l.options.MaxISL)
	}
	if n := l.dropped.contexts; n > 0 {
		return fmt.Errorf("%s: nothing is left: all %d recordings have a context longer than --max-context-length %d",
			l.path, n, l.options.MaxContext)
	}
	if l.skipped > 0 {
		return fmt.Errorf("%s: none of its %d rows is a request: see line %s", l.path, l.skipped,
			strings.Join(l.skippedLines, ", "))
	}
	return fmt.Errorf("%s contains no records", l.path)
}
