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

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/clock"
	"aiperf/internal/mockserver/api"
	"aiperf/internal/mockserver/httpd"
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
func (r *recorder) add(h *handler, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(h)
	if r.err != nil {
		r.summary.Lost++
		return
	}
	r.buf = r.appendLine(r.buf, h, body)
	if len(r.buf) >= recordFlushBytes {
		r.flush()
	}
}

func (r *recorder) count(h *handler) {
	x, p := &h.x, &h.reply.Plan
	name := h.reply.API.Name()
	e := r.summary.Endpoints[name]
	if e == nil {
		e = &endpointSummary{Status: map[string]int{}}
		r.summary.Endpoints[name] = e
	}
	e.Requests++
	e.Status[strconv.Itoa(h.conn.Status)]++
	e.InputTokens += p.PromptTokens
	e.OutputTokens += x.output
	r.summary.Requests++
	r.summary.InputTokens += p.PromptTokens
	r.summary.OutputTokens += x.output
	r.summary.Outcomes[x.outcome]++
	r.summary.MaxInFlight = max(r.summary.MaxInFlight, x.inFlight)
	if x.fault.Spec != "" {
		r.summary.Faults++
	}
}

// appendLine builds the line of one request. Members that the request did not have are null.
func (r *recorder) appendLine(b []byte, h *handler, body []byte) []byte {
	x, c, p, q, clock := &h.x, h.conn, &h.reply.Plan, &h.reply.Request, h.srv.clock
	b = append(b, `{"ts":`...)
	b = strconv.AppendFloat(b, float64(clock.WallNS(h.reply.Arrival)/1e3)/1e6, 'f', 6, 64)
	b = append(b, `,"request_id":`...)
	if len(h.fields.requestID) > 0 {
		b = api.AppendString(b, string(h.fields.requestID))
	} else {
		b = append(b, '"')
		b = h.reply.AppendID(b)
		b = append(b, '"')
	}
	b = api.AppendText(b, "endpoint", h.reply.API.Name())
	if x.parsed {
		b = append(append(b, `,"model":`...), q.Model...)
		b = api.AppendInt(b, "isl", int64(p.PromptTokens))
		b = appendLimit(b, "requested_osl", q.Limit())
		b = appendLimit(b, "max_tokens", q.MaxTokens)
		b = appendLimit(b, "max_completion_tokens", q.MaxCompletionTokens)
		b = appendLimit(b, "min_tokens", q.MinTokens)
		b = append(strconv.AppendBool(append(b, `,"ignore_eos":`...), q.IgnoreEOS), `,"reasoning_effort":`...)
		if q.Effort == nil {
			b = append(b, "null"...)
		}
		b = append(b, q.Effort...)
		b = strconv.AppendBool(append(b, `,"stream":`...), q.Stream)
	} else {
		b = append(b, `,"model":null,"isl":null,"requested_osl":null,"max_tokens":null,"max_completion_tokens":null,`+
			`"min_tokens":null,"ignore_eos":null,"reasoning_effort":null,"stream":null`...)
	}
	b = api.AppendText(b, "tokenization_mode", h.srv.generator.Mode())
	b = api.AppendText(b, "method", string(c.Head.Method))
	b = api.AppendText(b, "path", string(c.Head.Path))
	b = api.AppendInt(b, "arrival_ns", clock.WallNS(h.reply.Arrival))
	b = appendLimit(b, "first_byte_ns", int(wallOrZero(clock, x.first)))
	b = api.AppendInt(b, "last_byte_ns", clock.WallNS(x.last))
	b = api.AppendInt(b, "in_flight", x.inFlight)
	b = api.AppendInt(b, "status", int64(c.Status))
	b = api.AppendInt(b, "output_tokens", int64(x.output))
	b = api.AppendText(b, "outcome", x.outcome)
	if x.fault.Spec != "" {
		b = api.AppendText(b, "fault", x.fault.Spec)
	}
	if h.srv.opts.Sessions {
		b = h.session.append(b)
	}
	if r.events && q.Stream && x.parsed {
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
		b = appendHeaders(append(b, `,"headers":`...), c.Head.Fields, h.srv.authHeader)
		b = api.AppendText(b, "body", string(body))
	}
	return append(b, "}\n"...)
}

// wallOrZero returns the wall time of an instant, 0 for one that never came.
func wallOrZero(c *clock.Clock, ns int64) int64 {
	if ns == 0 {
		return 0
	}
	return c.WallNS(ns)
}

// appendLimit writes null for a number that was not given.
func appendLimit(b []byte, key string, n int) []byte {
	if n == 0 {
		return append(api.AppendKey(b, key), "null"...)
	}
	return api.AppendInt(b, key, int64(n))
}

// appendHeaders appends header fields as an object, names in lower case, in their order. Values of
// a repeated name stand in one string, separated by commas.
func appendHeaders(b []byte, fields []httpd.Field, authHeader string) []byte {
	var names []string
	values := map[string]string{}
	for _, f := range fields {
		name, value := strings.ToLower(string(f.Name)), string(f.Value)
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
		b = api.AppendString(b, name)
		b = append(b, ':')
		b = api.AppendString(b, values[name])
	}
	if len(names) == 0 {
		b = append(b, '{')
	}
	return append(b, '}')
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
