package otlp

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
)

// transport makes pushes over HTTP and keeps how the last one was refused: the exporter has it only in the text of an
// error.
type transport struct {
	*http.Transport

	mu      sync.Mutex
	refusal refusal
}

// refusal is an answer other than success; a status of 0 is none.
type refusal struct {
	status  int
	message string
}

// answerExcerpt is how much of an answer is read.
const answerExcerpt = 4 << 10

func newTransport(config *tls.Config) *transport {
	return &transport{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSClientConfig: config.Clone(), TLSHandshakeTimeout: connectTimeout, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute,
	}}
}

// RoundTrip implements http.RoundTripper.
func (w *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := w.Transport.RoundTrip(r)
	var seen refusal
	if err == nil && answer.StatusCode/100 != 2 {
		seen.status = answer.StatusCode
		excerpt, _ := io.ReadAll(io.LimitReader(answer.Body, answerExcerpt))
		seen.message = reason(answer.Header.Get("Content-Type"), excerpt)
		answer.Body = struct {
			io.Reader
			io.Closer
		}{bytes.NewReader(excerpt), answer.Body}
	}
	w.mu.Lock()
	w.refusal = seen
	w.mu.Unlock()
	return answer, err
}

// last returns how the last push was refused.
func (w *transport) last() refusal {
	if w == nil {
		return refusal{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refusal
}

// reason returns the message of an answer.
func reason(contentType string, body []byte) string {
	text := ""
	switch {
	case strings.HasPrefix(contentType, "application/x-protobuf"):
		var s spb.Status
		if proto.Unmarshal(body, &s) == nil {
			text = s.Message
		}
	case strings.HasPrefix(contentType, "text/plain"), strings.HasPrefix(contentType, "application/json"):
		text = string(body)
	}
	return text
}
