package session

import (
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/endpoint"
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
