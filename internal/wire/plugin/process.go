package plugin

import (
	"bufio"
	"bytes"
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
	cmd    *exec.Cmd
	stderr *teller
	in     io.WriteCloser
	lines  *bufio.Reader
	out    chan []byte
	dead   chan struct{} // closed when nothing more is read
	once   sync.Once
	// waited is done when the process has ended.
	waited sync.Once

	mu      sync.Mutex
	waiting map[uint64]chan answer
	why     error
}

// newProcess starts the program. It is not bound to a context: it is asked to end first, see close.
func newProcess(words []string, dir string, log func(string)) (*process, error) {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr := &teller{tell: log}
	cmd.Stderr = stderr
	// A child of the program may hold the pipes open after its end.
	cmd.WaitDelay = endLimit
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, stderr: stderr, in: in, lines: bufio.NewReaderSize(out, 64<<10), out: make(chan []byte),
		dead: make(chan struct{}), waiting: map[uint64]chan answer{}}
	go p.write()
	return p, nil
}

// write sends lines to the program, on a goroutine of its own: a program that does not read must not
// block the callers that wait for it.
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
	for m == nil || send != nil { // a program may write its manifest before it has read the greeting
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
			return nil, fmt.Errorf("it wrote nothing within %s", o.StartLimit)
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
		case err == bufio.ErrBufferFull && len(whole) <= maxLine:
			continue
		case err == bufio.ErrBufferFull:
			return nil, fmt.Errorf("it wrote a line of more than %d bytes", maxLine)
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

// listen passes replies to the callers that wait for them, until the program ends or writes something else.
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
			p.fail(fmt.Errorf("the plugin wrote a line that is not a reply: %s", clip(strings.TrimSpace(string(line)))))
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
func (p *process) ask(id uint64, line []byte, o *Options) (*reply, error) {
	to := make(chan answer, 1)
	p.mu.Lock()
	if p.why != nil {
		p.mu.Unlock()
		return nil, p.why
	}
	p.waiting[id] = to
	p.mu.Unlock()
	expired := o.After(o.CallLimit)
	send := p.out
	for {
		select {
		case send <- line:
			send = nil
		case a := <-to:
			return &a.reply, a.err
		case <-expired:
			return nil, fmt.Errorf("the plugin did not reply within %s", o.CallLimit)
		}
	}
}

func (p *process) kill() { _ = p.cmd.Process.Kill() }

// end closes the program's input, gives it some time, kills it, and waits for it.
func (p *process) end(grace time.Duration) {
	p.fail(errors.New("the plugin was stopped after another call failed"))
	_ = p.in.Close()
	timer := time.AfterFunc(grace, p.kill)
	defer timer.Stop()
	p.waited.Do(func() {
		_ = p.cmd.Wait() // killed or not: its end is all that counts
		p.stderr.end()
	})
}

// teller hands whole lines on and keeps the last ones.
type teller struct {
	tell func(string)
	buf  []byte

	mu   sync.Mutex
	kept []string
	// A second began at since; told lines were passed on in it, left were not.
	since      time.Time
	told, left int
}

// maxPerSecond is how many lines of a program's standard error are passed on in a second: a program that floods it
// would
// fill the log and the screen. Lines beyond are counted.
const maxPerSecond = 50

// maxKept is how many lines of the program's standard error an error repeats.
const maxKept = 5

// last returns the last lines.
func (t *teller) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.kept, "\n")
}

// line takes a line of standard error: the newest are kept for the error with which the program may end, and as many
// are told in a second as a log can bear; how many are missing is told with the next one.
func (t *teller) line(text string) {
	t.mu.Lock()
	if len(t.kept) == maxKept {
		t.kept = append(t.kept[:0], t.kept[1:]...)
	}
	t.kept = append(t.kept, clip(text))
	at, missing := time.Now(), ""
	if at.Sub(t.since) >= time.Second {
		missing = t.missing()
		t.since, t.told = at, 0
	}
	t.told++
	over := t.told > maxPerSecond
	if over {
		t.left++
	}
	t.mu.Unlock()
	t.say(missing)
	if !over {
		t.say(text)
	}
}

func (t *teller) say(text string) {
	if t.tell != nil && text != "" {
		t.tell(text)
	}
}

// missing says how many lines were left out; t is locked.
func (t *teller) missing() string {
	n := t.left
	t.left = 0
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("(%d further lines are left out: no more than %d a second are shown)", n, maxPerSecond)
}

// end says what was left out last.
func (t *teller) end() {
	t.mu.Lock()
	missing := t.missing()
	t.mu.Unlock()
	t.say(missing)
}

func (t *teller) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		if room := maxLogged - len(t.buf); room > 0 {
			t.buf = append(t.buf, line[:min(len(line), room)]...)
		}
		if !whole {
			break
		}
		if text := strings.TrimSpace(string(t.buf)); text != "" {
			t.line(text)
		}
		t.buf, b = t.buf[:0], rest
	}
	return n, nil
}
