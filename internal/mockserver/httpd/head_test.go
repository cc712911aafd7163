package httpd_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"

	"aiperf/internal/mockserver/httpd"
)

func parseText(text string) (h httpd.Head, err *httpd.Error) {
	err = h.Parse([]byte(text))
	return h, err
}

func TestHeadFields(t *testing.T) {
	var h httpd.Head
	text := "POST http://example.org:80/v1/x?a=b HTTP/1.1\r\nHost: x\r\ncontent-LENGTH:  12 \r\n" +
		"Connection: foo , Close\r\nExpect: 100-Continue\r\nAuthorization: Bearer k\r\nX-Request-ID: " +
		"r\r\nx-mock-fault: never\r\n\r\n"
	if n := httpd.HeadEnd([]byte(text), 0); n != len(text) {
		t.Fatalf("head of %d bytes, want %d", n, len(text))
	}
	if err := h.Parse([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if string(h.Method) != "POST" || string(h.Path) != "/v1/x" || h.Length != 12 || !h.Close || !h.Expect || h.HTTP10 {
		t.Errorf("%+v", h)
	}
	var fields string
	for _, f := range h.Fields {
		fields += string(f.Name) + "=" + string(f.Value) + ";"
	}
	if fields != "Host=x;content-LENGTH=12;Connection=foo , Close;Expect=100-Continue;Authorization=Bearer k;"+
		"X-Request-ID=r;x-mock-fault=never;" {
		t.Errorf("fields %s", fields)
	}
}

func TestHeadEndIsFoundHoweverTheBytesCome(t *testing.T) {
	for _, text := range []string{"A\r\nB\r\n\r\n", "A\nB\n\n", "A\r\nB\n\r\n"} {
		seen := 0
		for i := 1; i <= len(text); i++ {
			got := httpd.HeadEnd([]byte(text[:i]), seen)
			if want := -1; i < len(text) && got != want || i == len(text) && got != len(text) {
				t.Errorf("%q after %d bytes: %d", text, i, got)
			}
			seen = i
		}
	}
}

func TestMalformedHeads(t *testing.T) {
	const ok = "GET / HTTP/1.1\r\nHost: x\r\n"
	for text, status := range map[string]int{
		"GET /\r\nHost: x\r\n\r\n":                                              400,
		"GET  HTTP/1.1\r\nHost: x\r\n\r\n":                                      400,
		"G@T / HTTP/1.1\r\nHost: x\r\n\r\n":                                     400,
		"GET /\x01 HTTP/1.1\r\nHost: x\r\n\r\n":                                 400,
		"GET / HTTQ/1.1\r\nHost: x\r\n\r\n":                                     400,
		"PRI * HTTP/2.0\r\n\r\n":                                                505,
		"GET / HTTP/1.1\r\n\r\n":                                                400,
		ok + "Host: y\r\n\r\n":                                                  400,
		ok + " folded: x\r\n\r\n":                                               400,
		ok + "no colon\r\n\r\n":                                                 400,
		ok + "a: \x00\r\n\r\n":                                                  400,
		ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n":                   400,
		ok + "Content-Length: -1\r\n\r\n":                                       400,
		ok + "Content-Length: +1\r\n\r\n":                                       400,
		ok + "Content-Length: 1, 1\r\n\r\n":                                     400,
		ok + "Content-Length: 99999999999999999999\r\n\r\n":                     400,
		ok + "Content-Length: 999999999999\r\n\r\n":                             413,
		ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n":          400,
		ok + "Transfer-Encoding: gzip\r\n\r\n":                                  501,
		ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n": 501,
		ok + "Expect: wonders\r\n\r\n":                                          417,
		"GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n":                  400,
	} {
		if _, err := parseText(text); err == nil || err.Status != status {
			t.Errorf("%q: %v, want %d", text, err, status)
		}
	}
	for _, text := range []string{ok + "\r\n", "GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\nHost:\n\n",
		ok + "Content-Length: 5\r\nContent-Length: 5\r\n\r\n"} {
		if _, err := parseText(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzHead(f *testing.F) {
	f.Add("POST /v1/x?y HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
	f.Add("GET http://a/ HTTP/1.0\nConnection: keep-alive\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		n := httpd.HeadEnd([]byte(text), 0)
		if n < 0 {
			return
		}
		h, refusal := parseText(text[:n])
		if refusal != nil {
			return
		}
		theirs, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			return // stricter about hosts and targets
		}
		if theirs.Method != string(h.Method) || theirs.ProtoMinor == 0 != h.HTTP10 {
			t.Errorf("%s %s, want %s %s", h.Method, h.Path, theirs.Method, theirs.Proto)
		}
		if length := max(h.Length, 0); !h.Chunked && theirs.ContentLength >= 0 && theirs.ContentLength != length {
			t.Errorf("length %d, want %d", length, theirs.ContentLength)
		}
	})
}

// Whatever way the bytes come, the body is what net/http makes of it.
func FuzzChunks(f *testing.F) {
	f.Add("3\r\nabc\r\n0\r\n\r\n", 1)
	f.Add("A;x=y\r\n0123456789\r\n00\r\nT: v\r\n\r\nnext", 4)
	f.Fuzz(func(t *testing.T, text string, step int) {
		step = max(1, step)
		var c httpd.ChunkReader
		var done bool
		var refusal *httpd.Error
		for i := 0; !done && refusal == nil && i < len(text); {
			i = min(i+min(step, len(text)), len(text))
			done, refusal = c.Feed([]byte(text[:i]))
		}
		if !done {
			return
		}
		theirs, err := io.ReadAll(httputil.NewChunkedReader(strings.NewReader(text)))
		if err == nil && string(theirs) != string(c.Body) {
			t.Errorf("body %q, want %q", c.Body, theirs)
		}
		if c.Consumed > len(text) {
			t.Errorf("consumed %d of %d", c.Consumed, len(text))
		}
	})
}

func TestMalformedChunks(t *testing.T) {
	const longest = 4 << 10 // bytes of a line with the size of a chunk
	for _, text := range []string{"x\r\n", "\r\n", "-1\r\n", "3\r\nabcd\r\n", "1\r\nab", "1000000000000000\r\n",
		"fffffffff\r\n", strings.Repeat("0", longest+2)} {
		var c httpd.ChunkReader
		if done, err := c.Feed([]byte(text)); err == nil || done {
			t.Errorf("%.20q is accepted", text)
		}
	}
	var c httpd.ChunkReader
	if done, err := c.Feed([]byte(strings.Repeat("0", longest))); err != nil || done {
		t.Errorf("a line that may be the longest: %v, done %v", err, done)
	}
}
