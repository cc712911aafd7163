// Package plugin makes an outside program one of the endpoints: it encodes requests and decodes replies
// over its standard input and output, one JSON document a line.
//
// Nothing of it stands in a timed path: encode is asked while requests are prepared, decode when the
// exchange is over, with every event and its instant. A program that crashes, hangs or writes what is no
// reply fails the requests that waited for it, and is started anew for the next one.
package plugin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Version is that of the protocol.
const Version = 1

// Limits of a program.
const (
	// CallLimit bounds one call, StartLimit the greeting, endLimit the end of the program once its input
	// is closed.
	CallLimit  = 30 * time.Second
	StartLimit = 10 * time.Second
	endLimit   = 2 * time.Second
	// MaxLine bounds a line of the program in bytes.
	MaxLine = 64 << 20
	// maxFailures in a row end the trust in a program: every later call fails at once.
	maxFailures = 5
	// maxTold bounds a line of the program's standard error in the log.
	maxTold = 2000
)

// Options are what a program is started with.
type Options struct {
	// Command is the program and its arguments; quotes keep words together.
	Command string
	// Greeting is told to the program first.
	Greeting Greeting
	// Log gets the lines of the program's standard error; nil drops them.
	Log func(line string)
	// CallLimit and StartLimit replace the constants of these names; 0 = those.
	CallLimit, StartLimit time.Duration
}

// Greeting is the first line to a program.
type Greeting struct {
	Plugin    int               `json:"aiperf_plugin"`
	Model     string            `json:"model"`
	Models    []string          `json:"models"`
	Streaming bool              `json:"streaming"`
	Extra     json.RawMessage   `json:"extra_inputs"`
	Limits    map[string]string `json:"limits,omitempty"`
}

// Manifest is the first line of a program.
type Manifest struct {
	Plugin int    `json:"aiperf_plugin"`
	Name   string `json:"name"`
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
		o.CallLimit = CallLimit
	}
	if o.StartLimit == 0 {
		o.StartLimit = StartLimit
	}
	o.Greeting.Plugin = Version
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

// Manifest is what the program said of itself.
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

// call asks the program and waits for its reply. Its error is of this call alone.
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
	reply, err := p.ask(id, append(line, '\n'), h.options.CallLimit)
	if err != nil {
		h.failed(p)
		return err
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

// running is the program, started anew if it ended, and the number of the next call.
func (h *Host) running() (*process, uint64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, 0, errClosed
	case h.failures >= maxFailures:
		return nil, 0, fmt.Errorf("the plugin failed %d times in a row and is not asked any more", maxFailures)
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
	p, err := newProcess(h.words, h.options.Log)
	if err != nil {
		return nil, nil, fmt.Errorf("the plugin %s cannot be started: %w", h.words[0], err)
	}
	m, err := p.greet(ctx, &h.options)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		p.end(0)
		return nil, nil, fmt.Errorf("the plugin %s: %w", h.words[0], err)
	}
	go p.listen()
	return p, m, nil
}

func (m *Manifest) check() error {
	switch {
	case m.Plugin == 0:
		return errors.New(`the first line has no "aiperf_plugin": is this an endpoint plugin?`)
	case m.Plugin != Version:
		return fmt.Errorf("it speaks version %d of the protocol, this program version %d", m.Plugin, Version)
	case m.Path != "" && !strings.HasPrefix(m.Path, "/"):
		return fmt.Errorf("its path %q does not begin with /", m.Path)
	}
	return nil
}

// reply is a line of the program.
type reply struct {
	ID     uint64          `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *string         `json:"error"`
}

// answer is what a call gets: a reply, or why there is none.
type answer struct {
	reply reply
	err   error
}

// process is one life of the program.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
	out   chan []byte
	dead  chan struct{} // closed when nothing more is read
	once  sync.Once
	// waited is done when the process has ended.
	waited sync.Once

	mu      sync.Mutex
	waiting map[uint64]chan answer
	why     error
}

func newProcess(words []string, log func(string)) (*process, error) {
	cmd := exec.Command(words[0], words[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = &teller{tell: log}
	// A child of the program may hold the pipes open after its end.
	cmd.WaitDelay = endLimit
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, in: in, lines: bufio.NewReaderSize(out, 64<<10), out: make(chan []byte),
		dead: make(chan struct{}), waiting: map[uint64]chan answer{}}
	go p.write()
	return p, nil
}

// write hands lines to the program, on a goroutine of its own: a program that does not read must not
// hold up who waits for it.
func (p *process) write() {
	for {
		select {
		case line := <-p.out:
			if _, err := p.in.Write(line); err != nil {
				return
			}
		case <-p.dead:
			return
		}
	}
}

// greet sends the greeting and reads the manifest.
func (p *process) greet(ctx context.Context, o *Options) (*Manifest, error) {
	line, err := json.Marshal(o.Greeting)
	if err != nil {
		return nil, err
	}
	line = append(line, '\n')
	timer := time.NewTimer(o.StartLimit)
	defer timer.Stop()
	type first struct {
		line []byte
		err  error
	}
	read := make(chan first, 1)
	go func() {
		text, err := p.line()
		read <- first{text, err}
	}()
	send := p.out
	var m *Manifest
	for m == nil || send != nil { // a program may say what it is before it is told
		select {
		case send <- line:
			send = nil
		case got := <-read:
			if got.err != nil {
				return nil, p.ending(got.err)
			}
			m = new(Manifest)
			if err := json.Unmarshal(got.line, m); err != nil {
				return nil, fmt.Errorf("its first line is not JSON: %s", clip(strings.TrimSpace(string(got.line))))
			}
		case <-timer.C:
			p.kill()
			return nil, fmt.Errorf("it said nothing within %s", o.StartLimit)
		case <-ctx.Done():
			p.kill()
			return nil, ctx.Err()
		}
	}
	return m, nil
}

// line is the next line of the program.
func (p *process) line() ([]byte, error) {
	var whole []byte
	for {
		part, err := p.lines.ReadSlice('\n')
		whole = append(whole, part...)
		switch {
		case err == bufio.ErrBufferFull && len(whole) <= MaxLine:
			continue
		case err == bufio.ErrBufferFull:
			return nil, fmt.Errorf("it wrote a line of more than %d bytes", MaxLine)
		case err != nil:
			return nil, err
		}
		return whole, nil
	}
}

// ending words the end of the program's output.
func (p *process) ending(err error) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	p.end(endLimit)
	if state := p.cmd.ProcessState; state != nil {
		return fmt.Errorf("it ended (%s)", state)
	}
	return errors.New("it ended")
}

// listen hands replies to those who wait for them, until the program ends or writes what is none.
func (p *process) listen() {
	for {
		line, err := p.line()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the plugin ended")
			}
			p.fail(err)
			return
		}
		var r reply
		if err := json.Unmarshal(line, &r); err != nil || r.ID == 0 || r.Result == nil && r.Error == nil {
			p.fail(fmt.Errorf("the plugin wrote a line that is no reply: %s", clip(strings.TrimSpace(string(line)))))
			return
		}
		p.mu.Lock()
		to := p.waiting[r.ID]
		delete(p.waiting, r.ID)
		p.mu.Unlock()
		if to != nil {
			to <- answer{reply: r}
		}
	}
}

// fail ends all calls that wait.
func (p *process) fail(err error) {
	p.mu.Lock()
	if p.why == nil {
		p.why = err
	}
	waiting := p.waiting
	p.waiting = map[uint64]chan answer{}
	p.mu.Unlock()
	for _, to := range waiting {
		to <- answer{err: err}
	}
	p.once.Do(func() { close(p.dead) })
}

func (p *process) over() bool {
	select {
	case <-p.dead:
		return true
	default:
		return false
	}
}

// ask sends a call and waits for its reply.
func (p *process) ask(id uint64, line []byte, limit time.Duration) (*reply, error) {
	to := make(chan answer, 1)
	p.mu.Lock()
	if p.why != nil {
		p.mu.Unlock()
		return nil, p.why
	}
	p.waiting[id] = to
	p.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	send := p.out
	for {
		select {
		case send <- line:
			send = nil
		case a := <-to:
			return &a.reply, a.err
		case <-timer.C:
			return nil, fmt.Errorf("the plugin did not reply within %s", limit)
		}
	}
}

func (p *process) kill() { _ = p.cmd.Process.Kill() }

// end closes the program's input, gives it some time, kills it, and waits for it.
func (p *process) end(grace time.Duration) {
	p.fail(errors.New("the plugin was ended after another call of it failed"))
	_ = p.in.Close()
	timer := time.AfterFunc(grace, p.kill)
	defer timer.Stop()
	p.waited.Do(func() { _ = p.cmd.Wait() }) // killed or not: its end is all that counts
}

// teller hands whole lines on.
type teller struct {
	tell func(string)
	buf  []byte
}

func (t *teller) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		line, rest, whole := strings.Cut(string(b), "\n")
		if room := maxTold - len(t.buf); room > 0 {
			t.buf = append(t.buf, line[:min(len(line), room)]...)
		}
		if !whole {
			break
		}
		if text := strings.TrimSpace(string(t.buf)); text != "" && t.tell != nil {
			t.tell(text)
		}
		t.buf, b = t.buf[:0], []byte(rest)
	}
	return n, nil
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
