package artifact

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Redacted stands wherever a secret was.
const Redacted = "<redacted>"

// credentialHeaders are the header names, in lower case, whose values are secrets.
var credentialHeaders = [...]string{
	"proxy-authorization", "authorization", "ocp-apim-subscription-key", "x-functions-key",
	"x-goog-api-key", "x-amz-security-token", "aeg-sas-key", "x-api-key", "api-key",
}

// IsCredentialHeader tells whether the value of a header is a secret, whatever its case.
func IsCredentialHeader(name string) bool {
	name = strings.TrimSpace(name)
	for _, h := range credentialHeaders {
		if strings.EqualFold(h, name) {
			return true
		}
	}
	return false
}

// Redactor hides secrets in what goes to files, logs and the screen: by name where a text names them,
// and by value for those that the run knows. A nil Redactor knows no values but hides by name. It is
// safe for concurrent use.
type Redactor struct {
	values  []string
	replace *strings.Replacer
}

// minSecret is the shortest known value that is searched for in texts: replacing a shorter one would
// make a text unreadable and tell the secret by its gaps.
const minSecret = 4

// NewRedactor returns a redactor that also replaces the given values, such as API keys, wherever they
// appear, as they are or escaped in a URL or in JSON.
func NewRedactor(secrets ...string) *Redactor {
	r := &Redactor{}
	for _, s := range secrets {
		s = strings.TrimSpace(s)
		if len(s) < minSecret {
			continue
		}
		quoted := string(AppendString(nil, s))
		r.values = append(r.values, s, url.QueryEscape(s), url.PathEscape(s), quoted[1:len(quoted)-1])
	}
	slices.SortFunc(r.values, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a) // a secret may contain another one
		}
		return strings.Compare(a, b)
	})
	r.values = slices.Compact(r.values)
	var pairs []string
	for _, v := range r.values {
		pairs = append(pairs, v, Redacted)
	}
	if len(pairs) > 0 {
		r.replace = strings.NewReplacer(pairs...)
	}
	return r
}

// rule hides what follows a name. The cue, in lower case, says cheaply that the rule cannot match.
type rule struct {
	cue     string
	pattern *regexp.Regexp
	with    string
}

// value is what follows a name: quoted, or up to the next separator. It cannot match Redacted, so that
// a text may pass twice.
const value = `(?:"[^"]*"|'[^']*'|[^\s,;&"'<>(){}\[\]]+)`

var rules = []rule{
	{"://", regexp.MustCompile(`(://)[^/?#\s"'<>]*@`), "${1}" + Redacted + "@"},
	{"authorization", regexp.MustCompile(`(?i)(authorization\s*["']?\s*[:=])[^\r\n]*`), "${1} " + Redacted},
	{"bearer", regexp.MustCompile(`(?i)\b(bearer)[ \t:]+[^\r\n]*`), "${1} " + Redacted},
	{"--api-key", regexp.MustCompile(`(?i)(--api-key)(\s+)` + value), "${1}${2}" + Redacted},
	{"-key", regexp.MustCompile(`(?i)(api-key|ocp-apim-subscription-key|x-functions-key|aeg-sas-key)(["']?\s*[:=]\s*)` + value), "${1}${2}" + Redacted},
	{"x-amz-security-token", regexp.MustCompile(`(?i)(x-amz-security-token)(["']?\s*[:=]\s*)` + value), "${1}${2}" + Redacted},
	{"key", regexp.MustCompile(`(?i)(api_?key)(["']?\s*[:=]\s*)` + value), "${1}${2}" + Redacted},
	{"api key", regexp.MustCompile(`(?i)(api key[^:"\r\n]{0,40}:\s*)` + value), "${1}" + Redacted},
	{"token", regexp.MustCompile(`(?i)(token)(\s*=\s*)` + value), "${1}${2}" + Redacted},
	{"secret", regexp.MustCompile(`(?i)(secret)(["']?\s*[:=]\s*)` + value), "${1}${2}" + Redacted},
	{"_token", regexp.MustCompile(`(?i)((?:access|auth|refresh)_token)(["']\s*:\s*)` + value), "${1}${2}" + Redacted},
}

// Text hides secrets in free text: an error message, a log line, a command line.
func (r *Redactor) Text(s string) string {
	s = r.Values(s)
	lower := strings.ToLower(s)
	for _, rule := range rules {
		if !strings.Contains(lower, rule.cue) {
			continue
		}
		s = rule.pattern.ReplaceAllString(s, rule.with)
	}
	return s
}

// Values hides only the values that the run knows: for texts that are data, in which names such as
// token mean something else.
func (r *Redactor) Values(s string) string {
	if r == nil || r.replace == nil {
		return s
	}
	return r.replace.Replace(s)
}

// Bytes is Values for data that is mostly clean: without a hit it returns b itself.
func (r *Redactor) Bytes(b []byte) []byte {
	if r == nil {
		return b
	}
	for _, v := range r.values {
		if bytes.Contains(b, []byte(v)) {
			return []byte(r.replace.Replace(string(b)))
		}
	}
	return b
}

// JSON is Bytes for a JSON document. What is no document, or is none any more after a secret that
// stood for more than text was replaced, becomes a JSON string.
func (r *Redactor) JSON(b []byte) []byte {
	b = r.Bytes(b)
	if json.Valid(b) {
		return b
	}
	return AppendString(nil, b)
}

// Header returns the value of a header as it may be written.
func (r *Redactor) Header(name, value string) string {
	if IsCredentialHeader(name) {
		return Redacted
	}
	return r.URL(r.Values(value))
}

// URL hides the user information of every URL in s, and known values.
func (r *Redactor) URL(s string) string {
	s = r.Values(s)
	if !strings.Contains(s, "://") {
		return s
	}
	return rules[0].pattern.ReplaceAllString(s, rules[0].with)
}
