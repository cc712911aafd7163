// Package recorder stands between clients and a server, passes on every byte as it comes, and notes of each request what
// a benchmark needs to send the like: when it came, how long prompt and reply were, which blocks of tokens the prompt
// shares with others, of which session it is, how it was sampled and how it ended.
//
// Nothing waits for the notes: what is read of a reply is copied into memory, and everything else happens when the
// request is over, on goroutines of their own behind a queue of bounded length. Where the queue or the disk is full, rows
// are lost and counted.
//
// The package writes no text of a request or a reply unless it is told to: [recording.KeepText].
package recorder

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/traffic/files"
	"aiperf/internal/traffic/row"
	"aiperf/internal/workload/recording"
	"aiperf/internal/workload/tokenizer"
)

// Options are what a recorder is told.
type Options struct {
	// Upstream is the server: scheme, host, and a path that goes before that of each request.
	Upstream *url.URL
	// TLS is how the server is met under https.
	TLS *tls.Config
	// HTTP2 speaks HTTP/2 to a server under http, too.
	HTTP2 bool
	// Folder is where the files go; it exists.
	Folder string
	Keep   recording.Keep
	// Tokenizer counts and cuts prompts and replies.
	Tokenizer tokenizer.Tokenizer
	// BlockSize is the number of tokens of a block.
	BlockSize int
	// Salt is the key of the hashes. It is written nowhere.
	Salt []byte
	// RenameModels writes numbers for the names of models.
	RenameModels bool
	// SessionHeader and SessionCookie name what tells sessions apart; "" = the chain of messages does.
	SessionHeader, SessionCookie string
	// MaxBytes is the size of a file after which the next one begins; TotalBytes that of all of them, after which
	// requests are only counted.
	MaxBytes, TotalBytes int64
	// Workers is the number of goroutines that make rows; 0 = 1.
	Workers int
	// Warn gets what a person must know, each once.
	Warn func(string)
}

// The bounds of what is kept in memory.
const (
	queueLength = 4096    // exchanges that wait for their rows
	maxHeld     = 1 << 30 // bytes of all exchanges
)

// Recorder passes requests on and notes them. It is an [http.Handler].
type Recorder struct {
	o         Options
	forwarder *forwarder
	start     time.Time

	queue   chan *exchange
	order   order
	workers sync.WaitGroup
	held    atomic.Int64
	closed  atomic.Bool
	open    sync.WaitGroup

	files  *files.Writer
	memory *row.Memory
	counts counts
	tally  tally
}

// New opens the files and starts what makes rows.
func New(o Options) (*Recorder, error) {
	r := &Recorder{o: o, start: time.Now(), queue: make(chan *exchange, queueLength)}
	r.order.placed = sync.NewCond(&r.order.mu)
	if r.o.Warn == nil {
		r.o.Warn = func(string) {}
	}
	r.memory = row.NewMemory(row.Options{Start: r.start, Keep: o.Keep, Tokenizer: o.Tokenizer, BlockSize: o.BlockSize,
		Salt: o.Salt, RenameModels: o.RenameModels})
	var err error
	if r.files, err = files.Create(files.Options{Folder: o.Folder, Keep: o.Keep,
		Tokenizer: row.PlainName(o.Tokenizer.Name()), BlockSize: o.BlockSize, Start: r.start, MaxBytes: o.MaxBytes,
		TotalBytes: o.TotalBytes, Warn: r.o.Warn, Meanwhile: "requests are passed on, their rows are lost"}); err != nil {
		return nil, err
	}
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:     o.TLS,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 4096,
		IdleConnTimeout:     90 * time.Second,
		// The reply reaches the client as the server encoded it.
		DisableCompression: true,
	}
	if o.HTTP2 {
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetUnencryptedHTTP2(true)
		transport.Protocols.SetHTTP2(true)
	}
	r.forwarder = newForwarder(o.Upstream, transport, r.failed)
	for range max(1, o.Workers) {
		r.workers.Go(r.work)
	}
	return r, nil
}

// ServeHTTP passes a request on.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.open.Add(1)
	defer r.open.Done()
	r.counts.requests.Add(1)
	x := &exchange{of: r, at: time.Now(), path: req.URL.Path, header: req.Header, encoding: req.Header.Get("Content-Encoding")}
	x.work = req.Body != nil && req.Body != http.NoBody
	r.counts.inFlight.Add(1)
	defer func() {
		r.counts.inFlight.Add(-1)
		x.mu.Lock()
		x.ended, x.end = true, time.Since(x.at)
		x.mu.Unlock()
		// A client may close its connection on the last byte.
		x.cancelled = (x.left || req.Context().Err() != nil) && !x.whole
		r.submit(x)
		if x.ending {
			r.order.ending.Add(-1)
		}
		// A reply that breaks off must break off for the client, too: the panic by which net/http does so goes on.
	}()
	r.forwarder.forward(w, req, x)
}

// failed answers a client whose request did not reach the server.
func (r *Recorder) failed(w http.ResponseWriter, req *http.Request, err error) {
	if req.Context().Err() != nil {
		return
	}
	r.once(&r.counts.saidUnreached, fmt.Sprintf("%s does not answer: %v", r.o.Upstream.Redacted(), err))
	unreached(w, err)
}

func (r *Recorder) once(said *atomic.Bool, text string) {
	if !said.Swap(true) {
		r.o.Warn(text)
	}
}

// submit has the row of an exchange made, if there is room.
func (r *Recorder) submit(x *exchange) {
	if x.work && !r.closed.Load() {
		select {
		case r.queue <- x:
			return
		default:
			r.counts.lost.Add(1)
			r.once(&r.counts.saidLost, "rows are lost: they are not made as fast as requests come (fewer with --keep lengths)")
		}
	}
	x.forget()
}

func (r *Recorder) work() {
	maker := r.memory.Maker()
	for {
		x, turn := r.order.next(r.queue)
		if x == nil {
			return
		}
		r.note(maker, x, turn)
		x.forget()
	}
}

// note makes the row of an exchange and has it written.
func (r *Recorder) note(maker *row.Maker, x *exchange, turn int64) {
	made, thread := maker.Describe(&row.Exchange{At: x.at, Took: x.end, Path: x.path, Session: r.o.nameOf(x.header),
		Request: x.request, Encoding: x.encoding, RequestCut: x.requestCut, Reply: x.reply, ReplyEncoding: x.replyEncoding,
		ReplyCut: x.replyCut, Status: x.status, ContentType: x.contentType, Reads: x.reads, Outcome: x.outcome()})
	r.order.wait(turn)
	shared := r.memory.Place(made, thread, x.at, x.at.Add(x.end))
	r.order.done()
	c := &r.counts
	c.inputTokens.Add(int64(made.InputLength))
	c.outputTokens.Add(int64(made.OutputLength))
	c.shared.Add(int64(shared))
	if made.Outcome != "ok" {
		c.failed.Add(1)
	}
	r.tally.add(made)
	r.files.Add(made)
}

// Close waits until the requests that are under way have ended, or ctx has, and writes what is left.
func (r *Recorder) Close(ctx context.Context) error {
	ended := make(chan struct{})
	go func() { r.open.Wait(); close(ended) }()
	var cut error
	select {
	case <-ended:
	case <-ctx.Done():
		cut = errors.New("requests were still under way and have no row")
	}
	if !r.closed.Swap(true) && cut == nil {
		close(r.queue)
		r.workers.Wait()
	}
	return errors.Join(cut, r.files.Close())
}

// Snapshot is what a recorder has counted so far.
type Snapshot struct {
	Requests, InFlight, Rows, Lost, Failed int64
	InputTokens, OutputTokens              int64
	// SharedTokens are those of prompts whose blocks, with all before them, had been seen.
	SharedTokens int64
	// Full: the files have their size.
	Full bool
	// Sessions is the number of those that have begun, Turns that of the requests in them.
	Sessions, Turns int64
	// Prompts are the lengths of all prompts, Replies those of the replies that ended well.
	Prompts, Replies Lengths
	// Endpoints and Models are how many requests each had.
	Endpoints, Models map[string]int64
}

type counts struct {
	requests, inFlight, lost, failed  atomic.Int64
	inputTokens, outputTokens, shared atomic.Int64
	saidLost, saidUnreached           atomic.Bool
}

// Snapshot returns what has been counted.
func (r *Recorder) Snapshot() Snapshot {
	c := &r.counts
	rows, lost := r.files.Counts()
	t := &r.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	return Snapshot{Requests: c.requests.Load(), InFlight: c.inFlight.Load(), Rows: rows, Lost: c.lost.Load() + lost,
		Failed: c.failed.Load(), InputTokens: c.inputTokens.Load(), OutputTokens: c.outputTokens.Load(),
		SharedTokens: c.shared.Load(), Full: r.files.Full(), Sessions: t.sessions, Turns: t.turns, Prompts: t.prompts,
		Replies: t.replies, Endpoints: maps.Clone(t.endpoints), Models: maps.Clone(t.models)}
}

// Since is how long the recorder has been there.
func (r *Recorder) Since() time.Duration { return time.Since(r.start) }

// nameOf is what tells the session of a request where the user said what does; "" = nothing does.
func (o *Options) nameOf(h http.Header) string {
	if o.SessionHeader != "" {
		return h.Get(o.SessionHeader)
	}
	if o.SessionCookie != "" {
		if c, err := (&http.Request{Header: h}).Cookie(o.SessionCookie); err == nil {
			return c.Value
		}
	}
	return ""
}
