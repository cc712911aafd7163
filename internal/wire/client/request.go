package client

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"aiperf/internal/base/header"
	"aiperf/internal/measure/record"
)

// inlineBody is the largest body that is copied behind its headers, to leave in one write.
const inlineBody = 32 << 10

// hop is one request on the wire: the first, or that of a redirect.
type hop struct {
	target  *target
	method  string
	headers []record.Header
	// given are the headers without what a Keeper adds.
	given []record.Header
	body  []byte
	// wire is the head as sent, with the body behind it if it is short.
	wire    []byte
	buffer  *[]byte // what wire is made of, if it is to be given back
	headLen int
	// closes is true when the request asks for the connection to be closed.
	closes bool
}

// firstHop prepares the request as it is sent first. The signature comes last: it covers the headers that a keeper
// adds, and a header that the signer sets replaces one of that name.
func (x *exchange) firstHop(buffer *[]byte) error {
	h := &x.hop
	*h = hop{method: x.req.Method, headers: x.req.Headers, given: x.req.Headers, body: x.req.Body, wire: *buffer,
		buffer: buffer}
	x.headers = h.headers
	if h.method == "" {
		h.method = http.MethodPost
	}
	var err error
	if h.target, err = x.client.target(x.req.URL); err != nil {
		return err
	}
	if k := x.req.Keeper; k != nil {
		h.headers = k.Carry(PlaceOf(h.target.url, h.given), h.given, true)
		x.headers = h.headers
	}
	if sign := x.opts.Sign; sign != nil {
		extra, err := sign(h.method, h.target.url, h.signable(), h.body)
		if err != nil {
			return err
		}
		h.headers = append(without(h.headers, namesOf(extra)), extra...)
	}
	return h.encode()
}

// signable is the headers that a signature covers, Host included.
func (h *hop) signable() []record.Header {
	for _, hd := range h.headers {
		if strings.EqualFold(hd.Name, "Host") {
			return h.headers
		}
	}
	return append([]record.Header{{Name: "Host", Value: h.target.host}}, h.headers...)
}

func namesOf(headers []record.Header) []string {
	names := make([]string, len(headers))
	for i, hd := range headers {
		names[i] = hd.Name
	}
	return names
}

// encode writes the head, headers in the order given. Host and Content-Length are the client's own
// unless the request names a Host.
func (h *hop) encode() error {
	if !header.IsToken(h.method) {
		return fmt.Errorf("method %q is not a valid token", h.method)
	}
	host, auth := h.target.host, h.target.auth
	for i := range h.headers {
		hd := &h.headers[i]
		if !header.IsToken(hd.Name) {
			return fmt.Errorf("header name %q is not a valid token", hd.Name)
		}
		if strings.ContainsAny(hd.Value, "\r\n\x00") {
			return fmt.Errorf("the value of header %s contains a line break or NUL", hd.Name)
		}
		switch {
		case strings.EqualFold(hd.Name, "Host"):
			host = hd.Value
		case strings.EqualFold(hd.Name, "Authorization"):
			auth = ""
		case strings.EqualFold(hd.Name, "Connection"):
			h.closes = h.closes || hasToken(hd.Value, "close")
		}
	}
	b := h.wire[:0]
	b = append(b, h.method...)
	b = append(b, ' ')
	b = append(b, h.target.path...)
	b = append(b, " HTTP/1.1\r\n"...)
	b = appendHeader(b, "Host", host)
	for i := range h.headers {
		if hd := &h.headers[i]; !isFraming(hd.Name) {
			b = appendHeader(b, hd.Name, hd.Value)
		}
	}
	if auth != "" {
		b = appendHeader(b, "Authorization", auth)
	}
	if h.target.proxyAuth != "" {
		b = appendHeader(b, "Proxy-Authorization", h.target.proxyAuth)
	}
	if h.hasLength() {
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, int64(len(h.body)), 10)
		b = append(b, "\r\n"...)
	}
	b = append(b, "\r\n"...)
	h.headLen = len(b)
	if len(h.body) <= inlineBody {
		b = append(b, h.body...)
	}
	h.wire = b
	return nil
}

func (h *hop) hasLength() bool {
	return len(h.body) > 0 || h.method == http.MethodPost || h.method == http.MethodPut || h.method == http.MethodPatch
}

// sent is the headers as they went out.
func (h *hop) sent() []record.Header {
	out := make([]record.Header, 0, len(h.headers)+2)
	host := h.target.host
	for _, hd := range h.headers {
		if strings.EqualFold(hd.Name, "Host") {
			host = hd.Value
		}
	}
	out = append(out, record.Header{Name: "Host", Value: host})
	for _, hd := range h.headers {
		if !isFraming(hd.Name) {
			out = append(out, hd)
		}
	}
	if h.hasLength() {
		out = append(out, record.Header{Name: "Content-Length", Value: strconv.Itoa(len(h.body))})
	}
	return out
}

func appendHeader(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, strings.Trim(value, " \t")...)
	return append(b, "\r\n"...)
}

// isFraming reports whether a header is the client's to write.
func isFraming(name string) bool {
	switch len(name) {
	case len("Host"):
		return strings.EqualFold(name, "Host")
	case len("Content-Length"):
		return strings.EqualFold(name, "Content-Length")
	case len("Transfer-Encoding"):
		return strings.EqualFold(name, "Transfer-Encoding")
	}
	return false
}

// hasToken reports whether a word is in a list, in any case.
func hasToken(list, word string) bool {
	for item := range strings.SplitSeq(list, ",") {
		if strings.EqualFold(strings.Trim(item, " \t"), word) {
			return true
		}
	}
	return false
}
