// Package document holds a configuration file as a tree whose every value knows its place.
//
// [Read] reads YAML and JSON into it, [Environment] puts in variables of the environment, [Render] renders templates,
// [AppendYAML] writes a tree. Faults name file, line and column, and show the line.
//
// Invariants: keys of a map are texts, unique, and in the order of the file; a tree is finite and holds no alias;
// what a file may expand to is bounded, whoever wrote it. The package must never know what the keys mean.
//
// It also holds the files that a configuration asks for: texts and trees that are rendered when a run starts,
// with names that are known only then, and written into the folder of the run.
//
// Invariants: a file lands in the folder of the run or nowhere; a name that is not defined is an error before anything
// is written. The package must never know what else a run writes.
package document

import (
	"fmt"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/scalar"
)

// Kind is the type of a node's value.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	Bool
	Int
	Float
	Text
	List
	Map
)

// String names the kind for messages.
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a whole number", "a number", "a text", "a list", "a mapping"}[k]
}

// Pos is a place in a file, from 1; the zero Pos is no place: the value was made, not read.
type Pos struct{ Line, Column int }

// Node is a value of a file.
type Node struct {
	Kind Kind
	Pos  Pos
	// Origin is where the value comes from if it is not the file: a flag as it was typed.
	Origin string
	// Scalar is bool, int64, float64 or string, by kind; nil else.
	Scalar any
	// Written is how a scalar was written, without quotes.
	Written string
	// Data reports that what looks like a template in the text is none: it is the value of a variable of the environment.
	Data bool
	// Items are those of a List, Members those of a Map.
	Items   []*Node
	Members []Member
}

// Member is a key and its value.
type Member struct {
	Key   string
	Pos   Pos
	Value *Node
}

// Of makes a node of a Go value: nil, bool, int, int64, float64, string, []any, []float64, artifact.Object.
func Of(v any) *Node {
	switch v := v.(type) {
	case nil:
		return &Node{}
	case *Node:
		return v
	case bool:
		return &Node{Kind: Bool, Scalar: v, Written: fmt.Sprint(v)}
	case int:
		return Of(int64(v))
	case int64:
		return &Node{Kind: Int, Scalar: v, Written: fmt.Sprint(v)}
	case float64:
		return &Node{Kind: Float, Scalar: v, Written: string(artifact.AppendFloat(nil, v))}
	case string:
		return &Node{Kind: Text, Scalar: v, Written: v}
	case []any:
		n := &Node{Kind: List}
		for _, item := range v {
			n.Items = append(n.Items, Of(item))
		}
		return n
	case []float64:
		n := &Node{Kind: List}
		for _, item := range v {
			n.Items = append(n.Items, Of(item))
		}
		return n
	case artifact.Object:
		n := &Node{Kind: Map}
		for _, m := range v {
			n.Members = append(n.Members, Member{Key: m.Key, Value: Of(m.Value)})
		}
		return n
	}
	panic(fmt.Sprintf("document: no node of a %T", v))
}

// Any is the node as a Go value, as [Of] takes it.
func (n *Node) Any() any {
	switch n.Kind {
	case List:
		items := make([]any, len(n.Items))
		for i, item := range n.Items {
			items[i] = item.Any()
		}
		return items
	case Map:
		o := artifact.Object{}
		for _, m := range n.Members {
			o = append(o, artifact.Member{Key: m.Key, Value: m.Value.Any()})
		}
		return o
	}
	return n.Scalar
}

// Number is the value of a node that is a number, or a text that is written as one; n may be nil.
func (n *Node) Number() (float64, bool) {
	if n == nil {
		return 0, false
	}
	switch v := n.Scalar.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case string:
		f, err := scalar.Number(v)
		return f, err == nil
	}
	return 0, false
}

// Get is the value of a key, nil if n is no map or lacks it; n may be nil.
func (n *Node) Get(key string) *Node {
	if m := n.Member(key); m != nil {
		return m.Value
	}
	return nil
}

// Member is the member with a key, nil without one; n may be nil.
func (n *Node) Member(key string) *Member {
	if n == nil {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Key == key {
			return &n.Members[i]
		}
	}
	return nil
}

// Set replaces the value of a key in its place, or appends it; n must be a Map.
func (n *Node) Set(key string, value *Node) {
	if m := n.Member(key); m != nil {
		m.Value = value
		return
	}
	n.Members = append(n.Members, Member{Key: key, Pos: value.Pos, Value: value})
}

// Delete takes a key out of a map.
func (n *Node) Delete(key string) {
	n.Members = slices.DeleteFunc(n.Members, func(m Member) bool { return m.Key == key })
}

// Clone copies the tree.
func (n *Node) Clone() *Node {
	if n == nil {
		return nil
	}
	c := *n
	c.Items = slices.Clone(n.Items)
	for i := range c.Items {
		c.Items[i] = c.Items[i].Clone()
	}
	c.Members = slices.Clone(n.Members)
	for i := range c.Members {
		c.Members[i].Value = c.Members[i].Value.Clone()
	}
	return &c
}
