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

// witness carries pushes over HTTP and remembers how the last one was refused: the exporter's error tells it in words
// alone.
type witness struct {
	*http.Transport

	mu      sync.Mutex
	refusal refusal
}

// refusal is an answer other than success; a status of 0 is none.
type refusal struct {
	status  int
	message string
}

// answerExcerpt is how much of an answer is looked at for a reason.
const answerExcerpt = 4 << 10

func newWitness(config *tls.Config) *witness {
	return &witness{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSClientConfig: config.Clone(), TLSHandshakeTimeout: connectTimeout, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute,
	}}
}

// RoundTrip implements http.RoundTripper.
func (w *witness) RoundTrip(r *http.Request) (*http.Response, error) {
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

// last is how the last push was refused.
func (w *witness) last() refusal {
	if w == nil {
		return refusal{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refusal
}

// reason is what an answer says, in one line.
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
	return oneLine(text)
}

// reasonLength is how much of a foreign text is shown.
const reasonLength = 160

// oneLine makes a foreign text fit for a line of the log.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return ' '
		}
		return r
	}, text)), " ")
	if runes := []rune(text); len(runes) > reasonLength {
		text = string(runes[:reasonLength]) + "…"
	}
	return text
}
