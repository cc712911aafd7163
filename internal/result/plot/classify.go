package plot

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	baseline       = "baseline"
	baselineColour = "#999999"
)

// classify sets the columns experiment_type and experiment_group of runs.
func (c *Classification) classify(runs []*Run) {
	for _, r := range runs {
		r.columns["experiment_group"] = r.Name
		if c == nil {
			continue
		}
		r.columns["experiment_type"] = c.kind(r)
		r.columns["experiment_group"] = c.group(r)
	}
}

// kind returns whether a run is a baseline or a treatment.
func (c *Classification) kind(r *Run) string {
	for _, side := range [...]struct {
		globs []string
		kind  string
	}{{c.Baselines, baseline}, {c.Treatments, "treatment"}} {
		if slices.ContainsFunc(side.globs, func(glob string) bool { return matches(glob, r) }) {
			return side.kind
		}
	}
	return c.Default
}

// group returns the group of a run: what the pattern finds in its name or in the name of the folder above, else that
// folder's name if a glob matches it, else its own name.
func (c *Classification) group(r *Run) string {
	above := filepath.Base(filepath.Dir(r.Path))
	if c.Pattern != "" {
		rule, err := regexp.Compile(c.Pattern)
		for _, name := range [...]string{r.Name, above} {
			if err != nil {
				break
			}
			if m := rule.FindStringSubmatch(name); m != nil {
				return m[min(1, len(m)-1)]
			}
		}
	}
	for _, glob := range slices.Concat(c.Baselines, c.Treatments) {
		if globRule(glob).MatchString(above) {
			return above
		}
	}
	return r.Name
}

func matches(glob string, r *Run) bool {
	rule := globRule(glob)
	return rule.MatchString(r.Name) || rule.MatchString(filepath.ToSlash(r.Path))
}

// globRule returns the regular expression of a glob whose * stands for any characters, a / too.
func globRule(glob string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for i := 0; i < len(glob); i++ {
		switch ch := glob[i]; ch {
		case '*':
			b.WriteString(`.*`)
		case '?':
			b.WriteByte('.')
		case '[':
			end := strings.IndexByte(glob[i+1:], ']')
			if end < 1 {
				b.WriteString(`\[`)
				continue
			}
			set := glob[i+1 : i+1+end]
			b.WriteByte('[')
			if set[0] == '!' {
				b.WriteByte('^')
				set = set[1:]
			}
			b.WriteString(strings.NewReplacer(`\`, `\\`, `^`, `\^`, `[`, `\[`).Replace(set))
			b.WriteByte(']')
			i += end + 1
		default:
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		}
	}
	b.WriteByte('$')
	rule, err := regexp.Compile(b.String())
	if err != nil {
		return regexp.MustCompile(`^` + regexp.QuoteMeta(glob) + `$`)
	}
	return rule
}

// display returns what a group is called.
func (c *Classification) display(group string) string {
	if c != nil && c.Names[group] != "" {
		return c.Names[group]
	}
	return group
}
