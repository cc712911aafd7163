package artifact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"aiperf/internal/base/pattern"
)

// spellings returns the forms in which a text may stand in other texts: as it is, percent-encoded, escaped
// in JSON (once, twice, in ASCII, with the escapes for HTML), in a quoted string of a program, in HTML,
// in a shell's quotes, and in Base64.
func spellings(s string) []string {
	quoted := string(AppendString(nil, s))
	quoted = quoted[1 : len(quoted)-1]
	twice := string(AppendString(nil, quoted))
	forHTML, _ := json.Marshal(s) // a string always has a JSON form
	program := strconv.Quote(s)
	entities := html.EscapeString(s)
	list := []string{
		s, quoted, twice[1 : len(twice)-1], string(forHTML[1 : len(forHTML)-1]), asciiJSON(quoted),
		strings.ReplaceAll(quoted, "/", `\/`), strings.ReplaceAll(s, "/", `\/`),
		program[1 : len(program)-1], strings.ReplaceAll(s, "'", `\'`), strings.ReplaceAll(s, "'", `'\''`),
		entities, strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#x27;").Replace(entities),
		url.QueryEscape(s), url.PathEscape(s), strings.ReplaceAll(url.QueryEscape(s), "+", "%20"),
		(&url.URL{Path: s}).EscapedPath(), url.UserPassword("", s).String()[1:],
	}
	for _, escaped := range list[len(list)-5:] {
		list = append(list, percent.ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	for _, escaped := range slices.Clone(list) { // a spelling in the text of another document
		again := string(AppendString(nil, escaped))
		list = append(list, again[1:len(again)-1])
	}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding,
		base64.RawURLEncoding} {
		list = append(list, e.EncodeToString([]byte(s)))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

var percent = pattern.New(`%[0-9A-F]{2}`)

// asciiJSON writes what is not ASCII in the text of a JSON string as \u escapes.
func asciiJSON(quoted string) string {
	var b strings.Builder
	for _, r := range quoted {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// In a text a URL ends at white space, a quote or an angle bracket. An address that stands alone may hold them: it is
// wrong then, and shown in an error.
var (
	userinfo       = pattern.New(`(://)[^/?#\s"'<>]*@`)
	queryItem      = pattern.New(`([?&;])([^=&;#?\s"'<>]+)=([^&;#\s"'<>]+)`)
	aloneUserinfo  = pattern.New(`(^|://)[^/?#]*@`)
	aloneQueryItem = pattern.New(`([?&;])([^=&;#?]+)=([^&;#]+)`)
)

// RedactURLs hides the user information and the values of sensitive parameters in every URL in a text.
func RedactURLs(text string) string {
	if strings.Contains(text, "://") {
		text = userinfo.ReplaceAllString(text, "${1}"+Redacted+"@")
	}
	return redactQuery(text, queryItem)
}

// RedactAddress redacts one address, which may lack its scheme, as [RedactURLs] does.
func RedactAddress(text string) string {
	return redactQuery(aloneUserinfo.ReplaceAllString(text, "${1}"+Redacted+"@"), aloneQueryItem)
}

func redactQuery(text string, items *pattern.Pattern) string {
	start := strings.IndexByte(text, '?')
	if start < 0 {
		return text
	}
	return text[:start] + items.ReplaceAllStringFunc(text[start:], func(item string) string {
		name, _, _ := strings.Cut(item[1:], "=")
		plain, err := url.QueryUnescape(name)
		if err != nil {
			plain = name
		}
		if !IsSensitiveName(plain) {
			return item
		}
		return item[:len(name)+2] + Redacted
	})
}
