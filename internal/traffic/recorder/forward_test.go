package recorder_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"

	"aiperf/internal/traffic/recorder"
)

// raw sends bytes to a recorder and returns the connection, to read from.
func (rec *proxy) raw(text string) (net.Conn, *bufio.Reader) {
	rec.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(rec.url, "http://"))
	if err != nil {
		rec.t.Fatal(err)
	}
	rec.t.Cleanup(func() { c.Close() })
	io.WriteString(c, text)
	return c, bufio.NewReader(c)
}

// TestWhatPassesIsNotChanged: paths, queries, header fields and bodies arrive as they were sent, on either way.
func TestWhatPassesIsNotChanged(t *testing.T) {
	t.Parallel()
	var uri, length string
	var header http.Header
	var got []byte
	rec := record(t, func(w http.ResponseWriter, r *http.Request) {
		uri, header, length = r.RequestURI, r.Header, fmt.Sprint(r.ContentLength)
		got, _ = io.ReadAll(r.Body)
		w.Header()["Content-Type"], w.Header()["Date"] = nil, nil
		w.Header().Add("X-Two", "a")
		w.Header().Add("X-Two", "b")
		w.Header().Set("Keep-Alive", "timeout=5")
		w.Write(got)
	}, func(o *recorder.Options) { o.Upstream.Path = "/base/" })
	large := bytes.Repeat([]byte("0123456789abcdef"), 20000)
	for _, body := range [][]byte{[]byte(`{"prompt":"x"}`), large} {
		for _, chunked := range []bool{false, true} {
			var reader io.Reader = bytes.NewReader(body)
			if chunked {
				reader = struct{ io.Reader }{reader}
			}
			req, _ := http.NewRequest(http.MethodPost, rec.url+"/v1/a%2Fb/c?x=1;y&z=%zz", reader)
			req.Header = http.Header{"User-Agent": {""}, "X-Hop": {"1"}, "Connection": {"X-Hop"}, "Te": {"trailers"}, "X-Forwarded-Proto": {"https"}}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			back, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || !bytes.Equal(got, body) || !bytes.Equal(back, body) {
				t.Errorf("%d bytes became %d there and %d back: %v", len(body), len(got), len(back), err)
			}
			if uri != "/base/v1/a%2Fb/c?x=1;y&z=%zz" || (length == "-1") != chunked {
				t.Errorf("the server got %s, length %s", uri, length)
			}
			if header.Get("X-Hop") != "" || header.Get("User-Agent") != "" || header.Get("Te") != "trailers" || header.Get("X-Forwarded-Proto") != "https" {
				t.Errorf("the server got %v", header)
			}
			if h := resp.Header; h["Content-Type"] != nil || h["Date"] != nil || len(h["X-Two"]) != 2 || h["Keep-Alive"] != nil {
				t.Errorf("the client got %v", h)
			}
		}
	}
}

func TestEarlyHintsAndTrailersPass(t *testing.T) {
	t.Parallel()
	for _, announced := range []bool{true, false} {
		rec := record(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", "<a>")
			w.WriteHeader(http.StatusEarlyHints)
			name := http.TrailerPrefix + "X-Sum"
			if announced {
				name = "X-Sum"
				w.Header().Set("Trailer", name)
			}
			io.WriteString(w, "body")
			w.(http.Flusher).Flush()
			w.Header().Set(name, "7")
		}, nil)
		hints := ""
		req, _ := http.NewRequest(http.MethodGet, rec.url, nil)
		req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
			Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
				hints = fmt.Sprint(code, header.Get("Link"))
				return nil
			}}))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || string(body) != "body" || hints != "103<a>" || resp.Trailer.Get("X-Sum") != "7" {
			t.Errorf("announced %v: %q %v, hints %q, trailer %v", announced, body, err, hints, resp.Trailer)
		}
	}
}

// TestAReplyOfKnownLengthIsNotHeldBack: its head comes before its body is there, and each part of its body before the next.
func TestAReplyOfKnownLengthIsNotHeldBack(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	rec := record(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "8")
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		for _, part := range []string{"abcd", "efgh"} {
			<-goOn
			io.WriteString(w, part)
			w.(http.Flusher).Flush()
		}
	}, nil)
	resp, err := http.Get(rec.url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	part := make([]byte, 4)
	for _, want := range []string{"abcd", "efgh"} {
		goOn <- struct{}{}
		if _, err := io.ReadFull(resp.Body, part); err != nil || string(part) != want {
			t.Errorf("%q %v", part, err)
		}
	}
}

// TestAClientThatLeavesInItsRequestIsNotTheServersFault, and a server that changes the protocol unasked is answered for.
func TestAClientThatLeavesInItsRequestIsNotTheServersFault(t *testing.T) {
	t.Parallel()
	rec := record(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Upgrade", "x")
		w.Header().Set("Connection", "upgrade")
		w.WriteHeader(http.StatusSwitchingProtocols)
	}, nil)
	c, in := rec.raw("POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{\"prompt\":")
	c.(*net.TCPConn).CloseWrite()
	if resp, err := http.ReadResponse(in, nil); err == nil && resp.StatusCode < 300 {
		t.Errorf("half a request was answered with %s", resp.Status)
	}
	if status, _ := rec.post("/v1/completions", `{"prompt":"x"}`); status != http.StatusBadGateway {
		t.Errorf("status %d", status)
	}
	var got []string
	for _, row := range rec.rows() {
		got = append(got, row.Outcome)
	}
	if fmt.Sprint(got) != "[cancelled broken]" {
		t.Errorf("outcomes %v", got)
	}
}
