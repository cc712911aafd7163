package prom

// NoticeKind says what a notice is about.
type NoticeKind string

// The kinds of notices. All are warnings but SkippedSummary, which is information.
const (
	// SkippedSummary: a summary was met; its samples are skipped.
	SkippedSummary NoticeKind = "summary"
	// NonFinite: NaN or an infinity was met; the sample, or the whole histogram, is dropped.
	NonFinite NoticeKind = "non-finite"
	// Incompatible: a sample does not fit the type that its family had at first, and is dropped.
	Incompatible NoticeKind = "incompatible"
	// BucketsChanged: a histogram has a bucket that its first body lacked, or one that is not a number.
	BucketsChanged NoticeKind = "buckets"
	// TooManySeries: the limit of the parser is reached; further series are dropped.
	TooManySeries NoticeKind = "too-many-series"
)

// maxNotices bounds what is remembered of notices; a page that causes more is past reading about.
const maxNotices = 10000

type noticeKey struct {
	kind NoticeKind
	name string
}

type notice struct {
	noticeKey
	message string
}

// noticed reports whether a notice was given, or can be given no more. Asking costs no allocation.
func (p *Parser) noticed(kind NoticeKind, name string) bool {
	if p.notice == nil || len(p.given) >= maxNotices {
		return true
	}
	_, ok := p.given[noticeKey{kind, name}]
	return ok
}

// note keeps a notice until the body turns out to be valid.
func (p *Parser) note(kind NoticeKind, name, message string) {
	if !p.noticed(kind, name) {
		p.pending = append(p.pending, notice{noticeKey{kind, name}, message})
	}
}

// flushNotices reports the notices of a valid body, each name once.
func (p *Parser) flushNotices() {
	for _, n := range p.pending {
		if !p.noticed(n.kind, n.name) {
			p.given[n.noticeKey] = struct{}{}
			p.notice(n.kind, n.name, n.message)
		}
	}
	clear(p.pending)
	p.pending = p.pending[:0]
}
