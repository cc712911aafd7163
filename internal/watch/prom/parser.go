package prom

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
)

// Limits of a Parser.
const (
	// defaultMaxSeries is the number of series that a Parser keeps by default.
	defaultMaxSeries = 1_000_000
	// defaultMaxText is the size of label texts and bucket bounds that a Parser keeps by default, in bytes.
	defaultMaxText = 256 << 20
	// boundSize is what a bucket counts towards it: its text, bound and value.
	boundSize = 48
	// spareLines is how many lines of earlier bodies may be remembered beyond twice the current ones.
	spareLines = 1024
	// yieldLines is after how many lines others may run while a page is learned, which takes milliseconds; a known
	// page takes a fraction of one.
	yieldLines = 256
)

// Options shape a Parser.
type Options struct {
	// MaxSeries is the number of series kept; further ones are dropped with a notice. 0 = defaultMaxSeries.
	MaxSeries int
	// MaxText bounds the label texts and bucket bounds that all series hold together, in bytes; further series are
	// dropped with a notice. 0 = defaultMaxText.
	MaxText int
	// Notice is called with what was dropped, once for each kind and name, after a body was accepted; nil = no calls.
	Notice func(kind NoticeKind, name, message string)
	// Summaries keeps the summaries of a body, apart from its other samples; otherwise they are skipped with a notice.
	Summaries bool
}

// Parser reads the bodies of one endpoint, one after the other; it is not safe for concurrent use.
// A body made of lines that it knows, with other values, costs no allocation.
type Parser struct {
	notice    func(kind NoticeKind, name, message string)
	maxSeries int
	maxText   int
	// keepSummaries: they are samples of a list of their own.
	keepSummaries bool
	summaries     []Sample

	lines map[string]*line
	start line    // its next is the first line of the previous body
	types []*line // the TYPE lines of the previous body, in order
	known bool    // whether the previous body was learned or matched in full

	declared map[string]declaredType // the TYPE lines of the body as a table
	epoch    uint32                  // counts changes of declared: a line resolved in another epoch is resolved again
	help     map[string]string
	body     uint64 // number of the current body
	count    int    // lines of the current body

	families   map[string]*family
	order      []*Family
	series     []*Series
	states     []*state // parallel to series
	text       int
	samples    []Sample
	histograms []*state // those of the current body

	given   map[noticeKey]struct{}
	pending []notice

	key    []byte
	labels []Label
}

// line is a line of a body up to its value, and what it means.
type line struct {
	raw   string // up to the value, or the whole line of a comment
	next  *line  // the line that followed it in the previous body
	state *state
	le    string // of a bucket
	seen  uint64 // the last body that had it
	epoch uint32
	slot  int32 // of a bucket: its index in the series, or one of the slot constants
	role  role
}

// role is what the value of a line is.
type role uint8

const (
	roleComment role = iota
	roleType
	roleSkip // a valid sample that is not kept
	roleValue
	roleOne // an info sample: 1 whatever it says
	roleBucket
	roleSum
	roleCount
)

// state is a series and its values in the current body.
type state struct {
	Series
	family *family
	key    string // its labels, within the family
	mark   uint64 // the last body that had it
	at     int    // index of its sample in the current body
	*layout
}

type family struct {
	Family
	series map[string]*state
}

// NewParser returns a parser for the bodies of one endpoint.
func NewParser(o Options) *Parser {
	if o.MaxSeries <= 0 {
		o.MaxSeries = defaultMaxSeries
	}
	if o.MaxText <= 0 {
		o.MaxText = defaultMaxText
	}
	return &Parser{
		notice: o.Notice, maxSeries: o.MaxSeries, maxText: o.MaxText, keepSummaries: o.Summaries,
		lines: map[string]*line{}, families: map[string]*family{}, given: map[noticeKey]struct{}{},
	}
}

// SyntaxError is a line that is not Prometheus text; nothing of its body is kept.
type SyntaxError struct {
	Line    int // from 1
	Message string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// errNew is a line that the parser does not know yet.
var errNew = errors.New("new line")

var byteOrderMark = []byte("\uFEFF")

// Parse reads a body and returns one sample for each series that it holds, in the order of their first
// lines; they are valid until the next call. A malformed line makes the whole body a *SyntaxError.
func (p *Parser) Parse(body []byte, openMetrics bool) ([]Sample, error) {
	body = bytes.TrimPrefix(body, byteOrderMark)
	if p.known {
		if _, err := p.walk(body, false); err == nil {
			return p.finish(), nil
		}
		p.pending = p.pending[:0]
	}
	if err := p.learn(body, openMetrics); err != nil {
		return nil, err
	}
	return p.finish(), nil
}

// Summaries returns those of the last body, valid until the next one.
func (p *Parser) Summaries() []Sample { return p.summaries }

// Kept is how much a Parser remembers from one body to the next. All of it is bounded.
type Kept struct {
	// Series are those of all bodies, Lines the lines that are known, Notices the notices that were given.
	Series, Lines, Notices int
}

// Kept returns how much the parser remembers.
func (p *Parser) Kept() Kept { return Kept{len(p.series), len(p.lines), len(p.given)} }

// Families returns the families of all bodies so far in the order of their first lines, also those of which no sample
// was kept. The slice is valid until the next body.
func (p *Parser) Families() []*Family { return p.order }

// learn reads a body that holds something new.
func (p *Parser) learn(body []byte, openMetrics bool) error {
	p.declare(body, openMetrics)
	series, families := len(p.series), len(p.order)
	at, err := p.walk(body, true)
	p.help = nil
	if err != nil {
		p.forget(series, families)
		return &SyntaxError{Line: 1 + bytes.Count(body[:at], []byte{'\n'}), Message: err.Error()}
	}
	p.known = true
	if len(p.lines) > 2*p.count+spareLines {
		p.sweep()
	}
	return nil
}

// walk reads the lines of a body. Unless learning, it stops at the first one that is not known, having
// changed nothing that outlives the body. On an error, at is where the line starts.
func (p *Parser) walk(body []byte, learning bool) (at int, err error) {
	p.body++
	p.count = 0
	p.samples, p.summaries, p.histograms = p.samples[:0], p.summaries[:0], p.histograms[:0]
	types := 0
	prev := &p.start
	for pos := 0; ; p.count++ {
		if learning && p.count%yieldLines == yieldLines-1 {
			runtime.Gosched()
		}
		l := prev.next
		if learning || !l.at(body, pos, p.epoch) {
			if pos = skipSpace(body, pos); pos == len(body) {
				break
			}
			if learning || !l.at(body, pos, p.epoch) {
				if l, err = p.find(body, pos, learning); err != nil {
					return pos, err
				}
				prev.next = l
			}
		}
		at, pos = pos, pos+len(l.raw)
		prev, l.seen = l, p.body
		switch {
		case l.role > roleType:
			if pos, err = p.value(l, body, pos); err != nil {
				return at, err
			}
		case body[pos-1] != '\n' && pos < len(body):
			return at, errNew // a comment that was the last line and now goes on
		case l.role == roleType && learning:
			p.types = append(p.types[:types], l)
			types++
		case l.role == roleType:
			if types == len(p.types) || p.types[types] != l {
				return at, errNew
			}
			types++
		}
	}
	if learning {
		prev.next, p.types = nil, p.types[:types]
	} else if types != len(p.types) {
		return 0, errNew
	}
	return 0, nil
}

// at reports whether the line stands at pos, as it is understood in the given epoch.
func (l *line) at(body []byte, pos int, epoch uint32) bool {
	return l != nil && l.epoch == epoch && len(body)-pos >= len(l.raw) && string(body[pos:pos+len(l.raw)]) == l.raw
}

// find returns the line at pos, which is not blank.
func (p *Parser) find(body []byte, pos int, learning bool) (*line, error) {
	end, err := keyEnd(body, pos)
	if err != nil {
		return nil, err
	}
	l := p.lines[string(body[pos:end])]
	switch {
	case l != nil && l.epoch == p.epoch:
		return l, nil
	case !learning:
		return nil, errNew
	}
	if l == nil {
		l = &line{raw: string(body[pos:end])}
	}
	if err := p.classify(l); err != nil {
		return nil, err
	}
	p.lines[l.raw] = l
	return l, nil
}

// value reads the value of a sample line and keeps it; the result is where the next line starts.
func (p *Parser) value(l *line, body []byte, pos int) (int, error) {
	for pos < len(body) && (body[pos] == ' ' || body[pos] == '\t') {
		pos++
	}
	v, end, ok := number(body, pos)
	if !ok {
		return 0, fmt.Errorf("expected a number after %s, got %s", quote(l.raw), quoteLine(body, pos))
	}
	next := end + 1
	if end >= len(body) {
		next = end
	} else if body[end] != '\n' {
		var err error
		if next, err = lineEnd(body, end); err != nil {
			return 0, err
		}
	}
	switch st := l.state; {
	case l.role == roleSkip:
	case st.layout != nil:
		p.component(l, v)
	case l.role == roleOne:
		p.scalar(st, 1)
	case math.IsNaN(v) || math.IsInf(v, 0):
		p.noteNonFinite(st)
	default:
		p.scalar(st, v)
	}
	return next, nil
}

// scalar keeps the value of a series; of several in one body the last one counts.
func (p *Parser) scalar(st *state, v float64) {
	if st.mark == p.body {
		p.samples[st.at].Value = v
		return
	}
	st.mark, st.at = p.body, len(p.samples)
	p.samples = append(p.samples, Sample{Series: &st.Series, Value: v})
}

func (p *Parser) noteNonFinite(st *state) {
	if name := st.family.Name; !p.noticed(NonFinite, name) {
		what := "the sample is"
		if st.layout != nil {
			what = "the histogram of that scrape is"
		}
		p.note(NonFinite, name, fmt.Sprintf("Metric %s has a value that is not finite (NaN or Inf); %s ignored", name,
			what))
	}
}

// finish completes the histograms of a valid body and returns its samples.
func (p *Parser) finish() []Sample {
	dropped := false
	for _, st := range p.histograms {
		if !p.complete(st) {
			(*p.listOf(st))[st.at].Series = nil
			dropped = true
		}
	}
	if dropped {
		without := func(s Sample) bool { return s.Series == nil }
		p.samples, p.summaries = slices.DeleteFunc(p.samples, without), slices.DeleteFunc(p.summaries, without)
	}
	p.flushNotices()
	return p.samples
}

// forget undoes what a malformed body brought: its series and families, and all lines, which may
// lead to them.
func (p *Parser) forget(series, families int) {
	for _, st := range p.states[series:] {
		delete(st.family.series, st.key)
		p.text -= len(st.key)
	}
	for _, f := range p.order[families:] {
		delete(p.families, familyKey(f.Name, f.Type))
	}
	clear(p.states[series:])
	clear(p.series[series:])
	clear(p.order[families:])
	p.states, p.series, p.order = p.states[:series], p.series[:series], p.order[:families]
	p.lines, p.start.next, p.types = map[string]*line{}, nil, nil
	p.pending = p.pending[:0]
	p.known = false
}

// sweep forgets the lines that the current body lacks, so that a page whose labels change for ever
// does not fill the memory.
func (p *Parser) sweep() {
	kept := make(map[string]*line, p.count)
	for raw, l := range p.lines {
		if l.seen == p.body {
			kept[raw] = l
		}
	}
	p.lines = kept
}
