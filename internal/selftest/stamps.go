package selftest

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/watch/trust"
)

// The limits of a good line, in milliseconds at the 99th percentile.
const (
	kernelErrorLimit = 1.0
	userErrorLimit   = 5.0
)

const (
	// DefaultStreams is the number of streams whose time stamps are compared, MostStreams the largest.
	DefaultStreams, MostStreams = 32, 10000

	stampPace = 50 // tokens per second of a stream
)

// stamps compares the times of the client's responses with the server's own, taken right before each write: once
// with the kernel's time stamps, once with those of the reads, under the same load.
func (t *tester) stamps() ([]Section, error) {
	s := Section{ID: "time_stamps", Title: "Time stamps",
		Meaning: "the client's time stamp of an event minus the server's own, taken right before the write, in ms",
		Columns: []string{"count", "p50", "p95", "p99", "max"}}
	bySource := map[string][]Line{}
	for _, source := range []string{"kernel", "user"} {
		lines, err := t.stamped(source)
		if errors.Is(err, errStopped) {
			return nil, err
		}
		if err != nil {
			lines = []Line{{ID: source + "_events", Title: "run: " + source, Grade: Fail, Note: err.Error()}}
		}
		bySource[source] = lines
	}
	s.Lines = sideBySide(bySource["kernel"], bySource["user"])
	return []Section{s}, nil
}

// sideBySide orders the lines of two sources so that lines of the same part are neighbours.
func sideBySide(kernel, user []Line) []Line {
	var list []Line
	for _, part := range append([]string{"events"}, partIDs()...) {
		for _, l := range slices.Concat(kernel, user) {
			if strings.HasSuffix(l.ID, "_"+part) {
				list = append(list, l)
			}
		}
	}
	return list
}

// stamped runs the load with stamps of a source. Where the kernel has none, its line is skipped.
func (t *tester) stamped(source string) ([]Line, error) {
	flag, limit := source, userErrorLimit
	if source == "kernel" {
		flag, limit = "auto", kernelErrorLimit
	}
	streams := t.options.Streams
	out, truth, err := t.exchange("stamps-"+source,
		[]string{"--ttft", "30", "--itl", strconv.Itoa(1000 / stampPace), "--record-events"},
		[]string{"--streaming", "--concurrency", strconv.Itoa(streams), "--request-count",
			strconv.Itoa(pick(t, 2, 1) * streams),
			"--isl", "32", "--osl", pick(t, "80", "40"), "--extra-inputs", "ignore_eos:true", "--export-level", "raw",
			"--timestamp-source", flag})
	if err != nil {
		return nil, err
	}
	raw, err := out.raw()
	if err != nil {
		return nil, err
	}
	summary, err := out.summary()
	if err != nil {
		return nil, err
	}
	h, err := summary.health()
	if err != nil {
		return nil, err
	}
	if source == "kernel" && h.Source == trust.SourceUser {
		return []Line{{ID: "kernel_events", Title: "stamps of the kernel", Grade: Skipped, Note: h.SourceNote}}, nil
	}
	return stampLines(source, limit, compareStamps(raw, truth)), nil
}

// stampErrors are those of a run, in milliseconds.
type stampErrors struct {
	differences
	events int
	// first are those of first tokens, tokens of the others, gaps of the times between neighbouring tokens, mean of
	// each request's inter token latency. shared are those of tokens with the same time stamp as a neighbour: they
	// came with one read, and are part of mean but of none of the others.
	first, tokens, gaps, mean, shared []float64
}

// compareStamps pairs the events of each stream with the server's.
func compareStamps(raw []rawLine, truth []serverLine) *stampErrors {
	e := &stampErrors{}
	byID := map[string]*serverLine{}
	for i := range truth {
		byID[truth[i].RequestID] = &truth[i]
	}
	for i := range raw {
		r := &raw[i]
		s := byID[r.Metadata.RequestID]
		switch {
		case s == nil:
			e.add("the server has no request %s", r.Metadata.RequestID)
		case len(s.EventNS) != len(r.Responses):
			e.add("request %s: %d events, the server wrote %d", r.Metadata.RequestID, len(r.Responses), len(s.EventNS))
		default:
			e.stream(r, s)
		}
		delete(byID, r.Metadata.RequestID)
	}
	for id := range byID {
		e.add("request %s has no raw record", id)
	}
	if e.events == 0 {
		e.add("there are no events to compare")
	}
	return e
}

// stream compares one stream. It ignores the usage and the end mark, which follow the tokens in one write.
func (e *stampErrors) stream(r *rawLine, s *serverLine) {
	n := int(min(s.Output, int64(len(s.EventNS))))
	e.events += len(s.EventNS)
	errorOf := func(i int) float64 {
		received := r.Metadata.StartNS + r.Responses[i].PerfNS - r.StartPerfNS
		return float64(received-s.EventNS[i]) / 1e6
	}
	sharedAt := func(i int) bool {
		at := r.Responses[i].PerfNS
		return i > 0 && r.Responses[i-1].PerfNS == at || i+1 < n && r.Responses[i+1].PerfNS == at
	}
	for i := range n {
		switch {
		case sharedAt(i):
			e.shared = append(e.shared, errorOf(i))
			continue
		case i == 0:
			e.first = append(e.first, errorOf(i))
		default:
			e.tokens = append(e.tokens, errorOf(i))
		}
		if i > 0 && !sharedAt(i-1) {
			e.gaps = append(e.gaps, math.Abs(errorOf(i)-errorOf(i-1)))
		}
	}
	if n > 1 {
		e.mean = append(e.mean, math.Abs(errorOf(n-1)-errorOf(0))/float64(n-1))
	}
}

// stampParts are the distributions that are shown of a source.
var stampParts = []struct {
	id, title string
	values    func(*stampErrors) []float64
	grades    bool
}{
	{"ttft", "first token (TTFT)", func(e *stampErrors) []float64 { return e.first }, true},
	{"token", "further tokens", func(e *stampErrors) []float64 { return e.tokens }, true},
	{"gap", "gap between tokens, absolute error", func(e *stampErrors) []float64 { return e.gaps }, true},
	{"itl", "ITL of a request, absolute error", func(e *stampErrors) []float64 { return e.mean }, true},
	{"shared", "tokens that shared a read", func(e *stampErrors) []float64 { return e.shared }, false},
}

func partIDs() []string {
	var list []string
	for _, part := range stampParts {
		list = append(list, part.id)
	}
	return list
}

// stampLines are the lines of a source.
func stampLines(source string, limit float64, e *stampErrors) []Line {
	lines := []Line{{ID: source + "_events", Title: "every event arrived once: " + source, Grade: e.grade(),
		Note:    e.note(),
		Cells:   []string{whole(int64(e.events))},
		Figures: []Figure{{"events", int64(e.events)}, {"differences", int64(e.count)}}}}
	for _, part := range stampParts {
		values := slices.Sorted(slices.Values(part.values(e)))
		if len(values) == 0 {
			continue
		}
		p := func(rank float64) float64 { return percentile(values, rank) }
		line := Line{ID: source + "_" + part.id, Title: part.title + ": " + source, Grade: Info,
			Figures: []Figure{{"count", int64(len(values))}, {"min_ms", values[0]}, {"p50_ms", p(50)},
				{"p95_ms", p(95)}, {"p99_ms", p(99)}, {"max_ms", p(100)}}}
		line.Cells = []string{whole(int64(len(values))), number(p(50)), number(p(95)), number(p(99)), number(p(100))}
		if part.grades {
			line.Grade = graded(p(99) <= limit && values[0] > -limit)
		}
		if line.Grade == Limited {
			line.Note = "good means up to " + number(limit) +
				" ms at p99: stop other programs on this machine, or give it more cores"
		}
		lines = append(lines, line)
	}
	return lines
}
