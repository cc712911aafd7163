package document

import (
	"github.com/goccy/go-yaml/token"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/fault"
)

// readYAML reads the only document of a text.
func (r *reader) readYAML() *Node {
	r.scan()
	r.anchors = map[string]*Node{}
	line := r.header()
	if ends(r.peek(0)) {
		if t := r.peek(0); isType(t, token.DocumentHeaderType) {
			r.several(t)
		}
		return nil
	}
	root := r.value(owner{line: line}, 1)
	for isType(r.peek(0), token.DocumentEndType) {
		r.next()
	}
	if t := r.peek(0); isType(t, token.DocumentHeaderType) {
		r.several(t)
	} else if t != nil {
		r.misplaced(t, root.Pos.Column)
	}
	return root
}

func (r *reader) several(t *token.Token) {
	r.fail(placeOf(t), "a second document begins here; a configuration is one document: remove the line --- or put "+
		"the rest into a file of its own")
}

// header reads directives and the line --- before the document; it returns the line of the latter.
func (r *reader) header() int {
	for isType(r.peek(0), token.DirectiveType) {
		t := r.next()
		if name := r.peek(0); name == nil || name.Value != "YAML" {
			r.fail(placeOf(t), "the directive %% is not supported: remove the line")
		}
		for next := r.peek(0); next != nil && next.Position.Line == t.Position.Line; next = r.peek(0) {
			r.next()
		}
	}
	if t := r.peek(0); isType(t, token.DocumentHeaderType) {
		return r.next().Position.Line
	}
	return 0
}

// owner is what a value belongs to: the key or dash before it. The zero owner is the document.
type owner struct {
	pos Pos
	// column is where keys or dashes of the block stand.
	column int
	// line is the last line of the key.
	line int
	key  bool
}

// owns reports whether a value that begins with a token belongs to the owner.
func (o owner) owns(t *token.Token) bool {
	return !ends(t) && (t.Position.Line == o.line || t.Position.Column > o.column ||
		o.key && t.Position.Column == o.column && t.Type == token.SequenceEntryType)
}

// value reads a value outside of brackets; without one it is null.
func (r *reader) value(o owner, depth int) *Node {
	if !o.owns(r.peek(0)) {
		return r.node(Node{Pos: o.pos})
	}
	marks := r.marks(o)
	t := r.peek(0)
	if !o.owns(t) {
		return r.marked(marks, func() *Node { return r.node(Node{Pos: marks[0].pos, Written: ""}) })
	}
	if r.keyAhead() {
		// Marks in the key's line are the key's, those above the mapping's.
		column, own := t.Position.Column, len(marks)
		for own > 0 && marks[own-1].pos.Line == t.Position.Line {
			own--
			column = marks[own].pos.Column
		}
		if o.key && t.Position.Line == o.line {
			r.fail(placeOf(t), "a key cannot begin in the line of another key: begin a new line, or put the value "+
				"between quotes")
		}
		return r.marked(marks[:own], func() *Node { return r.block(column, marks[own:], depth) })
	}
	if isType(t, token.MappingKeyType) {
		return r.marked(marks, func() *Node { return r.block(t.Position.Column, nil, depth) })
	}
	if isType(t, token.SequenceEntryType) {
		if o.key && t.Position.Line == o.line {
			r.fail(placeOf(t), "a list cannot begin in the line of its key: begin a new line")
		}
		return r.marked(marks, func() *Node { return r.list(t.Position.Column, depth) })
	}
	return r.marked(marks, func() *Node { return r.inline(marks, depth) })
}

// inline reads a value that no indentation ends: a scalar, an alias, or one in brackets.
func (r *reader) inline(marks []mark, depth int) *Node {
	t := r.next()
	pos := placeOf(t)
	switch {
	case isType(t, token.LiteralType, token.FoldedType):
		return r.scalar(marks, pos, r.blockText(), false)
	case isQuoted(t):
		return r.scalar(marks, pos, t.Value, false)
	case isPlain(t):
		return r.scalar(marks, pos, t.Value, true)
	case isType(t, token.MergeKeyType):
		return r.node(Node{Kind: Text, Pos: pos, Scalar: t.Value, Written: t.Value})
	case isType(t, token.AliasType):
		return r.alias(t, depth)
	case isType(t, token.SequenceStartType):
		return r.flowList(t, depth)
	case isType(t, token.MappingStartType):
		return r.flowMap(t, depth)
	}
	r.misplaced(t, pos.Column)
	return nil
}

// blockText reads the text behind | or >.
func (r *reader) blockText() string {
	if !isPlain(r.peek(0)) {
		return ""
	}
	return r.next().Value
}

// scalar makes a value of a text; a tag decides whether it may be more than a text, else how it was written.
func (r *reader) scalar(marks []mark, pos Pos, text string, bare bool) *Node {
	for _, m := range marks {
		if m.tag != "" {
			bare = m.tag != textTag
		}
	}
	n := Node{Kind: Text, Pos: pos, Scalar: text, Written: text}
	if bare {
		n.Kind, n.Scalar = plain(text)
	}
	return r.node(n)
}

// keyAhead reports whether a key begins here: a scalar and, in its line, a colon.
func (r *reader) keyAhead() bool {
	i := 0
	if isType(r.peek(0), token.AliasType) {
		i = 1
	}
	t, colon := r.peek(i), r.peek(i+1)
	return (isPlain(t) || isQuoted(t) || isType(t, token.MergeKeyType)) && isType(colon, token.MappingValueType) &&
		colon.Position.Line == t.Position.Line || isType(t, token.MappingValueType)
}

// block reads a mapping whose keys stand in a column. The marks of its first key were read.
func (r *reader) block(column int, first []mark, depth int) *Node {
	pos := placeOf(r.peek(0))
	if len(first) > 0 {
		pos = first[0].pos
	}
	r.nested(pos, depth)
	m := &mapping{Node: r.node(Node{Kind: Map, Pos: pos}), r: r}
	var merges []*Node
	for t := r.peek(0); !ends(t) && (t.Position.Column == column || first != nil); t = r.peek(0) {
		marks := append(first, r.marks(owner{})...)
		first = nil
		key := r.key(marks)
		o := owner{pos: key.pos, column: column, line: key.line, key: true}
		var value *Node
		if key.colon {
			if key.explicit {
				o.key = false // a block may begin in the line of the colon
			}
			value = r.value(o, depth+1)
		} else {
			value = r.node(Node{Pos: key.pos})
		}
		merges = m.member(key, value, merges)
	}
	if t := r.peek(0); !ends(t) && t.Position.Column > column {
		r.misplaced(t, column)
	}
	m.merge(merges)
	return m.Node
}

// list reads a list whose dashes stand in a column.
func (r *reader) list(column, depth int) *Node {
	pos := placeOf(r.peek(0))
	r.nested(pos, depth)
	n := r.node(Node{Kind: List, Pos: pos})
	t := r.peek(0)
	for ; isType(t, token.SequenceEntryType) && t.Position.Column == column; t = r.peek(0) {
		dash := placeOf(r.next())
		n.Items = append(n.Items, r.value(owner{pos: dash, column: column, line: dash.Line}, depth+1))
	}
	if !ends(t) && t.Position.Column > column {
		r.misplaced(t, column)
	}
	return n
}

// key is what stands before the value of a mapping.
type key struct {
	text     string
	pos      Pos
	line     int // of the colon
	merge    bool
	explicit bool
	colon    bool
	bad      bool // its fault was reported
}

// key reads a key and its colon.
func (r *reader) key(marks []mark) key {
	t := r.next()
	k := key{}
	if isType(t, token.MappingKeyType) {
		k.explicit = true
		marks = r.marks(owner{})
		t = r.next()
	}
	if t == nil {
		r.fail(r.end(), "a key is missing at the end of the file")
	}
	k.pos = placeOf(t)
	switch {
	case isType(t, token.MergeKeyType):
		k.text, k.merge = "<<", true
	case isQuoted(t), isPlain(t):
		n := r.scalar(marks, k.pos, t.Value, isPlain(t))
		r.values--
		if k.text = t.Value; n.Kind != Text {
			k.bad = true
			r.fault(k.pos, "the key %s is not a string but %s: put it between quotes", r.word(t, t.Value), n.Kind)
		}
	case k.explicit && isType(t, token.LiteralType, token.FoldedType):
		k.text = r.blockText()
	case isType(t, token.AliasType):
		name := r.next()
		if name == nil {
			r.fail(k.pos, "the name after * is missing")
		}
		k.text, k.bad = name.Value, true
		r.fault(k.pos, "an alias (%s) cannot be a key: write the key", r.word(t, "*"+k.text))
	case isType(t, token.MappingValueType):
		r.fail(k.pos, "the key before the colon is missing")
	case isType(t, token.SequenceEntryType):
		r.fail(k.pos, "a list entry (-) stands among the keys of a mapping: indent it below its key")
	case isType(t, token.SequenceStartType, token.MappingStartType):
		r.fail(k.pos, "a key must be a string, not a value in brackets")
	default:
		r.misplaced(t, k.pos.Column)
	}
	colon := r.peek(0)
	switch {
	case isType(colon, token.MappingValueType) && (k.explicit || colon.Position.Line == t.Position.Line):
		k.colon, k.line = true, colon.Position.Line
		r.next()
	case !k.explicit:
		r.fail(k.pos, "%s is neither a key with a colon nor part of the value above: add \": \" behind a key, or "+
			"quote a text of several lines", r.word(t, t.Value))
	}
	for _, m := range marks {
		if m.anchor != "" {
			r.anchors[m.anchor] = &Node{Kind: Text, Pos: k.pos, Scalar: k.text, Written: k.text}
		}
	}
	return k
}

// end is the place behind the text.
func (r *reader) end() Pos {
	pos := Pos{1, 1}
	for _, c := range string(r.file.Text) {
		if pos.Column++; c == '\n' {
			pos = Pos{pos.Line + 1, 1}
		}
	}
	return pos
}

// misplaced fails at a token that cannot stand where it stands; keys or dashes near it stand in a column.
func (r *reader) misplaced(t *token.Token, column int) {
	pos := placeOf(t)
	switch {
	case isType(t, token.SequenceEndType, token.MappingEndType):
		r.fail(pos, "the closing bracket %s has no opening one", t.Value)
	case isType(t, token.CollectEntryType):
		r.fail(pos, "a comma is not allowed here: put the text between quotes, or a list between [ and ]")
	case isType(t, token.MappingValueType):
		r.fail(pos, "a colon is not allowed here: a key needs a line of its own; put a text with \": \" between quotes")
	case pos.Column > column && r.first(t):
		r.fail(pos, "wrong indentation: this line begins in column %d, those of its block begin in column %d",
			pos.Column, column)
	}
	r.fail(pos, "%s is not allowed here: a value ended before it; put a text with such characters between quotes",
		r.word(t, t.Value))
}

// word is a part of the text for a message; what stands in a line with a secret is not shown.
func (r *reader) word(t *token.Token, text string) string {
	if line := r.file.line(t.Position.Line); r.file.withoutSecrets(line, t.Position.Line) != line {
		return artifact.Redacted
	}
	return fault.Shorten(text)
}

// first reports whether a token is the first of its line.
func (r *reader) first(t *token.Token) bool {
	line := r.file.line(t.Position.Line)
	for i, c := range []rune(line) {
		if i+1 >= t.Position.Column {
			return true
		}
		if c != ' ' {
			return false
		}
	}
	return true
}
