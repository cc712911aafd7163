package file

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/pattern"
	"aiperf/internal/config/document"
)

// Fill returns the text of the template with another model and with other servers; what is empty stays. Comments and
// spellings stay too: a value that comes from the environment becomes the default of its variable. The metrics pages
// that the template names become those of the servers.
//
// The servers are URLs with a scheme.
func (t Template) Fill(model string, servers []string) string {
	f, err := document.Read(t.Name, []byte(t.Text))
	if err != nil {
		panic(err) // a file of the program itself
	}
	body := f.Root.Get("benchmark")
	e := edit{lines: strings.Split(string(f.Text), "\n")}
	if model != "" {
		e.replace(body.Member("model"), model)
	}
	if len(servers) > 0 {
		endpoint := body.Get("endpoint")
		if one := endpoint.Member("url"); one != nil && len(servers) > 1 {
			e.rename(one, "urls", "["+strings.Join(scalars(servers), ", ")+"]")
		} else {
			e.replace(cmp.Or(one, endpoint.Member("urls")), servers...)
		}
		if pages := body.Get("server_metrics").Member("urls"); pages != nil {
			e.replace(pages, metricsPages(servers)...)
		}
	}
	return e.text()
}

// metricsPages are the metrics pages of servers.
func metricsPages(servers []string) []string {
	var pages []string
	for _, server := range servers {
		if u, err := url.Parse(server); err == nil {
			u.Path, u.RawQuery = "/metrics", ""
			pages = append(pages, u.String())
		}
	}
	return pages
}

// edit changes lines of a text.
type edit struct {
	lines   []string
	changes []change
}

// change puts a text in the place of bytes of a line, or of whole lines behind it.
type change struct {
	line, from, to, removed int
	text                    string
}

// replace gives a key other values: a scalar its first, a list one line for each.
func (e *edit) replace(m *document.Member, values ...string) {
	if m.Value.Kind != document.List {
		e.put(m.Value, scalarText(inDefault(m.Value.Written, values[0])))
		return
	}
	items := m.Value.Items
	first := items[0].Pos
	indent := e.lines[first.Line-1][:first.Column-1]
	e.put(items[0], strings.Join(scalars(values), "\n"+indent))
	e.changes[len(e.changes)-1].removed = items[len(items)-1].Pos.Line - first.Line
}

// rename writes another key with a value of its own.
func (e *edit) rename(m *document.Member, key, value string) {
	e.put(m.Value, value)
	last := &e.changes[len(e.changes)-1]
	last.from, last.text = m.Pos.Column-1, key+": "+value
}

// put replaces a scalar, with its quotes.
func (e *edit) put(n *document.Node, text string) {
	line, from := n.Pos.Line-1, n.Pos.Column-1
	quotes := 0
	if c := e.lines[line][from]; c == '"' || c == '\'' {
		quotes = 2
	}
	e.changes = append(e.changes, change{line: line, from: from, to: from + len(n.Written) + quotes, text: text})
}

// text carries the changes out, from the end to the beginning so that places stay what they are.
func (e *edit) text() string {
	slices.SortFunc(e.changes, func(a, b change) int { return cmp.Compare(b.line, a.line) })
	for _, c := range e.changes {
		line := e.lines[c.line]
		e.lines[c.line] = line[:c.from] + c.text + line[c.to:]
		e.lines = slices.Delete(e.lines, c.line+1, c.line+1+c.removed)
	}
	return strings.Join(e.lines, "\n")
}

var reference = pattern.New(`^(\$\{[A-Za-z_][A-Za-z0-9_]*):[^}]*\}$`)

// inDefault is a new value of a scalar: where the old one is a variable of the environment, its default.
func inDefault(old, value string) string {
	if m := reference.FindStringSubmatch(old); m != nil && !strings.Contains(value, "}") {
		return m[1] + ":" + value + "}"
	}
	return value
}

// plainText matches texts that mean themselves in YAML without quotes, in a list of one line too; words such as true and
// null are among them.
var plainText = pattern.New(`^[A-Za-z]([A-Za-z0-9_./:-]*[A-Za-z0-9_/])?$|^\$\{[A-Za-z0-9_]+:[A-Za-z0-9_./:-]+\}$`)

// scalarText writes a text as YAML.
func scalarText(text string) string {
	words := []string{"true", "false", "yes", "no", "on", "off", "null"}
	if plainText.MatchString(text) && !slices.Contains(words, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(strings.ToValidUTF8(text, "\ufffd"))
}

func scalars(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = scalarText(text)
	}
	return all
}
