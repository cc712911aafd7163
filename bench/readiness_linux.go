package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"aiperf/internal/wire/client/stamp"
)

// A ready stream is one of the loop without goroutines: its socket and how many events came.
type readyStream struct {
	fd     int
	events int
}

var (
	eventStart = []byte("data: {")
	bodyEnd    = []byte("\r\n0\r\n\r\n")
)

// count counts the beginnings of events, as the bare loop does, and reports whether the reply is whole.
func (s *readyStream) count(b []byte) (whole bool) {
	s.events += bytes.Count(b, eventStart)
	return bytes.HasSuffix(b, bodyEnd)
}

// ready is the yardstick of reading by readiness: streams that are read with the kernel's stamps, by one loop over
// epoll, or by a goroutine each that waits in Go's poller. Nothing is decoded or kept.
func ready(args []string) error {
	fs := flag.NewFlagSet("ready", flag.ExitOnError)
	address := fs.String("url", "", "base URL")
	count := fs.Int("streams", 1, "streams")
	tokens := fs.Int("tokens", 1, "output tokens")
	loop := fs.Bool("loop", false, "read in one loop")
	fs.Parse(args)
	u, err := url.Parse(*address)
	if err != nil {
		return err
	}
	payload := body(*tokens, true)
	request := fmt.Appendf(nil, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", u.Host, len(payload), payload)
	began := time.Now()
	read := readApart
	if *loop {
		read = readTogether
	}
	events, err := read(u.Host, *count, request)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]float64{"Events": float64(events),
		"Seconds": time.Since(began).Seconds()})
}

func open(host string, request []byte) (*net.TCPConn, error) {
	c, err := net.Dial("tcp", host)
	if err != nil {
		return nil, err
	}
	t := c.(*net.TCPConn)
	raw, err := t.SyscallConn()
	if err != nil {
		return nil, err
	}
	if ctlErr := raw.Control(func(fd uintptr) { err = stamp.Enable(fd) }); ctlErr != nil || err != nil {
		return nil, fmt.Errorf("%w %w", ctlErr, err)
	}
	_, err = t.Write(request)
	return t, err
}

// shared is the memory of all readers, as nothing is kept.
type shared [4096]byte

func (m *shared) Take() []byte { return m[:] }
func (m *shared) Give()        {}

// readApart has a goroutine for each stream.
func readApart(host string, count int, request []byte) (events int, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	memory := sync.Pool{New: func() any { return new(shared) }}
	for range count {
		c, err := open(host, request)
		if err != nil {
			return 0, err
		}
		wg.Go(func() {
			defer c.Close()
			r, err := stamp.NewReader(c)
			if err != nil {
				return
			}
			m := memory.Get().(*shared)
			s := readyStream{}
			for {
				n, err := r.ReadInto(m)
				if err != nil || s.count(m[:n]) {
					break
				}
			}
			mu.Lock()
			events += s.events
			mu.Unlock()
		})
	}
	wg.Wait()
	return events, nil
}

// readTogether takes the sockets away from Go's poller and waits for all of them in one place. A read that does not
// fill its memory has emptied the socket; the end of a connection is an event of its own.
func readTogether(host string, count int, request []byte) (events int, err error) {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return 0, err
	}
	defer unix.Close(ep)
	streams := make([]readyStream, count)
	for i := range streams {
		c, err := open(host, request)
		if err != nil {
			return 0, err
		}
		file, err := c.File()
		c.Close()
		if err != nil {
			return 0, err
		}
		defer file.Close()
		streams[i].fd = int(file.Fd())
		if err := unix.SetNonblock(streams[i].fd, true); err != nil {
			return 0, err
		}
		if err := unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, streams[i].fd, &unix.EpollEvent{
			Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET&0xffffffff, Fd: int32(i)}); err != nil {
			return 0, fmt.Errorf("epoll_ctl: %w", err)
		}
	}
	var memory [4096]byte
	var control [128]byte
	list := make([]unix.EpollEvent, 256)
	for left := count; left > 0; {
		n, err := unix.EpollWait(ep, list, -1)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, err
		}
		for _, e := range list[:n] {
			s := &streams[e.Fd]
			for {
				n, _, _, _, err := unix.Recvmsg(s.fd, memory[:], control[:], unix.MSG_DONTWAIT)
				whole := n <= 0 && err != unix.EAGAIN || n > 0 && s.count(memory[:n])
				if whole {
					events += s.events
					left--
					_ = unix.EpollCtl(ep, unix.EPOLL_CTL_DEL, s.fd, nil)
				}
				if whole || n < len(memory) {
					break
				}
			}
		}
	}
	return events, nil
}

// readiness compares both ways with the bare loop: CPU time of an event, and memory of a stream.
func (b *bench) readiness() error {
	server, err := b.server("--ttft", "20", "--itl", "20")
	if err != nil {
		return err
	}
	defer server.stop()
	tokens := strconv.Itoa(50 * b.seconds)
	fmt.Printf("%-28s %14s %14s %14s\n", "1,000 streams × 50/s", "CPU µs/event", "KB/stream", "events")
	for range 3 {
		for _, way := range []struct{ name, arg string }{{"one loop", "-loop=true"}, {"a goroutine each", "-loop=false"}} {
			var rss [2]float64
			var cost, events float64
			for i, count := range []string{"10", "1000"} {
				r, err := b.child("ready", 1, "-url", server.url, "-streams", count, "-tokens", tokens, way.arg)
				if err != nil {
					return err
				}
				rss[i], events = r.rssKB, r.Events
				cost = r.cpu.Seconds() * 1e6 / r.Events
			}
			fmt.Printf("%-28s %14.2f %14.1f %14.0f\n", way.name, cost, (rss[1]-rss[0])/990, events)
		}
		plain, err := b.bare(1, "-url", server.url, "-concurrency", "1000", "-tokens", tokens, "-stream", "-requests", "1000")
		if err != nil {
			return err
		}
		fmt.Printf("%-28s %14.2f\n", "bare loop of net/http", plain.cpu.Seconds()*1e6/plain.Events)
	}
	return nil
}
