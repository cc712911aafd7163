package session

import (
	"net/url"
	"strings"

	"aiperf/internal/wire/client"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/dataset"
)

// URLs are the whole addresses of an API below the base addresses of a run. custom replaces the
// type's path, streaming or not; an empty one leaves the base as it is, nil means the type's own.
func URLs(d endpoint.Descriptor, bases []string, streaming bool, custom *string) ([]string, error) {
	path := d.RequestPath(streaming)
	if custom != nil {
		path = *custom
	}
	urls := make([]string, len(bases))
	for i, base := range bases {
		var err error
		if urls[i], err = client.JoinURL(base, path); err != nil {
			return nil, err
		}
	}
	return urls, nil
}

// HeadersOf are the headers of the requests to each of several URLs.
type HeadersOf struct {
	URLs    []string
	Headers [][]dataset.Header
}

// For returns the headers of a request that is no turn, such as a list of models, to the server of one of the URLs: the
// one with the same origin, of several the one whose path is the longest beginning of the address's, else the first.
func (h HeadersOf) For(address string) []dataset.Header {
	to, err := url.Parse(address)
	if err != nil || h.Headers == nil {
		return nil
	}
	best, length := -1, -1
	for i, base := range h.URLs {
		u, err := url.Parse(base)
		if err != nil || !strings.EqualFold(u.Scheme, to.Scheme) || !strings.EqualFold(u.Host, to.Host) {
			continue
		}
		common := 0
		if path := strings.TrimRight(u.Path, "/"); strings.HasPrefix(to.Path+"/", path+"/") {
			common = len(path) + 1
		}
		if common > length {
			best, length = i, common
		}
	}
	if best < 0 {
		return nil
	}
	return h.Headers[best]
}
