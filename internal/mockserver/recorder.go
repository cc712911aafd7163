package mockserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/jsonscan"
)

const (
	recordFlushEvery = 100 * time.Millisecond
	recordFlushBytes = 64 << 10
)

// recorder writes one JSON line per inference request, and a summary when it is closed.
type recorder struct {
	path           string
	bodies, events bool
	log            *slog.Logger
	stop           chan struct{}
	stopped        sync.WaitGroup

	mu      sync.Mutex
	file    io.WriteCloser
	buf     []byte
	summary recordSummary
	err     error // the first write that failed; nothing is written after it
}

// recordSummary is the content of the summary file.
type recordSummary struct {
	Requests     int                         `json:"requests"`
	InputTokens  int                         `json:"input_tokens"`
	OutputTokens int                         `json:"output_tokens"`
	Faults       int                         `json:"faults"`
	Endpoints    map[string]*endpointSummary `json:"endpoints"`
	Outcomes     map[string]int              `json:"outcomes"`
	MaxInFlight  int64                       `json:"max_in_flight"`
	Lost         int                         `json:"lost_lines,omitempty"`
}

type endpointSummary struct {
	Requests     int            `json:"requests"`
	InputTokens  int            `json:"input_tokens"`
	OutputTokens int            `json:"output_tokens"`
	Status       map[string]int `json:"status"`
}

func newRecorder(o *Options, log *slog.Logger) (*recorder, error) {
	file, err := os.Create(o.RecordRequests)
	if err != nil {
		return nil, fmt.Errorf("--record-requests: %w", err)
	}
	r := &recorder{
		path: o.RecordRequests, bodies: o.RecordBodies, events: o.RecordEvents, log: log,
		file: file, stop: make(chan struct{}),
		summary: recordSummary{Endpoints: map[string]*endpointSummary{}, Outcomes: map[string]int{}},
	}
	r.stopped.Go(r.flushRegularly)
	return r, nil
}

func (r *recorder) flushRegularly() {
	ticker := time.NewTicker(recordFlushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-r.stop:
			return
		case <-ticker.C:
			r.mu.Lock()
			r.flush()
			r.mu.Unlock()
		}
	}
}

// flush writes the buffered lines. The lock is held.
func (r *recorder) flush() {
	if len(r.buf) == 0 {
		return
	}
	_, err := r.file.Write(r.buf)
	r.buf = r.buf[:0]
	if err != nil && r.err == nil {
		r.err = err
		r.log.Error("the request record ends here", "path", r.path, "error", err)
	}
}

// add records the finished exchange of c.
func (r *recorder) add(c *conn, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(&c.x)
	if r.err != nil {
		r.summary.Lost++
		return
	}
	r.buf = r.appendLine(r.buf, c, body)
	if len(r.buf) >= recordFlushBytes {
		r.flush()
	}
}

func (r *recorder) count(x *exchange) {
	name := apis[x.api].name
	e := r.summary.Endpoints[name]
	if e == nil {
		e = &endpointSummary{Status: map[string]int{}}
		r.summary.Endpoints[name] = e
	}
	e.Requests++
	e.Status[strconv.Itoa(x.status)]++
	e.InputTokens += x.plan.promptTokens
	e.OutputTokens += x.output
	r.summary.Requests++
	r.summary.InputTokens += x.plan.promptTokens
	r.summary.OutputTokens += x.output
	r.summary.Outcomes[x.outcome]++
	r.summary.MaxInFlight = max(r.summary.MaxInFlight, x.inFlight)
	if x.fault.spec != "" {
		r.summary.Faults++
	}
}

// appendLine builds the line of one request. Members that the request did not have are null.
func (r *recorder) appendLine(b []byte, c *conn, body []byte) []byte {
	x, q, clock := &c.x, &c.req, c.srv.clock
	b = append(b, `{"ts":`...)
	b = strconv.AppendFloat(b, float64(clock.WallNS(x.arrival)/1e3)/1e6, 'f', 6, 64)
	b = append(b, `,"request_id":`...)
	if len(c.head.requestID) > 0 {
		b = appendJSONString(b, string(c.head.requestID))
	} else {
		b = append(b, '"')
		b = c.appendID(b)
		b = append(b, '"')
	}
	b = appendText(b, "endpoint", apis[x.api].name)
	if x.parsed {
		b = append(append(b, `,"model":`...), q.model...)
		b = appendInt(b, "isl", int64(x.plan.promptTokens))
		b = appendLimit(b, "requested_osl", q.limit())
		b = appendLimit(b, "max_tokens", q.maxTokens)
		b = appendLimit(b, "max_completion_tokens", q.maxCompletionTokens)
		b = appendLimit(b, "min_tokens", q.minTokens)
		b = append(strconv.AppendBool(append(b, `,"ignore_eos":`...), q.ignoreEOS), `,"reasoning_effort":`...)
		if q.effort == nil {
			b = append(b, "null"...)
		}
		b = append(b, q.effort...)
		b = strconv.AppendBool(append(b, `,"stream":`...), q.stream)
	} else {
		b = append(b, `,"model":null,"isl":null,"requested_osl":null,"max_tokens":null,"max_completion_tokens":null,`+
			`"min_tokens":null,"ignore_eos":null,"reasoning_effort":null,"stream":null`...)
	}
	b = appendText(b, "tokenization_mode", c.srv.vocabulary.mode)
	b = appendText(b, "method", string(c.head.method))
	b = appendText(b, "path", string(c.head.path))
	b = appendInt(b, "arrival_ns", clock.WallNS(x.arrival))
	b = appendLimit(b, "first_byte_ns", int(wallOrZero(c, x.first)))
	b = appendInt(b, "last_byte_ns", clock.WallNS(x.last))
	b = appendInt(b, "in_flight", x.inFlight)
	b = appendInt(b, "status", int64(x.status))
	b = appendInt(b, "output_tokens", int64(x.output))
	b = appendText(b, "outcome", x.outcome)
	if x.fault.spec != "" {
		b = appendText(b, "fault", x.fault.spec)
	}
	if r.events && q.stream && x.parsed {
		b = append(b, `,"event_ns":[`...)
		for i, ns := range x.eventNS {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, clock.WallNS(ns), 10)
		}
		b = append(b, ']')
	}
	if r.bodies {
		b = appendHeaders(append(b, `,"headers":`...), c.head.lines, c.srv.authHeader)
		b = appendText(b, "body", string(body))
	}
	return append(b, "}\n"...)
}

// wallOrZero converts an instant and keeps 0 for one that never came.
func wallOrZero(c *conn, ns int64) int64 {
	if ns == 0 {
		return 0
	}
	return c.srv.clock.WallNS(ns)
}

func appendKey(b []byte, key string) []byte {
	return append(append(append(b, `,"`...), key...), `":`...)
}

func appendText(b []byte, key, value string) []byte {
	return appendJSONString(appendKey(b, key), value)
}

func appendInt(b []byte, key string, n int64) []byte {
	return strconv.AppendInt(appendKey(b, key), n, 10)
}

// appendLimit writes null for a number that was not given.
func appendLimit(b []byte, key string, n int) []byte {
	if n == 0 {
		return append(appendKey(b, key), "null"...)
	}
	return appendInt(b, key, int64(n))
}

// appendHeaders writes header lines as an object, names in lower case, in their order. Values of
// a repeated name stand in one string, separated by commas.
func appendHeaders(b []byte, lines []byte, authHeader string) []byte {
	var names []string
	values := map[string]string{}
	for len(lines) > 0 {
		var line []byte
		line, lines = cutLine(lines)
		name, value, ok := strings.Cut(string(line), ":")
		if !ok {
			continue
		}
		name, value = strings.ToLower(name), string(trimOWS([]byte(value)))
		if artifact.IsSensitiveName(name) || name == authHeader {
			value = artifact.Redacted
		}
		if before, seen := values[name]; seen {
			value = before + ", " + value
		} else {
			names = append(names, name)
		}
		values[name] = value
	}
	for i, name := range names {
		b = append(b, "{,"[min(i, 1)])
		b = appendJSONString(b, name)
		b = append(b, ':')
		b = appendJSONString(b, values[name])
	}
	if len(names) == 0 {
		b = append(b, '{')
	}
	return append(b, '}')
}

// appendJSONString quotes s; invalid UTF-8 becomes U+FFFD.
func appendJSONString(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return jsonscan.AppendString(b, s)
}

// close writes what is left and the summary.
func (r *recorder) close() error {
	close(r.stop)
	r.stopped.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flush()
	errs := []error{r.err, r.file.Close()}
	text, err := json.MarshalIndent(r.summary, "", "  ")
	if err == nil {
		err = os.WriteFile(r.path+".summary.json", append(text, '\n'), 0o644)
	}
	if err := errors.Join(append(errs, err)...); err != nil {
		return fmt.Errorf("request record %s: %w", r.path, err)
	}
	return nil
}
