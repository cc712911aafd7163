package pluginfile

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
)

// file is a manifest that was read as a tree.
type file struct {
	name string
	root *document.Node
}

func (f *file) place(at document.Pos) string { return fmt.Sprintf("%s:%d", f.name, at.Line) }

func (f *file) at(at document.Pos, message string) string {
	return fmt.Sprintf("%s:%d:%d: %s", f.name, at.Line, at.Column, message)
}

// maxBytes bounds a manifest.
const maxBytes = 1 << 20

// readTree reads a manifest as a tree.
func readTree(name string, data []byte) (*file, error) {
	if len(data) > maxBytes {
		return nil, fault.List{{Message: fmt.Sprintf("%s: the file has more than %d bytes", name, maxBytes)}}
	}
	parsed, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, fault.List{{Message: name + ": " + yaml.FormatError(err, false, true)}}
	}
	f := &file{name: name}
	if len(parsed.Docs) > 0 && parsed.Docs[0].Body != nil {
		f.root, err = nodeOf(parsed.Docs[0].Body)
	}
	switch {
	case err != nil:
		return nil, fault.List{{Message: name + ":" + err.Error()}}
	case f.root == nil || f.root.Kind != document.Map:
		return nil, fault.List{{Message: name + ": a manifest is a mapping with schema_version, name and provides"}}
	}
	return f, nil
}

func nodeOf(n ast.Node) (*document.Node, error) {
	at := n.GetToken().Position
	out := &document.Node{Pos: document.Pos{Line: at.Line, Column: at.Column}, Written: n.GetToken().Value}
	switch n := n.(type) {
	case *ast.MappingNode:
		out.Kind = document.Map
		for _, v := range n.Values {
			if err := member(out, v); err != nil {
				return nil, err
			}
		}
		if len(out.Members) > 0 {
			out.Pos = out.Members[0].Pos
		}
	case *ast.MappingValueNode:
		out.Kind = document.Map
		if err := member(out, n); err != nil {
			return nil, err
		}
		out.Pos = out.Members[0].Pos
	case *ast.SequenceNode:
		out.Kind = document.List
		for _, v := range n.Values {
			item, err := nodeOf(v)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, item)
		}
	case *ast.StringNode:
		out.Kind, out.Scalar, out.Written = document.Text, n.Value, n.Value
	case *ast.LiteralNode:
		out.Kind, out.Scalar, out.Written = document.Text, n.Value.Value, n.Value.Value
	case *ast.BoolNode:
		out.Kind, out.Scalar = document.Bool, n.Value
	case *ast.IntegerNode:
		v, err := strconv.ParseInt(n.Token.Value, 0, 64)
		if err != nil {
			return nil, fmt.Errorf("%d:%d: the number is too large", at.Line, at.Column)
		}
		out.Kind, out.Scalar = document.Int, v
	case *ast.FloatNode:
		out.Kind, out.Scalar = document.Float, n.Value
	case *ast.NullNode:
	default:
		return nil, fmt.Errorf("%d:%d: %s is not supported in a manifest", at.Line, at.Column, n.Type())
	}
	return out, nil
}

func member(to *document.Node, v *ast.MappingValueNode) error {
	at := v.Key.GetToken().Position
	key := v.Key.GetToken().Value
	value, err := nodeOf(v.Value)
	if err != nil {
		return err
	}
	if to.Member(key) != nil {
		return errors.New(fmt.Sprintf("%d:%d: the key %s is there twice", at.Line, at.Column, key))
	}
	to.Members = append(to.Members, document.Member{Key: key, Pos: document.Pos{Line: at.Line, Column: at.Column},
		Value: value})
	return nil
}
