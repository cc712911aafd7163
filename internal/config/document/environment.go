package document

import (
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/pattern"
	"aiperf/internal/config/fault"
)

// Variable is a reference to an environment variable that was replaced by its value.
type Variable struct {
	// Name is the variable's, Path that of the text with the reference.
	Name, Path string
	// Value is what the variable is set to; a default is none.
	Value string
}

// Secret reports whether the value is a secret by the name of the variable or by a key above it.
func (v Variable) Secret() bool { return artifact.IsSensitiveName(v.Name) || secretPath(v.Path) }

// secretPath reports whether a path has the name of a secret.
func secretPath(path string) bool {
	for key := range strings.FieldsFuncSeq(path, func(c rune) bool { return c == '.' || c == '[' || c == ']' }) {
		if artifact.IsSensitiveName(key) {
			return true
		}
	}
	return false
}

// reference is ${NAME} or ${NAME:default}; a default ends at the first brace.
var reference = pattern.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:([^}]*))?\}`)

// maxSubstituted bounds the bytes of all texts that references are replaced in: a variable may be long, and used often.
const maxSubstituted = MaxBytes

// Environment replaces the references ${NAME} and ${NAME:default} in all texts of the file; keys stay as they are. A
// text that is nothing but one reference gets the type of its value, and keeps the value as Written; in other texts it
// is a part. Values are data, not templates: a text whose own words are no template stays as it is, and one that is a
// template takes no value that looks like one. f.Variables lists what was used.
func Environment(f *File, lookup func(name string) (string, bool)) error {
	e := &environment{file: f, lookup: lookup}
	e.walk(f.Root, "")
	return e.faults.Err()
}

type environment struct {
	file   *File
	lookup func(string) (string, bool)
	faults fault.List
	bytes  int
}

func (e *environment) walk(n *Node, path string) {
	for i, item := range n.Items {
		e.walk(item, Index(path, i))
	}
	for _, m := range n.Members {
		e.walk(m.Value, Path(path, m.Key))
	}
	if n.Kind != Text || !strings.Contains(n.Scalar.(string), "${") {
		return
	}
	text := n.Scalar.(string)
	whole, ofTemplate := reference.FindString(text) == text, isTemplate(reference.ReplaceAllString(text, ""))
	if text, ok := e.replaced(n, text, path, ofTemplate); ok {
		if whole {
			n.coerce(text)
		} else {
			n.Scalar, n.Written = text, text
		}
		n.Data = !ofTemplate
	}
}

// replaced is a text with the values of its references; ofTemplate says that its own words are a template.
func (e *environment) replaced(n *Node, text, path string, ofTemplate bool) (string, bool) {
	var b strings.Builder
	ok := true
	for text != "" {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			break
		}
		m := reference.FindStringSubmatch("${" + rest)
		if at := strings.IndexByte(rest, '}'); m == nil || !strings.HasPrefix("${"+rest, m[0]) {
			what := "the reference ${" + rest[:max(at+1, 0)] + " names no variable"
			if at < 0 {
				what = "a reference ${ is not closed"
			}
			e.fault(n, path, "%s: write ${NAME} or ${NAME:default}; the text ${ itself cannot be written", what)
			return "", false
		}
		value, set := e.lookup(m[1])
		switch {
		case set:
			e.file.Variables = append(e.file.Variables, Variable{Name: m[1], Path: path, Value: value})
		case m[2] != "":
			value = m[3]
		default:
			e.fault(n, path, "the environment variable %s is not set: set it, or give a default, ${%[1]s:default}",
				m[1])
			ok = false
		}
		if set && ofTemplate && isTemplate(value) {
			e.fault(n, path, "the value of the environment variable %s contains {{ or {%%, and values are no templates: "+
				"give the reference a text of its own", m[1])
			ok = false
		}
		b.WriteString(value)
		text = rest[len(m[0])-len("${"):]
		if e.bytes += len(value); e.bytes > maxSubstituted {
			if e.bytes-len(value) <= maxSubstituted {
				e.fault(n, path, "the values of the environment variables in this file have more than %d bytes "+
					"together", maxSubstituted)
			}
			return "", false
		}
	}
	return b.String(), ok
}

func (e *environment) fault(n *Node, path, format string, args ...any) {
	if len(e.faults) < maxFaults {
		e.file.FaultOf(&e.faults, n, path, format, args...)
	}
}
