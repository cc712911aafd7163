package client

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// JoinURL appends an endpoint's path to a base URL. A base without http:// or https:// gets http://;
// a base that already ends in the path stays as it is, and the v1 of a base is not repeated. The query
// of the base is kept, the first value of a repeated key winning.
func JoinURL(base, path string) (string, error) {
	u, err := parseBase(base)
	if err != nil {
		return "", err
	}
	path, pathQuery, _ := strings.Cut(path, "?")
	sub := strings.TrimLeft(path, "/")
	have := strings.TrimRight(u.EscapedPath(), "/")
	switch {
	case sub == "" || strings.HasSuffix(have, "/"+sub):
	case strings.HasSuffix(have, "/v1") && strings.HasPrefix(sub, "v1/"):
		have += strings.TrimPrefix(sub, "v1")
	default:
		have += "/" + sub
	}
	out := u.Scheme + "://"
	if u.User != nil {
		out += u.User.String() + "@"
	}
	out += u.Host + have
	if q := mergeQuery(pathQuery, u.RawQuery); q != "" {
		out += "?" + q
	}
	if _, err := url.Parse(out); err != nil {
		return "", fmt.Errorf("path %q cannot be appended to %s: %w", path, u.Redacted(), err)
	}
	return out, nil
}

// parseBase reads what the user gave as URL.
func parseBase(base string) (*url.URL, error) {
	base = strings.TrimSpace(base)
	scheme, _, found := strings.Cut(base, "://")
	switch {
	case !found:
		base = "http://" + base
	case !slices.Contains([]string{"http", "https", "grpc", "grpcs"}, strings.ToLower(scheme)):
		//lint:ignore ST1005 the documented text
		return nil, fmt.Errorf("No transport found for URL scheme '%s' in: %s", scheme, redactUserinfo(base))
	}
	u, err := url.Parse(base)
	if err != nil {
		// The parser's error would repeat the whole URL, secrets included.
		return nil, fmt.Errorf("URL %q cannot be read: want http://host:port/path", redactUserinfo(base))
	}
	if u.Hostname() == "" {
		return nil, fmt.Errorf("URL %q has no host: want http://host:port/path", redactUserinfo(base))
	}
	return u, nil
}

// redactUserinfo hides what is between the scheme and the last @ of the authority.
func redactUserinfo(raw string) string {
	start := 0
	if i := strings.Index(raw, "://"); i >= 0 {
		start = i + 3
	}
	end := len(raw)
	if i := strings.IndexAny(raw[start:], "/?#"); i >= 0 {
		end = start + i
	}
	at := strings.LastIndexByte(raw[start:end], '@')
	if at < 0 {
		return raw
	}
	return raw[:start] + "<redacted>" + raw[start+at:]
}

// mergeQuery joins queries in order of first appearance; the first value of a key wins.
func mergeQuery(queries ...string) string {
	seen := map[string]bool{}
	var out []string
	for _, q := range queries {
		for pair := range strings.SplitSeq(q, "&") {
			if pair == "" {
				continue
			}
			rawKey, rawValue, _ := strings.Cut(pair, "=")
			key, value := unescapeQuery(rawKey), unescapeQuery(rawValue)
			if seen[key] {
				continue
			}
			seen[key] = true
			out = append(out, url.QueryEscape(key)+"="+url.QueryEscape(value))
		}
	}
	return strings.Join(out, "&")
}

func unescapeQuery(s string) string {
	if v, err := url.QueryUnescape(s); err == nil {
		return v
	}
	return s
}
