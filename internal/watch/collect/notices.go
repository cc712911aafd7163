package collect

import (
	"fmt"

	"aiperf/internal/watch/prom"
)

// maxNotices is how many notices of a kind are logged: of a page of thousands of broken metrics the first ones.
const maxNotices = 50

type noticeKey struct {
	kind      prom.NoticeKind
	url, name string
}

// notices are what was logged about the contents of pages.
type notices struct {
	given map[noticeKey]bool
	count map[prom.NoticeKind]int
}

// everywhere are the kinds that are logged once for a name, at whichever endpoint.
var everywhere = map[prom.NoticeKind]bool{prom.SkippedSummary: true, prom.NonFinite: true}

// notice reports what a parser met in a page of an endpoint.
func (c *Collector) notice(e *endpoint, kind prom.NoticeKind, name, message string) {
	c.mu.Lock()
	key := noticeKey{kind: kind, name: name}
	if !everywhere[kind] {
		key.url = e.shown
		message = fmt.Sprintf("%s: %s (%s)", c.options.Words.Subject, message, e.shown)
	}
	if c.notices.given == nil {
		c.notices.given, c.notices.count = map[noticeKey]bool{}, map[prom.NoticeKind]int{}
	}
	if c.notices.given[key] || c.notices.count[kind] > maxNotices {
		c.mu.Unlock()
		return
	}
	c.notices.given[key] = true
	c.notices.count[kind]++
	if c.notices.count[kind] > maxNotices {
		message = fmt.Sprintf("%s: more than %d notices of the kind %q; further ones are not shown",
			c.options.Words.Subject, maxNotices, kind)
	}
	c.mu.Unlock()
	if kind == prom.SkippedSummary {
		c.log.Info(message)
		return
	}
	c.log.Warn(message)
}
