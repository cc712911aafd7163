package testkit

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	pageElement = regexp.MustCompile(`(?is)<(script|style)\b([^>]*)>(.*?)</(?:script|style)>`)
	pagePolicy  = regexp.MustCompile(`(?i)<meta http-equiv="Content-Security-Policy" content="([^"]*)">`)
	quoted      = regexp.MustCompile(`"[^"]*"`)
	inline      = regexp.MustCompile(`(?i)<[a-z][^<>]*\s(on[a-z]+|style)\s*=`)
	directive   = regexp.MustCompile(`(script|style)-src ([^;]*)`)
)

// Page fails if the policy of a page does not name its scripts and styles by their hashes and nothing else, or if a raw
// control character stands in it. Headers are the policies of the reply with the page.
func Page(t testing.TB, name, page string, headers ...string) {
	t.Helper()
	named := pagePolicy.FindStringSubmatch(page)
	if named == nil {
		t.Errorf("%s names no policy", name)
		return
	}
	contents := map[string][]string{}
	bare := pageElement.ReplaceAllStringFunc(page, func(element string) string {
		m := pageElement.FindStringSubmatch(element)
		if !strings.Contains(m[2], "application/json") {
			sum := sha256.Sum256([]byte(m[3]))
			kind := strings.ToLower(m[1])
			contents[kind] = append(contents[kind], "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		}
		return ""
	})
	if len(contents["style"]) == 0 {
		t.Errorf("%s has no style: is it a page?", name)
	}
	for i, policy := range append([]string{html.UnescapeString(named[1])}, headers...) {
		if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") ||
			i > 0 && !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s has the policy %s", name, policy)
		}
		allowed := map[string]string{}
		for _, m := range directive.FindAllStringSubmatch(policy, -1) {
			allowed[m[1]] = m[2]
		}
		for _, kind := range []string{"script", "style"} {
			if got, want := allowed[kind], strings.Join(contents[kind], " "); got != want {
				t.Errorf("%s allows the %ss %s, and has %s", name, kind, got, want)
			}
		}
	}
	if m := inline.FindString(quoted.ReplaceAllString(bare, "x")); m != "" {
		t.Errorf("%s has a handler or a style in an element: %s", name, m)
	}
	for i, r := range page {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			t.Errorf("%s holds %q: …%q", name, r, page[max(0, i-40):min(len(page), i+20)])
			break
		}
	}
}
