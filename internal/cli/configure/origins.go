package configure

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"aiperf/internal/config/document"
	"aiperf/internal/config/file"
	"aiperf/internal/config/option"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/run"
)

// withFlags puts into a complete configuration what flags give keys that are not theirs alone, such as the distribution
// that two flags make. The origin of a value are the flags without which it would be another one.
func withFlags(complete *document.Node, source *file.Source, flags *settings.Settings) error {
	var given []string
	for _, o := range option.All() {
		if flags.Given(o.Name) {
			given = append(given, o.Name)
		}
	}
	if len(given) == 0 {
		return nil
	}
	whole := func(flags *settings.Settings) (*document.Node, error) {
		p, _, err := source.Settings(source.Raw, file.Options{Flags: flags, NoFiles: true})
		if err != nil {
			return nil, err
		}
		r, _, err := resolve.Resolve(p, run.Catalog{})
		if err != nil {
			return nil, err
		}
		tree, _ := file.FromRun(r)
		return file.Complete(tree, nil), nil
	}
	after, err := whole(flags)
	if err != nil {
		return err
	}
	origins := map[string][]string{}
	var all []file.Change
	found := func(before *document.Node, flag string) {
		for _, c := range file.Changes(before, after, complete, flags) {
			path := strings.Join(c.Path, ".")
			if _, known := origins[path]; !known {
				all = append(all, c)
				origins[path] = nil
			}
			if flag != "" {
				origins[path] = append(origins[path], flag)
			}
		}
	}
	if before, err := whole(nil); err == nil {
		found(before, "")
	}
	var typed []string
	for _, name := range given {
		typed = append(typed, flags.Flag(name))
		others := flags.Copy()
		others.Unset(name)
		if before, err := whole(others); err == nil { // a flag that the others need has its values with them
			found(before, flags.Flag(name))
		}
	}
	for _, c := range all {
		of := origins[strings.Join(c.Path, ".")]
		if len(of) == 0 {
			of = typed
		}
		c.Apply(complete, strings.Join(of, ", "))
	}
	return nil
}

// eachLeaf calls f for each value that is neither a mapping nor a list with items, with its origin; "" is a default.
func eachLeaf(n *document.Node, path, above string, f func(path, origin string), name string) {
	origin := cmp.Or(originOf(n, name), above)
	switch {
	case n.Kind == document.Map && len(n.Members) > 0:
		for _, m := range n.Members {
			eachLeaf(m.Value, document.Path(path, m.Key), n.Origin, f, name)
		}
	case n.Kind == document.List && len(n.Items) > 0:
		for i, item := range n.Items {
			eachLeaf(item, document.Index(path, i), n.Origin, f, name)
		}
	default:
		f(path, origin)
	}
}

func originOf(n *document.Node, name string) string {
	switch {
	case n.Origin != "":
		return n.Origin
	case n.Pos.Line > 0:
		return fmt.Sprintf("%s:%d", name, n.Pos.Line)
	}
	return ""
}

// withOrigins is the YAML of a tree with the origin of each value in a comment behind it.
func withOrigins(n *document.Node, name string) []byte {
	var origins []string
	eachLeaf(n, "", "", func(_, origin string) { origins = append(origins, cmp.Or(origin, "default")) }, name)
	lines := strings.Split(strings.TrimRight(string(document.AppendYAML(nil, n, 0)), "\n"), "\n")
	var out bytes.Buffer
	block := -1 // the margin of the key of a text of several lines, -1 outside of one
	for _, line := range lines {
		margin := len(line) - len(strings.TrimLeft(line, " "))
		origin := ""
		switch {
		case block >= 0 && (margin > block || line == ""):
		case strings.HasSuffix(line, ":") || strings.HasSuffix(line, "-") && strings.TrimSpace(line) == "-":
			block = -1
		default:
			if block = -1; blockText.MatchString(line) {
				block = margin
			}
			if len(origins) > 0 {
				origin, origins = origins[0], origins[1:]
			}
		}
		out.WriteString(line)
		if origin != "" {
			fmt.Fprintf(&out, "%s  # %s", strings.Repeat(" ", max(0, originColumn-len([]rune(line)))), origin)
		}
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// originColumn is where the comments of [withOrigins] begin.
const originColumn = 44

// blockText is the line of a key whose text stands in the lines below it.
var blockText = regexp.MustCompile(`(: |- )[|>][-+0-9]*$`)
