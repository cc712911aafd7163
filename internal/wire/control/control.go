// Package control sends the requests of a run that are not part of the load: it waits until servers are ready, lists
// their models, resets their prefix caches, and starts and stops their profilers.
//
// Every request has a limit of its own, every wait that of its caller. No request becomes a record or enters a metric.
//
// It also estimates the network's round trip: it probes the servers of a run during the load, one connection
// at a time for each, and reports the mean. It decides when to probe; the caller makes the probes.
package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
)

// Sender carries out one exchange.
type Sender interface {
	Send(ctx context.Context, r *client.Request, sink client.Sink) client.Exchange
}

// Options are what every request of a run's control needs.
type Options struct {
	Sender Sender
	// Headers are those of one request to an address; a fresh list at each call.
	Headers func(address string, stream bool, contentType string) []record.Header
	// Redact hides secrets in what servers answer to a failed request; nil leaves them.
	Redact func(string) string
	// Log gets lines about the progress; nil drops them.
	Log func(message string)
}

func (o *Options) log(format string, args ...any) {
	if o.Log != nil {
		o.Log(fmt.Sprintf(format, args...))
	}
}

// reply is the result of a control request.
type reply struct {
	status int
	body   string
	err    *record.Error // of the wire; nil if the server answered
	cut    bool          // the limit was over before it did
}

// ok reports whether the server did what was requested.
func (r *reply) ok() bool { return r.err == nil && r.status >= 200 && r.status < 300 }

// String is the reply in words, short enough for a message.
func (r *reply) String() string {
	if r.err != nil {
		return r.err.Message
	}
	text := strconv.Itoa(r.status)
	if phrase := http.StatusText(r.status); phrase != "" {
		text += " " + phrase
	}
	if body := shorten(r.body, 200); body != "" && !r.ok() {
		text += ": " + body
	}
	return text
}

// send carries out one request within limit.
func (o *Options) send(ctx context.Context, r *client.Request, limit time.Duration) reply {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	sink := &bodySink{}
	r.Session, r.FinalTurn, r.CancelAfterNS = "control", true, -1
	ex := o.Sender.Send(ctx, r, sink)
	ex.Err = ex.Err.Published(o.Redact, ex.ErrIsBody)
	switch {
	case ex.CutOff:
		return reply{cut: true, err: &record.Error{Type: "TimeoutError",
			Message: fmt.Sprintf("no answer within %s", limit)}}
	case ex.Err == nil:
		return reply{status: ex.Status, body: sink.text}
	case ex.Status >= 300 && ex.Err.HasCode && ex.Err.Code == ex.Status:
		return reply{status: ex.Status, body: ex.Err.Message}
	}
	return reply{err: ex.Err}
}

// maxBody bounds what is kept of a reply.
const maxBody = 1 << 20

// bodySink keeps the body of a reply.
type bodySink struct{ text string }

// Event implements client.Sink.
func (s *bodySink) Event(_, data []byte, _ int64) {
	if len(s.text) < maxBody {
		s.text += string(data)
	}
}

// Body implements client.Sink.
func (s *bodySink) Body(_ string, _ bool, body []byte, _ int64) {
	s.text = string(body[:min(len(body), maxBody)])
}

// Origin is the scheme, user information and host of a URL: its path and query dropped.
func Origin(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return "", errors.New("a URL of the run has no host")
	}
	return (&url.URL{Scheme: strings.ToLower(u.Scheme), User: u.User, Host: u.Host}).String(), nil
}

// Origins are the distinct origins of URLs, in order.
func Origins(bases []string) ([]string, error) {
	var list []string
	for _, base := range bases {
		origin, err := Origin(base)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, origin) {
			list = append(list, origin)
		}
	}
	return list, nil
}

// shown is an address without its secrets.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the URL"
	}
	u.User = nil
	return u.String()
}

func shorten(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// pause waits; false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
