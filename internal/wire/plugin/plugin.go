// Package plugin runs outside programs and calls them over their standard input and output, one JSON document per line:
// as an endpoint, which encodes requests and decodes replies, as a reader of dataset files, as an exporter of results
// and as a metric.
//
// No call happens in a timed path: encode is called while requests are prepared, decode after the exchange, with every
// event and its instant, all others before the load or after it. A program that crashes, hangs or writes something else
// than a reply fails the calls that waited for it; the next call starts it again. The package knows nothing of
// connections and schedules.
package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// version is that of the protocol.
const version = 1

// Limits of a program.
const (
	// callLimit bounds one call, startLimit the greeting, endLimit the end of the program once its input
	// is closed.
	callLimit  = 30 * time.Second
	startLimit = 10 * time.Second
	endLimit   = 2 * time.Second
	// maxLine bounds a line of the program in bytes.
	maxLine = 64 << 20
	// After maxFailures in a row every later call fails at once.
	maxFailures = 5
	// maxLogged bounds a line of the program's standard error in the log.
	maxLogged = 2000
)

// Options are what a program is started with.
type Options struct {
	// Command is the program and its arguments; quotes keep words together. It runs in Dir, "" = the working directory.
	Command, Dir string
	// Greeting is sent to the program first.
	Greeting Greeting
	// Log gets the lines of the program's standard error; nil drops them.
	Log func(line string)
	// CallLimit bounds one call, StartLimit the greeting; 0 = 30 s and 10 s.
	CallLimit, StartLimit time.Duration
	// After starts the clock of one call, which CallLimit bounds; nil = [time.After].
	After func(limit time.Duration) <-chan time.Time
	// Quote puts the end of the program's standard error into the errors of its calls.
	Quote bool
}

// Greeting is the first line to a program.
type Greeting struct {
	Plugin int `json:"aiperf_plugin"`
	// Category and Name say as what the program is used, Metadata is that of its manifest; empty for a program that
	// only a flag names.
	Category string          `json:"category,omitempty"`
	Name     string          `json:"name,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// Requests is set for endpoints.
	*Requests
}

// Requests is what a run asks an endpoint for.
type Requests struct {
	Model     string          `json:"model"`
	Models    []string        `json:"models"`
	Streaming bool            `json:"streaming"`
	Extra     json.RawMessage `json:"extra_inputs"`
}

// Manifest is the first line of a program.
type Manifest struct {
	Plugin int    `json:"aiperf_plugin"`
	Name   string `json:"name"`
	// Category is what the program takes itself for; "" = not said.
	Category string `json:"category"`
	// Path is appended to the URL.
	Path string `json:"path"`
	// Streams, ProducesTokens and TokenizesInput are capabilities; absent means true.
	Streams        *bool `json:"streams"`
	ProducesTokens *bool `json:"produces_tokens"`
	TokenizesInput *bool `json:"tokenizes_input"`
}

// Host runs the program. It is safe for concurrent use.
type Host struct {
	options  Options
	words    []string
	manifest Manifest

	mu       sync.Mutex
	process  *process
	next     uint64
	failures int
	closed   bool
}

// Start starts the program and exchanges greetings.
func Start(ctx context.Context, o Options) (*Host, error) {
	if o.CallLimit == 0 {
		o.CallLimit = callLimit
	}
	if o.StartLimit == 0 {
		o.StartLimit = startLimit
	}
	if o.After == nil {
		o.After = time.After
	}
	o.Greeting.Plugin = version
	words, err := split(o.Command)
	if err != nil {
		return nil, err
	}
	h := &Host{options: o, words: words}
	p, m, err := h.launch(ctx)
	if err != nil {
		return nil, err
	}
	h.process, h.manifest = p, *m
	return h, nil
}

// Manifest describes the program in its own words.
func (h *Host) Manifest() Manifest { return h.manifest }

// Close ends the program: its input is closed, and if that does not end it, it is killed.
func (h *Host) Close() {
	h.mu.Lock()
	p := h.process
	h.process, h.closed = nil, true
	h.mu.Unlock()
	if p != nil {
		p.end(endLimit)
	}
}

// errClosed ends calls after Close.
var errClosed = errors.New("the run is over")

// call sends a request to the program and waits for its reply. Its error concerns this call only.
func (h *Host) call(method string, params, result any) error {
	p, id, err := h.running()
	if err != nil {
		return err
	}
	line, err := json.Marshal(struct {
		ID     uint64 `json:"id"`
		Method string `json:"method"`
		Params any    `json:"params"`
	}{id, method, params})
	if err != nil {
		return err
	}
	reply, err := p.ask(id, append(line, '\n'), &h.options)
	if err != nil {
		h.failed(p)
		return h.quote(p, err)
	}
	h.mu.Lock()
	h.failures = 0
	h.mu.Unlock()
	if reply.Error != nil {
		return errors.New(*reply.Error)
	}
	if err := json.Unmarshal(reply.Result, result); err != nil {
		return fmt.Errorf("the result of %s is not what the protocol asks for: %w", method, err)
	}
	return nil
}

// quote adds the end of the program's standard error to an error, once the program has ended.
func (h *Host) quote(p *process, err error) error {
	if text := p.stderr.last(); h.options.Quote && text != "" {
		return fmt.Errorf("%w; its standard error ends with: %s", err, text)
	}
	return err
}

// running is the program, started again if it ended, and the number of the next call.
func (h *Host) running() (*process, uint64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, 0, errClosed
	case h.failures >= maxFailures:
		return nil, 0, fmt.Errorf("the plugin failed %d times in a row and is not called again", maxFailures)
	}
	if h.process == nil || h.process.over() {
		p, _, err := h.launch(context.Background())
		if err != nil {
			h.failures++
			return nil, 0, err
		}
		h.process = p
	}
	h.next++
	return h.process, h.next, nil
}

// failed ends a program that failed a call.
func (h *Host) failed(p *process) {
	h.mu.Lock()
	if h.process == p {
		h.process = nil
		h.failures++
	}
	h.mu.Unlock()
	p.end(0)
}

// launch starts a process and exchanges greetings.
func (h *Host) launch(ctx context.Context) (*process, *Manifest, error) {
	p, err := newProcess(h.words, h.options.Dir, h.options.Log)
	if err != nil {
		return nil, nil, fmt.Errorf("the plugin %s cannot be started: %w", h.words[0], err)
	}
	m, err := p.greet(ctx, &h.options)
	if err == nil {
		err = m.check(h.options.Greeting.Category)
	}
	if err != nil {
		p.end(0)
		return nil, nil, h.quote(p, fmt.Errorf("the plugin %s: %w", h.words[0], err))
	}
	go p.listen()
	return p, m, nil
}

func (m *Manifest) check(category string) error {
	switch {
	case m.Plugin == 0:
		return errors.New(`the first line has no "aiperf_plugin": is this a plugin?`)
	case m.Category != "" && category != "" && m.Category != category:
		return fmt.Errorf("it is a plugin of the category %s, not %s", clip(m.Category), category)
	case m.Plugin != version:
		return fmt.Errorf("it speaks version %d of the protocol, this program version %d", m.Plugin, version)
	case m.Path != "" && !strings.HasPrefix(m.Path, "/"):
		return fmt.Errorf("its path %q does not begin with /", m.Path)
	}
	return nil
}

// clip shortens what a message repeats.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// split cuts a command into words; single and double quotes keep words together, a backslash keeps the
// character behind it, but within single quotes.
func split(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	begun, quote := false, rune(0)
	escaped := false
	for _, r := range command {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quote in the plugin's command is not closed")
	}
	if begun {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("the plugin's command is empty")
	}
	return words, nil
}
