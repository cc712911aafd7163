package prom

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// redacted stands wherever a secret was.
const redacted = "<redacted>"

// metricsPath is the path that every endpoint ends in.
const metricsPath = "/metrics"

// schemes are the URL schemes that an endpoint may be given with, and the one that is used.
var schemes = [...]struct{ given, used string }{
	{"http://", "http://"}, {"https://", "https://"}, {"grpc://", "http://"}, {"grpcs://", "https://"},
}

// NormalizeURL makes the URL of a metrics page from an address as users give it: without a scheme it is
// http, and the path ends in /metrics. The same endpoint in different spelling gives the same URL.
func NormalizeURL(raw string) (string, error) {
	rest := strings.TrimSpace(raw)
	if rest == "" {
		return "", errors.New("metrics endpoint is empty: give HOST:PORT or a URL")
	}
	scheme := "http://"
	if i := strings.Index(rest, "://"); i >= 0 && !strings.ContainsAny(rest[:i], "/?#@") {
		scheme = ""
		for _, s := range schemes {
			if strings.EqualFold(rest[:i+3], s.given) {
				scheme = s.used
			}
		}
		if scheme == "" {
			return "", fmt.Errorf("metrics endpoint %q: scheme must be http or https", RedactURL(rest))
		}
		rest = rest[i+3:]
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, asked := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	if path = strings.TrimRight("/"+path, "/"); !strings.HasSuffix(path, metricsPath) {
		path += metricsPath
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		authority = authority[:at] + strings.ToLower(authority[at:])
	} else {
		authority = strings.ToLower(authority)
	}
	normal := scheme + authority + path
	if asked {
		normal += "?" + query
	}
	u, err := url.Parse(normal)
	if err != nil || u.Hostname() == "" || strings.ContainsAny(normal, " \t\r\n") {
		return "", fmt.Errorf("metrics endpoint %q is no URL: give HOST:PORT or http://HOST:PORT/PATH", RedactURL(strings.TrimSpace(raw)))
	}
	return normal, nil
}

// secretWords mark the query parameters whose values are secrets, by any part of the name.
var secretWords = [...]string{"key", "token", "secret", "passw", "pwd", "signature", "credential", "auth"}

// RedactURL hides the user information and the credential-like query parameters of a URL, and leaves
// the rest as it is. It works on what is no valid URL, too.
func RedactURL(raw string) string {
	head, query, asked := strings.Cut(raw, "?")
	scheme, rest := "", head
	if i := strings.Index(head, "://"); i >= 0 {
		scheme, rest = head[:i+3], head[i+3:]
	}
	authority, path, slash := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		authority = redacted + authority[at:]
	}
	out := scheme + authority
	if slash {
		out += "/" + path
	}
	if asked {
		out += "?" + redactQuery(query)
	}
	return out
}

func redactQuery(query string) string {
	var b strings.Builder
	for query != "" {
		end := strings.IndexAny(query, "&;#")
		separator := ""
		pair := query
		if end >= 0 {
			pair, separator, query = query[:end], query[end:end+1], query[end+1:]
		} else {
			query = ""
		}
		if name, value, ok := strings.Cut(pair, "="); ok && value != "" && isSecret(name) {
			pair = name + "=" + redacted
		}
		b.WriteString(pair)
		b.WriteString(separator)
	}
	return b.String()
}

func isSecret(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.ToLower(name)
	if name == "sig" {
		return true
	}
	for _, w := range secretWords {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

// Display is an endpoint as it stands in tables: redacted, without scheme and without /metrics at the
// end of its path.
func Display(endpoint string) string {
	s := RedactURL(endpoint)
	if i := strings.Index(s, "://"); i >= 0 {
		s = s[i+3:]
	}
	s, query, asked := strings.Cut(s, "?")
	if s = strings.TrimSuffix(s, metricsPath); asked {
		s += "?" + query
	}
	return s
}
