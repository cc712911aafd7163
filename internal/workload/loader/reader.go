package loader

import (
	"hash/maphash"
	"slices"

	"aiperf/internal/base/jsonscan"
)

// lineReader reads the lines of one format, each without those before it.
type lineReader struct {
	faults
	format  format
	options *Options
	// blockSize is the number of tokens of a hash id.
	blockSize int
	// columns are those of a CSV file that are read.
	columns [3]int
	media   map[string]string // what the media of the file resolve to, by kind and text
	scanned scannedRow
	// notAlone reports that a row cannot be read alone.
	notAlone bool
}

// another returns a reader of the same file that has read nothing.
func (l *lineReader) another() *lineReader {
	return &lineReader{faults: faults{path: l.path}, format: l.format, options: l.options, blockSize: l.blockSize,
		columns: l.columns}
}

// row reads one line as a row; false: it is mistaken.
func (l *lineReader) row(number int, line []byte) (r row, ok bool) {
	l.line = number
	if l.scan(line) {
		r, ok = l.scanned.row(), true
	} else {
		mistaken := l.mistaken
		r = l.format.row(l, line)
		ok = l.mistaken == mistaken
	}
	if r.line = number; ok && !r.absent {
		ok = l.admit(&r)
	}
	return r, ok
}

// scan reports whether a line is a row of the common shape, which is then in l.scanned.
func (l *lineReader) scan(line []byte) bool {
	l.scanned.unknown = l.unknown
	return l.format.name == mooncakeTrace && l.scanned.scan(line) && l.scanned.has&hasInput != 0
}

// admit applies the filters of lengths to a row; false: its blocks do not fit.
func (l *lineReader) admit(r *row) bool {
	limit := 0
	if r.turn.MaxTokens != nil {
		limit = *r.turn.MaxTokens
	}
	keep, ok := l.admits(r.tokens, len(r.ids), limit)
	r.absent = !keep
	if most := l.options.MaxOSL; keep && most > 0 && limit > most {
		r.turn.MaxTokens = &most
	}
	return ok
}

// admits applies the filters of lengths to a request of so many tokens and hash ids. keep is false for one that is
// too long, ok if the ids stand for more tokens than it has.
func (l *lineReader) admits(tokens, ids, limit int) (keep, ok bool) {
	o := l.options
	if o.MaxISL > 0 && tokens > o.MaxISL {
		l.dropped.long++
		return false, true
	}
	if o.MaxOSL > 0 && limit > o.MaxOSL {
		l.dropped.capped++
	}
	if last := tokens - (ids-1)*l.blockSize; ids > 0 && last <= 0 {
		l.errorf("field \"hash_ids\": %d ids of %d tokens do not fit into an input length of %d: the last block "+
			"would have %d tokens", ids, l.blockSize, tokens, last)
		return true, false
	}
	return true, true
}

// note reads one line and returns what the grouping of rows needs of it. Rows of the common shape are not taken apart
// any further.
func (l *lineReader) note(number int, line []byte, seed maphash.Seed) (notedRow, bool) {
	if l.line = number; l.scan(line) {
		return l.noteScanned(seed)
	}
	r, ok := l.row(number, line)
	return r.note(seed), ok
}

// object reads what the lines of all formats of JSON have in common.
func (l *lineReader) object(line []byte, keys []string) (o *object, sessionID string, ok bool) {
	o, err := parseObject(line)
	if err != nil {
		l.errorf("%v", err)
		return nil, "", false
	}
	if named := jsonscan.Text(o.members["type"]); named != "" && named != l.format.name && isFormat(named) {
		l.errorf("field \"type\": this is a %s record, but the file is read as %s", named, l.format.name)
		return nil, "", false
	}
	if sessionID, err = o.text("session_id"); err != nil {
		l.errorf("%v", err)
		return nil, "", false
	}
	if l.format.name == singleTurn || l.format.name == randomPool {
		o.takePrompt()
	}
	l.checkKeys(o, keys)
	return o, sessionID, true
}

// noteScanned notes the row that was just scanned.
func (l *lineReader) noteScanned(seed maphash.Seed) (n notedRow, ok bool) {
	r := &l.scanned
	limit := 0
	if r.has&hasOutput != 0 {
		limit = r.output
	}
	keep, ok := l.admits(r.input, len(r.ids), limit)
	n = notedRow{at: noTime, turns: 1, absent: !keep}
	if r.has&hasTimestamp != 0 {
		n.at = r.timestamp
	}
	if keep {
		n.contents, n.key, n.number = &onePrompt, keyOf(r.session, seed), numberOf(r.session)
	}
	return n, ok
}

// otherFormat returns the format that a record has instead of the one that it is read as; empty: that is not clear.
func (l *lineReader) otherFormat(o *object) string {
	if formats := formatsOf(o); len(formats) == 1 && formats[0] != l.format.name &&
		!(l.format.name == randomPool && formats[0] == singleTurn) {
		return formats[0]
	}
	return ""
}

// errorOf notes a mistake of a record, which may be one of another format.
func (l *lineReader) errorOf(o *object, err error) {
	if other := l.otherFormat(o); other != "" {
		l.errorf("this looks like a %s record, but the file is read as %s: %v", other, l.format.name, err)
		return
	}
	l.errorf("%v", err)
}

func (l *lineReader) checkKeys(o *object, known []string) {
	for _, key := range o.keys {
		if !slices.Contains(known, key) {
			l.warnUnknown(key, known)
		}
	}
}
