package document

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// mark is what may stand before a value: an anchor (&name) or a tag (!!str).
type mark struct {
	pos    Pos
	anchor string
	tag    string
}

// marks reads the anchors and tags before a value that belongs to an owner.
func (r *reader) marks(o owner) []mark {
	var all []mark
	for t := r.peek(0); isType(t, token.AnchorType, token.TagType) && o.owns(t); t = r.peek(0) {
		r.next()
		m := mark{pos: placeOf(t)}
		if isType(t, token.AnchorType) {
			name := r.next()
			if name == nil || name.Value == "" {
				r.fail(m.pos, "the name after & is missing")
			}
			m.anchor = name.Value
		} else {
			m.tag = r.tag(t)
		}
		all = append(all, m)
	}
	return all
}

// textTag is the tag that makes a text of any value, coreTags are those whose values have the type that they look like.
const textTag = "!!str"

var coreTags = []string{"!!map", "!!seq", "!!int", "!!float", "!!bool", "!!null"}

// tag checks a tag.
func (r *reader) tag(t *token.Token) string {
	name := strings.TrimSpace(t.Value)
	switch {
	case name == "!":
		return textTag
	case name == textTag || slices.Contains(coreTags, name):
		return name
	}
	r.fault(placeOf(t), "the tag %s is not supported: remove it", r.word(t, name))
	return ""
}

// marked reads a value and keeps it under the anchors before it.
func (r *reader) marked(marks []mark, read func() *Node) *Node {
	for _, m := range marks {
		if m.anchor != "" {
			r.anchors[m.anchor] = nil
		}
	}
	n := read()
	for _, m := range marks {
		if m.anchor != "" {
			r.anchors[m.anchor] = n
		}
	}
	return n
}

// alias is a copy of the value with the name after *.
func (r *reader) alias(t *token.Token, depth int) *Node {
	pos := placeOf(t)
	name := r.next()
	if name == nil || name.Value == "" {
		r.fail(pos, "the name after * is missing")
	}
	n, known := r.anchors[name.Value]
	switch {
	case !known:
		r.fault(pos, "no value above has the name %s; a value gets one by & and the name before it",
			r.word(t, "*"+name.Value))
		return r.node(Node{Pos: pos})
	case n == nil:
		r.fail(pos, "%s stands within the value that has this name: such a value would have no end",
			r.word(t, "*"+name.Value))
	}
	return r.copied(n, pos, depth)
}

// copied copies a tree for an alias and counts its values.
func (r *reader) copied(n *Node, at Pos, depth int) *Node {
	if n.Kind == List || n.Kind == Map {
		r.nested(at, depth)
	}
	if r.values >= MaxValues {
		r.fail(at, "the aliases of this file stand for more than %d values: use fewer of them", MaxValues)
	}
	r.values++
	c := *n
	if n.Items != nil {
		c.Items = make([]*Node, len(n.Items))
		for i, item := range n.Items {
			c.Items[i] = r.copied(item, at, depth+1)
		}
	}
	if n.Members != nil {
		c.Members = make([]Member, len(n.Members))
		for i, m := range n.Members {
			c.Members[i] = Member{Key: m.Key, Pos: m.Pos, Value: r.copied(m.Value, at, depth+1)}
		}
	}
	return &c
}

// member adds a key with its value to a mapping, or keeps a value that is to be merged into it.
func (m *mapping) member(k key, value *Node, merges []*Node) []*Node {
	switch {
	case k.bad:
	case !k.merge:
		m.add(k.text, k.pos, value)
	case merges != nil:
		m.r.fault(k.pos, "the key << is there twice in this mapping: write one with a list, <<: [*a, *b]")
	case value.Kind == Map:
		merges = []*Node{value}
	case value.Kind == List && len(value.Items) > 0:
		for _, item := range value.Items {
			if item.Kind != Map {
				m.r.fault(item.Pos, "<< merges mappings; this is %s", item.Kind)
				return merges
			}
		}
		merges = value.Items
	default:
		m.r.fault(k.pos, "<< merges mappings; its value is %s: write <<: *name, or <<: [*a, *b]", value.Kind)
	}
	return merges
}

// merge puts the members of other mappings before those of this one, which win; among the others the first wins.
func (m *mapping) merge(merges []*Node) {
	if merges == nil {
		return
	}
	own := m.Members
	seen := make(map[string]bool, len(own))
	for _, member := range own {
		seen[member.Key] = true
	}
	m.Members = nil
	for _, other := range merges {
		for _, member := range other.Members {
			if !seen[member.Key] {
				seen[member.Key] = true
				m.Members = append(m.Members, member)
			}
		}
	}
	m.Members = append(m.Members, own...)
}
