package library

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"aiperf/internal/base/bounded"
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/measure/recordfile"
)

// Tags are the metrics that requests can be sorted by, as far as the records have them.
var Tags = []string{
	"request_latency", "time_to_first_token", "inter_token_latency", "time_to_second_token", "output_sequence_length",
	"input_sequence_length", "output_token_throughput_per_user", "credit_to_start_latency", "http_req_blocked",
	"http_req_waiting", "reasoning_token_count", "error_latency",
}

// The flags of a request.
const (
	Failed uint8 = 1 << iota
	CutOff
	Warmup
)

// RequestIndex has a row for each request, in the order of the file.
type RequestIndex struct {
	path string
	size int64 // of the file
	text int64 // of its lines, which is another size if it is compressed
	mod  int64 // time of the last change, ns
	// Damaged is the number of lines that cannot be read, FirstDamaged the number of the first of them, 0 for none.
	Damaged, FirstDamaged int
	// Kinds are the kinds of failures; a request has the index of its own, from 1. Beyond maxKinds all are the last one.
	Kinds []RequestKind

	offsets []int64
	starts  []int64 // wall epoch ns
	flags   []uint8
	kinds   []uint16
	// ids, sessions and conversations are the hashes of names.
	ids, sessions, conversations []uint64
	// values has a column for each of Tags, nil where no request has a value; NaN is none.
	values [][]float32
}

// RequestKind is a kind of failure.
type RequestKind struct {
	Type, Message string
	Count         int64
}

// maxKinds bounds the kinds of failures, and maxMessage the bytes of a message that are kept.
const (
	maxKinds   = 20_000
	maxMessage = 400
)

// Len returns the number of requests.
func (x *RequestIndex) Len() int { return len(x.offsets) }

// Has reports whether any request has a metric of [Tags].
func (x *RequestIndex) Has(tag string) bool {
	i := slices.Index(Tags, tag)
	return i >= 0 && x.values != nil && x.values[i] != nil
}

// Bytes returns about how much memory the index takes.
func (x *RequestIndex) Bytes() int64 {
	each := int64(8 + 8 + 1 + 2 + 24)
	for _, column := range x.values {
		if column != nil {
			each += 4
		}
	}
	return each * int64(len(x.offsets))
}

// IndexOptions configure [Build].
type IndexOptions struct {
	// Names keeps only the names of requests, for files whose lines have no metrics.
	Names bool
	// Progress is called now and then with the share of the file that was read, from 0 to 1; it may be nil.
	Progress func(share float64)
}

// chunkSize is how much of a file a goroutine parses at a time.
const chunkSize = 4 << 20

// BuildIndex reads a per-request file, or the raw export, of this program or of the original.
func BuildIndex(ctx context.Context, path string, o IndexOptions) (*RequestIndex, error) {
	file, err := bounded.OpenCompressed(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	b := build{o: o, x: &RequestIndex{path: path, size: info.Size(), mod: info.ModTime().UnixNano()}, known: map[string]uint16{}}
	if !o.Names {
		b.x.values = make([][]float32, len(Tags))
	}
	if err := b.read(ctx, file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	b.x.dropEmpty()
	return b.x, nil
}

// build is one reading of a file.
type build struct {
	o     IndexOptions
	x     *RequestIndex
	known map[string]uint16 // kinds of failures
	lines int
}

// chunk are whole lines, and what they say.
type chunk struct {
	text []byte
	at   int64
	rows []indexRow
	done chan struct{}
}

// indexRow is what a line says.
type indexRow struct {
	offset, start        int64
	id, session, conv    uint64
	flags                uint8
	damaged              bool
	errorType, errorText string
	values               [12]float32
}

// read splits the file into chunks, which are parsed on all cores and taken in their order.
func (b *build) read(ctx context.Context, file *bounded.CompressedFile) error {
	workers := max(1, runtime.GOMAXPROCS(0))
	parse, order := make(chan *chunk, workers), make(chan *chunk, workers)
	empty := make(chan *chunk, 2*workers+2)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for c := range parse {
				c.parse(b.o.Names)
				close(c.done)
			}
		})
	}
	taken := make(chan struct{})
	go func() {
		defer close(taken)
		for c := range order {
			<-c.done
			b.take(c)
			select {
			case empty <- c:
			default:
			}
		}
	}()
	err := b.split(ctx, file, empty, func(c *chunk) { parse <- c; order <- c })
	close(parse)
	group.Wait()
	close(order)
	<-taken
	return err
}

// split calls next with chunks of whole lines. The last line may lack its end.
func (b *build) split(ctx context.Context, file *bounded.CompressedFile, empty chan *chunk, next func(*chunk)) error {
	var at int64
	var rest []byte
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var c *chunk
		select {
		case c = <-empty:
		default:
			c = new(chunk)
		}
		*c = chunk{text: append(c.text[:0], rest...), rows: c.rows[:0], at: at, done: make(chan struct{})}
		ended := false
		for {
			have := len(c.text)
			c.text = slices.Grow(c.text, chunkSize)
			n, err := io.ReadFull(file, c.text[have:have+chunkSize])
			c.text = c.text[:have+n]
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				ended = true
			} else if err != nil {
				return err
			}
			if ended || bytes.IndexByte(c.text[have:], '\n') >= 0 {
				break
			}
			if len(c.text) > bounded.MaxLine {
				return fmt.Errorf("a line is longer than %d bytes", bounded.MaxLine)
			}
		}
		end := len(c.text)
		if !ended {
			end = bytes.LastIndexByte(c.text, '\n') + 1
		}
		rest = append(rest[:0], c.text[end:]...)
		c.text = c.text[:end]
		at += int64(end)
		next(c)
		if b.o.Progress != nil && b.x.size > 0 && !file.Compressed() {
			b.o.Progress(min(1, float64(at)/float64(b.x.size)))
		}
		if ended {
			if b.x.text = b.x.size; file.Compressed() {
				b.x.text = at
			}
			return nil
		}
	}
}

// parse reads the lines of a chunk.
func (c *chunk) parse(names bool) {
	at := c.at
	for line := range bytes.Lines(c.text) {
		if len(bytes.TrimSpace(line)) > 0 {
			r := indexRow{offset: at}
			r.damaged = !r.parse(line, names)
			if !r.damaged || line[len(line)-1] == '\n' { // a last line without its end is of a run that was killed
				c.rows = append(c.rows, r)
			}
		}
		at += int64(len(line))
	}
}

// parse reads a line; false if it is none of a request.
func (r *indexRow) parse(line []byte, names bool) bool {
	for i := range r.values {
		r.values[i] = float32(math.NaN())
	}
	found := false
	s := jsonscan.Scanner{Text: line}
	for key := range s.Members() {
		switch string(key) {
		case "metadata":
			found = s.Peek() == '{'
			r.metadata(&s)
			if names {
				return found && s.At >= 0
			}
		case "metrics":
			r.metrics(&s)
		case "error":
			if raw := s.Value(); len(raw) > 0 && raw[0] == '{' {
				r.flags |= Failed
				r.errorType, r.errorText = jsonscan.FindText(raw, "type"), jsonscan.FindText(raw, "message")
			}
		default:
			skim(&s)
		}
	}
	s.End()
	return found && s.At >= 0
}

// skim passes over a value that nobody reads, looking only for its end.
func skim(s *jsonscan.Scanner) {
	if s.Peek(); s.At >= 0 {
		s.At = jsonscan.Skim(s.Text, s.At)
	}
}

func (r *indexRow) metadata(s *jsonscan.Scanner) {
	if s.Peek() != '{' {
		s.Value()
		return
	}
	for key := range s.Members() {
		switch string(key) {
		case "x_request_id":
			r.id = hashOf(s.Value())
		case "x_correlation_id":
			r.session = hashOf(s.Value())
		case "conversation_id":
			r.conv = hashOf(s.Value())
		case "request_start_ns":
			r.start, _ = strconv.ParseInt(string(s.Value()), 10, 64)
		case "benchmark_phase":
			if string(s.Value()) == `"warmup"` {
				r.flags |= Warmup
			}
		case "was_cancelled":
			if string(s.Value()) == "true" {
				r.flags |= CutOff
			}
		default:
			skim(s)
		}
	}
}

func (r *indexRow) metrics(s *jsonscan.Scanner) {
	if s.Peek() != '{' {
		s.Value()
		return
	}
	for tag := range s.Members() {
		i, ok := places[string(tag)]
		if !ok || s.Peek() != '{' {
			skim(s)
			continue
		}
		for key := range s.Members() {
			raw := s.Value()
			if string(key) == "value" {
				if v, err := strconv.ParseFloat(string(raw), 32); err == nil {
					r.values[i] = float32(v)
				}
			}
		}
	}
}

// places are those of Tags.
var places = func() map[string]int {
	out := map[string]int{}
	for i, tag := range Tags {
		out[tag] = i
	}
	return out
}()

// hashOf hashes the text of a raw string.
func hashOf(raw []byte) uint64 {
	if len(raw) < 2 || raw[0] != '"' {
		return 0
	}
	if bytes.IndexByte(raw, '\\') >= 0 {
		return HashName(jsonscan.Text(raw))
	}
	return fnv(raw[1 : len(raw)-1])
}

// HashName returns the hash of a name; that of the empty one is 0.
func HashName(name string) uint64 { return fnv([]byte(name)) }

// fnv is FNV-1a of 64 bits.
func fnv(b []byte) uint64 {
	if len(b) == 0 {
		return 0
	}
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// take adds the rows of a chunk.
func (b *build) take(c *chunk) {
	x := b.x
	if x.offsets == nil && len(c.text) > 0 {
		b.expect(int(float64(x.size)/float64(len(c.text))*float64(len(c.rows))*1.02) + 64)
	}
	for i := range c.rows {
		r := &c.rows[i]
		b.lines++
		if r.damaged {
			x.Damaged++
			if x.FirstDamaged == 0 {
				x.FirstDamaged = b.lines
			}
			continue
		}
		x.offsets, x.starts = append(x.offsets, r.offset), append(x.starts, r.start)
		x.flags, x.ids = append(x.flags, r.flags), append(x.ids, r.id)
		if b.o.Names {
			continue
		}
		x.sessions, x.conversations = append(x.sessions, r.session), append(x.conversations, r.conv)
		x.kinds = append(x.kinds, b.kind(r))
		for k := range x.values {
			x.values[k] = append(x.values[k], r.values[k])
		}
	}
}

// expect makes room for so many rows.
func (b *build) expect(n int) {
	x := b.x
	x.offsets, x.starts = make([]int64, 0, n), make([]int64, 0, n)
	x.flags, x.ids = make([]uint8, 0, n), make([]uint64, 0, n)
	if b.o.Names {
		return
	}
	x.sessions, x.conversations, x.kinds = make([]uint64, 0, n), make([]uint64, 0, n), make([]uint16, 0, n)
	for k := range x.values {
		x.values[k] = make([]float32, 0, n)
	}
}

// kind returns the kind of the failure of a request, 0 for a success.
func (b *build) kind(r *indexRow) uint16 {
	if r.flags&Failed == 0 {
		return 0
	}
	if len(r.errorText) > maxMessage {
		r.errorText = strings.ToValidUTF8(r.errorText[:maxMessage], "") + "…"
	}
	key := r.errorType + "\x00" + r.errorText
	k, ok := b.known[key]
	if !ok {
		if len(b.x.Kinds) == maxKinds {
			k = maxKinds
			b.x.Kinds[k-1] = RequestKind{Message: otherFailures, Count: b.x.Kinds[k-1].Count}
		} else {
			b.x.Kinds = append(b.x.Kinds, RequestKind{Type: r.errorType, Message: r.errorText})
			k = uint16(len(b.x.Kinds))
			b.known[key] = k
		}
	}
	b.x.Kinds[k-1].Count++
	return k
}

// otherFailures stands for all kinds beyond maxKinds.
const otherFailures = "other failures, which are too many kinds to tell apart"

// dropEmpty drops the columns without a value.
func (x *RequestIndex) dropEmpty() {
	for k, column := range x.values {
		if !slices.ContainsFunc(column, func(v float32) bool { return v == v }) {
			x.values[k] = nil
		}
	}
}

// Line returns the line of a request, by its place in the index from 0.
func (x *RequestIndex) Line(i int) ([]byte, error) {
	lines, err := x.lines([]int{i})
	if err != nil {
		return nil, err
	}
	return lines[0], nil
}

// lines reads the lines at places.
func (x *RequestIndex) lines(at []int) ([][]byte, error) {
	file, err := bounded.OpenCompressed(x.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || info.Size() < x.size {
		return nil, fmt.Errorf("%s has changed: load the page again", x.path)
	}
	out := make([][]byte, len(at))
	for k, i := range at {
		end := x.text
		if i+1 < len(x.offsets) {
			end = x.offsets[i+1]
		}
		n := end - x.offsets[i]
		if n > bounded.MaxLine {
			return nil, fmt.Errorf("%s: the line of request %d is longer than %d bytes", x.path, i+1, bounded.MaxLine)
		}
		line := make([]byte, n)
		if _, err := file.ReadAt(line, x.offsets[i]); err != nil {
			return nil, err
		}
		if end := bytes.IndexByte(line, '\n'); end >= 0 { // damaged lines may follow
			line = line[:end]
		}
		out[k] = line
	}
	return out, nil
}

// Request returns what the line at a place says.
func (x *RequestIndex) Request(i int) (*recordfile.Request, error) {
	line, err := x.Line(i)
	if err != nil {
		return nil, err
	}
	return recordfile.ParseRequest(line)
}

// Named returns the place of the request with an id, -1 if there is none.
func (x *RequestIndex) Named(id string) int {
	h := HashName(id)
	if h == 0 {
		return -1
	}
	return slices.Index(x.ids, h)
}
