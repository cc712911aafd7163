package document

import (
	"github.com/goccy/go-yaml/token"
)

// flowList reads a list between brackets; the opening one was read.
func (r *reader) flowList(open *token.Token, depth int) *Node {
	pos := placeOf(open)
	r.nested(pos, depth)
	n := r.node(Node{Kind: List, Pos: pos})
	for !r.closed(open, token.SequenceEndType) {
		n.Items = append(n.Items, r.flowItem(depth+1))
		r.comma(open, token.SequenceEndType)
	}
	return n
}

// flowItem reads an entry of a list between brackets; "key: value" is a mapping with one key.
func (r *reader) flowItem(depth int) *Node {
	pos := placeOf(r.peek(0))
	marks := r.marks(owner{})
	if !r.flowKeyAhead() {
		return r.flowValue(marks, pos, depth)
	}
	r.nested(pos, depth)
	m := &mapping{Node: r.node(Node{Kind: Map, Pos: pos}), r: r}
	k := r.key(marks)
	m.merge(m.member(k, r.flowValue(nil, k.pos, depth+1), nil))
	return m.Node
}

func (r *reader) flowKeyAhead() bool {
	return isType(r.peek(0), token.MappingKeyType) || r.keyAhead()
}

// flowValue reads a value between brackets; without one it is null.
func (r *reader) flowValue(marks []mark, pos Pos, depth int) *Node {
	marks = append(marks, r.marks(owner{})...)
	return r.marked(marks, func() *Node {
		if t := r.peek(0); t == nil || isType(t, token.CollectEntryType, token.SequenceEndType, token.MappingEndType) {
			return r.node(Node{Pos: pos})
		}
		if t := r.peek(0); isPlain(t) {
			r.join(t)
		}
		return r.inline(marks, depth)
	})
}

// join appends to a text between brackets what its next lines say: the scanner may give each line by itself.
func (r *reader) join(t *token.Token) {
	for line := t.Position.Line; isPlain(r.peek(1)) && r.peek(1).Position.Line > line &&
		!isType(r.peek(2), token.MappingValueType); {
		more := r.peek(1)
		t.Value += " " + more.Value
		line = more.Position.Line
		r.tokens[1] = t
		r.tokens = r.tokens[1:]
	}
}

// flowMap reads a mapping between braces; the opening one was read.
func (r *reader) flowMap(open *token.Token, depth int) *Node {
	pos := placeOf(open)
	if t := r.peek(0); isType(t, token.MappingStartType) && placeOf(t) == (Pos{pos.Line, pos.Column + 1}) {
		r.fail(pos, `a value that begins with {{ must stand between quotes: "{{ … }}"`)
	}
	r.nested(pos, depth)
	m := &mapping{Node: r.node(Node{Kind: Map, Pos: pos}), r: r}
	var merges []*Node
	for !r.closed(open, token.MappingEndType) {
		k := r.flowKey()
		var value *Node
		if k.colon {
			value = r.flowValue(nil, k.pos, depth+1)
		} else {
			value = r.node(Node{Pos: k.pos})
		}
		merges = m.member(k, value, merges)
		r.comma(open, token.MappingEndType)
	}
	m.merge(merges)
	return m.Node
}

// flowKey reads a key between braces: its colon may stand in another line or be absent.
func (r *reader) flowKey() key {
	marks := r.marks(owner{})
	t, colon := r.peek(0), r.peek(1)
	switch {
	case isType(t, token.CollectEntryType):
		r.fail(placeOf(t), "a key is missing before the comma")
	case isType(colon, token.MappingValueType) && (isPlain(t) || isQuoted(t)):
		colon.Position.Line = t.Position.Line // the end of the line means nothing between braces
	case isType(colon, token.CollectEntryType, token.MappingEndType) && (isPlain(t) || isQuoted(t)):
		return key{text: t.Value, pos: placeOf(r.next())}
	}
	return r.key(marks)
}

// closed takes the closing bracket if it is next.
func (r *reader) closed(open *token.Token, end token.Type) bool {
	if t := r.peek(0); ends(t) {
		r.fail(placeOf(open), "the bracket %s that begins here is not closed", open.Value)
	}
	if !isType(r.peek(0), end) {
		return false
	}
	r.next()
	return true
}

// comma takes the comma between entries.
func (r *reader) comma(open *token.Token, end token.Type) {
	switch t := r.peek(0); {
	case isType(t, token.CollectEntryType):
		r.next()
	case ends(t) || isType(t, end):
	case isType(t, token.SequenceEndType, token.MappingEndType):
		r.fail(placeOf(t), "the closing bracket %s does not match %s in line %d, column %d", t.Value, open.Value,
			open.Position.Line, open.Position.Column)
	default:
		r.fail(placeOf(t), "a comma or the closing bracket of %s in line %d, column %d is missing before this",
			open.Value, open.Position.Line, open.Position.Column)
	}
}
