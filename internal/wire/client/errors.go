package client

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/neterr"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client/sse"
)

// The steps of opening a connection.
const (
	stepConnect = iota
	stepDNS
	stepTLS
)

// dialError is a connection that could not be opened.
type dialError struct {
	origin *origin
	socket string // path of the Unix socket, "" = none
	step   int
	// limit is the time that the step took in full, 0 if it ended before.
	limit time.Duration
	err   error
}

func (e *dialError) to() string {
	if e.socket != "" {
		return "Unix socket " + e.socket
	}
	return "host " + e.origin.hostPort()
}

func (e *dialError) Error() string { return "cannot connect to " + e.origin.hostPort() }
func (e *dialError) Unwrap() error { return e.err }

// wireError is an exchange that failed on an established connection.
type wireError struct {
	origin *origin
	// typ is the error type if the wire does not say more.
	typ  string
	what string
	err  error
	// unanswered is true when not a byte of a reply came.
	unanswered bool
}

func (e *wireError) Error() string { return e.what }
func (e *wireError) Unwrap() error { return e.err }

// statusError is a reply that is not 2xx.
type statusError struct {
	code         int
	reason, body string
	// retryAfter is the Retry-After header as the server wrote it; "" if there is none.
	retryAfter string
	// more reports that body is only the beginning.
	more bool
}

func (e *statusError) Error() string { return strconv.Itoa(e.code) + " " + e.reason }

// eventError is an event by which the server reports that the request failed.
type eventError struct{ message string }

func (e *eventError) Error() string { return e.message }

// newEventError words an error event: by its first comment, else by the error message of its data.
func newEventError(ev *sse.Event) *eventError {
	if ev.Comment != nil {
		return &eventError{"Error occurred in SSE response: " + string(ev.Comment)}
	}
	var data struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(ev.Data, &data) == nil && data.Error.Message != "" {
		return &eventError{"Error occurred in SSE response: " + data.Error.Message}
	}
	return &eventError{"Unknown error in SSE response: " + string(ev.Text)}
}

// Types of errors that only this client has: names that reports of the reference use.
const (
	typeResponse    = "ClientResponseError"
	typeSSE         = "SSEResponseError"
	typeCancelled   = neterr.Cancelled
	typeSendTimeout = "RequestSendTimeout"
)

// explainTLS adds the way out to the words of a certificate problem.
func explainTLS(err error, text string) string {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case errors.As(err, &name):
		return text + "; --url must name the server as its certificate does"
	case errors.As(err, &unknown):
		return text + "; --tls-ca-file names the authority to trust"
	case refusedTLS(err) && (strings.HasSuffix(text, "certificate required") ||
		strings.HasSuffix(text, "bad certificate")):
		return text + "; --tls-client-cert and --tls-client-key name the client's own"
	}
	return text
}

// isBroken reports whether the socket failed, as against an orderly end.
func isBroken(err error) bool {
	var op *net.OpError
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		return false
	}
	return errors.As(err, &op) && !isAlert(op)
}

// isAlert reports whether the peer refused TLS by an alert, which crypto/tls reports as a failed operation.
func isAlert(op *net.OpError) bool {
	var alert tls.AlertError
	return op.Op == "remote error" || op.Op == "local error" || errors.As(op, &alert)
}

func refusedTLS(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && isAlert(op)
}

// describeError makes the error of a record of what went wrong.
func describeError(err error) *record.Error {
	var dial *dialError
	var wire *wireError
	switch {
	case errors.As(err, &dial):
		return describeDial(dial)
	case errors.As(err, &wire):
		return describeWire(wire)
	}
	return &record.Error{Type: neterr.Value, Message: record.Exception(neterr.Value, err.Error())}
}

// describeDial says at which step a connection failed, why, and where possible what to change. The order of the cases
// matters: a step that ran out of its time reports an error of its own, which says less than the limit; the first case
// that fits gives the type by which errors are counted.
func describeDial(e *dialError) *record.Error {
	text, kind := neterr.Describe(e.err)
	if e.step == stepTLS {
		text = explainTLS(e.err, text)
	}
	typ := neterr.Connector
	switch {
	case e.limit > 0 && e.step == stepTLS:
		typ, kind = neterr.TLSTimeout, "TimeoutError"
		text = "no TLS handshake within " + e.limit.String() +
			" (AIPERF_HTTP_CONNECT_TIMEOUT); if the server speaks plain HTTP, use http://" + e.origin.hostPort()
	case e.limit > 0:
		typ, kind = neterr.ConnectTimeout, "TimeoutError"
		text = "no connection within " + e.limit.String() + " (AIPERF_HTTP_CONNECT_TIMEOUT)"
	case e.step == stepConnect && neterr.TimedOut(e.err):
		typ = neterr.ConnectTimeout
	case e.step == stepTLS && isPlainHTTP(e.err):
		typ, kind = neterr.SSL, "SSLError"
		text = "the server answered in plain HTTP: use http://" + e.origin.hostPort()
	case e.step == stepDNS:
		typ = neterr.DNS
	case e.step == stepTLS && neterr.IsCertificate(e.err):
		typ, kind = neterr.Certificate, "SSLCertVerificationError"
	case e.step == stepTLS && !isBroken(e.err):
		typ, kind = neterr.SSL, "SSLError"
	}
	return chained(typ, "Cannot connect to "+e.to()+" ["+text+"]", text, kind)
}

// isPlainHTTP reports whether a handshake failed of a reply of HTTP.
func isPlainHTTP(err error) bool {
	var header tls.RecordHeaderError
	return errors.As(err, &header) && string(header.RecordHeader[:]) == "HTTP/"
}

// endedHint is what to try when servers end connections that they have just taken.
const endedHint = "the server ended a new connection without an answer: its log may say why; try " +
	"--connection-reuse-strategy never"

func describeWire(e *wireError) *record.Error {
	out := brokenBy(e)
	if e.unanswered && neterr.Ended(e.err) {
		if out.Details = endedHint; e.origin.scheme == "http" {
			out.Details += ", or https:// if it speaks TLS"
		}
	}
	return out
}

func brokenBy(e *wireError) *record.Error {
	text, kind := neterr.Describe(e.err)
	switch {
	case isBroken(e.err):
		return chained(neterr.OS, e.origin.hostPort()+": "+text+" while "+e.what, text, kind)
	case refusedTLS(e.err):
		// A server checks the client's certificate after the client's side of the handshake is complete.
		text = explainTLS(e.err, text)
		return chained(neterr.SSL, e.origin.hostPort()+": "+text+" while "+e.what, text, "SSLError")
	case e.typ == neterr.ServerDisconnected:
		return &record.Error{Type: e.typ, Message: "ServerDisconnectedError('Server disconnected')"}
	}
	return chained(e.typ, e.origin.hostPort()+": "+text+" while "+e.what, text, kind)
}

func chained(typ, message, cause, kind string) *record.Error {
	e := &record.Error{Type: typ, Message: message, Cause: cause, CauseChain: []string{typ}}
	if kind != "" {
		e.CauseChain = append(e.CauseChain, kind)
	}
	return e
}

func secondsText(ns int64) string {
	return strconv.FormatFloat(float64(ns)/1e9, 'f', 3, 64)
}
