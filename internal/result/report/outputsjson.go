package report

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/result/summary"
)

// sortBytes is how much of a spool is sorted at a time; sortRuns bounds the sorted parts that are merged
// then, each through a buffer of its own.
const (
	sortBytes = 32 << 20
	sortRuns  = 512
)

// OutputsJSON makes outputs.json of its spool, sorted by session and turn, in memory that does not grow with
// the file: parts of the spool are sorted, written next to it, and merged.
type OutputsJSON struct {
	Spool, Path string
	// Omitted is the number of requests that the limit of the file left out.
	Omitted int64
	// Keep does not remove the spool: it belongs to another run.
	Keep bool
	// SortBytes is how much of the spool is sorted in memory at a time, in bytes; 0 is 32 MiB. The file does not depend
	// on it.
	SortBytes int64
}

// Name implements Exporter.
func (OutputsJSON) Name() string { return "outputs JSON" }

// Export implements Exporter. Without a spool there is no file.
func (o OutputsJSON) Export(ctx context.Context, _ *summary.Result) error {
	spool, err := os.Open(o.Spool)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer spool.Close()
	info, err := spool.Stat()
	if err != nil {
		return err
	}
	s := outputSorter{ctx: ctx, path: o.Spool, part: max(cmp.Or(o.SortBytes, sortBytes), info.Size()/sortRuns)}
	defer s.remove()
	if err := s.split(spool, o.Path); err != nil {
		return err
	}
	err = artifact.WriteStream(o.Path, func(out *bufio.Writer) error {
		w := outputsWriter{out: out}
		w.begin()
		if err := s.merge(w.add); err != nil {
			return err
		}
		w.end(o.Omitted)
		return nil
	})
	if err != nil || o.Keep {
		return err
	}
	spool.Close() // an open file cannot be removed everywhere
	return artifact.RemoveStale(o.Spool)
}

// keyedOutput is an entry and what it is sorted by.
type keyedOutput struct {
	outputKey
	text []byte
}

func (a keyedOutput) compare(b keyedOutput) int {
	return cmp.Or(cmp.Compare(a.warmup, b.warmup), cmp.Compare(a.session, b.session), cmp.Compare(a.turn, b.turn),
		cmp.Compare(a.line, b.line))
}

// outputSorter sorts the lines of a spool.
type outputSorter struct {
	ctx   context.Context
	path  string
	part  int64
	lines int64
	// kept is the last part, which stays in memory; the others are in file, from one of the offsets to the next.
	kept    []keyedOutput
	file    *os.File
	offsets []int64
}

// split reads the spool part by part and sorts each. A last line that is not whole, of a run that was
// killed, is left out.
func (s *outputSorter) split(spool io.Reader, target string) error {
	in := bufio.NewReaderSize(spool, 1<<20)
	size := int64(0)
	for {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			slices.SortFunc(s.kept, keyedOutput.compare)
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.path, err)
		}
		if size += int64(len(text)); size > s.part && len(s.kept) > 0 {
			if err := s.writePart(target); err != nil {
				return err
			}
			size = int64(len(text))
		}
		s.lines++
		e, err := s.parse(text, s.lines)
		if err != nil {
			if _, more := in.Peek(1); more == io.EOF {
				continue
			}
			return err
		}
		s.kept = append(s.kept, e)
	}
}

func (s *outputSorter) parse(text []byte, number int64) (keyedOutput, error) {
	key, entry, err := parseOutput(bytes.TrimSuffix(text, []byte{'\n'}))
	if err != nil {
		return keyedOutput{}, fmt.Errorf("%s:%d: %w", s.path, number, err)
	}
	key.line = number
	return keyedOutput{key, entry}, nil
}

// writePart puts the part in memory into the file, sorted.
func (s *outputSorter) writePart(target string) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.file == nil {
		var err error
		if s.file, err = os.OpenFile(target+".sort", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644); err != nil {
			return err
		}
		s.offsets = []int64{0}
	}
	slices.SortFunc(s.kept, keyedOutput.compare)
	out := bufio.NewWriterSize(s.file, 1<<20)
	end := s.offsets[len(s.offsets)-1]
	var line []byte
	for _, e := range s.kept {
		line = append(append(e.append(line[:0]), e.text...), '}', '\n')
		end += int64(len(line))
		_, _ = out.Write(line) // the error sticks
	}
	if err := out.Flush(); err != nil {
		return err
	}
	s.offsets = append(s.offsets, end)
	clear(s.kept)
	s.kept = s.kept[:0]
	return nil
}

// remove deletes the file of parts.
func (s *outputSorter) remove() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
	}
}

// merge hands all entries to take in their order.
func (s *outputSorter) merge(take func(keyedOutput) error) error {
	parts := outputParts{{next: func() (keyedOutput, error) {
		if len(s.kept) == 0 {
			return keyedOutput{}, io.EOF
		}
		e := s.kept[0]
		s.kept = s.kept[1:]
		return e, nil
	}, rank: int64(len(s.offsets))}}
	for i := 1; i < len(s.offsets); i++ {
		in := bufio.NewReaderSize(io.NewSectionReader(s.file, s.offsets[i-1], s.offsets[i]-s.offsets[i-1]), 64<<10)
		parts = append(parts, &outputPart{rank: int64(i), next: func() (keyedOutput, error) {
			text, err := in.ReadBytes('\n')
			if err != nil {
				return keyedOutput{}, err // every line of a part is whole
			}
			return s.parse(text, 0)
		}})
	}
	for i := 0; i < len(parts); {
		switch err := parts[i].advance(); err {
		case nil:
			i++
		case io.EOF:
			parts = slices.Delete(parts, i, i+1)
		default:
			return err
		}
	}
	heap.Init(&parts)
	for len(parts) > 0 {
		first := parts[0]
		if err := take(first.entry); err != nil {
			return err
		}
		switch err := first.advance(); err {
		case nil:
			heap.Fix(&parts, 0)
		case io.EOF:
			heap.Pop(&parts)
		default:
			return err
		}
	}
	return nil
}

// outputPart is a sorted part while it is merged.
type outputPart struct {
	next  func() (keyedOutput, error)
	entry keyedOutput
	// rank is the place of the part in the spool.
	rank int64
}

func (p *outputPart) advance() (err error) {
	if p.entry, err = p.next(); err == nil {
		p.entry.line = p.rank // entries of one part are in order already
	}
	return err
}

// outputParts are sorted by their next entry; they implement heap.Interface.
type outputParts []*outputPart

func (p outputParts) Len() int           { return len(p) }
func (p outputParts) Less(i, j int) bool { return p[i].entry.compare(p[j].entry) < 0 }
func (p outputParts) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *outputParts) Push(x any)        { *p = append(*p, x.(*outputPart)) }

// Pop implements heap.Interface.
func (p *outputParts) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

// outputsWriter formats the document as an indented JSON encoder would. Write errors stick to the buffered
// writer.
type outputsWriter struct {
	out     *bufio.Writer
	scratch bytes.Buffer
	warmup  bool
	some    bool // in the open list
}

func (w *outputsWriter) text(s string) { _, _ = w.out.WriteString(s) }

func (w *outputsWriter) begin() {
	w.text("{\n  \"schema_version\": \"" + outputsSchemaVersion + "\",\n  \"data\": [")
}

func (w *outputsWriter) add(e keyedOutput) error {
	if e.warmup == 1 && !w.warmup {
		w.openWarmup()
	}
	w.scratch.Reset()
	if w.some {
		w.scratch.WriteByte(',')
	}
	w.some = true
	w.scratch.WriteString("\n    ")
	if err := json.Indent(&w.scratch, e.text, "    ", "  "); err != nil {
		return fmt.Errorf("an entry of outputs is not JSON: %w", err)
	}
	_, err := w.out.Write(w.scratch.Bytes())
	return err
}

func (w *outputsWriter) closeList() {
	if w.some {
		w.text("\n  ")
	}
	w.text("]")
	w.some = false
}

func (w *outputsWriter) openWarmup() {
	w.closeList()
	w.text(",\n  \"warmup\": [")
	w.warmup = true
}

// end closes the document. It has the number of omitted requests only if there are some.
func (w *outputsWriter) end(omitted int64) {
	if !w.warmup {
		w.openWarmup()
	}
	w.closeList()
	if omitted > 0 {
		w.text(fmt.Sprintf(",\n  \"omitted\": %d", omitted))
	}
	w.text("\n}\n")
}
