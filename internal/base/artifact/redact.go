package artifact

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/base/pattern"
)

// Redacted stands wherever a secret was.
const Redacted = "<redacted>"

// Redactor hides secrets in what goes to files, logs and the screen: by name where a text names them,
// and by value for those that the run knows. A nil Redactor knows no values but hides by name. It is
// safe for concurrent use.
type Redactor struct {
	known   atomic.Pointer[knownSecrets]
	members map[string]bool
}

// knownSecrets are values to hide, as they are found in texts.
type knownSecrets struct {
	values  []string // all spellings, longest first
	plain   map[string]bool
	replace *strings.Replacer
}

// minSecret is the length in bytes of the shortest value that is searched for in texts. A shorter one is
// hidden only where its name stands: replacing it everywhere would make a text unreadable, and would
// tell the secret by the gaps.
const minSecret = 6

// NewRedactor returns a redactor that also replaces the given values, such as API keys, wherever they
// appear, in every spelling that spellings lists.
func NewRedactor(secrets ...string) *Redactor {
	r := &Redactor{}
	r.Learn(secrets...)
	return r
}

// Learn has the redactor replace further values: those that are known only when the run has begun, such as credentials
// in the rows of a data set. It is not meant for many: every text is searched for each value.
func (r *Redactor) Learn(secrets ...string) {
	for before := r.known.Load(); ; before = r.known.Load() {
		if r.known.CompareAndSwap(before, before.with(secrets)) {
			return
		}
	}
}

// with returns what is known with further secrets; k may be nil.
func (k *knownSecrets) with(secrets []string) *knownSecrets {
	all := &knownSecrets{plain: map[string]bool{}}
	if k != nil {
		all.values = slices.Clone(k.values)
		maps.Copy(all.plain, k.plain)
	}
	for _, s := range secrets {
		s = strings.TrimSpace(s)
		if len(s) < minSecret || s == Redacted || all.plain[s] {
			continue
		}
		all.plain[s] = true
		all.values = append(all.values, spellings(s)...)
	}
	slices.SortFunc(all.values, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a) // a secret may contain another one
		}
		return strings.Compare(a, b)
	})
	all.values = slices.Compact(all.values)
	var pairs []string
	for _, v := range all.values {
		pairs = append(pairs, v, Redacted)
	}
	if len(pairs) > 0 {
		all.replace = strings.NewReplacer(pairs...)
	}
	return all
}

// nothingKnown is what a nil Redactor knows.
var nothingKnown = &knownSecrets{}

// knowledge is what the redactor knows by now.
func (r *Redactor) knowledge() *knownSecrets {
	if r == nil {
		return nothingKnown
	}
	if k := r.known.Load(); k != nil {
		return k
	}
	return nothingKnown
}

// WithMembers has JSON hide the values of the members with these names, too: those that the user gave
// as secrets of the request body.
func (r *Redactor) WithMembers(names ...string) *Redactor {
	r.members = map[string]bool{}
	for _, name := range names {
		r.members[name] = true
	}
	return r
}

// rule hides what follows a name. The cue, in lower case, says cheaply that the rule cannot match.
type rule struct {
	cue     string
	pattern *pattern.Pattern
	with    string
}

// value is what follows a name: quoted, or up to the next separator. It cannot match Redacted, so that
// a text may pass twice.
const value = `(?:"[^"]*"|'[^']*'|[^\s,;&"'<>(){}\[\]]+)`

var rules = []rule{
	{"authorization", pattern.New(`(?i)(authorization\s*["']?\s*[:=])[^\r\n]*`), "${1} " + Redacted},
	{"cookie", pattern.New(`(?i)(\bcookie["']\s*:\s*)` + value), "${1}" + Redacted},
	{"cookie:", pattern.New(`(?i)(\bcookie:)[^\r\n]*`), "${1} " + Redacted},
	{"bearer", pattern.New(`(?i)\b(bearer)[ \t:]+[^\r\n]*`), "${1} " + Redacted},
	{"--api-key", pattern.New(`(?i)(--api-key)(\s+)` + value), "${1}${2}" + Redacted},
	{"-key", pattern.New(`(?i)(api-key|ocp-apim-subscription-key|x-functions-key|aeg-sas-key)(["']?\s*[:=]\s*)` +
		value), "${1}${2}" + Redacted},
	{"x-amz-security-token", pattern.New(`(?i)(x-amz-security-token)(["']?\s*[:=]\s*)` + value),
		"${1}${2}" + Redacted},
	{"key", pattern.New(`(?i)(api_?key)(["']?\s*[:=]\s*)` + value), "${1}${2}" + Redacted},
	{"api key", pattern.New(`(?i)(api key[^:"\r\n]{0,40}:\s*)` + value), "${1}" + Redacted},
	{"token", pattern.New(`(?i)(token)(\s*=\s*)` + value), "${1}${2}" + Redacted},
	{"secret", pattern.New(`(?i)(secret)(["']?\s*[:=]\s*)` + value), "${1}${2}" + Redacted},
	{"_token", pattern.New(`(?i)((?:access|auth|refresh)_token)(["']\s*:\s*)` + value), "${1}${2}" + Redacted},
}

// Text hides secrets in free text: an error message, a log line, a command line. In a JSON document, such as
// the body of a refusal, texts are also searched for what they say behind their escapes.
func (r *Redactor) Text(s string) string {
	s = r.URL(r.behindEscapes(s))
	lower := strings.ToLower(s)
	for _, rule := range rules {
		if !strings.Contains(lower, rule.cue) {
			continue
		}
		s = rule.pattern.ReplaceAllString(s, rule.with)
	}
	return s
}

// behindEscapes hides known values in the texts of s where it is a JSON document.
func (r *Redactor) behindEscapes(s string) string {
	if r == nil || !isDocument(s) || !strings.Contains(s, `\`) || !json.Valid([]byte(s)) {
		return s
	}
	return string(r.JSON([]byte(s)))
}

// Values hides only the values that the run knows: for texts that are data, in which names such as
// token mean something else.
func (r *Redactor) Values(s string) string {
	k := r.knowledge()
	if k.replace == nil {
		return s
	}
	return k.replace.Replace(s)
}

// URL hides the credentials in every URL in s, and known values.
func (r *Redactor) URL(s string) string { return RedactURLs(r.Values(s)) }

// knows reports whether b holds a known value.
func (k *knownSecrets) knows(b []byte) bool {
	return slices.ContainsFunc(k.values, func(v string) bool { return bytes.Contains(b, []byte(v)) })
}

// Bytes does what Values does for data that mostly holds no secret: without one it returns b itself.
func (r *Redactor) Bytes(b []byte) []byte {
	k := r.knowledge()
	if !k.knows(b) {
		return b
	}
	return []byte(k.replace.Replace(string(b)))
}

// Said does what Bytes does for what a server said, or what it was sent: in a JSON document, texts are also searched
// for what they say behind their escapes. Data without a secret is returned itself.
func (r *Redactor) Said(b []byte) []byte {
	if isDocument(b) && r.mayHold(b) && json.Valid(b) {
		b = r.JSON(b)
	}
	return r.Bytes(b)
}

// minNamed is the length in bytes of the shortest value that is hidden within a name: a shorter key is often a word
// that names have, too, as "ollama" or "sglang".
const minNamed = 12

// Name hides known values in names of metrics and labels, which then are still names; figures are found by them. It
// changes no others, and returns b itself then.
func (r *Redactor) Name(b []byte) []byte {
	for _, v := range r.knowledge().values { // the longest first
		if len(v) >= minNamed && bytes.Contains(b, []byte(v)) {
			b = bytes.ReplaceAll(b, []byte(v), []byte("redacted"))
		}
	}
	return b
}

// isDocument reports whether b may be a JSON document that holds others.
func isDocument[T string | []byte](b T) bool {
	for i := range len(b) {
		switch b[i] {
		case ' ', '\t', '\r', '\n':
		default:
			return b[i] == '{' || b[i] == '['
		}
	}
	return false
}

// Header returns a field of a header as it may be written. Names have lost the case that they were sent with: one
// that holds a known value in any case is hidden.
func (r *Redactor) Header(name, value string) (shownName, shownValue string) {
	shownName, shownValue = name, Redacted
	if !IsSensitiveName(name) {
		shownValue = r.URL(value)
	}
	if plain := r.knowledge().plain; len(plain) > 0 {
		lower := strings.ToLower(name)
		for secret := range plain {
			if strings.Contains(lower, strings.ToLower(secret)) {
				shownName = Redacted
			}
		}
	}
	return shownName, shownValue
}

// Strings hides known values in the texts of a JSON value; names and numbers stay.
func (r *Redactor) Strings(v any) any { return mapTexts(v, nil, r.Values) }

// HideSensitive hides, in a JSON value, what stands under sensitive names and the credentials in URLs.
func HideSensitive(v any) any { return mapTexts(v, IsSensitiveName, RedactURLs) }

// mapTexts returns v with every text changed by text and every member that hide names replaced.
func mapTexts(v any, hide func(name string) bool, text func(string) string) any {
	switch v := v.(type) {
	case Object:
		out := make(Object, len(v))
		for i, m := range v {
			out[i] = Member{Key: m.Key, Value: mapTexts(m.Value, hide, text)}
			if hide != nil && hide(m.Key) {
				out[i].Value = Redacted
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = mapTexts(v[i], hide, text)
		}
		return out
	case []string:
		out := make([]string, len(v))
		for i := range v {
			out[i] = text(v[i])
		}
		return out
	case string:
		return text(v)
	default:
		return v
	}
}

// JSON hides known values in the names and texts of a JSON document, a number that is a known value, and
// the values of the members given to WithMembers. Other numbers stay as they are. What is not a document
// becomes a JSON string.
func (r *Redactor) JSON(b []byte) []byte {
	switch {
	case !json.Valid(b):
		return AppendString(nil, r.Bytes(b))
	case !r.mayHold(b) && (r == nil || len(r.members) == 0):
		return b
	}
	s := jsonRedactor{r: r, in: b, out: make([]byte, 0, len(b))}
	s.value()
	s.space()
	return s.out
}

// mayHold reports whether a document may hold a known value: as it is, or behind escapes.
func (r *Redactor) mayHold(b []byte) bool {
	k := r.knowledge()
	return len(k.values) > 0 && (bytes.IndexByte(b, '\\') >= 0 || k.knows(b))
}

// jsonRedactor copies a valid document.
type jsonRedactor struct {
	r   *Redactor
	in  []byte
	at  int
	out []byte
}

func (s *jsonRedactor) space() {
	start := s.at
	for s.at < len(s.in) && strings.IndexByte(" \t\r\n,:", s.in[s.at]) >= 0 {
		s.at++
	}
	s.out = append(s.out, s.in[start:s.at]...)
}

// text copies a string and returns what it says.
func (s *jsonRedactor) text() string {
	end, _ := jsonscan.String(s.in, s.at)
	literal := s.in[s.at:end]
	s.at = end
	said := jsonscan.Text(literal)
	if hidden := s.r.Values(s.r.behindEscapes(said)); hidden != said {
		s.out = AppendString(s.out, hidden)
	} else {
		s.out = append(s.out, literal...)
	}
	return said
}

func (s *jsonRedactor) value() {
	s.space()
	switch s.in[s.at] {
	case '"':
		s.text()
	case '{', '[':
		s.list(s.in[s.at] == '{')
	default:
		start := s.at
		s.at = jsonscan.Word(s.in, start)
		if scalar := s.in[start:s.at]; s.r.knowledge().plain[string(scalar)] {
			s.out = AppendString(s.out, Redacted)
		} else {
			s.out = append(s.out, scalar...)
		}
	}
}

func (s *jsonRedactor) list(object bool) {
	s.out = append(s.out, s.in[s.at])
	s.at++
	for s.space(); s.in[s.at] != '}' && s.in[s.at] != ']'; s.space() {
		if !object {
			s.value()
			continue
		}
		name := s.text()
		s.space()
		kept := len(s.out)
		if s.value(); s.r.members[name] {
			s.out = AppendString(s.out[:kept], Redacted)
		}
	}
	s.out = append(s.out, s.in[s.at])
	s.at++
}
