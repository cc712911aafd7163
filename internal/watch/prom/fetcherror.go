package prom

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"aiperf/internal/base/neterr"
)

// Types of errors that only a fetch has: names that reports of the reference use.
const (
	typeRedirectScheme = "NonHttpUrlRedirectClientError"
	typeCancelled      = "CancelledError"
)

// Error is a failed fetch. Its three exported fields identify errors that count as the same: there is
// no secret and nothing that changes from scrape to scrape in them.
type Error struct {
	Code    int // status of the answer, 0 if there was none
	Type    string
	Message string
	err     error
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.err }

// ErrorKey identifies errors that count as the same.
type ErrorKey struct {
	Code          int
	Type, Message string
}

// KeyOf returns the identity of any error of this package.
func KeyOf(err error) ErrorKey {
	var fetch *Error
	var content *ContentTypeError
	var syntax *SyntaxError
	switch {
	case errors.As(err, &fetch):
		return ErrorKey{fetch.Code, fetch.Type, fetch.Message}
	case errors.As(err, &content):
		return ErrorKey{0, "IncompatibleMetricsEndpointError", content.Error()}
	case errors.As(err, &syntax):
		return ErrorKey{0, "IncompatibleMetricsEndpointError", syntax.Error()}
	}
	return ErrorKey{0, neterr.Value, err.Error()}
}

// ContentTypeError is an answer that declares itself JSON; its body was not read.
type ContentTypeError struct {
	URL         string // redacted
	ContentType string
}

func (e *ContentTypeError) Error() string {
	return fmt.Sprintf("endpoint '%s' returned non-Prometheus content-type '%s'; expected text/plain (Prometheus "+
		"exposition format)", e.URL, e.ContentType)
}

func statusError(code int) *Error {
	reason := http.StatusText(code)
	if reason == "" {
		reason = "Unknown"
	}
	return &Error{Code: code, Type: reason, Message: fmt.Sprintf("answered with status %d %s", code, reason)}
}

// describe returns the innermost text of err, without addresses.
func describe(err error) string {
	if text, _, ok := neterr.System(err); ok {
		return text
	}
	if isTimeout(err) {
		return "timed out"
	}
	if link, ok := errors.AsType[*url.Error](err); ok {
		err = link.Err
	}
	text, _ := neterr.Describe(err)
	return text
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// describeRequest makes an Error of a request that got no answer.
func (f *Fetcher) describeRequest(ctx context.Context, endpoint string, err error) error {
	if e := f.describeContext(ctx, err); e != nil {
		return e
	}
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	host := hostOf(endpoint)
	var dns *net.DNSError
	var op *net.OpError
	dialing := errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect")
	e := &Error{Type: neterr.Connector, Message: fmt.Sprintf("cannot connect to %s [%s]", host, describe(err)),
		err: err}
	switch {
	case errors.As(err, &dns):
		e.Type = neterr.DNS
	case neterr.IsCertificate(err):
		e.Type = neterr.Certificate
	case isTLSError(err):
		e.Type = neterr.SSL
	case dialing:
	case isTimeout(err):
		e.Type, e.Message = neterr.Timeout, fmt.Sprintf("%s did not answer within %s", host, f.options.ReadTimeout)
	case isSystemError(err):
		e.Type, e.Message = neterr.OS, fmt.Sprintf("%s: %s", host, describe(err))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		strings.Contains(err.Error(), "server closed idle connection"):
		e.Type, e.Message = neterr.ServerDisconnected, host+" closed the connection without an answer"
	case strings.Contains(err.Error(), "malformed HTTP response"): // its text quotes the bytes, which are no text
		e.Type, e.Message = neterr.Payload, host+" does not answer in HTTP/1.1"
	default:
		e.Type, e.Message = neterr.Payload, fmt.Sprintf("%s: %s", host, describe(err))
	}
	return e
}

// describeRead makes an Error of a body that could not be read to its end.
func (f *Fetcher) describeRead(ctx context.Context, endpoint string, err error) error {
	host := hostOf(endpoint)
	if errors.Is(context.Cause(ctx), errGap) {
		return &Error{Type: neterr.Timeout,
			Message: fmt.Sprintf("%s sent nothing for %s in the middle of the page", host, f.options.ReadTimeout),
			err:     err}
	}
	if e := f.describeContext(ctx, err); e != nil {
		return e
	}
	e := &Error{Type: neterr.Payload, Message: fmt.Sprintf("%s: %s while the page was read", host, describe(err)),
		err: err}
	if isSystemError(err) {
		e.Type = neterr.OS
	}
	return e
}

// describeContext returns the Error if the caller ended the fetch, nil otherwise.
func (f *Fetcher) describeContext(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &Error{Type: neterr.Timeout, Message: "timed out", err: context.DeadlineExceeded}
	case ctx.Err() != nil:
		return &Error{Type: typeCancelled, Message: "cancelled", err: ctx.Err()}
	case errors.Is(err, context.Canceled):
		return &Error{Type: typeCancelled, Message: "cancelled", err: err}
	}
	return nil
}

// hostOf returns host and port of a URL for messages.
func hostOf(endpoint string) string {
	if u, err := url.Parse(endpoint); err == nil {
		return u.Host
	}
	return "the endpoint"
}

func isSystemError(err error) bool {
	var errno syscall.Errno
	return errors.As(err, &errno)
}

func isTLSError(err error) bool {
	var header tls.RecordHeaderError
	var op *net.OpError
	alert := errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
	return alert || errors.As(err, &header) ||
		strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}
