package client

import (
	"bufio"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

var heads = []string{
	"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\nrest",
	"HTTP/1.1 200 OK\r\ncontent-type:text/event-stream; charset=utf-8 \r\ntransfer-encoding: chunked\r\n" +
		"Date: Sat, 28 Nov 2026 05:00:00 GMT\r\nx-request-id: 5\r\nConnection: keep-alive\r\n\r\nrest",
	"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 0000000000000000012\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Encoding: gzip\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nKeep-Alive: timeout=5\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 1\nX: y\r\n\r\n",
	"HTTP/1.1 200 OK\r\nA: b\n\nContent-Length: 1\r\n\r\n",
	"HTTP/1.1 200 OK\r\nA: b\r\n folded\r\nContent-Length: 1\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Type: a\r\nContent-Type: b\r\nContent-Length: 1\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length : 1\r\n\r\n",
	"HTTP/1.1 200 OK\r\nX-\xc3\xa9: 1\r\nContent-Length: 1\r\n\r\n",
	"HTTP/1.1 200 OK\r\n\r\n",
	"HTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\n",
	"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n",
}

// agrees checks that a head that is read in place means what net/http makes of it; it reports whether it was.
func agrees(t *testing.T, u *usualHead, text string) bool {
	t.Helper()
	in := inboxOf(strings.NewReader(text))
	_, _ = in.Peek(1)
	before := in.Buffered()
	got := u.read(in)
	if got == nil {
		if in.Buffered() != before {
			t.Fatalf("%q: %d bytes were consumed of a head that was not taken", text, before-in.Buffered())
		}
		return false
	}
	rest, _ := io.ReadAll(in)
	reference := bufio.NewReader(strings.NewReader(text))
	want, err := http.ReadResponse(reference, &http.Request{Method: http.MethodPost})
	if err != nil {
		t.Fatalf("%q: net/http: %v", text, err)
	}
	wantRest, _ := io.ReadAll(reference)
	switch {
	case got.Status != want.Status, got.StatusCode != want.StatusCode, got.Proto != want.Proto,
		got.ContentLength != want.ContentLength, got.Close != want.Close,
		!slices.Equal(got.TransferEncoding, want.TransferEncoding),
		got.Header.Get("Content-Type") != want.Header.Get("Content-Type"):
		t.Fatalf("%q:\n got %+v\nwant %+v", text, got, want)
	case string(rest) != string(wantRest):
		t.Fatalf("%q: %q follows, want %q", text, rest, wantRest)
	case len(want.Header["Keep-Alive"])+len(want.Header["Content-Encoding"])+len(want.Trailer) > 0:
		t.Fatalf("%q: a header that is needed was passed over", text)
	}
	return true
}

func TestUsualHeadsMeanWhatNetHTTPReads(t *testing.T) {
	u, taken := new(usualHead), 0
	for _, text := range heads {
		if agrees(t, u, text) {
			taken++
		}
	}
	if taken != 3 {
		t.Errorf("%d heads were read in place, want 3", taken)
	}
	if agrees(t, u, heads[0][:40]) {
		t.Error("a part of a head was taken for one")
	}
}

func TestUsualHeadsDoNotAllocate(t *testing.T) {
	u, source := new(usualHead), strings.NewReader(heads[1])
	in := inboxOf(source)
	if n := testing.AllocsPerRun(100, func() {
		source.Reset(heads[1])
		_, _ = in.Peek(1)
		if u.read(in) == nil {
			t.Fatal("not taken")
		}
		in.Discard(in.Buffered())
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzUsualHeads(f *testing.F) {
	for _, text := range heads {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < readBuffer {
			agrees(t, new(usualHead), text)
		}
	})
}

func BenchmarkUsualHead(b *testing.B) {
	u, source := new(usualHead), strings.NewReader(heads[1])
	in, br := inboxOf(source), bufio.NewReaderSize(source, readBuffer)
	for _, c := range []struct {
		name string
		read func()
	}{
		{"in-place", func() { _, _ = in.Peek(1); u.read(in); in.Discard(in.Buffered()) }},
		{"net-http", func() { br.Reset(source); _, _ = http.ReadResponse(br, &http.Request{Method: http.MethodPost}) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				source.Reset(heads[1])
				c.read()
			}
		})
	}
}
