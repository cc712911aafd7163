package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/neterr"
	"aiperf/internal/measure/record"

	"pgregory.net/rapid"
)

// A scene is a stream of which the events come while the client is not reading.
type scene struct {
	rec       *recorder
	x         Exchange
	source    StampSource
	writtenNS int64 // before the server wrote what the client is late for
	releaseNS int64 // after that had arrived, before the client went on
}

// play streams the first event, holds the client while it handles it until all of late has arrived,
// each piece in a segment of its own, and lets it go on.
func play(t *testing.T, set func(*Options), secure bool, late ...string) scene {
	t.Helper()
	cert, roots := certificate(t)
	write := make(chan string)
	written := make(chan struct{})
	serve := func(c net.Conn, _ int64) {
		if _, _, ok := readRequest(bufio.NewReader(c)); !ok {
			return
		}
		for s := range write {
			_, _ = io.WriteString(c, s)
			written <- struct{}{}
		}
	}
	url := "http://"
	if secure {
		serve, url = secured(cert, serve), "https://"
	}
	s := newRawServer(t, serve)
	c := newTestClient(t, func(o *Options) {
		o.RootCAs = roots
		if set != nil {
			set(o)
		}
	})
	var socket net.Conn
	open := c.dialer.open
	c.dialer.open = func(ctx context.Context, network, address string) (nc net.Conn, err error) {
		nc, err = open(ctx, network, address)
		socket = nc
		return nc, err
	}
	reading, goOn, seen := make(chan struct{}), make(chan struct{}), make(chan struct{})
	out := scene{rec: new(recorder)}
	out.rec.on = func() {
		switch len(out.rec.events) {
		case 1:
			close(reading)
			<-goOn
		case 1 + len(late):
			close(seen)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		out.x = c.Send(t.Context(), post(url+s.addr), out.rec)
	}()
	write <- sseHead + chunk("data: first\n\n")
	<-written
	<-reading
	out.writtenNS = c.clock.NowNS()
	queued := 0
	for _, piece := range late {
		write <- piece
		<-written
		for before := queued; queued == before; runtime.Gosched() {
			queued = queuedBytes(t, socket)
		}
	}
	out.releaseNS = c.clock.NowNS()
	close(goOn)
	<-seen // the kernel would join what else comes
	write <- lastChunk
	<-written
	close(write)
	<-done
	out.source = c.StampSource()
	if out.x.Err != nil {
		t.Fatal(out.x.Err)
	}
	return out
}

func TestKernelStampStaysWithTheArrival(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls=%v", secure), func(t *testing.T) {
			s := play(t, nil, secure, chunk("data: second\n\n"))
			if s.source != (StampSource{Source: TimestampKernel}) || !s.x.KernelStamps {
				t.Fatalf("source %+v, kernel stamps %v", s.source, s.x.KernelStamps)
			}
			at := s.rec.stamps[1]
			if at < s.writtenNS-pairTolerance || at > s.releaseNS+pairTolerance {
				t.Errorf("stamp %d, the event came between %d and %d", at, s.writtenNS, s.releaseNS)
			}
			if lag := s.x.ReadLagNS; at+lag < s.releaseNS {
				t.Errorf("the read returned at %d by its lag, the client went on at %d", at+lag, s.releaseNS)
			}
			if s.x.StampedReads != s.x.Reads || s.x.ReadLagSumNS < s.x.ReadLagNS || s.x.FirstReadLagNS < 0 {
				t.Errorf("%+v", s.x.Arrival)
			}
		})
	}
}

func TestUserStampsLagAndSayByHowMuch(t *testing.T) {
	s := play(t, func(o *Options) { o.TimestampSource = TimestampUser }, false, chunk("data: second\n\n"))
	if s.source != (StampSource{Source: TimestampUser}) || s.x.KernelStamps {
		t.Fatalf("source %+v, kernel stamps %v", s.source, s.x.KernelStamps)
	}
	at := s.rec.stamps[1]
	if at < s.releaseNS {
		t.Errorf("stamp %d, before the client went on at %d", at, s.releaseNS)
	}
	if s.x.StampedReads == 0 || at-s.x.ReadLagNS > s.releaseNS+pairTolerance {
		t.Errorf("the event came before %d, by the lag at %d (%+v)", s.releaseNS, at-s.x.ReadLagNS, s.x.Arrival)
	}
}

func TestEventsReadTogetherAreMarked(t *testing.T) {
	s := play(t, nil, false, chunk("data: second\n\n"), chunk("data: third\n\n"), chunk("data: fourth\n\n"),
		chunk("data: [DONE]\n\n"))
	if s.x.CoalescedReads != 1 || s.x.CoalescedEvents != 3 {
		t.Errorf("%d reads, %d events; want 1 and 3", s.x.CoalescedReads, s.x.CoalescedEvents)
	}
	if s.rec.stamps[1] != s.rec.stamps[3] || s.rec.stamps[0] >= s.rec.stamps[1] {
		t.Errorf("stamps %v", s.rec.stamps)
	}
}

// The kernel may stamp a reply before the write of its request has returned.
func TestKernelStampsKeepTheOrderOfThings(t *testing.T) {
	event := chunk("data: " + strings.Repeat("x", 100) + "\n\n")
	s := newRawServer(t, func(c net.Conn, _ int64) {
		br := bufio.NewReader(c)
		for {
			if _, _, ok := readRequest(br); !ok {
				return
			}
			for _, part := range []string{sseHead, event, event, event + event, event, lastChunk} {
				if _, err := io.WriteString(c, part); err != nil {
					return
				}
			}
		}
	})
	c := newTestClient(t, nil)
	url := "http://" + s.addr
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				rec, x := send(c, post(url))
				if x.Err != nil || !x.KernelStamps || len(rec.stamps) != 5 {
					t.Errorf("error %v, %+v", x.Err, x.Arrival)
					return
				}
				before := x.AckNS
				for _, at := range append(rec.stamps, x.LastResponseNS, x.EndNS, c.clock.NowNS()) {
					if at < before {
						t.Errorf("stamps go back: start %d, head %d, events %v, end %d", x.StartNS, x.AckNS, rec.stamps,
							x.EndNS)
						return
					}
					before = at
				}
				if x.AckNS < x.StartNS || x.SentNS < x.StartNS || x.SentNS > x.AckNS ||
					x.Timing.Waiting == record.Absent || x.Timing.Waiting < 0 || x.Timing.Sending < 0 ||
					x.ReadLagNS < 0 {
					t.Errorf("start %d, head %d, %+v, %+v", x.StartNS, x.AckNS, x.Timing, x.Arrival)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestTrapReplyBeforeTheWriteReturned(t *testing.T) {
	s := Stamps{SendStart: 100, HeadersSent: 300, SendEnd: 300, HeadersReceived: 250, ReceiveStart: 250,
		ReceiveEnd: 260}
	s.answered()
	if got := s.Timing(); got.Sending != 150 || got.Waiting != 0 || s.HeadersSent != 250 {
		t.Errorf("sending %d, waiting %d, headers sent %d; want 150, 0, 250", got.Sending, got.Waiting, s.HeadersSent)
	}
}

// tcpWire is a wire and the other end of its connection.
func tcpWire(t *testing.T, enable bool) (*wire, net.Conn) {
	t.Helper()
	accepted := make(chan net.Conn, 1)
	s := newRawServer(t, func(c net.Conn, _ int64) {
		accepted <- c
		<-t.Context().Done()
	})
	src, err := newSources(TimestampAuto)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(src.close)
	d := net.Dialer{Control: socketOptions{stamps: enable}.control}
	nc, err := d.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return newWire(nc, clock.New(), src), <-accepted
}

// exchangeByte has the other end send a byte and reads it.
func exchangeByte(t *testing.T, w *wire, far net.Conn) {
	t.Helper()
	if _, err := far.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Read(make([]byte, 10)); n != 1 || err != nil {
		t.Fatal(n, err)
	}
}

func TestTrapClockStepSpoilsNoStamp(t *testing.T) {
	w, far := tcpWire(t, true)
	exchangeByte(t, w, far)
	if !w.stamped {
		t.Fatal("no stamp")
	}
	const hour = int64(3600e9)
	for _, step := range []int64{hour, -hour} {
		w.wallOffset += step // as if the wall clock had been set since
		before := w.clock.NowNS()
		exchangeByte(t, w, far)
		if w.stamped || w.readNS < before {
			t.Errorf("stamped %v at %d, after %d", w.stamped, w.readNS, before)
		}
		exchangeByte(t, w, far)
		if !w.stamped {
			t.Error("no stamp after the step was seen")
		}
	}
}

func TestConnectionWithoutStampsFallsBack(t *testing.T) {
	w, far := tcpWire(t, false)
	for range maxSilent {
		if w.kernel == nil {
			t.Fatal("gave up too early")
		}
		before := w.clock.NowNS()
		exchangeByte(t, w, far)
		if w.stamped || w.readNS < before {
			t.Errorf("stamped %v at %d, after %d", w.stamped, w.readNS, before)
		}
	}
	if w.kernel != nil || w.sources.reason == "" {
		t.Errorf("still asks the kernel; reason %q", w.sources.reason)
	}
	exchangeByte(t, w, far)
}

func TestOtherConnectionsAreStampedByTheRead(t *testing.T) {
	bubble(t, nil, slowly(time.Second, text("200 OK", "text/plain", "x")), func(t *testing.T, c *Client) {
		_, x := send(c, post(pipeURL))
		if x.Err != nil || x.KernelStamps || x.StampedReads != 0 || x.EndNS != second+x.StartNS {
			t.Errorf("%v, start %d, end %d, %+v", x.Err, x.StartNS, x.EndNS, x.Arrival)
		}
		if s := c.StampSource(); !strings.Contains(s.Reason, "not a TCP socket") {
			t.Errorf("%+v", s)
		}
	})
}

func TestUnknownTimestampSourceIsAnError(t *testing.T) {
	o := DefaultOptions()
	o.TimestampSource = "hardware"
	if _, err := New(o, clock.New()); err == nil || !strings.Contains(err.Error(), "auto, kernel or user") {
		t.Error(err)
	}
}

func TestStampedReadAllocatesNothing(t *testing.T) {
	w, far := tcpWire(t, true)
	one, buf := []byte{1}, make([]byte, 10)
	if allocs := testing.AllocsPerRun(200, func() {
		_, _ = far.Write(one)
		_, _ = w.Read(buf)
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

var localPort = regexp.MustCompile(`127\.0\.0\.1:\d+->`)

func TestReadErrorsAreThoseOfThePlainSocket(t *testing.T) {
	reset := func(c net.Conn, _ int64) {
		br := bufio.NewReader(c)
		_, _, _ = readRequest(br)
		_ = c.(*net.TCPConn).SetLinger(0)
	}
	silent := func(c net.Conn, _ int64) { _, _ = io.Copy(io.Discard, c) }
	for name, serve := range map[string]func(net.Conn, int64){"reset": reset,
		"end": func(c net.Conn, _ int64) { _, _, _ = readRequest(bufio.NewReader(c)) }} {
		s := newRawServer(t, serve)
		var texts []string
		for _, plain := range []bool{false, true} {
			c := newTestClient(t, nil)
			if plain {
				c.sources.close()
				c.sources.hold = nil
			}
			_, x := send(c, post("http://"+s.addr))
			if x.Err == nil {
				t.Fatal("no error")
			}
			texts = append(texts, localPort.ReplaceAllString(fmt.Sprintf("%+v", *x.Err), ""))
		}
		if texts[0] != texts[1] {
			t.Errorf("%s: %s\nplain: %s", name, texts[0], texts[1])
		}
	}
	c := newTestClient(t, func(o *Options) { o.Timeout = 1 })
	if _, x := send(c, post("http://"+newRawServer(t, silent).addr)); x.Err == nil || x.Err.Type != neterr.Timeout {
		t.Errorf("%+v", x.Err)
	}
}

func TestWholeBodiesAreStamped(t *testing.T) {
	s := newRawServer(t, answer(text("200 OK", "application/json", "{}")))
	c := newTestClient(t, func(o *Options) { o.TimestampSource = TimestampKernel })
	rec, x := send(c, &Request{Method: http.MethodPost, URL: "http://" + s.addr, CancelAfterNS: -1})
	if x.Err != nil || !x.KernelStamps || x.Reads != 1 || x.FirstReadLagNS != x.ReadLagNS || rec.stamps[0] != x.EndNS {
		t.Errorf("%v, %+v, stamps %v, end %d", x.Err, x.Arrival, rec.stamps, x.EndNS)
	}
}

// waiter has the server write when the inbox waits.
type waiter struct {
	in   *inbox
	wait chan struct{}
	held bool // the inbox had memory while it waited
}

func (w *waiter) waits() {
	w.held = w.held || w.in.mem != nil
	select {
	case w.wait <- struct{}{}:
	default:
	}
}

func TestAnInboxThatWaitsHasNoMemory(t *testing.T) {
	const pieces = 5
	wait := make(chan struct{}, 1)
	s := newRawServer(t, func(c net.Conn, _ int64) {
		for range pieces {
			<-wait
			_, _ = io.WriteString(c, "piece\n")
		}
	})
	host, port, _ := net.SplitHostPort(s.addr)
	c := newTestClient(t, nil)
	c.dialer.mayTry()
	conn, err := c.dialer.dial(context.Background(), &origin{scheme: "http", host: host, port: port}, new(Stamps))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.close()
	if !conn.givesMemory() {
		t.Fatal("no kernel stamps: " + c.sources.reason)
	}
	w := &waiter{in: &conn.in, wait: wait}
	conn.in.waiting = w
	for i := range pieces {
		if line, err := conn.in.ReadSlice('\n'); string(line) != "piece\n" || err != nil {
			t.Fatalf("piece %d: %q, %v", i, line, err)
		}
	}
	if _, err := conn.in.Peek(1); err != io.EOF || conn.in.Buffered() != 0 {
		t.Errorf("at the end: %v", err)
	}
	if w.held {
		t.Error("the inbox waited with memory")
	}
}

// The clocks are read one after the other, so that two readings differ by the time between them.
func TestBytesOfOneStampHaveOneInstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const offset = 1_700_000_000_000_000_000
		late := rapid.Int64Range(0, pairTolerance)
		w := &wire{wallOffset: offset - late.Draw(t, "first reading")}
		wall, now, last := int64(offset), int64(0), int64(0)
		for range 50 {
			passed := rapid.SampledFrom([]int64{0, 0, 1, 100, 100_000}).Draw(t, "time between stamps")
			wall += passed
			now = max(now, wall-offset) + rapid.Int64Range(0, 1000).Draw(t, "read lag")
			at := w.arrived(wall, offset-late.Draw(t, "reading"), now)
			switch {
			case passed == 0 && last != 0 && at != last:
				t.Fatalf("one stamp became %d and %d", last, at)
			case at < last || at > now || at-(wall-offset) > pairTolerance:
				t.Fatalf("%d after %d, read at %d, arrived at %d", at, last, now, wall-offset)
			}
			last = at
		}
	})
}
