package mockserver

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Handler serves inside a net/http server. It takes a connection over at its first request and
// speaks HTTP/1.1 on it from then on, so that everything the server promises about the wire holds.
// End it with Close.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		hijacker, ok := w.(http.Hijacker)
		if !ok {
			http.Error(w, "the mock server needs HTTP/1.1", http.StatusHTTPVersionNotSupported)
			return
		}
		nc, buffered, err := hijacker.Hijack()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		c := s.open(nc, "")
		if c == nil {
			return
		}
		ahead, _ := buffered.Reader.Peek(buffered.Reader.Buffered())
		c.buf = append(rebuild(r, body), ahead...)
		c.w = len(c.buf)
		s.run(c)
	})
}

// rebuild is the wire form of a request that net/http has read.
func rebuild(r *http.Request, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.%d\r\nHost: %s\r\n", r.Method, r.RequestURI, r.ProtoMinor, r.Host)
	for name, values := range r.Header {
		// The body is here in full, whatever way it came.
		if name == "Content-Length" || name == "Expect" {
			continue
		}
		for _, value := range values {
			fmt.Fprintf(&b, "%s: %s\r\n", name, strings.TrimSpace(value))
		}
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(body))
	b.Write(body)
	return b.Bytes()
}
