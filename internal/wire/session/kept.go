package session

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"

	"aiperf/internal/measure/record"
)

// Keep says what later requests of a session carry of the heads of earlier replies.
type Keep struct {
	// Cookies: the cookies that replies set, as browsers send them (RFC 6265). Each session has its own.
	Cookies bool
	// Echo are names of headers: the last value that a reply gave such a header.
	Echo []string
}

func (k *Keep) any() bool { return k.Cookies || len(k.Echo) > 0 }

// kept is what a session keeps. It implements [client.Keeper], and is safe for concurrent use: turns of one session may
// be under way together.
type kept struct {
	names []string
	jar   *cookiejar.Jar // nil where cookies are not kept

	mu     sync.Mutex
	values []string // of the names; empty: no reply had the header
}

// newKept returns nil where nothing is kept.
func newKept(o *Keep) *kept {
	if !o.any() {
		return nil
	}
	k := &kept{names: o.Echo, values: make([]string, len(o.Echo))}
	if o.Cookies {
		k.jar, _ = cookiejar.New(nil) // never fails
	}
	return k
}

// Keep implements [client.Keeper].
func (k *kept) Keep(from *url.URL, values func(name string) []string) {
	if k.jar != nil {
		var cookies []*http.Cookie
		for _, line := range values("Set-Cookie") {
			if c, err := http.ParseSetCookie(line); err == nil {
				cookies = append(cookies, c)
			}
		}
		if len(cookies) > 0 {
			k.jar.SetCookies(from, cookies)
		}
	}
	if len(k.names) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, name := range k.names {
		if list := values(name); len(list) > 0 && list[len(list)-1] != "" {
			k.values[i] = list[len(list)-1]
		}
	}
}

// Carry implements [client.Keeper]. Headers that are echoed stay on the server that the user named; cookies go where
// their attributes say.
func (k *kept) Carry(to *url.URL, headers []record.Header, home bool) []record.Header {
	list, copied := headers, false
	set := func(name, value string) {
		if !copied {
			list, copied = append(make([]record.Header, 0, len(headers)+1+len(k.names)), headers...), true
		}
		named := func(h record.Header) bool { return strings.EqualFold(h.Name, name) }
		if at := slices.IndexFunc(list, named); at >= 0 {
			list[at].Value = value
			return
		}
		list = append(list, record.Header{Name: name, Value: value})
	}
	if k.jar != nil {
		if cookies := k.jar.Cookies(to); len(cookies) > 0 {
			set("Cookie", cookieText(valueOf(headers, "Cookie"), cookies))
		}
	}
	if home && len(k.names) > 0 {
		k.mu.Lock()
		defer k.mu.Unlock()
		for i, name := range k.names {
			if k.values[i] != "" {
				set(name, k.values[i])
			}
		}
	}
	return list
}

func valueOf(headers []record.Header, name string) string {
	for _, h := range headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

// cookieText returns the value of a Cookie header: the user's own cookies, unless a reply has set one of the name, and
// those that replies have set.
func cookieText(own string, set []*http.Cookie) string {
	var parts []string
	for part := range strings.SplitSeq(own, ";") {
		part = strings.TrimSpace(part)
		name, _, _ := strings.Cut(part, "=")
		if part != "" && !slices.ContainsFunc(set, func(c *http.Cookie) bool { return c.Name == name }) {
			parts = append(parts, part)
		}
	}
	for _, c := range set {
		value := c.Value
		if c.Quoted {
			value = `"` + value + `"`
		}
		parts = append(parts, c.Name+"="+value)
	}
	return strings.Join(parts, "; ")
}
