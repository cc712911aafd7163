package client

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client/stamp"
)

// maxHead bounds the bytes of a response head.
const maxHead = 1 << 20

var errHeadTooLarge = errors.New("response headers exceed 1 MiB")

// wire is the socket of a connection: it stamps each read the moment it returned. Under TLS it is
// below the encryption. The stamp of the last read is readNS: the instant of arrival where the kernel reports it and
// the run uses it, else the instant at which the read returned.
type wire struct {
	net.Conn
	clock   *clock.Clock
	sources *sources
	readNS  int64
	reads   int64
	readErr error // the first, which is also the last; a deadline is none
	// head counts down the bytes that a response head may still take; negative = not in a head.
	head int

	raw syscall.RawConn // nil if it is no socket of the system

	kernel *stamp.Reader // nil if the kernel gives no stamps
	// stamped reports whether the kernel stamped the last read, lagNS is how long before the return of the read its
	// stamp is.
	stamped bool
	lagNS   int64
	// stampNS is the last stamp, on the wall clock.
	stampNS int64
	// floorNS is an instant before which nothing that is read from now on can have come.
	floorNS int64
	// wallOffset is what the wall clock is ahead of the run's: the most of all readings since it was last set. The
	// clocks are read one after the other, which makes a reading too small by the time between them, and never too
	// large.
	wallOffset int64
	// closed is called when the socket is closed; nil = nothing is.
	closed func()
	// dialled is how the connection came about, where its exchanges did not open it themselves.
	dialled *Stamps
	// shared reports that a library writes to the connection, requests and what its protocol needs between them.
	shared bool
	// begun reports that something was read since the last request, quick that acknowledgements are not delayed since
	// then.
	begun, quick bool
	// silent counts the reads without a stamp up to the first with one; negative once there was one.
	silent int
}

// newWire wraps a connection whose reads are stamped: by the kernel where it can be, else by this process, with the
// reason noted once for the report.
func newWire(nc net.Conn, clk *clock.Clock, src *sources) *wire {
	w := &wire{Conn: nc, clock: clk, sources: src, head: -1}
	if sc, ok := nc.(syscall.Conn); ok {
		if raw, err := sc.SyscallConn(); err == nil {
			w.raw = raw
		}
	}
	if !src.measured() {
		return w
	}
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		src.noteFallback("a connection is not a TCP socket of the system")
		return w
	}
	var err error
	if w.kernel, err = stamp.NewReader(tcp); err != nil {
		w.kernel = nil
		src.noteFallback(err.Error())
		return w
	}
	_, w.wallOffset = w.bothClocks()
	return w
}

// acknowledge makes the kernel acknowledge at once what has come and what comes from now on, until the next write. The
// kernel takes a socket that sends soon after it received for one end of a dialogue, and holds its acknowledgements
// back, for 40 ms, to send them with the next data. A server with Nagle's algorithm holds the first token of a reply
// back for as long, until the head of the reply is acknowledged.
func (w *wire) acknowledge() {
	if w.raw != nil && AcknowledgesAtOnce {
		_ = w.raw.Control(acknowledgeAtOnce)
	}
}

// ask is called before a request is written, while nobody reads.
func (w *wire) ask() { w.begun, w.quick = false, false }

// beforeRead ends the delay of acknowledgements where a reply goes on after its first part: a reply that comes in one
// part needs none of its own, the next request has it. On a shared connection nobody knows what belongs to what: each
// write ends the delay.
func (w *wire) beforeRead() {
	if w.begun && !w.quick && !w.shared {
		w.quick = true
		w.acknowledge()
	}
}

// Write implements net.Conn.
func (w *wire) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	if w.shared {
		w.acknowledge()
	}
	return n, err
}

// Close implements net.Conn.
func (w *wire) Close() error {
	if w.closed != nil {
		w.closed()
	}
	return w.Conn.Close()
}

func (w *wire) Read(p []byte) (n int, err error) {
	if w.readErr != nil {
		return 0, w.readErr
	}
	w.beforeRead()
	if w.kernel == nil {
		n, err = w.Conn.Read(p)
		w.readNS = w.clock.NowNS()
	} else {
		n, err = w.kernel.Read(p)
		w.stamp(n)
	}
	return n, w.account(n, err)
}

// readInto reads into the memory of m, of a wire with stamps.
func (w *wire) readInto(m stamp.Memory) (int, error) {
	if w.readErr != nil {
		return 0, w.readErr
	}
	w.beforeRead()
	n, err := w.kernel.ReadInto(m)
	w.stamp(n)
	return n, w.account(n, err)
}

// account counts a read of n bytes and returns its error.
func (w *wire) account(n int, err error) error {
	w.reads++
	w.begun = w.begun || n > 0
	if err == nil && w.head >= 0 {
		if w.head -= n; w.head < 0 {
			err = errHeadTooLarge
		}
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		w.readErr = err
	}
	return err
}

// bothClocks reads the run's clock and the lead of the wall clock over it, together.
func (w *wire) bothClocks() (nowNS, lead int64) {
	now := time.Now()
	nowNS = w.clock.MonoNS(now)
	return nowNS, now.UnixNano() - nowNS
}

// stamp takes the stamps of a read of n bytes that has just returned.
func (w *wire) stamp(n int) {
	now, lead := w.bothClocks()
	w.readNS, w.stamped, w.lagNS = now, false, 0
	wall := w.kernel.WallNS()
	if wall == 0 {
		w.unstamped(n)
		return
	}
	w.silent = -1
	if !near(lead, w.wallOffset) && !w.pair(&lead) {
		w.floorNS = now
		return
	}
	arrived := w.arrived(wall, lead, now)
	w.stamped, w.lagNS = true, now-arrived
	if w.sources.kernel {
		w.readNS = arrived
	}
}

// arrived converts a stamp to the run's clock, by a lead of the wall clock that was read at now. Bytes of one stamp
// have one instant, whatever the clocks say at each read.
func (w *wire) arrived(wall, lead, now int64) int64 {
	w.wallOffset = max(w.wallOffset, lead)
	if wall != w.stampNS {
		w.stampNS, w.floorNS = wall, min(max(wall-w.wallOffset, w.floorNS), now)
	}
	return w.floorNS
}

// pairTolerance is by how much two clocks that are read together may differ from how they differed before.
const pairTolerance = int64(record.InstantError)

func near(a, b int64) bool { return a-b <= pairTolerance && b-a <= pairTolerance }

// pair reads the clocks again after a reading that does not fit the one before: the thread was suspended
// between them, or the wall clock was set. In the latter case the kernel's stamp, which may be from
// before or after, is worth nothing: pair returns false.
func (w *wire) pair(lead *int64) bool {
	for range 3 {
		last := *lead
		if _, *lead = w.bothClocks(); near(*lead, w.wallOffset) {
			return true
		}
		if near(*lead, last) {
			break
		}
	}
	w.wallOffset = *lead
	return false
}

// maxSilent is the number of reads after which a connection that yields no stamps is read plainly.
const maxSilent = 16

func (w *wire) unstamped(n int) {
	w.floorNS = w.readNS
	if n <= 0 || w.silent < 0 {
		return
	}
	if w.silent++; w.silent == maxSilent {
		w.kernel = nil
		w.sources.noteFallback(fmt.Sprintf("the kernel stamped none of the first %d reads of a connection", maxSilent))
	}
}
