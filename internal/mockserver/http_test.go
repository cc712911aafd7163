package mockserver

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

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
		"head too large": {"GET / HTTP/1.1\r\nHost: x\r\na: " + strings.Repeat("x", 64<<10+100),
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
	s := serve(t, Options{TTFT: 100 * time.Millisecond})
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
