package mockserver

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"
)

func parseText(text string) (head, *httpError) {
	var h head
	return h, h.parse([]byte(text), "authorization")
}

func TestHeadFields(t *testing.T) {
	var h head
	text := "POST http://example.org:80/v1/x?a=b HTTP/1.1\r\nHost: x\r\ncontent-LENGTH:  12 \r\n" +
		"Connection: foo , Close\r\nExpect: 100-Continue\r\nAuthorization: Bearer k\r\nX-Request-ID: " +
		"r\r\nx-mock-fault: never\r\n\r\n"
	if n := headEnd([]byte(text), 0); n != len(text) {
		t.Fatalf("head of %d bytes, want %d", n, len(text))
	}
	if err := h.parse([]byte(text), "authorization"); err != nil {
		t.Fatal(err)
	}
	if string(h.method) != "POST" || string(h.path) != "/v1/x" || h.length != 12 || !h.close || !h.expect || h.http10 {
		t.Errorf("%+v", h)
	}
	if string(h.credential) != "Bearer k" || string(h.requestID) != "r" || string(h.fault) != "never" || !h.hasFault {
		t.Errorf("%+v", h)
	}
	if !bytes.HasPrefix(h.lines, []byte("Host: x\r\n")) || !bytes.HasSuffix(h.lines, []byte("never\r\n\r\n")) {
		t.Errorf("lines %q", h.lines)
	}
}

func TestHeadEndIsFoundHoweverTheBytesCome(t *testing.T) {
	for _, text := range []string{"A\r\nB\r\n\r\n", "A\nB\n\n", "A\r\nB\n\r\n"} {
		seen := 0
		for i := 1; i <= len(text); i++ {
			got := headEnd([]byte(text[:i]), seen)
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
		if _, err := parseText(text); err == nil || err.status != status {
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
		n := headEnd([]byte(text), 0)
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
		if theirs.Method != string(h.method) || theirs.ProtoMinor == 0 != h.http10 {
			t.Errorf("%s %s, want %s %s", h.method, h.path, theirs.Method, theirs.Proto)
		}
		if length := max(h.length, 0); !h.chunked && theirs.ContentLength >= 0 && theirs.ContentLength != length {
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
		var c chunkReader
		var done bool
		var refusal *httpError
		for i := 0; !done && refusal == nil && i < len(text); {
			i = min(i+min(step, len(text)), len(text))
			done, refusal = c.feed([]byte(text[:i]))
		}
		if !done {
			return
		}
		theirs, err := io.ReadAll(httputil.NewChunkedReader(strings.NewReader(text)))
		if err == nil && string(theirs) != string(c.body) {
			t.Errorf("body %q, want %q", c.body, theirs)
		}
		if c.pos > len(text) {
			t.Errorf("consumed %d of %d", c.pos, len(text))
		}
	})
}

func TestMalformedChunks(t *testing.T) {
	for _, text := range []string{"x\r\n", "\r\n", "-1\r\n", "3\r\nabcd\r\n", "1\r\nab", "1000000000000000\r\n",
		"fffffffff\r\n", strings.Repeat("0", maxChunkLine+2)} {
		var c chunkReader
		if done, err := c.feed([]byte(text)); err == nil || done {
			t.Errorf("%.20q is accepted", text)
		}
	}
}

func TestWireForms(t *testing.T) {
	s := serve(t, Options{Fast: true})
	body := chat(text(3), false, `"max_tokens":1`)
	chunked := fmt.Sprintf("5\r\n%s\r\n%x;ext\r\n%s\r\n0\r\nTrailer: x\r\n\r\n", body[:5], len(body)-5, body[5:])
	const ok, post = "HTTP/1.1 200 OK\r\n", "POST " + chatPath + " HTTP/1.1\r\nHost: x\r\n"
	for name, test := range map[string]struct{ send, want string }{
		"close": {post + fmt.Sprintf("Connection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body),
			ok},
		"chunked": {post + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked, ok},
		"HTTP/1.0": {fmt.Sprintf("POST %s HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(body),
			body), ok},
		"empty lines before": {"\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", ok},
		"HEAD":               {"HEAD /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", ok},
		"malformed":          {"nonsense\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"},
		"head too large": {"GET / HTTP/1.1\r\nHost: x\r\na: " + strings.Repeat("x", maxHeadBytes+100),
			"HTTP/1.1 431 "},
		"body too large": {post + "Content-Length: 1000000000\r\n\r\n", "HTTP/1.1 413 "},
		"bad chunk":      {post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 400 "},
		"HTTP/3 by word": {"GET / HTTP/3.0\r\n\r\n", "HTTP/1.1 505 "},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.raw(test.send)
			if !strings.HasPrefix(got, test.want) || !strings.Contains(got, "\r\nConnection: close\r\n") {
				t.Errorf("got %q", got)
			}
			if name == "HEAD" && !strings.HasSuffix(got, "\r\n\r\n") {
				t.Errorf("a body came: %q", got)
			}
		})
	}
}

func TestHTTP10StreamEndsWithTheConnection(t *testing.T) {
	s := serve(t, Options{Fast: true})
	body := chat(text(3), true, `"max_tokens":2`)
	got := s.raw(fmt.Sprintf("POST %s HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: %d\r\n\r\n%s", chatPath,
		len(body), body))
	if strings.Contains(got, "chunked") || !strings.HasSuffix(got, "data: [DONE]\n\n") {
		t.Errorf("got %q", got)
	}
}

func TestPipelinedRequestsAreAnsweredInOrder(t *testing.T) {
	s := serve(t, Options{Fast: true})
	var send strings.Builder
	for n := 1; n <= 40; n++ {
		body := chat(text(3), n%3 == 0, fmt.Sprintf(`"max_tokens":%d,"ignore_eos":true`, n))
		last := ""
		if n == 40 {
			last = "Connection: close\r\n"
		}
		fmt.Fprintf(&send, "POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", chatPath, last, len(body),
			body)
	}
	reader := bufio.NewReader(strings.NewReader(s.raw(send.String())))
	for n := 1; n <= 40; n++ {
		resp, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		a := answer{status: resp.StatusCode, body: string(got)}
		for line := range strings.SplitSeq(a.body, "\n") {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				a.events = append(a.events, event{data: data})
			}
		}
		if r := assemble(t, a); o200k.Count(r.content) != n {
			t.Errorf("reply %d has %d tokens", n, o200k.Count(r.content))
		}
	}
	if _, err := reader.ReadByte(); err != io.EOF {
		t.Errorf("more follows: %v", err)
	}
}

func TestRequestsAheadOfASlowReplyAreKept(t *testing.T) {
	s := serve(t, Options{TTFT: 2 * shortWait})
	body := chat(text(3), false, `"max_tokens":1`)
	one := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n", chatPath, len(body))
	got := s.raw(one + "\r\n" + body + one + "Connection: close\r\n\r\n" + body)
	if n := strings.Count(got, "HTTP/1.1 200 OK"); n != 2 {
		t.Errorf("%d replies: %q", n, got)
	}
}

func TestExpectContinue(t *testing.T) {
	s := serve(t, Options{Fast: true})
	nc, err := s.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	body := chat(text(3), false, `"max_tokens":1`)
	fmt.Fprintf(nc, "POST %s HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", chatPath,
		len(body))
	reader := bufio.NewReader(nc)
	if line, _ := reader.ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("line %q", line)
	}
	reader.ReadString('\n')
	io.WriteString(nc, body)
	if line, _ := reader.ReadString('\n'); line != "HTTP/1.1 200 OK\r\n" {
		t.Errorf("line %q", line)
	}
}

func TestLargeBodyThenSmallOnes(t *testing.T) {
	s := serve(t, Options{Fast: true})
	large := text(200_000)
	for _, n := range []int{200_000, 3, 200_000, 5} {
		r := assemble(t, s.post(chatPath, chat(large[:5*n-1], false, `"max_tokens":1`)))
		if r.usage.Prompt != n {
			t.Errorf("%d prompt tokens, want %d", r.usage.Prompt, n)
		}
	}
}
