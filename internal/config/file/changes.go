package file

import (
	"slices"
	"strconv"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
	"aiperf/internal/config/schema"
	"aiperf/internal/config/settings"
)

// Change is a value that flags gave a complete configuration.
type Change struct {
	// Path is where it is; a list in the way has the index of the item as name.
	Path []string
	// Value is nil where the flags took the value away.
	Value *document.Node
}

// Changes are the values in which two complete configurations of one file differ: before without, after with some of
// the flags. A distribution, a list and a mapping with free keys are one value. Phases are left out, and what tree has
// from the flags already: it is the configuration that [Complete] makes.
func Changes(before, after, tree *document.Node, flags *settings.Settings) []Change {
	c := changes{flags: flags}
	c.section(schema.Envelope(), before, after, tree, nil)
	return c.list
}

type changes struct {
	flags *settings.Settings
	list  []Change
}

func (c *changes) section(k schema.Key, before, after, tree *document.Node, path []string) {
	seen := map[string]bool{}
	for _, f := range k.Fields {
		if f.Name == "phases" || seen[f.Name] || f.Name == "models" && !c.flags.ModelNames.Given() {
			continue
		}
		seen[f.Name] = true
		a, b, have := before.Get(f.Name), after.Get(f.Name), orNull(tree.Get(f.Name))
		if o := f.Option; o != nil && f.Kind == schema.ByOption && c.flags.Field(o).Given() && !elsewhere(o) &&
			have.Kind != document.Null {
			continue
		}
		below := append(slices.Clone(path), f.Name)
		switch {
		case f.Name == "datasets" && a != nil && b != nil && len(a.Items) == 1 && len(b.Items) == 1:
			c.section(f, a.Items[0], b.Items[0], have.Items[0], append(below, "0"))
		case f.Holds() == schema.Section && b != nil && b.Kind == document.Map && (a == nil || a.Kind == document.Map):
			c.section(f, orNull(a), b, have, below)
		case !same(a, b):
			c.list = append(c.list, Change{below, b})
		}
	}
}

// same reports whether two values are equal; nil is equal to null.
func same(a, b *document.Node) bool {
	x, errX := artifact.AppendJSON(nil, orNull(a).Any())
	y, errY := artifact.AppendJSON(nil, orNull(b).Any())
	return errX == nil && errY == nil && string(x) == string(y)
}

// Apply puts a change into a complete configuration, with an origin.
func (c Change) Apply(tree *document.Node, origin string) {
	n := tree
	for _, name := range c.Path[:len(c.Path)-1] {
		if i, err := strconv.Atoi(name); err == nil && n.Kind == document.List {
			n = n.Items[i]
			continue
		}
		next := n.Get(name)
		if next == nil || next.Kind == document.Null {
			next = &document.Node{Kind: document.Map, Origin: origin}
			n.Set(name, next)
		}
		n = next
	}
	last := c.Path[len(c.Path)-1]
	if c.Value == nil {
		n.Delete(last)
		return
	}
	n.Set(last, placed(c.Value.Clone(), &document.Node{Origin: origin}))
}
