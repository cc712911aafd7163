package upload

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// Kind classifies failed requests.
type Kind uint8

const (
	// Unreachable: there is no connection, or no server that speaks the protocol.
	Unreachable Kind = iota
	// Refused: the service does not accept requests and will not accept them later.
	Refused
	// Rejected: the service does not accept this request; it may accept another one.
	Rejected
	// Busy: the service may accept the request later.
	Busy
	// Hung: the service did not answer in time.
	Hung
	// Partial: the service accepted a part of the request.
	Partial
)

// Problem is the reason why a request failed. Its text continues a sentence that begins with the service's address.
type Problem struct {
	Text string
	Kind Kind
	// Status is the status of the response, 0 without one; Code is the service's own name of the error.
	Status int
	Code   string
	// After is the wait that the service asks for before the next attempt; 0 = none.
	After time.Duration
}

func (p *Problem) Error() string { return p.Text }

// Later reports whether the same request may succeed later.
func (p *Problem) Later() bool { return p.Kind != Refused }

// NoAnswer returns the problem of a request that took too long.
func NoAnswer() *Problem { return &Problem{Text: "did not answer in time", Kind: Hung} }

// Answered returns the problem of a response whose status is an error, with the message of the service. Credentials is
// the hint for missing permissions.
func Answered(status int, message, credentials string) *Problem {
	p := &Problem{Kind: Refused, Status: status, Text: fmt.Sprintf("answered %d %s", status, http.StatusText(status))}
	if message = OneLine(message); message != "" {
		p.Text += ": " + message
	}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		p.Text += "; " + credentials
	case status/100 == 3:
		p.Text += "; redirects are not followed: use the address that it points to"
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status/100 == 5:
		p.Kind = Busy
	}
	return p
}

// IsTimeout reports whether an error is that of a request that took too long.
func IsTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// maxMessage is the longest text of a service that is shown, in characters.
const maxMessage = 300

// OneLine makes a text of a service safe for a line of the log.
func OneLine(text string) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return ' '
		}
		return r
	}, text)), " ")
	if runes := []rune(text); len(runes) > maxMessage {
		text = string(runes[:maxMessage]) + "…"
	}
	return text
}

// NoRedirects is the CheckRedirect of clients that must not send credentials to another host.
func NoRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
