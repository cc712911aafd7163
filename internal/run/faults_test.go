package run

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/testkit"
	"aiperf/internal/mockserver"
	"aiperf/internal/publish/progress"
)

// stalls are servers that fall silent, each at another stage of the exchange.
var stalls = []struct {
	name  string
	serve func(*testing.T) string
}{
	{"never accepts", deaf},
	{"before the head", silentAfter("")},
	{"in the head", silentAfter("HTTP/1.1 200 OK\r\nContent-Ty")},
	{"after the head", silentAfter(streamHead)},
	{"in an event", silentAfter(streamHead + chunk(streamBody[:20]))},
	{"in a transfer chunk", silentAfter(streamHead + "fff\r\n" + streamBody)},
	{"between events", silentAfter(streamHead + chunk(streamBody))},
	{"before the last chunk", silentAfter(streamHead + chunk(streamBody+"data: [DONE]\n\n"))},
	{"in a plain body", silentAfter("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
		"500\r\n\r\n{")},
	{unread, func(t *testing.T) string {
		return wire(t, func(p *peer) {
			_, _ = http.ReadRequest(p.br)
			for { // looks whether the client has left, and reads nothing
				time.Sleep(10 * time.Millisecond)
				if _, err := p.Write(nil); err != nil || closed(p) {
					return
				}
			}
		})
	}},
}

// unread names the stage at which the server does not read the request.
const unread = "while the request is read"

// silentAfter reads a request, says something and falls silent.
func silentAfter(text string) func(*testing.T) string {
	return func(t *testing.T) string {
		return wire(t, func(p *peer) {
			if p.request() != nil {
				p.say(text)
				p.hold()
			}
		})
	}
}

// closed reports whether our own end was closed.
func closed(p *peer) bool { return errors.Is(p.SetDeadline(time.Time{}), net.ErrClosed) }

// A silent server costs the request timeout, no more, at whatever stage it falls silent.
func TestSilentServerIsATimeout(t *testing.T) {
	t.Parallel()
	for _, stage := range stalls {
		t.Run(stage.name, func(t *testing.T) {
			t.Parallel()
			limit := "0.1"
			if stage.name == unread {
				limit = "0.7" // the other server reads it all
			}
			r := againstFault(t, stage.serve(t), Options{}, "--streaming", "--concurrency", "6", "--request-count", "6",
				"--request-timeout-seconds", limit, "--extra-inputs", padding(stage.name))
			r.failed(3, 3, "TimeoutError")
		})
	}
}

// padding makes the body long where the server does not read it.
func padding(stage string) string {
	if stage == unread {
		return "padding:" + strings.Repeat("x", 512<<10)
	}
	return "padding:x"
}

// What hangs when the grace is over, or when the user stops the run, is cut off: no record, no error.
func TestSilentServerDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	for _, stage := range stalls {
		t.Run(stage.name, func(t *testing.T) {
			t.Parallel()
			args := []string{"--streaming", "--concurrency", "4", "--extra-inputs", padding(stage.name)}
			r := againstFault(t, stage.serve(t), Options{},
				append(args, "--benchmark-duration", "1", "--benchmark-grace-period", "0.05")...)
			if c := r.outcome.Result.Counts; c.Errors != 0 || c.CutOff == 0 || c.CutOff > 4 ||
				r.outcome.Result.WasCancelled {
				t.Errorf("grace over: %+v, cancelled %t", c, r.outcome.Result.WasCancelled)
			}
			stop := make(chan struct{})
			var once sync.Once
			stuck := func(s *progress.Snapshot) {
				if n := len(s.Phases); n > 0 && s.Records.Successes > 0 && s.Phases[n-1].RequestsInFlight() == 4 {
					once.Do(func() { close(stop) })
				}
			}
			r = againstFault(t, stage.serve(t), Options{Stop: stop, Observers: observed(stuck)},
				append(args, "--request-count", "100000")...)
			if c := r.outcome.Result.Counts; c.Errors != 0 || c.CutOff == 0 || c.CutOff > 4 ||
				!r.outcome.Result.WasCancelled {
				t.Errorf("stopped: %+v, cancelled %t", c, r.outcome.Result.WasCancelled)
			}
		})
	}
}

// after reads a request, says something and ends the connection.
func after(text string, end func(*peer)) func(*peer) {
	return func(p *peer) {
		if p.request() != nil {
			p.say(text)
			end(p)
		}
	}
}

// halfClose ends the server's side alone, and reads on.
func halfClose(p *peer) {
	_ = p.CloseWrite()
	p.hold()
}

func fullClose(*peer) {}

// resets waits until what was said was taken: a reset may overtake it.
func resets(p *peer) {
	time.Sleep(20 * time.Millisecond)
	p.reset()
}

func TestBrokenConnectionsAreErrorsOfTheirKind(t *testing.T) {
	t.Parallel()
	const part = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"
	for _, test := range []struct {
		name   string
		script func(*peer)
		want   string
	}{
		{"closed at once", fullClose, "ClientOSError, ServerDisconnectedError"},
		{"closed before the head", after("", fullClose), "ServerDisconnectedError"},
		{"half-closed before the head", after("", halfClose), "ServerDisconnectedError"},
		{"reset before the head", after("", resets), "ClientOSError"},
		{"closed in the head", after("HTTP/1.1 200 OK\r\nCont", fullClose), "ServerDisconnectedError"},
		{"half-closed in the head", after("HTTP/1.1 200 OK\r\nCont", halfClose), "ServerDisconnectedError"},
		{"reset in the head", after("HTTP/1.1 200 OK\r\nCont", resets), "ClientOSError"},
		{"closed in the body", after(part, fullClose), "ClientPayloadError"},
		{"half-closed in the body", after(part, halfClose), "ClientPayloadError"},
		{"reset in the body", after(part, resets), "ClientOSError"},
		{"closed between events", after(streamHead+chunk(streamBody), fullClose), "ClientPayloadError"},
		{"half-closed in an event", after(streamHead+chunk(streamBody+"data: {"), halfClose), "ClientPayloadError"},
		{"reset between events", after(streamHead+chunk(streamBody), resets), "ClientOSError"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := againstFault(t, wire(t, test.script), Options{}, "--streaming", "--concurrency", "4",
				"--request-count", "8")
			if test.name == "closed at once" {
				// The close may meet the request on its way: then it is a reset.
				if c := r.outcome.Result.Counts; c.Successes != 4 || c.Errors != 4 {
					t.Errorf("counts %+v", c)
				}
				return
			}
			r.failed(4, 4, test.want)
		})
	}
}

// The faults of the mock server are errors of the same kinds.
func TestFaultsOfTheMockServer(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"cut_after_events=1":             "ClientPayloadError",
		"cut_mid_event;reset":            "ClientOSError",
		"drop_after_bytes=0":             "ServerDisconnectedError",
		"drop_after_bytes=0;reset":       "ClientOSError",
		"cut_after_events=1;stall":       "TimeoutError",
		"drop_after_bytes=30;stall":      "TimeoutError",
		"never":                          "TimeoutError",
		"status=503":                     "503 Service Unavailable",
		"slow_headers_ms=5000":           "TimeoutError",
		"malformed_json;cut_mid_event":   "ClientPayloadError",
		"close_idle_ms=0":                "",
		"content_type=application/json;": "", // events all the same
	} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			if strings.HasSuffix(spec, ";reset") && testkit.UnderWine() {
				t.Skip("Wine ends a connection in order that is reset while it is being read")
			}
			faulty := serve(t, mockserver.Options{Fault: spec, TTFT: time.Millisecond, ITL: 5 * time.Millisecond})
			limit := "20"
			if want == "TimeoutError" {
				limit = "1.5" // the other server answers in time also on a busy machine
			}
			r := againstFault(t, faulty, Options{}, "--streaming", "--concurrency", "4", "--request-count", "8",
				"--request-timeout-seconds", limit,
				"--connection-reuse-strategy", "never")
			if want == "" {
				r.failed(8, 0, "")
				return
			}
			r.failed(4, 4, want)
		})
	}
}

// A server that closes its side after a whole reply has answered.
func TestHalfCloseBehindAWholeReplyIsASuccess(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{wholeReply(""), wholeReply("Connection: close\r\n"),
		streamHead + chunk(streamBody) + "0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + wholeBody} {
		r := againstFault(t, wire(t, after(reply, halfClose)), Options{}, "--streaming", "--concurrency", "2",
			"--request-count", "8",
			"--connection-reuse-strategy", "never")
		r.failed(8, 0, "")
	}
}

// A server may close a kept connection at the moment at which the next request goes out on it. The request
// fails or goes to another connection; it never reaches the server twice.
func TestConnectionsThatCloseUnderTheNextRequest(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]int{}
	answered := int64(0)
	url := wire(t, func(p *peer) {
		for range 1 + p.n%3 {
			r := p.request()
			if r == nil {
				return
			}
			mu.Lock()
			seen[r.Header.Get("X-Request-ID")]++
			answered++
			mu.Unlock()
			p.say(wholeReply(""))
		}
		time.Sleep(time.Duration(p.n%7) * 100 * time.Microsecond)
	})
	r := againstFault(t, url, Options{}, "--concurrency", "4", "--request-count", "600")
	c := r.outcome.Result.Counts
	for id, n := range seen {
		if n != 1 {
			t.Errorf("request %s came %d times", id, n)
		}
	}
	// Of a reply that a reset overtook, the server knows nothing.
	if c.Sent != 600 || c.Successes < 300 || c.Successes-300 > answered || answered > 300 {
		t.Errorf("counts %+v, the server answered %d of 300", c, answered)
	}
	for _, g := range r.outcome.Result.Errors {
		if g.Error.Type != "ServerDisconnectedError" && g.Error.Type != "ClientOSError" {
			t.Errorf("error %+v", g)
		}
	}
}

// A server may answer before it has read the request, and never read it.
func TestReplyBeforeTheRequestIsSent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ reply, want string }{
		{"HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\ntoo long", "413 Content Too Large"},
		{wholeReply(""), ""},
	} {
		url := wire(t, func(p *peer) {
			if _, err := http.ReadRequest(p.br); err != nil {
				return
			}
			p.say(test.reply)
			for !closed(p) { // until the test ends: what comes of the body stays where it is
				time.Sleep(5 * time.Millisecond)
			}
		})
		r := againstFault(t, url, Options{}, "--concurrency", "2", "--request-count", "4", "--request-timeout-seconds",
			"5",
			"--extra-inputs", padding(unread))
		if test.want == "" {
			r.failed(4, 0, "")
		} else {
			r.failed(2, 2, test.want)
		}
	}
}

// A request that is to be cancelled after it was sent, but cannot be sent.
func TestCancellationOfARequestThatIsNeverRead(t *testing.T) {
	t.Parallel()
	var stage = stalls[len(stalls)-1]
	r := againstFault(t, stage.serve(t), Options{}, "--concurrency", "4", "--request-count", "4",
		"--request-timeout-seconds", "5",
		"--request-cancellation-rate", "100", "--request-cancellation-delay", "5", "--extra-inputs",
		padding(stage.name))
	r.failed(2, 2, "0 RequestSendTimeout")
}
