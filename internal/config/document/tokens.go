package document

import (
	"io"
	"strings"

	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
)

// tokens are those of a YAML text, a few ahead of the reader: all of them would take much more room than the tree.
type tokens struct {
	scanner scanner.Scanner
	ahead   []*token.Token
	ended   bool
}

// peek is the token after i others, nil behind the last one. Comments are left out.
func (r *reader) peek(i int) *token.Token {
	for len(r.yaml.ahead) <= i && !r.yaml.ended {
		scanned, err := r.yaml.scanner.Scan()
		r.yaml.ended = err == io.EOF
		for _, t := range scanned {
			switch t.Type {
			case token.CommentType:
			case token.InvalidType:
				// What stands before it is read first: a fault there is nearer to the cause.
				r.yaml.ahead = append(r.yaml.ahead, t)
				r.yaml.ended = true
			default:
				r.yaml.ahead = append(r.yaml.ahead, t)
			}
			if r.yaml.ended {
				break
			}
		}
	}
	if i >= len(r.yaml.ahead) {
		return nil
	}
	if t := r.yaml.ahead[i]; t.Type == token.InvalidType && i == 0 {
		r.fail(placeOf(t), "%s", scannerMessage(t))
	}
	return r.yaml.ahead[i]
}

// next takes a token.
func (r *reader) next() *token.Token {
	t := r.peek(0)
	if t != nil {
		r.yaml.ahead = r.yaml.ahead[1:]
	}
	return t
}

func placeOf(t *token.Token) Pos { return Pos{t.Position.Line, t.Position.Column} }

// scannerMessage is a message of the scanner with a way out where one is known.
func scannerMessage(t *token.Token) string {
	switch {
	case strings.Contains(t.Error, `'	'`), strings.Contains(t.Error, "tab "):
		return "a tab cannot indent: use spaces"
	case strings.Contains(t.Error, "reserved character"):
		return t.Error + ": put the value between quotes"
	case strings.Contains(t.Error, "could not find end character"):
		return "the quote that begins here is not closed"
	}
	return t.Error
}

// isType reports whether a token has one of the types; nil has none.
func isType(t *token.Token, types ...token.Type) bool {
	if t == nil {
		return false
	}
	for _, other := range types {
		if t.Type == other {
			return true
		}
	}
	return false
}

// isPlain reports whether a token is a scalar without quotes.
func isPlain(t *token.Token) bool {
	return isType(t, token.StringType, token.IntegerType, token.FloatType, token.BoolType, token.NullType,
		token.InfinityType, token.NanType, token.HexIntegerType, token.OctetIntegerType, token.BinaryIntegerType)
}

func isQuoted(t *token.Token) bool { return isType(t, token.SingleQuoteType, token.DoubleQuoteType) }

// ends reports whether no value can begin with a token.
func ends(t *token.Token) bool {
	return t == nil || isType(t, token.DocumentHeaderType, token.DocumentEndType)
}
