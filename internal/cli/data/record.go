package data

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/pemfile"
	"aiperf/internal/base/scalar"
	"aiperf/internal/base/webserver"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/traffic/recorder"
	"aiperf/internal/workload/recording"
)

const recordHelp = `Usage: aiperf record --upstream URL [flags]

Stands in front of a server, passes everything on as it comes, and records what a benchmark needs to send the like: when each request came, how long prompt and reply were, which blocks of tokens prompts share, of which session each is, how it was sampled, tool calls, stop reasons and latencies. Texts are not written unless --keep text asks for them; headers, addresses, names of tools and secrets never are. Point clients at --listen instead of the server.

Ctrl-C ends the recording when the requests under way have been answered; a second one at once.
`

// recordOptions are the flags of aiperf record.
type recordOptions struct {
	recorder.Options
	rowOptions
	upstream, listen            string
	cert, key, upstreamCA, keep string
	ui                          string
	insecure                    bool
}

func (o *recordOptions) table() *flags.Table {
	o.listen, o.keep, o.tokenizer = "127.0.0.1:8100", string(recording.KeepHashes), "builtin"
	o.BlockSize, o.MaxBytes, o.TotalBytes = 16, 256<<20, 16<<30
	keep := flags.Value("keep", "WHAT", "what is written of each request: lengths; hashes, those of the blocks of its prompt "+
		"beside them (the default); text, prompts and replies too", flags.OneOf(&o.keep, recording.Keeps()...))
	keep.Values = recording.Keeps()
	ui := flags.Value("ui", "VIEW", "how the recording is shown: on the whole terminal (dashboard, the default there), in a "+
		"line each minute (simple, the default elsewhere), or not (none)", flags.OneOf(&o.ui, recordViews...))
	ui.Values = recordViews
	return &flags.Table{Command: "record", Page: "record", Examples: []flags.Example{
		{For: "the server of this machine; clients use port 8100", Command: "aiperf record --upstream http://127.0.0.1:8000"},
		{For: "for every machine, and lengths alone", Command: "aiperf record --upstream http://gpu1:8000 --listen 0.0.0.0:8100 --keep lengths"},
		{For: "replay it", Command: "aiperf profile --url http://127.0.0.1:8000 --input-file recording"},
	}, About: recordHelp, Flags: slices.Concat([]flags.Flag{
		flags.Value("upstream", "URL", "the server, such as http://127.0.0.1:8000", command.NonEmpty(&o.upstream)),
		flags.Value("listen", "ADDR", "address for the clients (127.0.0.1:8100); port 0 takes a free one and prints it",
			command.NonEmpty(&o.listen)),
		flags.Value("out -o", "DIR", "folder for the recording, in which there is none yet (recording; with a number behind "+
			"it while there is one)", command.NonEmpty(&o.Folder)),
		keep,
	}, o.rowFlags(&o.BlockSize, &o.RenameModels), []flags.Flag{
		flags.Value("session-header", "NAME", "header whose value tells sessions apart; else requests that repeat the "+
			"messages of one before go on with its session", command.NonEmpty(&o.SessionHeader)),
		flags.Value("session-cookie", "NAME", "the same with a cookie", command.NonEmpty(&o.SessionCookie)),
		flags.Value("tls-cert", "FILE", "PEM file of a certificate: clients use https", command.NonEmpty(&o.cert)),
		flags.Value("tls-key", "FILE", "PEM file of its key", command.NonEmpty(&o.key)),
		flags.Value("upstream-ca", "FILE", "PEM file of the authorities of the server's certificate",
			command.NonEmpty(&o.upstreamCA)),
		flags.Switch("insecure", "take any certificate of the server", &o.insecure),
		flags.Switch("upstream-http2", "speak HTTP/2 to a server under http, as gRPC wants", &o.HTTP2),
		ui,
		flags.Value("max-file-size", "BYTES", "size of a file after which the next one begins (256MB)", sizeOf(&o.MaxBytes)),
		flags.Value("max-size", "BYTES", "size of the recording, after which requests are only passed on (16GB); 0 = none",
			sizeOf(&o.TotalBytes)),
	})}
}

// runRecord records until it is interrupted.
func runRecord(e *command.Env, args []string) error {
	var o recordOptions
	if err := e.ParseOnly(o.table(), args); err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	tok, err := o.findTokenizer(ctx, e)
	if err != nil {
		return err
	}
	o.Tokenizer, o.Workers = tok, max(1, runtime.GOMAXPROCS(0)/4)
	view := o.view(e)
	o.Warn = view.warn
	listener, err := webserver.Bind(o.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer listener.Close()
	lock, err := recordingFolder(e, &o.Folder, "recording")
	if err != nil {
		return err
	}
	defer lock.Release()
	r, err := recorder.New(o.Options)
	if err != nil {
		return err
	}
	return o.serve(ctx, stop, e, r, listener, view)
}

// check makes the options of the recorder from the flags.
func (o *recordOptions) check() error {
	switch {
	case o.upstream == "":
		return errors.New("aiperf record needs the server: --upstream http://127.0.0.1:8000")
	case (o.cert == "") != (o.key == ""):
		return errors.New("--tls-cert and --tls-key go together")
	case o.SessionHeader != "" && o.SessionCookie != "":
		return errors.New("--session-header and --session-cookie exclude each other")
	}
	o.Keep = recording.Keep(o.keep)
	if !strings.Contains(o.upstream, "://") {
		o.upstream = "http://" + o.upstream
	}
	u, err := url.Parse(o.upstream)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("--upstream %s: want an address such as http://127.0.0.1:8000", artifact.RedactURLs(o.upstream))
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("--upstream: credentials, queries and fragments are those of each request; leave them out")
	}
	o.Upstream = u
	if err := o.trust(); err != nil {
		return err
	}
	o.Salt, err = saltOf(o.saltFile)
	return err
}

func (o *recordOptions) trust() error {
	o.TLS = &tls.Config{InsecureSkipVerify: o.insecure}
	if o.upstreamCA == "" {
		return nil
	}
	var err error
	if o.TLS.RootCAs, err = pemfile.Authorities(o.upstreamCA); err != nil {
		return fmt.Errorf("--upstream-ca: %w", err)
	}
	return nil
}

// heldBack is memory that is not used. It counts as live, so that the collector, which on one core takes its time from
// the traffic, begins after many megabytes of requests instead of two.
const heldBack = 32 << 20

// serve passes requests on until ctx ends, and says what came of it.
func (o *recordOptions) serve(ctx context.Context, stop func(), e *command.Env, r *recorder.Recorder, l net.Listener,
	view *recordView) error {
	ballast := make([]byte, heldBack)
	defer runtime.KeepAlive(ballast)
	server := &http.Server{Handler: r, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
		Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	served := make(chan error, 1)
	scheme := "http"
	if o.cert != "" {
		scheme = "https"
	}
	go func() {
		if o.cert != "" {
			served <- server.ServeTLS(l, o.cert, o.key)
			return
		}
		served <- server.Serve(l)
	}()
	clients := fmt.Sprintf("%s://%s", scheme, l.Addr())
	fmt.Fprintf(e.Terminal.Out, "Recording: clients use %s instead of %s; Ctrl-C ends it\n", clients, o.Upstream)
	shown := view.show(ctx, stop, r, clients)
	var err error
	select {
	case <-ctx.Done():
	case err = <-served:
		err = fmt.Errorf("--listen: %w", err)
	}
	stop() // a second signal ends the program at once
	<-shown
	if n := r.Snapshot().InFlight; n > 0 && o.ui != "none" {
		e.Terminal.Say(fmt.Sprintf("%d requests are under way; they are waited for, at most a minute (Ctrl-C: no longer)", n))
	}
	ending, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err = errors.Join(err, server.Shutdown(ending), r.Close(ending))
	o.say(e, r)
	return err
}

func counted(s recorder.Snapshot) string {
	text := fmt.Sprintf("%d requests, %d in flight, %d rows", s.Requests, s.InFlight, s.Rows)
	if s.Rows > 0 {
		text += fmt.Sprintf(" · mean ISL %.0f, OSL %.0f", float64(s.InputTokens)/float64(s.Rows),
			float64(s.OutputTokens)/float64(s.Rows))
	}
	if s.InputTokens > 0 {
		text += fmt.Sprintf(" · %.0f %% of prompt tokens shared", 100*float64(s.SharedTokens)/float64(s.InputTokens))
	}
	if s.Failed > 0 {
		text += fmt.Sprintf(" · %d failed", s.Failed)
	}
	if s.Lost > 0 {
		text += fmt.Sprintf(" · %d rows lost", s.Lost)
	}
	return text
}

// say prints what was recorded and how it is played.
func (o *recordOptions) say(e *command.Env, r *recorder.Recorder) {
	s := r.Snapshot()
	fmt.Fprintf(e.Terminal.Out, "Recorded: %s\nFiles:    %s\n", counted(s), filepath.Join(o.Folder, recording.TrafficName))
	if s.Rows == 0 {
		return
	}
	if o.Keep != recording.KeepLengths {
		fmt.Fprintf(e.Terminal.Out, "          %s\n          %s\n", filepath.Join(o.Folder, recording.MooncakeName),
			filepath.Join(o.Folder, recording.WekaName))
	}
	fmt.Fprintf(e.Terminal.Out, "Replay:   %s\n", replayOf(o.Upstream.String(), o.Folder))
}

// sizeOf reads a number of bytes, such as 256MB.
func sizeOf(to *int64) func(string) error {
	return func(v string) error {
		n, err := scalar.Count(strings.TrimRight(v, "Bb"))
		if err != nil || n < 0 {
			return fmt.Errorf("%q is not a number of bytes, such as 256MB", v)
		}
		*to = n
		return nil
	}
}
