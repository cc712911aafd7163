package webpage

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html"
	"io"
	"strings"

	"aiperf/internal/base/pattern"
)

// policy is the content security policy of a page with these styles and scripts in it: they are named by their hashes,
// and nothing else is allowed. All pages have theirs from here.
func policy(styles, scripts []string) string {
	var b strings.Builder
	b.WriteString("default-src 'none'")
	for _, kind := range []struct {
		name     string
		contents []string
	}{{"; style-src", styles}, {"; script-src", scripts}} {
		for i, content := range kind.contents {
			if i == 0 {
				b.WriteString(kind.name)
			}
			b.WriteString(" " + Source(content))
		}
	}
	b.WriteString("; base-uri 'none'; form-action 'none'")
	return b.String()
}

// Source returns the source expression of the policy for an element: the hash of its content.
func Source(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// allow adds a directive to a policy, in place of one of its name.
func allow(policy, directive string) string {
	name, _, _ := strings.Cut(directive, " ")
	parts := strings.Split(policy, "; ")
	for i, p := range parts {
		if strings.HasPrefix(p, name+" ") {
			parts[i] = directive
			return strings.Join(parts, "; ")
		}
	}
	return policy + "; " + directive
}

// unframed is a directive that only the header of a reply can give: no other page shows this one in a frame.
const unframed = "frame-ancestors 'none'"

// DefaultPolicy is the content security policy of replies that set none.
const DefaultPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; " + unframed

// meta begins the element in which a page names its policy.
const meta = `<meta http-equiv="Content-Security-Policy" content="`

// HeaderOf returns the policy for the header of a reply with a page that this process made: that which the page itself
// names, and that nobody frames it.
func HeaderOf(page []byte) string {
	_, rest, _ := bytes.Cut(page, []byte(meta))
	named, _, found := bytes.Cut(rest, []byte(`"`))
	if !found {
		return DefaultPolicy
	}
	return allow(html.UnescapeString(string(named)), unframed)
}

const (
	// maxReport bounds the report whose scripts may run, maxElements the elements that a header names.
	maxReport   = 64 << 20
	maxElements = 64
)

var (
	inStyle  = pattern.New(`(?is)<style\b[^>]*>(.*?)</style\b`)
	inScript = pattern.New(`(?is)<script\b([^>]*)>(.*?)</script\b`)
)

// ReportPolicy returns the policy of a report that this program, in any version, wrote as one HTML file: what stands in
// its own elements may run, no handler and no style of a text; nothing is requested, and it has no part in the origin
// of the server.
func ReportPolicy(file io.Reader) (string, error) {
	page, err := io.ReadAll(io.LimitReader(file, maxReport+1))
	if err != nil {
		return "", err
	}
	var styles, scripts []string
	if len(page) <= maxReport {
		page = bytes.ReplaceAll(page, []byte("\r\n"), []byte("\n")) // as a browser reads it
		for _, m := range inStyle.FindAllSubmatch(page, maxElements) {
			styles = append(styles, string(m[1]))
		}
		for _, m := range inScript.FindAllSubmatch(page, maxElements) {
			if !bytes.Contains(m[1], []byte("application/json")) {
				scripts = append(scripts, string(m[2]))
			}
		}
	}
	p := allow(allow(policy(styles, scripts), "img-src data:"), unframed)
	return "sandbox allow-scripts allow-downloads allow-modals allow-popups; " + p, nil
}
