package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	safe "aiperf/internal/base/terminal"
	"aiperf/internal/measure/hint"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/dataset"
)

// Sender carries out one exchange.
type Sender interface {
	Send(ctx context.Context, r *client.Request, sink client.Sink) client.Exchange
}

// Session is an interactive conversation with a model: it sends what the user types, prints the reply as it streams
// and reports its latency and throughput. It measures single replies and writes no files: a benchmark is the business
// of package run.
type Session struct {
	Arguments *Arguments
	Sender    Sender
	Headers   []record.Header
	// Count counts the tokens of a text, for servers that do not report them.
	Count func(text string) int
	// Out gets prompts, replies and figures, Err the errors.
	Out, Err io.Writer
	// Redact hides secrets in messages; nil leaves them.
	Redact func(string) string
	// ReadGap is the longest silence of a server that is answering.
	ReadGap time.Duration

	history []endpoint.Turn
}

// errSilent is the error of a reply that stalled.
var errSilent = errors.New("the server was silent for too long")

// printer prints a reply as it comes and keeps its figures.
type printer struct {
	endpoint.Decoder
	out              io.Writer
	reasoning, shown int
	alive            func()
}

// Event implements client.Sink.
func (p *printer) Event(name, data []byte, atNS int64) {
	p.Decoder.Event(name, data, atNS)
	p.print()
}

// Body implements client.Sink.
func (p *printer) Body(contentType string, binary bool, body []byte, atNS int64) {
	p.Decoder.Body(contentType, binary, body, atNS)
	p.print()
}

func (p *printer) print() {
	p.alive()
	r := p.Reply()
	if n := len(r.Reasoning); n > p.reasoning {
		p.out.Write(r.Reasoning[p.reasoning:n])
		p.reasoning = n
	}
	if n := len(r.Output); n > p.shown {
		if p.shown == 0 && p.reasoning > 0 {
			io.WriteString(p.out, "\n\n")
		}
		p.out.Write(r.Output[p.shown:n])
		p.shown = n
	}
}

// Say sends a message, prints the reply and its figures (all of them if detailed).
func (s *Session) Say(ctx context.Context, message string, detailed bool) error {
	api, err := endpoint.New("chat", endpoint.Options{Model: s.Arguments.Model, Streaming: true})
	if err != nil {
		return err
	}
	turn := endpoint.Turn{Turn: &dataset.Turn{Texts: []dataset.Media{{Contents: []string{message}}}}}
	said := &endpoint.Context{SystemMessage: s.Arguments.SystemPrompt,
		Turns: append(s.history[:len(s.history):len(s.history)], turn)}
	body, err := api.Encode(said)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(s.ReadGap, func() { cancel(errSilent) })
	defer watch.Stop()
	out := safe.NewWriter(s.Out)
	p := &printer{Decoder: api.NewDecoder(), out: out, alive: func() { watch.Reset(s.ReadGap) }}
	defer p.Release()
	ex := s.Sender.Send(ctx, &client.Request{Method: "POST", URL: s.Arguments.URL, Headers: s.Headers, Body: body.Bytes,
		CancelAfterNS: -1}, p)
	reply := p.Reply()
	out.Flush() // nothing can be done about output that cannot be written
	if p.reasoning+p.shown > 0 {
		fmt.Fprintln(s.Out)
	}
	s.flush()
	switch {
	case ex.CutOff && errors.Is(context.Cause(ctx), errSilent):
		return fmt.Errorf("%w (%s)", errSilent, s.ReadGap)
	case ex.CutOff:
		return errors.New("interrupted")
	case ex.Err != nil:
		e := ex.Err.Published(s.Redact, ex.ErrIsBody)
		return errors.New(safe.Text(errorText(e, ex.ErrIsBody) + advice(e)))
	case reply.Err != nil:
		return errors.New(safe.Text("the server reports: " + reply.Err.Published(s.Redact, false).Message))
	}
	figures := measureReply(&ex, reply, s.Count)
	figures.write(s.Out, detailed)
	s.flush()
	if s.Arguments.History {
		s.history = append(s.history, turn)
		if assistant := reply.AppendAssistant(nil); len(assistant) > 0 {
			s.history = append(s.history, endpoint.Turn{Assistant: assistant})
		}
	}
	return nil
}

// flush writes what Out still buffers.
func (s *Session) flush() {
	if w, ok := s.Out.(interface{ Flush() error }); ok {
		_ = w.Flush()
	}
}

// advisable are those of advice that a conversation has.
var advisable = []string{"--url", "--api-key", "--model"}

// advice returns what to try against an error, on a line of its own: the part of a benchmark's advice that applies
// here.
func advice(e *record.Error) string {
	h, ok := hint.For(e)
	if !ok {
		return ""
	}
	for word := range strings.FieldsSeq(h.Try) {
		if strings.HasPrefix(word, "--") && !slices.Contains(advisable, strings.TrimRight(word, ",;.")) {
			return "\n" + h.Cause
		}
	}
	return "\n" + h.String()
}

// maxError is how much of a refusal's body a message repeats, in characters.
const maxError = 500

func errorText(e *record.Error, isBody bool) string {
	if !isBody {
		return e.Message
	}
	text := []rune(strings.TrimSpace(e.Message))
	if len(text) > maxError {
		text = append(text[:maxError], '…')
	}
	return fmt.Sprintf("HTTP %d %s: %s", e.Code, e.Type, string(text))
}

// figures are the latency and the throughput of a reply.
type figures struct {
	ttft, latency          time.Duration
	tokens, reasoning      int64
	cached, prompt         int64
	hasContent, knowsCache bool
}

func measureReply(ex *client.Exchange, r *endpoint.Reply, count func(string) int) figures {
	f := figures{}
	n := len(r.ContentNS)
	if n == 0 {
		return f
	}
	f.hasContent = true
	f.ttft = time.Duration(r.ContentNS[0] - ex.StartNS)
	f.latency = time.Duration(r.ContentNS[n-1] - ex.StartNS)
	if completion, ok := r.Usage.Value(record.UsageCompletion); ok {
		f.tokens = completion
		f.reasoning, _ = r.Usage.Value(record.UsageReasoning)
	} else {
		f.reasoning = int64(count(string(r.Reasoning)))
		f.tokens = f.reasoning + int64(count(string(r.Output)))
	}
	cached, hasCached := r.Usage.Value(record.UsageCacheRead)
	prompt, hasPrompt := r.Usage.Value(record.UsagePrompt)
	if hasCached && hasPrompt && prompt > 0 {
		f.cached, f.prompt, f.knowsCache = cached, prompt, true
	}
	return f
}

func (f *figures) write(w io.Writer, detailed bool) {
	if !f.hasContent || f.tokens == 0 {
		fmt.Fprintln(w, "(no tokens received)")
		return
	}
	milliseconds := func(d time.Duration) float64 { return float64(d) / 1e6 }
	fmt.Fprintf(w, "TTFT: %.2f ms\n", milliseconds(f.ttft))
	reasoning := ""
	if f.reasoning > 0 {
		reasoning = fmt.Sprintf(", %d reasoning", f.reasoning)
	}
	fmt.Fprintf(w, "TPS:  %.2f tokens/s (%d tokens%s in %.2fs)\n", float64(f.tokens)/f.latency.Seconds(), f.tokens,
		reasoning, f.latency.Seconds())
	if !detailed {
		return
	}
	if f.tokens > 1 && f.latency > f.ttft {
		gap := milliseconds(f.latency-f.ttft) / float64(f.tokens-1)
		fmt.Fprintf(w, "ITL:  %.2f ms/token (decode %.2f tokens/s)\n", gap, 1000/gap)
	}
	if f.knowsCache {
		fmt.Fprintf(w, "Cache: %d/%d prompt tokens cached (%.1f%%)\n", f.cached, f.prompt,
			100*float64(f.cached)/float64(f.prompt))
	}
}
