package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"aiperf/internal/base/clock"
	"aiperf/internal/wire/client/sse"
)

// inboxOf is the inbox of a connection that brings what r returns.
func inboxOf(r io.Reader) *inbox {
	w := newWire(&streamConn{body: io.NopCloser(r)}, clock.New(), &sources{})
	return &newConnection(&origin{}, w, w).in
}

// pieces returns the pieces of a text one read at a time, and an error after the last.
type pieces struct {
	text []byte
	size int
	err  error
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.text) == 0 {
		return 0, p.err
	}
	n := copy(b, p.text[:min(p.size, len(p.text))])
	p.text = p.text[n:]
	return n, nil
}

// sameAsBufio reads a text by both readers, as the bytes of how say, and compares all that they return.
func sameAsBufio(t *testing.T, text, how []byte, size int) {
	t.Helper()
	failure := errors.New("the connection broke")
	in := inboxOf(&pieces{text, size, failure})
	want := bufio.NewReaderSize(&pieces{text, size, failure}, readBuffer)
	var a, b [3 * readBuffer]byte
	for i, op := range how {
		n := int(op>>2) * (1 + readBuffer/50)
		var gotBytes, wantBytes []byte
		var gotErr, wantErr error
		switch op & 3 {
		case 0:
			gotBytes, gotErr = in.Peek(n)
			wantBytes, wantErr = want.Peek(n)
		case 1:
			gotBytes, gotErr = in.ReadSlice('\n')
			wantBytes, wantErr = want.ReadSlice('\n')
		case 2:
			var k, m int
			k, gotErr = in.Read(a[:n])
			m, wantErr = want.Read(b[:n])
			gotBytes, wantBytes = a[:k], b[:m]
		case 3:
			n = min(n, want.Buffered())
			in.Discard(n)
			_, _ = want.Discard(n)
		}
		if !bytes.Equal(gotBytes, wantBytes) || gotErr != wantErr || in.Buffered() != want.Buffered() {
			t.Fatalf("step %d, %d of %d: %d bytes, %v, %d left; bufio: %d bytes, %v, %d left", i, op&3, n, len(gotBytes),
				gotErr, in.Buffered(), len(wantBytes), wantErr, want.Buffered())
		}
	}
}

func FuzzInbox(f *testing.F) {
	f.Add([]byte("data: text\n\n"), 500, []byte{1, 1, 2, 5, 9, 0x42, 0x83, 0xfe, 1, 0, 0xfc, 1, 1, 3}, 700)
	f.Add([]byte("0123456789"), 500, []byte{1, 1, 1, 0xfc, 0xfe, 0x82, 1, 1, 2, 2}, 5000)
	f.Add([]byte("0123456789\n"), 300, []byte{0xfc, 2, 6, 0x86, 1, 0x81, 0xff, 1, 1, 1, 1}, 1)
	f.Add([]byte("ab"), 1, []byte{0, 4, 2, 6, 6, 1, 1}, 1)
	f.Fuzz(func(t *testing.T, text []byte, times int, how []byte, size int) {
		if size > 0 && times > 0 && times*len(text) < 8*readBuffer && len(how) < 100 {
			sameAsBufio(t, bytes.Repeat(text, times), how, size)
		}
	})
}

func TestWhatFollowsAHeadStaysInTheInbox(t *testing.T) {
	c, err := New(DefaultOptions(), clock.New())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, long := range []int{0, 500, readBuffer / 2, readBuffer, 3 * readBuffer} {
		for _, size := range []int{1, 90, 1000, 10 * readBuffer} {
			interim := "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
			head := "HTTP/1.1 418 Teapot\r\nX-Long: " + strings.Repeat("x", long) + "\r\nTransfer-Encoding: chunked\r\n\r\n"
			body := strings.Repeat("5\r\nhello\r\n", 700)
			in := inboxOf(&pieces{[]byte(interim + head + body), size, io.EOF})
			for _, status := range []int{103, 418} {
				if resp, err := c.readHead(in, http.MethodPost); err != nil || resp.StatusCode != status {
					t.Fatalf("%d, %d: %+v, %v", long, size, resp, err)
				}
			}
			if rest, _ := io.ReadAll(in); string(rest) != body {
				t.Errorf("a header of %d bytes in pieces of %d: %d bytes follow, want %d", long, size, len(rest), len(body))
			}
		}
	}
}

func TestAStreamThatWaitsHasNoScannerMemory(t *testing.T) {
	c, err := New(DefaultOptions(), clock.New())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	x := &exchange{Lifetime: Lifetime{req: new(Request)}, client: c, out: new(Exchange), scanner: new(sse.Scanner),
		body: body{framing: framedByClose}}
	scan := func(text string) (events int) {
		t.Helper()
		x.body.in = inboxOf(strings.NewReader(text))
		x.conn = x.body.in.conn
		if n, err := x.readStream(nil, streamRoom, nil); n != len(text) || err != nil {
			t.Fatalf("%d bytes, %v", n, err)
		}
		for x.scanner.Next() != nil {
			events++
		}
		x.waits()
		return events
	}
	if n := scan("data: a\n\ndata: b\n\n"); n != 2 || x.room != nil {
		t.Errorf("%d events; room %v", n, x.room)
	}
	if n := scan("data: c\n\ndata: d"); n != 1 || x.room == nil {
		t.Errorf("%d events; the memory of part of an event: %v", n, x.room)
	}
	if n := scan("\n\n"); n != 1 || x.room != nil {
		t.Errorf("%d events; room %v", n, x.room)
	}
	// Memory that a large event made is dropped, and the next read has a place again.
	x.scanner.Use(nil)
	x.room = new([]byte)
	copy(x.scanner.Space(3*floodRoom), "data: e\n\n")
	x.scanner.Filled(len("data: e\n\n"))
	for x.scanner.Next() != nil {
	}
	if x.waits(); x.room != nil {
		t.Error("the memory of a large event was kept")
	}
	if n := scan("data: f\n\n"); n != 1 {
		t.Errorf("%d events behind a large one", n)
	}
}
