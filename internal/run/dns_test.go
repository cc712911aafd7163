package run

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/mockserver"
	"aiperf/internal/publish/progress"
)

// named starts a server behind a name that only the test's name server knows.
func named(t *testing.T, names *nameServer) (url string) {
	t.Helper()
	good := serve(t, mockserver.Options{Fast: true})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(good, "http://"))
	names.over = make(chan struct{})
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: names.dial}
	t.Cleanup(func() {
		net.DefaultResolver = before
		names.mu.Lock()
		close(names.over)
		names.mu.Unlock()
		names.all.Wait()
	})
	return "http://bench.test:" + port
}

// The name server fails half-way: what asked before is answered, what asks afterwards fails.
func TestNameServerThatFailsHalfWay(t *testing.T) {
	dir := t.TempDir()
	cfg := resolve(t, dir, named(t, &nameServer{answers: 5}), "--isl", "5", "--osl", "1", "--concurrency", "1",
		"--request-count", "12",
		"--connection-reuse-strategy", "never")
	cfg.Env.HTTP.UseDNSCache = false
	r := faultRun{t: t, dir: dir}
	var err error
	if r.outcome, err = execute(t, cfg, Options{}); err != nil {
		t.Fatal(err)
	}
	r.adds()
	r.failed(5, 7, "ClientConnectorDNSError")
}

// A name server that does not answer costs the request timeout; it does not hold up who stops the run.
func TestNameServerThatNeverAnswers(t *testing.T) {
	url := named(t, &nameServer{silent: true})
	r := faultRun{t: t, dir: t.TempDir()}
	var err error
	if r.outcome, err = execute(t, resolve(t, r.dir, url, "--isl", "5", "--concurrency", "3", "--request-count", "6",
		"--request-timeout-seconds", "0.1"), Options{}); err != nil {
		t.Fatal(err)
	}
	r.adds()
	r.failed(0, 6, "TimeoutError")

	begin := time.Now()
	stop := make(chan struct{})
	var once sync.Once
	_, err = execute(t, resolve(t, t.TempDir(), url, "--isl", "5", "--concurrency", "3", "--request-count", "6"),
		Options{Stop: stop, Observers: observed(func(s *progress.Snapshot) {
			if n := len(s.Phases); n > 0 && s.Phases[n-1].RequestsInFlight() == 3 {
				once.Do(func() { close(stop) })
			}
		})})
	var none *NoResultsError
	if took := time.Since(begin); !errors.As(err, &none) || took > time.Minute {
		t.Errorf("error %v after %v", err, took)
	}
}

// nameServer says that bench.test is 127.0.0.1, a number of times, and then that there is none; or nothing. Of other names
// (localhost, where the system's own list of hosts lacks it) it says that there are none.
type nameServer struct {
	mu      sync.Mutex
	answers int
	silent  bool
	over    chan struct{}
	all     sync.WaitGroup
}

func (s *nameServer) dial(context.Context, string, string) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.over:
		return nil, net.ErrClosed
	default:
	}
	client, server := net.Pipe()
	s.all.Go(func() {
		defer server.Close()
		if s.silent {
			<-s.over
			return
		}
		for {
			var size [2]byte // over streams a message has its length before it
			if _, err := io.ReadFull(server, size[:]); err != nil {
				return
			}
			query := make([]byte, int(size[0])<<8|int(size[1]))
			if _, err := io.ReadFull(server, query); err != nil {
				return
			}
			reply := s.answer(query)
			if _, err := server.Write(append([]byte{byte(len(reply) >> 8), byte(len(reply))}, reply...)); err != nil {
				return
			}
		}
	})
	return client, nil
}

// answer makes a message of a query with one question.
func (s *nameServer) answer(query []byte) []byte {
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	end += 5 // the end of the name, type and class
	reply := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, query[12:end]...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if query[end-3] != 1 { // not an IPv4 address: there is none
		return reply
	}
	if s.answers == 0 || !strings.HasPrefix(string(query[12:]), "\x05bench\x04test\x00") {
		reply[3] |= 3 // no such name
		return reply
	}
	s.answers--
	reply[7] = 1
	return append(reply, 0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1)
}
