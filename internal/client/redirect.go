package client

import (
	"net/http"
	"net/url"
	"strings"

	"aiperf/internal/record"
)

// maxRedirects bounds the redirects of one exchange.
const maxRedirects = 10

// credentials are the headers that stay behind when a redirect leaves the origin.
var credentials = []string{"Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "Api-Key", "X-Goog-Api-Key",
	"Ocp-Apim-Subscription-Key", "X-Functions-Key", "X-Amz-Security-Token", "Aeg-Sas-Key"}

// redirected is the hop that a reply sends the exchange to; false if the reply is none of that kind.
func (x *exchange) redirected(h *hop, resp *http.Response) (bool, error) {
	switch resp.StatusCode {
	case 301, 302, 303, 307, 308:
	default:
		return false, nil
	}
	if x.client.opts.Sign != nil {
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
	var drop []string
	if to.origin != h.target.origin {
		drop = append(append(drop, credentials...), "Host")
	}
	if resp.StatusCode == 303 && h.method != http.MethodHead || resp.StatusCode < 303 && h.method == http.MethodPost {
		h.method, h.body = http.MethodGet, nil
		drop = append(drop, "Content-Type", "Content-Encoding")
	}
	h.target = to
	h.headers = without(h.headers, drop)
	h.closes = false
	if x.writing != nil {
		h.wire, h.buffer = nil, nil // the writer may not be through with it
	}
	return true, h.encode()
}

func without(headers []record.Header, names []string) []record.Header {
	out := make([]record.Header, 0, len(headers))
next:
	for _, hd := range headers {
		for _, name := range names {
			if strings.EqualFold(hd.Name, name) {
				continue next
			}
		}
		out = append(out, hd)
	}
	return out
}
