package session

import (
	"slices"
	"strings"

	"aiperf/internal/measure/record"
	"aiperf/internal/workload/dataset"
)

// Headers are the headers of every request of a run.
type Headers struct {
	// Version is part of the User-Agent.
	Version string
	// Custom are the user's own headers; values are sent as they are.
	Custom []record.Header
	// APIKey is sent as a bearer token, or as it is in the header KeyName; empty: none.
	APIKey, KeyName string
	// Usual are those of the API, which the user's own replace.
	Usual []dataset.Header
	// Accept is what the requests accept; empty: events of those that ask for a stream, else JSON.
	Accept string
	// SessionName names the header of the session's id; empty: X-Correlation-ID.
	SessionName string
	// RequestIDNames carry the request's id besides; Fixed are the service's own headers.
	RequestIDNames []string
	Fixed          []record.Header
	// The following add the session's id under further names.
	SessionAffinity, SessionID, SMGRoutingKey, DynamoSessionID bool
}

const defaultSessionName = "X-Correlation-ID"

// headerTemplate is the header list of all requests of one body kind. The values at the listed places
// are filled in for each request.
type headerTemplate struct {
	list                 []record.Header
	request, correlation []int
}

// filler reports what a header's value is made of.
type filler uint8

const (
	fixed filler = iota
	requestID
	correlationID
)

// templateHeader is a header before its value is known.
type templateHeader struct {
	record.Header
	fill filler
}

// headerList keeps a name once, whatever its spelling, at its first place and with its last value.
type headerList []templateHeader

func (l *headerList) set(name, value string, fill filler) {
	h := templateHeader{record.Header{Name: name, Value: value}, fill}
	i := slices.IndexFunc(*l, func(o templateHeader) bool { return strings.EqualFold(o.Name, name) })
	if i >= 0 {
		(*l)[i] = h
		return
	}
	*l = append(*l, h)
}

// List is the headers of one request that belongs to no session. An empty content type is left out.
func (h *Headers) List(stream bool, contentType string) []record.Header {
	ids := newIDSource()
	list := h.template(stream, contentType).fill(ids.next(), ids.next())
	return slices.DeleteFunc(list, func(o record.Header) bool {
		return o.Value == "" &&
			strings.EqualFold(o.Name, "Content-Type")
	})
}

// template lists the headers in the order in which they are built: the user's own replace the first
// three and are replaced by what follows them.
func (h *Headers) template(stream bool, contentType string) *headerTemplate {
	var l headerList
	l.set("User-Agent", "aiperf/"+h.Version, fixed)
	l.set("X-Request-ID", "", requestID)
	name := h.SessionName
	if name == "" {
		name = defaultSessionName
	}
	l.set(name, "", correlationID)
	for _, u := range h.Usual {
		l.set(u.Name, u.Value, fixed)
	}
	for _, c := range h.Custom {
		l.set(c.Name, c.Value, fixed)
	}
	switch {
	case h.APIKey == "":
	case h.KeyName != "":
		l.set(h.KeyName, h.APIKey, fixed)
	default:
		l.set("Authorization", "Bearer "+h.APIKey, fixed)
	}
	switch {
	case h.Accept != "":
		l.set("Accept", h.Accept, fixed)
	case stream:
		l.set("Accept", "text/event-stream", fixed)
	default:
		l.set("Accept", "application/json", fixed)
	}
	l.set("Content-Type", contentType, fixed)
	for _, more := range []struct {
		on   bool
		name string
	}{
		{h.SessionAffinity, "X-Session-Affinity"},
		{h.SessionID, "X-Session-ID"},
		{h.SMGRoutingKey, "X-SMG-Routing-Key"},
		{h.DynamoSessionID, "X-Dynamo-Session-ID"},
	} {
		if more.on {
			l.set(more.name, "", correlationID)
		}
	}
	for _, name := range h.RequestIDNames {
		l.set(name, "", requestID)
	}
	for _, f := range h.Fixed {
		l.set(f.Name, f.Value, fixed)
	}
	t := &headerTemplate{}
	for i, e := range l {
		t.list = append(t.list, e.Header)
		switch e.fill {
		case requestID:
			t.request = append(t.request, i)
		case correlationID:
			t.correlation = append(t.correlation, i)
		}
	}
	return t
}

// fill returns the headers of one request.
func (t *headerTemplate) fill(request, correlation string) []record.Header {
	list := slices.Clone(t.list)
	for _, i := range t.request {
		list[i].Value = request
	}
	for _, i := range t.correlation {
		list[i].Value = correlation
	}
	return list
}

// WithHeaders adds headers to a list, in place of others of their names. It changes the list.
func WithHeaders(list []record.Header, own []dataset.Header) []record.Header {
	for _, h := range own {
		named := func(o record.Header) bool { return strings.EqualFold(o.Name, h.Name) }
		if i := slices.IndexFunc(list, named); i >= 0 {
			list[i].Value = h.Value
			continue
		}
		list = append(list, record.Header(h))
	}
	return list
}

// DataHeaders returns the headers that the data gives the request of a turn; nil: none.
func DataHeaders(c *dataset.Conversation, turn int) []record.Header {
	return WithHeaders(WithHeaders(nil, c.Headers), c.Turns[turn].Headers)
}
