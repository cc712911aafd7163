package recordfile

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"aiperf/internal/measure/record"
)

// factSet has a bit for each fact of a row.
type factSet [(int(record.NumFields) + wordBits - 1) / wordBits]uint64

const wordBits = 64

// What a row has besides its facts, as bits.
const (
	cancelled = 1 << iota
	skipped
	gaps
	recordbatchFailed
	rare // an identity with more than most have
	extra
	unlike // a reply that did not come as most do
)

// How an odd reply came, as bits.
const (
	unfinished = 1 << iota
	unstreamed
	cumulative
)

// texts are what repeats within a batch, by its number there.
type texts struct{ numbers map[string]uint64 }

// BatchWriter packs records into a batch. The zero value is ready; a Writer is used by one goroutine at a time.
type BatchWriter struct {
	// WithoutIDs leaves out the ids of requests and sessions, which only files with a line for each request need.
	WithoutIDs bool

	dst   []byte
	rows  int
	prev  lastRow
	texts texts
}

// lastRow is what the next row is written as the difference to.
type lastRow struct {
	session          int64
	mask             factSet
	facts            record.Facts
	phase, profiling int64
}

// Rows returns the number of records since the last Take, Len the bytes that they take so far.
func (w *BatchWriter) Rows() int { return w.rows }

// Len returns the bytes of the batch so far.
func (w *BatchWriter) Len() int { return len(w.dst) }

// Take returns the batch and begins a new one; nil without a record. The bytes belong to the caller.
func (w *BatchWriter) Take() []byte {
	out := w.dst
	*w = BatchWriter{WithoutIDs: w.WithoutIDs, texts: texts{numbers: w.texts.numbers}}
	clear(w.texts.numbers)
	return out
}

// Add appends a record. It fails, and leaves the batch as it was, for a record whose parts cannot be carried.
func (w *BatchWriter) Add(r *record.Record) error {
	if w.texts.numbers == nil {
		w.texts.numbers = map[string]uint64{}
	}
	var parts []byte
	if r.Trace != nil || r.Raw != nil || r.SpecDecode != nil || r.Text != nil || r.Answer != nil {
		var err error
		if parts, err = AppendValue(nil, &extras{r.Trace, r.Raw, r.SpecDecode, r.Text, r.Answer}); err != nil {
			return fmt.Errorf("a record: %w", err)
		}
	}
	var fault []byte
	if r.Err != nil {
		var err error
		if fault, err = AppendValue(nil, r.Err); err != nil {
			return fmt.Errorf("a record: %w", err)
		}
	}
	if w.dst == nil {
		w.dst = make([]byte, 0, 4<<10)
	}
	w.rows++
	id := &r.Identity
	w.dst = append(w.dst, flagsOf(r, parts))
	w.signed(&w.prev.session, id.SessionNum)
	w.signed(&w.prev.phase, int64(id.PhaseIndex))
	w.signed(&w.prev.profiling, int64(id.ProfilingIndex))
	w.dst = binary.AppendUvarint(w.dst, uint64(id.TurnIndex))
	w.text(id.Phase)
	w.text(id.PhaseName)
	w.text(id.ConversationID)
	w.text(id.WorkerID)
	w.text(id.ProcessorID)
	w.id(id.RequestID)
	w.id(id.CorrelationID)
	w.facts(&r.Facts)
	if len(r.GapsNS) > 0 {
		w.gaps(r.GapsNS)
	}
	if fault != nil {
		w.text(string(fault))
	}
	if hasRare(id) {
		for _, s := range []string{id.CacheBustMarker, id.CacheBustTarget, id.Archetype, id.ParentCorrelationID,
			id.RootCorrelationID} {
			w.text(s)
		}
		w.dst = binary.AppendUvarint(w.dst, uint64(id.AgentDepth))
	}
	w.text(r.Reply.Ending)
	if isOdd(&r.Reply) {
		w.dst = append(w.dst, oddBits(&r.Reply))
		w.text(strings.Join(r.Reply.Unread, "\n"))
	}
	if parts != nil {
		w.dst = append(binary.AppendUvarint(w.dst, uint64(len(parts))), parts...)
	}
	return nil
}

func isOdd(r *record.Reply) bool { return oddBits(r) != 0 || len(r.Unread) > 0 }

func oddBits(r *record.Reply) (b byte) {
	if r.Unfinished {
		b |= unfinished
	}
	if r.Unstreamed {
		b |= unstreamed
	}
	if r.Cumulative {
		b |= cumulative
	}
	return b
}

// extras are the parts of a record that few have.
type extras struct {
	Trace      *record.Trace
	Raw        *record.Raw
	SpecDecode *record.SpecDecode
	Text       []byte
	Answer     *record.Answer
}

func flagsOf(r *record.Record, parts []byte) (f byte) {
	for _, x := range []struct {
		is  bool
		bit byte
	}{
		{r.WasCancelled, cancelled}, {r.ContextOverflowSkip, skipped}, {len(r.GapsNS) > 0, gaps}, {r.Err != nil, recordbatchFailed},
		{hasRare(&r.Identity), rare}, {parts != nil, extra}, {isOdd(&r.Reply), unlike},
	} {
		if x.is {
			f |= x.bit
		}
	}
	return f
}

func hasRare(id *record.Identity) bool {
	return id.CacheBustMarker != "" || id.CacheBustTarget != "" || id.Archetype != "" || id.AgentDepth != 0 ||
		id.ParentCorrelationID != "" || id.RootCorrelationID != ""
}

// signed writes the difference of a number to the one before.
func (w *BatchWriter) signed(prev *int64, n int64) {
	w.dst = binary.AppendVarint(w.dst, n-*prev)
	*prev = n
}

// text writes the number of a text, and the text where it is the first of its kind in the batch.
func (w *BatchWriter) text(s string) {
	if n, ok := w.texts.numbers[s]; ok {
		w.dst = binary.AppendUvarint(w.dst, n)
		return
	}
	n := uint64(len(w.texts.numbers))
	w.texts.numbers[s] = n
	w.dst = binary.AppendUvarint(w.dst, n)
	w.dst = append(binary.AppendUvarint(w.dst, uint64(len(s))), s...)
}

// How an id is written.
const (
	noID = iota
	uuidID
	textID
)

func (w *BatchWriter) id(s string) {
	if w.WithoutIDs || s == "" {
		w.dst = append(w.dst, noID)
		return
	}
	if u, ok := packUUID(s); ok {
		w.dst = append(append(w.dst, uuidID), u[:]...)
		return
	}
	w.dst = append(w.dst, textID)
	w.dst = append(binary.AppendUvarint(w.dst, uint64(len(s))), s...)
}

// packUUID returns the 16 bytes of a UUID in its canonical form: in any other it could not be written again as it was.
func packUUID(s string) (u [16]byte, ok bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return u, false
	}
	at := 0
	for i := 0; i < 36; {
		if s[i] == '-' {
			i++
			continue
		}
		hi, lo := hexDigit[s[i]], hexDigit[s[i+1]]
		if hi|lo > 15 {
			return u, false
		}
		u[at] = hi<<4 | lo
		at, i = at+1, i+2
	}
	return u, true
}

// hexDigit is the value of each digit, 255 for what is none.
var hexDigit = func() (t [256]byte) {
	for i := range t {
		t[i] = 255
	}
	for i := range byte(16) {
		t["0123456789abcdef"[i]] = i
	}
	return t
}()

func unpackUUID(u []byte) string {
	var b [36]byte
	hex.Encode(b[:8], u[:4])
	b[8] = '-'
	hex.Encode(b[9:13], u[4:6])
	b[13] = '-'
	hex.Encode(b[14:18], u[6:8])
	b[18] = '-'
	hex.Encode(b[19:23], u[8:10])
	b[23] = '-'
	hex.Encode(b[24:], u[10:])
	return string(b[:])
}

func (w *BatchWriter) facts(f *record.Facts) {
	var mask factSet
	for i, v := range f {
		if v != record.Absent {
			mask[i/wordBits] |= 1 << (i % wordBits)
		}
	}
	for word, has := range mask {
		w.dst = binary.AppendUvarint(w.dst, has^w.prev.mask[word])
	}
	w.prev.mask = mask
	for word, rest := range mask {
		for ; rest != 0; rest &= rest - 1 {
			i := word*wordBits + bits.TrailingZeros64(rest)
			w.signed(&w.prev.facts[i], f[i])
		}
	}
}

func (w *BatchWriter) gaps(list []int64) {
	w.dst = binary.AppendUvarint(w.dst, uint64(len(list)))
	prev := int64(0)
	for _, gap := range list {
		w.signed(&prev, gap)
	}
}

// errDamaged means that a batch is not what a Writer made.
var errDamaged = errors.New("a batch of records is damaged")

// ReadBatch calls add with each record of a batch in order. A record is valid during the call, what it points to stays.
// The error says that the batch is damaged; the records before the damage have been added then.
func ReadBatch(batch []byte, add func(*record.Record)) error {
	d, r := &batchReader{data: batch}, new(record.Record)
	for d.at < len(d.data) {
		*r = record.Record{}
		if err := d.row(r); err != nil {
			return err
		}
		add(r)
	}
	return nil
}

// batchReader reads the rows of a batch from a place on; bad is set once its bytes make no sense.
type batchReader struct {
	data  []byte
	at    int
	prev  lastRow
	texts []string
	bad   bool
}

// row reads one record, in the order in which the writer wrote it: numbers as differences from the record before, and
// the rare parts only where a flag announces them. Unknown flags are damage: a batch is read by the build that wrote
// it.
func (d *batchReader) row(r *record.Record) error {
	flags := d.byte()
	id := &r.Identity
	id.SessionNum = d.signed(&d.prev.session)
	id.PhaseIndex = int(d.signed(&d.prev.phase))
	id.ProfilingIndex = int(d.signed(&d.prev.profiling))
	id.TurnIndex = int(d.uvarint())
	id.Phase, id.PhaseName, id.ConversationID = d.text(), d.text(), d.text()
	id.WorkerID, id.ProcessorID = d.text(), d.text()
	id.RequestID, id.CorrelationID = d.id(), d.id()
	id.WasCancelled, id.ContextOverflowSkip = flags&cancelled != 0, flags&skipped != 0
	d.facts(&r.Facts)
	if flags&gaps != 0 {
		r.GapsNS = d.gaps()
	}
	if flags&recordbatchFailed != 0 {
		r.Err = new(record.Error)
		d.carried([]byte(d.text()), r.Err)
	}
	if flags&rare != 0 {
		id.CacheBustMarker, id.CacheBustTarget, id.Archetype = d.text(), d.text(), d.text()
		id.ParentCorrelationID, id.RootCorrelationID = d.text(), d.text()
		id.AgentDepth = int(d.uvarint())
	}
	r.Reply.Ending = d.text()
	if flags&unlike != 0 {
		bits := d.byte()
		r.Reply.Unfinished, r.Reply.Unstreamed, r.Reply.Cumulative = bits&unfinished != 0, bits&unstreamed != 0, bits&cumulative != 0
		if names := d.text(); names != "" {
			r.Reply.Unread = strings.Split(names, "\n")
		}
		d.bad = d.bad || bits >= cumulative<<1 || !isOdd(&r.Reply)
	}
	if flags&extra != 0 {
		var x extras
		d.carried(d.bytes(), &x)
		r.Trace, r.Raw, r.SpecDecode, r.Text, r.Answer = x.Trace, x.Raw, x.SpecDecode, x.Text, x.Answer
	}
	if d.bad || flags >= unlike<<1 {
		return errDamaged
	}
	return nil
}

func (d *batchReader) carried(data []byte, v any) {
	if !d.bad && DecodeValue(data, v) != nil {
		d.bad = true
	}
}

// spoil says that the bytes make no sense, and has nothing more of them read.
func (d *batchReader) spoil() { d.bad, d.at = true, len(d.data) }

func (d *batchReader) byte() byte {
	if d.at == len(d.data) {
		d.bad = true
		return 0
	}
	d.at++
	return d.data[d.at-1]
}

// uvarint reads a number. Most have one byte, and most others lie in the next eight.
func (d *batchReader) uvarint() uint64 {
	if at := d.at; at < len(d.data) && d.data[at] < 0x80 {
		d.at++
		return uint64(d.data[at])
	}
	return d.longUvarint()
}

func (d *batchReader) longUvarint() uint64 {
	if d.at+8 <= len(d.data) {
		word := binary.LittleEndian.Uint64(d.data[d.at:])
		if last := ^word & 0x8080808080808080; last != 0 {
			used := bits.TrailingZeros64(last)/8 + 1
			d.at += used
			return sevens(word & (1<<(8*used) - 1))
		}
	}
	n, used := binary.Uvarint(d.data[d.at:])
	if used <= 0 {
		d.spoil()
		return 0
	}
	d.at += used
	return n
}

// sevens joins the lower seven bits of each byte.
func sevens(w uint64) uint64 {
	w = w&0x007f007f007f007f | w&0x7f007f007f007f00>>1
	w = w&0x00003fff00003fff | w&0x3fff00003fff0000>>2
	return w&0x0fffffff | w&0x0fffffff00000000>>4
}

// signed reads the difference to the number before.
func (d *batchReader) signed(prev *int64) int64 {
	n := d.uvarint()
	*prev += int64(n>>1) ^ -int64(n&1)
	return *prev
}

func (d *batchReader) bytes() []byte {
	n := d.uvarint()
	if n > uint64(len(d.data)-d.at) {
		d.spoil()
		return nil
	}
	out := d.data[d.at:][:n]
	d.at += int(n)
	return out
}

func (d *batchReader) text() string {
	n := d.uvarint()
	switch {
	case n < uint64(len(d.texts)):
		return d.texts[n]
	case n > uint64(len(d.texts)):
		d.spoil()
		return ""
	}
	s := string(d.bytes())
	d.texts = append(d.texts, s)
	return s
}

func (d *batchReader) id() string {
	switch d.byte() {
	case noID:
		return ""
	case uuidID:
		if len(d.data)-d.at >= 16 {
			u := d.data[d.at:][:16]
			d.at += 16
			return unpackUUID(u)
		}
	case textID:
		return string(d.bytes())
	}
	d.spoil()
	return ""
}

// absent is the row without any fact.
var absent = record.NewFacts()

func (d *batchReader) facts(f *record.Facts) {
	for word := range d.prev.mask {
		d.prev.mask[word] ^= d.uvarint()
	}
	const unused = len(d.prev.mask)*wordBits - int(record.NumFields)
	if d.prev.mask[len(d.prev.mask)-1]>>(wordBits-unused) != 0 {
		d.spoil()
		return
	}
	*f = absent
	for word, rest := range d.prev.mask {
		for ; rest != 0; rest &= rest - 1 {
			i := word*wordBits + bits.TrailingZeros64(rest)
			f[i] = d.signed(&d.prev.facts[i])
		}
	}
}

func (d *batchReader) gaps() []int64 {
	n := d.uvarint()
	if n == 0 || n > uint64(len(d.data)-d.at) {
		d.spoil()
		return nil
	}
	list, prev := make([]int64, n), int64(0)
	for i := range list {
		list[i] = d.signed(&prev)
	}
	return list
}
