package selftest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/recordfile"
)

// shape is a kind of request whose tokens are counted.
type shape struct {
	id, title string
	args      []string
	// requests, quick are how many the full and the quick test send; several turns make more of them.
	requests, quick int
}

var shapes = []shape{
	{"chat_stream", "chat, streamed",
		[]string{"--streaming", "--isl", "120", "--isl-stddev", "40", "--osl", "24", "--osl-stddev", "8",
			"--extra-inputs", "ignore_eos:true"}, 60, 12},
	{"chat", "chat, not streamed",
		[]string{"--isl", "120", "--isl-stddev", "40", "--osl", "24", "--osl-stddev", "8", "--extra-inputs",
			"ignore_eos:true"}, 60, 12},
	{"chat_free_length", "chat, output length chosen by the server",
		[]string{"--streaming", "--isl", "60", "--isl-stddev", "30"}, 60, 12},
	{"completions_stream", "completions, streamed",
		[]string{"--endpoint-type", "completions", "--streaming", "--isl", "90", "--osl", "16", "--osl-stddev", "6"},
		60, 12},
	{"completions", "completions, not streamed",
		[]string{"--endpoint-type", "completions", "--isl", "90", "--osl", "16", "--osl-stddev", "6"}, 60, 12},
	{"turns", "several turns with history",
		[]string{"--streaming", "--isl", "40", "--osl", "20", "--session-turns-mean", "4", "--extra-inputs",
			"ignore_eos:true"}, 20, 4},
	{"reasoning", "reasoning and answer",
		[]string{"--streaming", "--isl", "40", "--osl", "130", "--extra-inputs",
			`{"ignore_eos":true,"reasoning_effort":"low"}`}, 30, 6},
	{"system_prompt", "system prompt and user context",
		[]string{"--streaming", "--isl", "30", "--osl", "8", "--shared-system-prompt-length", "50",
			"--user-context-prompt-length", "25", "--num-dataset-entries", "30"}, 30, 6},
	{"long_prompt", "long prompt, one token",
		[]string{"--streaming", "--isl", "6000", "--isl-stddev", "500", "--osl", "1"}, 16, 4},
	{"server_counts", "the server's counts instead of the client's",
		[]string{"--streaming", "--use-server-token-count", "--isl", "80", "--osl", "16", "--osl-stddev", "4"}, 30, 6},
}

// model returns the name of the model, by which the requests of a shape are found in the server's record. The name
// also decides whether the mock server's model reasons.
func (s *shape) model() string {
	if s.id == "reasoning" {
		return "qwen-" + s.id
	}
	return "mock-" + s.id
}

// counts compares the token counts of every request with those of the server's record.
func (t *tester) counts() ([]Section, error) {
	s := Section{ID: "token_counts", Title: "Token counts",
		Meaning: "tokens of each request and their sums, compared with the server's record: no tolerance",
		Columns: []string{"requests", "input", "output"}}
	server, err := t.startServer("counts", "--fast")
	if err != nil {
		return nil, err
	}
	outcomes := make([]*outcome, len(shapes))
	errs := make([]error, len(shapes))
	for i := range shapes {
		if outcomes[i], errs[i] = t.send(&shapes[i], server.URL); errors.Is(errs[i], errStopped) {
			server.Stop()
			return nil, errStopped
		}
	}
	truth, err := server.finish()
	if err = t.cause(err); err != nil {
		return nil, err
	}
	for i := range shapes {
		shape := &shapes[i]
		var line Line
		if errs[i] == nil {
			line, errs[i] = outcomes[i].countLine(shape, truth)
		}
		if errs[i] != nil {
			line = Line{Grade: Fail, Note: errs[i].Error()}
		}
		line.ID, line.Title = shape.id, shape.title
		s.Lines = append(s.Lines, line)
	}
	return []Section{s}, nil
}

// send sends the requests of a shape.
func (t *tester) send(shape *shape, url string) (*outcome, error) {
	limit := "--request-count"
	if shape.id == "turns" {
		limit = "--num-sessions"
	}
	args := []string{"--model", shape.model(), "--concurrency", "4", limit,
		strconv.Itoa(pick(t, shape.requests, shape.quick))}
	return t.profile(shape.id, url, append(args, shape.args...)...)
}

// countLine compares the files of the run of a shape with the server's record.
func (o *outcome) countLine(shape *shape, truth []serverLine) (Line, error) {
	records, err := o.records()
	if err != nil {
		return Line{}, err
	}
	summary, err := o.summary()
	if err != nil {
		return Line{}, err
	}
	var own []serverLine
	for _, s := range truth {
		if s.Model == shape.model() {
			own = append(own, s)
		}
	}
	return compareCounts(records, own, summary), nil
}

// compareCounts returns the line of a run. It passes if every count of the records, and the sums in the summary, equal
// those of the server.
func compareCounts(records []*recordfile.Request, truth []serverLine, summary summaryFile) Line {
	var d differences
	byID := matched(&d, records, truth)
	var input, output float64
	for _, r := range records {
		s := byID[r.RequestID]
		if s == nil {
			continue
		}
		input, output = input+float64(s.Input), output+float64(s.Output)
		d.value(r, "input_sequence_length", float64(s.Input))
		d.value(r, "output_sequence_length", float64(s.Output))
		d.value(r, "usage_prompt_tokens", float64(s.Input))
		d.value(r, "usage_completion_tokens", float64(s.Output))
		reasoning, _ := value(r, "usage_reasoning_tokens")
		if reasoning > 0 {
			d.value(r, "reasoning_token_count", reasoning)
		}
		d.value(r, "output_token_count", float64(s.Output)-reasoning)
	}
	d.sum(summary, "request_count", float64(len(truth)))
	d.sum(summary, "total_isl", input)
	d.sum(summary, "total_osl", output)
	return Line{
		Grade: d.grade(), Note: d.note(),
		Cells: []string{whole(int64(len(truth))), whole(int64(input)), whole(int64(output))},
		Figures: []Figure{{"requests", int64(len(truth))}, {"input_tokens", int64(input)},
			{"output_tokens", int64(output)},
			{"differences", int64(d.count)}},
	}
}

// matched returns the server's line of each request, by id. Both sides must have the same requests.
func matched(d *differences, records []*recordfile.Request, truth []serverLine) map[string]*serverLine {
	byID := make(map[string]*serverLine, len(truth))
	for i := range truth {
		s := &truth[i]
		if byID[s.RequestID] != nil {
			d.add("the server received request %s twice", s.RequestID)
		}
		byID[s.RequestID] = s
	}
	seen := map[string]bool{}
	for _, r := range records {
		id := r.RequestID
		switch {
		case byID[id] == nil:
			d.add("the server has no request %s", id)
		case seen[id]:
			d.add("request %s has two records", id)
		case r.Err != nil:
			text, _ := artifact.AppendJSON(nil, recordfile.ErrorObject(r.Err)) // an error object can always be written
			d.add("request %s failed: %s", id, text)
		}
		seen[id] = true
	}
	for id := range byID {
		if !seen[id] {
			d.add("request %s has no record", id)
		}
	}
	if len(truth) == 0 {
		d.add("the server received no request")
	}
	return byID
}

// differences collects deviations from the expected values.
type differences struct {
	count int
	first []string
}

// shown is the number of differences in a note.
const shown = 3

func (d *differences) add(format string, args ...any) {
	d.count++
	if len(d.first) < shown {
		d.first = append(d.first, fmt.Sprintf(format, args...))
	}
}

// value compares a metric of a record.
func (d *differences) value(r *recordfile.Request, tag string, want float64) {
	got, ok := value(r, tag)
	switch {
	case !ok && want == 0:
		// an empty output has no value
	case !ok:
		d.add("request %s has no %s, expected %s", r.RequestID, tag, exact(want))
	case got != want:
		d.add("request %s: %s %s, expected %s", r.RequestID, tag, exact(got), exact(want))
	}
}

// sum compares a total of the summary.
func (d *differences) sum(s summaryFile, tag string, want float64) {
	if got, ok := s.stat(tag, "avg"); !ok || got != want {
		d.add("summary: %s is %s, expected %s", tag, exact(got), exact(want))
	}
}

func (d *differences) grade() Grade {
	if d.count > 0 {
		return Fail
	}
	return Pass
}

func (d *differences) note() string {
	text := strings.Join(d.first, "; ")
	if more := d.count - len(d.first); more > 0 {
		text += fmt.Sprintf("; and %s more", whole(int64(more)))
	}
	return text
}
