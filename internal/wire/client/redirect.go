package client

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"aiperf/internal/measure/record"
)

// maxRedirects bounds the redirects of one exchange.
const maxRedirects = 10

// portable are the headers that go along when a redirect leaves the origin: they describe the request. All others stay
// behind, those that the user gave above all: what they hold is meant for the server that he named.
var portable = []string{"Accept", "Accept-Encoding", "Content-Encoding", "Content-Type", "User-Agent", "X-Request-ID",
	"X-Correlation-ID"}

// redirected changes the hop to the one that a redirect leads to; false if the reply is not a redirect.
func (x *exchange) redirected(h *hop, resp *http.Response) (bool, error) {
	switch resp.StatusCode {
	case 301, 302, 303, 307, 308:
	default:
		return false, nil
	}
	if x.opts.Sign != nil {
		return false, nil // the signature is for the first address
	}
	location := resp.Header.Get("Location")
	if location == "" {
		return false, nil
	}
	ref, err := url.Parse(location)
	if err != nil {
		return false, nil
	}
	to, err := x.client.target(h.target.url.ResolveReference(ref).String())
	if err != nil {
		return false, err
	}
	if to.origin != h.target.origin {
		h.given = only(h.given, portable)
	}
	if resp.StatusCode == 303 && h.method != http.MethodHead || resp.StatusCode < 303 && h.method == http.MethodPost {
		h.method, h.body = http.MethodGet, nil
		h.given = without(h.given, []string{"Content-Type", "Content-Encoding"})
	}
	h.target, h.headers = to, h.given
	if k := x.req.Keeper; k != nil {
		first, err := x.client.target(x.req.URL)
		h.headers = k.Carry(PlaceOf(to.url, h.given), h.given, err == nil && to.origin == first.origin)
	}
	h.closes = false
	if x.writing != nil {
		h.wire, h.buffer = nil, nil // the writer may still use it
	}
	return true, h.encode()
}

// only are the headers with one of the names, without are the others; each a list of its own.
func only(headers []record.Header, names []string) []record.Header {
	return selected(headers, func(name string) bool { return isOneOf(names, name) })
}

func without(headers []record.Header, names []string) []record.Header {
	return selected(headers, func(name string) bool { return !isOneOf(names, name) })
}

func selected(headers []record.Header, keep func(name string) bool) []record.Header {
	out := make([]record.Header, 0, len(headers))
	for _, hd := range headers {
		if keep(hd.Name) {
			out = append(out, hd)
		}
	}
	return out
}

func isOneOf(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}
