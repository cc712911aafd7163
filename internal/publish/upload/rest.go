package upload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/neterr"
)

const (
	// tries is the number of attempts, firstPause the wait after the first.
	tries      = 3
	firstPause = 250 * time.Millisecond
	// longestPause is the longest wait that a service may ask for with Retry-After.
	longestPause = time.Minute
	// maxAnswer bounds the response that is read.
	maxAnswer = 16 << 20
)

// Client talks to one service.
type Client struct {
	HTTP *http.Client
	// Header is part of every request.
	Header http.Header
	// Timeout bounds one attempt; 0 = only the context does.
	Timeout time.Duration
	// Explain returns the service's own code and message from the body of an error.
	Explain func(body []byte) (code, message string)
	// Credentials and Trust are hints for missing permissions and for an unknown certificate.
	Credentials, Trust string
	// Redact hides secrets in texts of the service.
	Redact func(string) string
}

// Request is one request. Its body is either JSON, or a file that Open opens for each attempt. A file without a
// ContentType is sent without one.
type Request struct {
	Method, URL string
	JSON        any
	Open        func() (io.ReadCloser, error)
	Size        int64
	ContentType string
	Header      http.Header
	// Once reports that an attempt with an unknown outcome must not be repeated.
	Once bool
	// Answer receives the headers of a successful response, unless it is nil.
	Answer func(http.Header)
}

// Do makes a request and reads the JSON of its response into out, unless that is nil.
func (c *Client) Do(ctx context.Context, r Request, out any) *Problem {
	var body []byte
	if r.JSON != nil {
		var err error
		if body, err = json.Marshal(r.JSON); err != nil {
			return &Problem{Text: "cannot be sent a request: " + err.Error(), Kind: Refused}
		}
	}
	pause := firstPause
	for try := 1; ; try++ {
		p, again := c.try(ctx, r, body, out)
		if p == nil || !again || try == tries || ctx.Err() != nil {
			return p
		}
		wait := max(pause, p.After)
		if deadline, ok := ctx.Deadline(); wait > longestPause || ok && wait > time.Until(deadline) {
			if p.After == wait {
				p.Text += fmt.Sprintf("; it asks to wait for %g s, which is too long", wait.Seconds())
			}
			return p
		}
		select {
		case <-ctx.Done():
			return p
		case <-time.After(wait):
		}
		pause *= 2
	}
}

// try makes one attempt and reports whether another one may help.
func (c *Client) try(ctx context.Context, r Request, body []byte, out any) (p *Problem, again bool) {
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	request, p := c.request(ctx, r, body)
	if p != nil {
		return p, false
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return c.unanswered(err, r.Once)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return c.unanswered(err, r.Once)
	}
	if response.StatusCode/100 != 2 {
		p = c.refused(response, answer)
		return p, p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable ||
			p.Kind == Busy && !r.Once
	}
	if r.Answer != nil {
		r.Answer(response.Header)
	}
	if out == nil {
		return nil, false
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return &Problem{Text: "answered without valid JSON of this API; check the address",
			Kind: Refused, Status: response.StatusCode}, false
	}
	return nil, false
}

// request makes one attempt of a request: a file is opened anew for each. Its length is always sent, as stores of
// objects refuse chunked bodies; with a body, Go takes a length of 0 as not known.
func (c *Client) request(ctx context.Context, r Request, body []byte) (*http.Request, *Problem) {
	var content io.Reader
	size := r.Size
	switch {
	case body != nil:
		content, size = bytes.NewReader(body), int64(len(body))
	case r.Open != nil:
		file, err := r.Open()
		if err != nil {
			return nil, &Problem{Text: "cannot be sent a file: " + err.Error(), Kind: Refused}
		}
		content = file // closed by the transport
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, content)
	if err != nil {
		return nil, &Problem{Text: "is not a valid address", Kind: Refused}
	}
	for _, header := range []http.Header{c.Header, r.Header} {
		maps.Copy(request.Header, header)
	}
	if content != nil {
		request.ContentLength = size
		if size == 0 {
			request.Body = http.NoBody
		}
		contentType := r.ContentType
		if contentType == "" && body != nil {
			contentType = "application/json"
		}
		if contentType != "" {
			request.Header.Set("Content-Type", contentType)
		}
	}
	return request, nil
}

// unanswered returns the problem of a request without a response.
func (c *Client) unanswered(err error, once bool) (p *Problem, again bool) {
	switch {
	case IsTimeout(err), errors.Is(err, context.Canceled):
		return NoAnswer(), false
	case neterr.IsCertificate(err):
		return &Problem{Text: "cannot be reached: " + c.describe(err) + "; " + c.Trust, Kind: Refused}, false
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"),
		strings.Contains(err.Error(), "first record does not look like a TLS handshake"):
		return &Problem{Text: "cannot be reached: this server does not use TLS; use http://",
			Kind: Refused}, false
	}
	var operation *net.OpError
	connected := !errors.As(err, &operation) || operation.Op != "dial"
	return &Problem{Text: "cannot be reached: " + c.describe(err), Kind: Unreachable}, !once || !connected
}

// describe returns the text of an error without the address, which the caller names.
func (c *Client) describe(err error) string {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	text, _ := neterr.Describe(err)
	return OneLine(c.redact(text))
}

// refused returns the problem of a response that is an error.
func (c *Client) refused(response *http.Response, body []byte) *Problem {
	var code, message string
	if c.Explain != nil {
		code, message = c.Explain(body)
	}
	p := Answered(response.StatusCode, c.redact(message), c.Credentials)
	p.Code = code
	p.After = retryAfter(response.Header.Get("Retry-After"), time.Now())
	return p
}

// retryAfter returns the wait that a Retry-After header asks for, which is a number of seconds or a date; 0 = none.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// redact hides secrets in a text, before it is cut: a part of a secret would be left.
func (c *Client) redact(text string) string {
	if c.Redact == nil {
		return text
	}
	return c.Redact(strings.ToValidUTF8(text, " "))
}
