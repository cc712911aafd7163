package operator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"aiperf/internal/base/clock"
)

// Prober asks whether servers can be reached.
type Prober interface {
	// Resolve looks a host name up. A name that does not exist is a [net.DNSError] with IsNotFound.
	Resolve(ctx context.Context, host string) error
	// Reach makes one request; any answer is good.
	Reach(ctx context.Context, address string) error
}

// Network is the Prober of this machine.
type Network struct{}

// Resolve implements [Prober].
func (Network) Resolve(ctx context.Context, host string) error {
	_, err := net.DefaultResolver.LookupHost(ctx, host)
	return err
}

// Reach implements [Prober].
func (Network) Reach(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	reply, err := c.Do(request)
	if err != nil {
		return err
	}
	return reply.Body.Close()
}

// A host name that cannot be resolved is looked up this often, with pauses.
const (
	lookups     = 3
	lookupPause = 5 * time.Second
)

// endpoint is what was found of the servers of a job.
type endpoint struct {
	// unknown is a host that does not exist, for which the job fails; unreachable a server that did not answer, which
	// is only reported.
	unknown, unreachable error
}

// probe asks the servers of a job.
func (o *Operator) probe(ctx context.Context, urls []string) (found endpoint) {
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" {
			continue // the configuration's own checks have accepted it: it is no address of the network
		}
		if net.ParseIP(u.Hostname()) == nil {
			if err := o.lookUp(ctx, u.Hostname()); err != nil {
				found.unknown = err
				return found
			}
		}
		if u.Scheme != "http" && u.Scheme != "https" {
			continue
		}
		within, cancel := context.WithTimeout(ctx, o.o.EndpointTimeout)
		err = o.o.Prober.Reach(within, text)
		cancel()
		if err != nil && found.unreachable == nil {
			found.unreachable = fmt.Errorf("%s: %w", u.Host, withoutURL(err))
		}
	}
	return found
}

// withoutURL is an error of a request without its address, which may hold secrets.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// lookUp returns an error only where a name does not exist; what else goes wrong is for the request to find out.
func (o *Operator) lookUp(ctx context.Context, host string) (err error) {
	for i := range lookups {
		if i > 0 {
			clock.Wait(ctx, lookupPause)
		}
		within, cancel := context.WithTimeout(ctx, o.o.EndpointTimeout)
		err = o.o.Prober.Resolve(within, host)
		cancel()
		var dns *net.DNSError
		if !errors.As(err, &dns) || !dns.IsNotFound {
			return nil
		}
	}
	return err
}
