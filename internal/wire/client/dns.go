package client

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

// networks maps an IP version to the network of a lookup.
var networks = map[string]string{"4": "ip4", "6": "ip6", "auto": "ip"}

// resolver looks host names up, once for all concurrent callers, and caches the answer.
type resolver struct {
	network string
	cache   bool
	ttl     time.Duration
	now     func() int64
	lookup  func(ctx context.Context, network, host string) ([]netip.Addr, error)

	mu      sync.Mutex
	entries map[string]*dnsEntry
}

type dnsEntry struct {
	done    chan struct{} // closed when the answer is there
	addrs   []netip.Addr
	err     error
	expires int64
	turn    int // addresses are used in turn
}

func newResolver(opts *Options, now func() int64) *resolver {
	return &resolver{
		network: networks[opts.IPVersion],
		cache:   opts.UseDNSCache,
		ttl:     opts.DNSCacheTTL,
		now:     now,
		lookup:  net.DefaultResolver.LookupNetIP,
		entries: map[string]*dnsEntry{},
	}
}

// resolve is the addresses of host in the order to be tried, and what happened.
func (r *resolver) resolve(ctx context.Context, host string, t *Stamps) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	for {
		e, mine := r.entry(host)
		if !mine && r.answered(e) {
			t.DNSHit = r.now()
			return r.inTurn(e), nil
		}
		if t.DNSMiss == 0 {
			t.DNSMiss = r.now()
			t.DNSStart = t.DNSMiss
		}
		if mine {
			r.ask(ctx, host, e)
		} else {
			select {
			case <-e.done:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			if e.err != nil && ctx.Err() == nil && isContextError(e.err) {
				continue // the caller that asked was cut off; that is not the answer
			}
		}
		if e.err != nil {
			return nil, e.err
		}
		t.DNSEnd = r.now()
		return r.inTurn(e), nil
	}
}

// entry is the lookup to wait for, or a new one that is the caller's to make.
func (r *resolver) entry(host string) (e *dnsEntry, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[host]; e != nil && (!r.answered(e) || r.now() < e.expires) {
		return e, false
	}
	e = &dnsEntry{done: make(chan struct{})}
	r.entries[host] = e
	return e, true
}

func (r *resolver) answered(e *dnsEntry) bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

func (r *resolver) ask(ctx context.Context, host string, e *dnsEntry) {
	e.addrs, e.err = r.lookup(ctx, r.network, host)
	for i, a := range e.addrs {
		e.addrs[i] = a.Unmap()
	}
	e.expires = r.now() + int64(r.ttl)
	if e.err != nil || !r.cache {
		r.mu.Lock()
		if r.entries[host] == e {
			delete(r.entries, host)
		}
		r.mu.Unlock()
	}
	close(e.done)
}

func (r *resolver) inTurn(e *dnsEntry) []netip.Addr {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(e.addrs)
	out := make([]netip.Addr, 0, n)
	for i := range n {
		out = append(out, e.addrs[(e.turn+i)%n])
	}
	e.turn++
	return out
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
