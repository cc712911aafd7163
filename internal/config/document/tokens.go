package document

import (
	"fmt"
	"io"
	"strings"

	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"

	"aiperf/internal/base/artifact"
)

// maxSigns bounds the signs that may end a token, as a token takes much more room than a value.
const maxSigns = 100_000

// scan finds the tokens of the text.
func (r *reader) scan() {
	signs := 0
	for _, c := range r.file.Text {
		if strings.IndexByte("\n,:-[]{}\"'#&*!?|>%", c) >= 0 {
			signs++
		}
	}
	if signs > maxSigns {
		r.checkJSON()
		r.fail(Pos{}, "the file has too many lines and signs to be read as YAML (%s, the limit is %s): write it as "+
			"JSON, or put data into a file of their own and name it here", artifact.GroupThousands(fmt.Sprint(signs)),
			artifact.GroupThousands(fmt.Sprint(maxSigns)))
	}
	var s scanner.Scanner
	s.Init(string(r.file.Text))
	for {
		scanned, err := s.Scan()
		if err == io.EOF {
			return
		}
		for _, t := range scanned {
			if t.Type != token.CommentType {
				r.tokens = append(r.tokens, t)
			}
			if t.Type == token.InvalidType {
				return // what stands before it is read first: a fault there is nearer to the cause
			}
		}
	}
}

// peek is the token after i others, nil behind the last one.
func (r *reader) peek(i int) *token.Token {
	if i >= len(r.tokens) {
		return nil
	}
	if t := r.tokens[i]; t.Type == token.InvalidType && i == 0 {
		r.fail(placeOf(t), "%s", scannerMessage(t))
	}
	return r.tokens[i]
}

// next takes a token.
func (r *reader) next() *token.Token {
	t := r.peek(0)
	if t != nil {
		r.tokens = r.tokens[1:]
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
