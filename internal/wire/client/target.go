package client

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// origin is where connections go: scheme, host and port.
type origin struct {
	scheme, host, port string
}

func (o *origin) hostPort() string { return net.JoinHostPort(o.host, o.port) }

// target is a URL ready to be requested.
type target struct {
	raw    string
	origin *origin
	host   string // the Host header
	path   string // path and query as sent
	auth   string // Authorization made of the URL's user and password, if any
	// proxyAuth goes to the HTTP proxy that the request is sent through, if any.
	proxyAuth string
	url       *url.URL
}

// maxTargets bounds the cache of parsed URLs.
const maxTargets = 4096

// target parses a URL once.
func (c *Client) target(raw string) (*target, error) {
	if t := c.lastTarget.Load(); t != nil && t.raw == raw {
		return t, nil
	}
	c.targetsMu.RLock()
	t := c.targets[raw]
	c.targetsMu.RUnlock()
	if t == nil {
		var err error
		if t, err = c.parseTarget(raw); err != nil {
			return nil, err
		}
	}
	c.lastTarget.Store(t)
	return t, nil
}

// parseTarget parses a URL into what each request to it needs, and keeps it. Equal origins share one value, by which
// connections are found. The number of targets that are kept is bounded: URLs may come from a data set.
func (c *Client) parseTarget(raw string) (*target, error) {
	u, o, err := parseOrigin(raw)
	if err != nil {
		return nil, err
	}
	t := &target{raw: raw, url: u, host: u.Host, path: u.RequestURI()}
	if strings.ContainsAny(t.host+t.path, " \r\n\x00") {
		return nil, errors.New("URL contains a space or a control character")
	}
	t.host = strings.TrimSuffix(t.host, ":")
	if i := strings.IndexByte(t.host, '%'); i >= 0 && strings.HasPrefix(t.host, "[") {
		// The zone of an IPv6 address is of this machine only.
		if j := strings.IndexByte(t.host, ']'); j > i {
			t.host = t.host[:i] + t.host[j:]
		}
	}
	t.auth = basicAuth(u)
	if proxy, err := c.dialer.proxyFor(&o); err == nil && proxy != nil && o.scheme == "http" {
		t.path = "http://" + t.host + t.path
		t.proxyAuth = basicAuth(proxy)
	}
	c.targetsMu.Lock()
	defer c.targetsMu.Unlock()
	if known := c.origins[o]; known != nil {
		t.origin = known
	} else {
		t.origin = &o
		c.origins[o] = t.origin
	}
	if len(c.targets) < maxTargets {
		c.targets[raw] = t
	}
	return t, nil
}

// parseOrigin reads a URL as far as the connection needs it.
func parseOrigin(raw string) (*url.URL, origin, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, origin{}, fmt.Errorf("URL %q cannot be read", redactUserinfo(raw))
	}
	o := origin{scheme: strings.ToLower(u.Scheme), host: lowerHost(u.Hostname()), port: u.Port()}
	switch {
	case o.scheme != "http" && o.scheme != "https":
		return nil, o, fmt.Errorf("URL %q: scheme must be http or https", redactUserinfo(raw))
	case o.host == "":
		return nil, o, fmt.Errorf("URL %q has no host", redactUserinfo(raw))
	}
	if o.port == "" {
		o.port = map[string]string{"http": "80", "https": "443"}[o.scheme]
	}
	return u, o, nil
}

// lowerHost leaves the zone of an IPv6 address as it is: interfaces have names in any case.
func lowerHost(host string) string {
	name, zone, found := strings.Cut(host, "%")
	if name = strings.ToLower(name); found {
		name += "%" + zone
	}
	return name
}
