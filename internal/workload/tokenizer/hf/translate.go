package hf

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// translate rewrites an expression of the reference engine's dialect (Oniguruma) in that of the matcher
// (.NET): possessive quantifiers become atomic groups, classes are written out where they nest or
// intersect, and Unicode properties have what the standard library does not know yet.
func translate(text string) (string, error) {
	t := &translator{src: text}
	if err := t.alternatives(); err != nil {
		return "", err
	}
	if t.at < len(t.src) {
		return "", fmt.Errorf("unmatched closing parenthesis at byte %d", t.at)
	}
	return t.out.String(), nil
}

type translator struct {
	src   string
	at    int
	out   strings.Builder
	depth int
}

func (t *translator) more() bool        { return t.at < len(t.src) }
func (t *translator) has(s string) bool { return strings.HasPrefix(t.src[t.at:], s) }
func (t *translator) take(n int) string { s := t.src[t.at : t.at+n]; t.at += n; return s }
func (t *translator) write(parts ...string) {
	for _, p := range parts {
		t.out.WriteString(p)
	}
}

// alternatives translates up to the end or a closing parenthesis.
func (t *translator) alternatives() error {
	if t.depth++; t.depth > 200 {
		return errors.New("it nests too deeply")
	}
	defer func() { t.depth-- }()
	for t.more() && !t.has(")") {
		if t.has("|") {
			t.write(t.take(1))
			continue
		}
		before := t.out.String()
		t.out.Reset()
		err := t.atom()
		atom := t.out.String()
		t.out.Reset()
		t.write(before)
		if err != nil {
			return err
		}
		t.quantified(atom)
	}
	return nil
}

// quantified writes an atom and its quantifier.
func (t *translator) quantified(atom string) {
	for {
		q := t.quantifier()
		switch {
		case q == "":
			t.write(atom)
			return
		case t.has("+") && q[0] != '{':
			t.at++
			atom = "(?>" + atom + q + ")"
		case t.has("+"): // {n,m}+ is a quantifier of a quantifier
			t.at++
			atom = "(?:" + atom + q + ")+"
		case t.has("?"):
			t.at++
			atom = atom + q + "?"
			t.write(atom)
			return
		default:
			t.write(atom, q)
			return
		}
	}
}

// quantifier takes ?, *, + or {n,m}; {,m} is written {0,m}.
func (t *translator) quantifier() string {
	if !t.more() {
		return ""
	}
	switch t.src[t.at] {
	case '?', '*', '+':
		return t.take(1)
	case '{':
		end := strings.IndexByte(t.src[t.at:], '}')
		if end < 2 {
			return ""
		}
		for _, c := range t.src[t.at+1 : t.at+end] {
			if c != ',' && (c < '0' || c > '9') {
				return ""
			}
		}
		q := t.take(end + 1)
		if q[1] == ',' {
			q = "{0" + q[1:]
		}
		return q
	}
	return ""
}

// atom translates what a quantifier can follow. Characters that are plain in the source but not in the target are
// escaped.
func (t *translator) atom() error {
	switch c := t.src[t.at]; c {
	case '(':
		return t.group()
	case '[':
		set, err := t.class()
		if err != nil {
			return err
		}
		t.write(set.spell())
	case '\\':
		return t.escape()
	case '^', '$', '.':
		t.write(t.take(1))
	default:
		_, size := utf8.DecodeRuneInString(t.src[t.at:])
		text := t.take(size)
		if strings.ContainsAny(text, `#*+?{}|)]`) {
			t.write(`\`)
		}
		t.write(text)
	}
	return nil
}

// group translates a group of a regular expression. Its head, up to the colon or the name, stays as it is; flags
// without a colon, as (?i), have no content.
func (t *translator) group() error {
	open := t.take(1)
	if t.has("?") {
		end := strings.IndexAny(t.src[t.at:], ":=!>)")
		if t.has("?<=") || t.has("?<!") {
			end = 2
		}
		if end < 0 {
			return errors.New("a group is not closed")
		}
		open += t.take(end + 1)
		if strings.HasSuffix(open, ")") {
			t.write(open)
			return nil
		}
	}
	t.write(open)
	if err := t.alternatives(); err != nil {
		return err
	}
	if !t.has(")") {
		return errors.New("a group is not closed")
	}
	t.write(t.take(1))
	return nil
}

// escape translates a backslash outside a class.
func (t *translator) escape() error {
	if t.at+1 >= len(t.src) {
		return errors.New("it ends with a backslash")
	}
	switch c := t.src[t.at+1]; c {
	case 'p', 'P', 'w', 'W', 'd', 'D', 'h', 'H', 's', 'S', 'x', 'u':
		set, err := t.setEscape()
		if err != nil {
			return err
		}
		t.write(set.spell())
	case 'A', 'z', 'Z', 'b', 'B', 'G', 'n', 'r', 't', 'f', 'v', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		t.write(t.take(2))
	default:
		t.at++
		_, size := utf8.DecodeRuneInString(t.src[t.at:])
		text := t.take(size)
		if c < utf8.RuneSelf && !unicode.IsLetter(rune(c)) {
			t.write(`\`)
		} else if c < utf8.RuneSelf {
			return fmt.Errorf(`\%s is not known`, text)
		}
		t.write(text)
	}
	return nil
}
