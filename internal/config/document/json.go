package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// jsonReader reads a valid JSON document with the places of its values.
type jsonReader struct {
	*reader
	decoder *json.Decoder
	// at is how far the text was followed, and pos the place of that byte.
	at  int
	pos Pos
}

func (r *reader) readJSON() *Node {
	d := json.NewDecoder(bytes.NewReader(r.file.Text))
	d.UseNumber()
	j := &jsonReader{reader: r, decoder: d, pos: Pos{1, 1}}
	return j.value(1)
}

// checkJSON fails at the first fault of a text that is meant as JSON.
func (r *reader) checkJSON() {
	if !looksLikeJSON(r.file.Text) {
		return
	}
	var whole json.RawMessage
	if wrong := new(json.SyntaxError); errors.As(json.Unmarshal(r.file.Text, &whole), &wrong) {
		j := &jsonReader{reader: r, pos: Pos{1, 1}}
		j.follow(int(wrong.Offset) - 1)
		r.fail(j.pos, "the file is not valid JSON: %v", wrong)
	}
}

// next returns the next token and its place.
func (j *jsonReader) next() (json.Token, Pos) {
	text := j.file.Text
	j.follow(int(j.decoder.InputOffset()))
	for j.at < len(text) && strings.IndexByte(" \t\n,:", text[j.at]) >= 0 {
		j.follow(j.at + 1)
	}
	pos := j.pos
	token, err := j.decoder.Token()
	if err != nil && err != io.EOF {
		j.fail(pos, "%v", err)
	}
	return token, pos
}

// follow moves the place forward to a byte.
func (j *jsonReader) follow(to int) {
	for j.at < to {
		c, n := utf8.DecodeRune(j.file.Text[j.at:])
		j.at += n
		if c == '\n' {
			j.pos = Pos{j.pos.Line + 1, 0}
		}
		j.pos.Column++
	}
}

func (j *jsonReader) value(depth int) *Node {
	token, pos := j.next()
	n := j.node(Node{Pos: pos, Scalar: token})
	switch v := token.(type) {
	case json.Delim:
		n.Scalar = nil
		j.nested(pos, depth)
		if v == '[' {
			n.Kind = List
			for j.decoder.More() {
				n.Items = append(n.Items, j.value(depth+1))
			}
		} else {
			n.Kind = Map
			m := &mapping{Node: n, r: j.reader}
			for j.decoder.More() {
				key, pos := j.next()
				m.add(key.(string), pos, j.value(depth+1))
			}
		}
		j.next()
	case json.Number:
		n.Written = v.String()
		n.Kind, n.Scalar = Float, nil
		if i, err := v.Int64(); err == nil {
			n.Kind, n.Scalar = Int, i
		} else if f, err := v.Float64(); err == nil {
			n.Scalar = f
		} else {
			j.fault(pos, "the number %s is too large", n.Written)
		}
	case string:
		n.Kind, n.Written = Text, v
	case bool:
		n.Kind, n.Written = Bool, "false"
		if v {
			n.Written = "true"
		}
	default:
		n.Written = "null"
	}
	return n
}
