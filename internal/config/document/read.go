package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/fault"
)

// Bounds of what [Read] takes: a short file must not become a large tree.
const (
	// MaxBytes bounds the text of a file. More data belong in a file of their own that this one names.
	MaxBytes = 8 << 20
	// MaxValues bounds the values of a file, those of an alias counted as often as it is used.
	MaxValues = 100_000
	// MaxDepth bounds how deep lists and mappings are nested.
	MaxDepth = 256
	// maxFaults ends reading: more would not help.
	maxFaults = 20
)

// File is a configuration file that was read.
type File struct {
	// Name is how messages name the file.
	Name string
	// Text is what was read, without byte order mark, its lines ended by line feeds.
	Text []byte
	// Root is the value at the top: a mapping, of [ReadAny] perhaps a list.
	Root *Node
	// Variables are the references to environment variables that [Environment] replaced by their values.
	Variables []Variable
}

// ReadAny is Read for documents whose top may be a list as well.
func ReadAny(name string, data []byte) (*File, error) { return read(name, data, Map, List) }

// Read reads a YAML 1.2 or JSON document whose top is a mapping. Its error is a [fault.List] with places and
// excerpts: all faults up to the first one behind which the text means nothing any more.
func Read(name string, data []byte) (*File, error) { return read(name, data, Map) }

// read reads a document whose top is of one of the kinds.
func read(name string, data []byte, tops ...Kind) (*File, error) {
	text := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(text, '\r') >= 0 {
		text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	}
	f := &File{Name: name, Text: text}
	r := &reader{file: f}
	if len(data) > MaxBytes {
		r.faults.Add("", "%s: the file has %s bytes, the limit is %s: put data into a file of their own and "+
			"name it here", f.shown(), artifact.GroupThousands(fmt.Sprint(len(data))),
			artifact.GroupThousands(fmt.Sprint(MaxBytes)))
		return nil, r.faults
	}
	r.characters()
	if len(r.faults) == 0 {
		if isJSON(text) {
			r.run(r.readJSON, tops)
		} else {
			r.run(r.readYAML, tops)
		}
	}
	if err := r.faults.Err(); err != nil {
		return nil, err
	}
	return f, nil
}

// isJSON reports whether a text is a JSON document; it is read as such then.
func isJSON(text []byte) bool { return looksLikeJSON(text) && json.Valid(text) }

func looksLikeJSON(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\n")
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

// reader is the reading of one file.
type reader struct {
	file   *File
	faults fault.List
	values int
	// tokens are those of a YAML text that have not been read.
	tokens []*token.Token
	// anchors are the values with names; a nil one is still being read.
	anchors map[string]*Node
}

// halt is panicked when no more can be read.
type halt struct{}

// run reads the tree; a fault that ends reading has been added.
func (r *reader) run(read func() *Node, tops []Kind) {
	defer func() {
		if p := recover(); p != nil {
			if _, expected := p.(halt); !expected {
				r.faults.Add("", "%s: the file cannot be read: %v", r.file.shown(), p)
			}
		}
	}()
	root := read()
	switch {
	case root == nil:
		r.fault(Pos{1, 1}, "the file is empty; it needs a mapping such as \"benchmark:\" with keys below it")
	case !slices.Contains(tops, root.Kind):
		r.fault(root.Pos, "the top of the file is %s; it must be a mapping: keys with values", root.Kind)
	default:
		r.file.Root = root
	}
}

// fault adds a fault and ends reading when there are too many.
func (r *reader) fault(pos Pos, format string, args ...any) {
	r.file.Fault(&r.faults, pos, "", format, args...)
	if len(r.faults) >= maxFaults {
		panic(halt{})
	}
}

// fail adds a fault behind which nothing can be read.
func (r *reader) fail(pos Pos, format string, args ...any) {
	r.file.Fault(&r.faults, pos, "", format, args...)
	panic(halt{})
}

// node counts a value.
func (r *reader) node(n Node) *Node {
	if r.values++; r.values > MaxValues {
		r.fail(n.Pos, "the file holds more than %s values, those of aliases counted each time: put data into a file "+
			"of their own and name it here", artifact.GroupThousands(fmt.Sprint(MaxValues)))
	}
	return &n
}

// nested fails when a list or mapping lies too deep.
func (r *reader) nested(pos Pos, depth int) {
	if depth > MaxDepth {
		r.fail(pos, "lists and mappings are nested deeper than %d levels", MaxDepth)
	}
}

// mapping collects the members of a map.
type mapping struct {
	*Node
	r *reader
	// places are those of its keys once there are many.
	places map[string]Pos
}

// manyKeys is how many keys of a map are searched one by one.
const manyKeys = 16

// add appends a member; a key that is there already is a fault.
func (m *mapping) add(key string, pos Pos, value *Node) {
	if first, twice := m.place(key); twice {
		m.r.fault(pos, "the key %s is there twice in this mapping, the first time in line %d, column %d: remove one",
			fault.Shorten(key), first.Line, first.Column)
		return
	}
	m.Members = append(m.Members, Member{Key: key, Pos: pos, Value: value})
	if m.places != nil {
		m.places[key] = pos
	} else if len(m.Members) > manyKeys {
		m.places = make(map[string]Pos, 2*manyKeys)
		for _, member := range m.Members {
			m.places[member.Key] = member.Pos
		}
	}
}

// place is where a key stands in the map.
func (m *mapping) place(key string) (Pos, bool) {
	if m.places != nil {
		pos, ok := m.places[key]
		return pos, ok
	}
	if member := m.Member(key); member != nil {
		return member.Pos, true
	}
	return Pos{}, false
}

// characters checks that the text is UTF-8 and holds no control characters.
func (r *reader) characters() {
	pos := Pos{1, 1}
	for i := 0; i < len(r.file.Text); {
		c, n := utf8.DecodeRune(r.file.Text[i:])
		switch {
		case c == utf8.RuneError && n == 1:
			r.file.Fault(&r.faults, pos, "", "the byte 0x%02X is not UTF-8: save the file with that encoding",
				r.file.Text[i])
			return
		case c == '\n':
			pos = Pos{pos.Line + 1, 0}
		case c < ' ' && c != '\t' || c == 0x7f:
			r.file.Fault(&r.faults, pos, "", "the control character U+%04X is not allowed; write it as \"\\x%02X\" "+
				"between double quotes", c, c)
			return
		}
		i += n
		pos.Column++
	}
}
