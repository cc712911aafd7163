package client

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// JoinURL appends an endpoint's path to a base URL. A base without http:// or https:// gets http://; a base that already
// ends in the path, with the vendor's version of it or without any, stays as it is; the version of a base takes the
// place of the path's. The query of the base is kept, the first value of a repeated key winning.
func JoinURL(base, path string) (string, error) {
	u, err := parseBase(base)
	if err != nil {
		return "", err
	}
	path, pathQuery, _ := strings.Cut(path, "?")
	sub := strings.TrimLeft(path, "/")
	have := strings.TrimRight(u.EscapedPath(), "/")
	own, versioned := strings.CutPrefix(sub, "v1/")
	switch {
	case sub == "" || strings.HasSuffix(have, "/"+sub):
	case versioned && strings.HasSuffix(have, "/"+own):
	case versioned && bringsVersion(u.Hostname(), have):
		have += "/" + own
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

// bringsVersion reports whether a base URL stands in the place of the version of OpenAI's API, /v1: it ends in a version,
// or it is one of those that vendors print without.
func bringsVersion(host, path string) bool {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	last := segments[len(segments)-1]
	if isVersion(last) {
		return true
	}
	switch last {
	case "openai", "openapi", "compat": // an API among others of a vendor, below its version
		return slices.ContainsFunc(segments, isVersion)
	case "serving-endpoints": // Databricks
		return true
	case "inference": // GitHub
		return host == "models.github.ai"
	case "":
		return host == "api.perplexity.ai"
	}
	// A deployment of Azure.
	return len(segments) > 2 && segments[len(segments)-2] == "deployments" && segments[len(segments)-3] == "openai"
}

// isVersion reports whether a segment of a path is a version: v1, v3, v1beta, v1alpha2.
func isVersion(segment string) bool {
	rest, found := strings.CutPrefix(segment, "v")
	number := strings.TrimLeft(rest, "0123456789")
	if !found || number == rest {
		return false
	}
	stage := strings.TrimRight(number, "0123456789")
	return stage == "" && number == "" || stage == "alpha" || stage == "beta"
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
