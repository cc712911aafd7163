package client

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/measure/record"
)

// redirector answers path /N-STATUS-… with that status and the place of the rest, and notes what it was asked.
type redirector struct {
	*rawServer
	mu  sync.Mutex
	log []string
}

func newRedirector(t *testing.T, location func(path string) string) *redirector {
	r := &redirector{}
	r.rawServer = newRawServer(t, func(c net.Conn, _ int64) {
		br := bufio.NewReader(c)
		for {
			head, body, ok := readRequest(br)
			if !ok {
				return
			}
			line, headers, _ := strings.Cut(head, " HTTP/1.1\r\n")
			var secrets []string
			for _, name := range []string{"Authorization", "x-api-key", "Content-Type"} {
				if strings.Contains(headers, name+": ") {
					secrets = append(secrets, name)
				}
			}
			r.mu.Lock()
			r.log = append(r.log, strings.TrimSpace(line+" "+body+" "+strings.Join(secrets, ",")))
			r.mu.Unlock()
			_, path, _ := strings.Cut(line, " ")
			if status, _, ok := strings.Cut(strings.TrimPrefix(path, "/"), "-"); ok {
				_, _ = fmt.Fprintf(c, "HTTP/1.1 %s Moved\r\nLocation: %s\r\nContent-Length: 4\r\n\r\ngone", status,
					location(path))
			} else {
				_, _ = io.WriteString(c, text("200 OK", "application/json", "{}"))
			}
		}
	})
	return r
}

// What the user gave for one server does not go to another one; what describes the request does.
func TestRedirectToAnotherOriginLeavesTheUsersHeadersBehind(t *testing.T) {
	heads := make(chan string, 1)
	other := newRawServer(t, func(c net.Conn, _ int64) {
		if head, _, ok := readRequest(bufio.NewReader(c)); ok {
			heads <- head
			_, _ = io.WriteString(c, text("200 OK", "application/json", "{}"))
		}
	})
	s := newRedirector(t, func(string) string { return "http://" + other.addr + "/end" })
	request := secretPost("http://" + s.addr + "/307-end")
	for _, name := range []string{"Cookie", "X-Auth-Token", "X-Tenant", "Host"} {
		request.Headers = append(request.Headers, record.Header{Name: name, Value: "of-the-user"})
	}
	request.Headers = append(request.Headers, record.Header{Name: "X-Request-ID", Value: "r1"},
		record.Header{Name: "user-agent", Value: "aiperf/1"})
	if _, x := send(newTestClient(t, nil), request); x.Err != nil {
		t.Fatal(x.Err)
	}
	head := <-heads
	for _, name := range []string{"of-the-user", "Authorization", "x-api-key"} {
		if strings.Contains(head, name) {
			t.Errorf("another origin got %s:\n%s", name, head)
		}
	}
	for _, want := range []string{"Content-Type: ", "X-Request-ID: r1", "user-agent: aiperf/1"} {
		if !strings.Contains(head, want) {
			t.Errorf("%s is missing:\n%s", want, head)
		}
	}
}

func TestRedirects(t *testing.T) {
	rest := func(path string) string { _, r, _ := strings.Cut(path, "-"); return "/" + r }
	all := "Authorization,x-api-key,Content-Type"
	tests := []struct {
		path string
		want []string
	}{
		{"/307-end", []string{"POST /307-end {} " + all, "POST /end {} " + all}},
		{"/308-307-end", []string{"POST /308-307-end {} " + all, "POST /307-end {} " + all, "POST /end {} " + all}},
		{"/301-end", []string{"POST /301-end {} " + all, "GET /end  Authorization,x-api-key"}},
		{"/302-end", []string{"POST /302-end {} " + all, "GET /end  Authorization,x-api-key"}},
		{"/303-end", []string{"POST /303-end {} " + all, "GET /end  Authorization,x-api-key"}},
		{"/303-307-end", []string{"POST /303-307-end {} " + all, "GET /307-end  Authorization,x-api-key",
			"GET /end  Authorization,x-api-key"}},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			s := newRedirector(t, rest)
			rec, x := send(newTestClient(t, nil), secretPost("http://"+s.addr+tt.path))
			if x.Err != nil || rec.body != "{}" || x.Status != 200 || x.Responses != 1 {
				t.Errorf("error %v, status %d", x.Err, x.Status)
			}
			if got := strings.Join(s.log, "\n"); got != strings.Join(tt.want, "\n") {
				t.Errorf("requests\n%s\nwant\n%s", got, strings.Join(tt.want, "\n"))
			}
			if n := s.conns.Load(); n != 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func secretPost(url string) *Request {
	r := post(url)
	r.Body = []byte("{}")
	r.Headers = []record.Header{{Name: "Authorization", Value: "Bearer k"}, {Name: "x-api-key", Value: "k"},
		{Name: "Content-Type", Value: "application/json"}}
	return r
}

func TestCredentialsStayWithTheirOrigin(t *testing.T) {
	other := newRedirector(t, nil)
	s := newRedirector(t, func(string) string { return "http://" + other.addr + "/end" })
	if _, x := send(newTestClient(t, nil), secretPost("http://"+s.addr+"/307-x")); x.Err != nil {
		t.Fatal(x.Err)
	}
	if got := strings.Join(other.log, "\n"); got != "POST /end {} Content-Type" {
		t.Errorf("the other server got %q", got)
	}
}

func TestRedirectsEnd(t *testing.T) {
	s := newRedirector(t, func(path string) string { return path })
	_, x := send(newTestClient(t, nil), secretPost("http://"+s.addr+"/307-loop"))
	wantError(t, x, record.Error{Type: "TooManyRedirects",
		Message: s.addr + ": more than 10 redirects while following redirects"})
	if len(s.log) != 11 {
		t.Errorf("%d requests", len(s.log))
	}
}
