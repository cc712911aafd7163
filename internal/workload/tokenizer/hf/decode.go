package hf

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decoder changes the texts of tokens; their concatenation is the text.
type decoder func(tokens []string) []string

// decodeAll applies the decoders. Without any, tokens are separated by blanks.
func decodeAll(list []decoder, tokens []string) string {
	if len(list) == 0 {
		return strings.Join(tokens, " ")
	}
	for _, d := range list {
		tokens = d(tokens)
	}
	return strings.Join(tokens, "")
}

// each makes a decoder of a function of one token.
func each(f func(i int, token string) string) decoder {
	return func(tokens []string) []string {
		for i, t := range tokens {
			tokens[i] = f(i, t)
		}
		return tokens
	}
}

func newDecoders(s *spec) ([]decoder, error) {
	if s == nil {
		return nil, nil
	}
	if s.Type == "Sequence" {
		all := []decoder{func(tokens []string) []string { return tokens }}
		for i := range s.Decoders {
			list, err := newDecoders(&s.Decoders[i])
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
		}
		return all, nil
	}
	d, err := newDecoder(s)
	return []decoder{d}, err
}

// newDecoder returns the decoder of a specification, as the library tokenizers has it: the cases are its types, the
// defaults its own. Decoders may change the list that they are given.
func newDecoder(s *spec) (decoder, error) {
	switch s.Type {
	case "ByteLevel":
		return func(tokens []string) []string {
			var out []byte
			for _, t := range tokens {
				out = appendBytes(out, t)
			}
			return []string{strings.ToValidUTF8(string(out), "\ufffd")}
		}, nil
	case "WordPiece":
		prefix, clean := or(s.Prefix, "##"), or(s.Cleanup, true)
		return each(func(i int, t string) string {
			if i > 0 {
				if strings.HasPrefix(t, prefix) {
					t = t[len(prefix):]
				} else {
					t = " " + t
				}
			}
			if clean {
				t = cleanup(t)
			}
			return t
		}), nil
	case "Metaspace":
		mark := s.Replacement
		if mark == "" {
			mark = "▁"
		}
		never := s.PrependScheme == "never" || !or(s.AddPrefixSpace, true)
		return each(func(i int, t string) string {
			blank := " "
			if i == 0 && !never {
				blank = ""
			}
			return strings.ReplaceAll(t, mark, blank)
		}), nil
	case "BPEDecoder":
		suffix := or(s.Suffix, "</w>")
		return func(tokens []string) []string {
			for i, t := range tokens {
				blank := " "
				if i == len(tokens)-1 {
					blank = ""
				}
				tokens[i] = strings.ReplaceAll(t, suffix, blank)
			}
			return tokens
		}, nil
	case "CTC":
		return newCTC(s), nil
	case "ByteFallback":
		return joinBytes, nil
	case "Fuse":
		return func(tokens []string) []string { return []string{strings.Join(tokens, "")} }, nil
	case "Replace":
		find, err := newPattern(s.Pattern)
		if err != nil {
			return nil, err
		}
		content := s.Content
		return each(func(_ int, t string) string {
			t, _ = replaceAll(t, find, content)
			return t
		}), nil
	case "Strip":
		r, _ := utf8.DecodeRuneInString(s.Content)
		start, stop := s.Start, s.Stop
		return each(func(_ int, t string) string {
			for n := 0; n < start && strings.HasPrefix(t, string(r)); n++ {
				t = t[len(string(r)):]
			}
			for n := 0; n < stop && strings.HasSuffix(t, string(r)); n++ {
				t = t[:len(t)-len(string(r))]
			}
			return t
		}), nil
	}
	return nil, fmt.Errorf("the decoder %q is not known", s.Type)
}

// cleanup removes the blanks that word pieces leave before punctuation and English contractions.
func cleanup(t string) string {
	for _, pair := range [...][2]string{
		{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"}, {" 'm", "'m"},
		{" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
	} {
		t = strings.ReplaceAll(t, pair[0], pair[1])
	}
	return t
}

func newCTC(s *spec) decoder {
	pad, delimiter, clean := or(s.PadToken, "<pad>"), or(s.WordDelimiterToken, "|"), or(s.Cleanup, true)
	return func(tokens []string) []string {
		var out []string
		for i, t := range tokens {
			if i > 0 && t == tokens[i-1] {
				continue
			}
			t = strings.ReplaceAll(t, pad, "")
			if clean {
				t = strings.ReplaceAll(cleanup(t), delimiter, " ")
			}
			if t != "" {
				out = append(out, t)
			}
		}
		return out
	}
}

// joinBytes turns rows of byte tokens into text; a row that is not text becomes one U+FFFD a byte.
func joinBytes(tokens []string) []string {
	var out []string
	var row []byte
	flush := func() {
		if len(row) == 0 {
			return
		}
		if utf8.Valid(row) {
			out = append(out, string(row))
		} else {
			for range row {
				out = append(out, "\ufffd")
			}
		}
		row = row[:0]
	}
	for _, t := range tokens {
		if isByteToken(t) {
			if b, err := strconv.ParseUint(t[3:5], 16, 8); err == nil {
				row = append(row, byte(b))
				continue
			}
		}
		flush()
		out = append(out, t)
	}
	flush()
	return out
}
