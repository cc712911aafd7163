package hf

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"aiperf/internal/workload/tokenizer"
)

// step is a pre-tokenizer: it yields the pieces of text. lead is how many of its bytes stem from the
// first character of the whole text: a piece with any is the first one.
type step func(text string, lead int, emit func(piece string, lead int))

// newSteps lists the pre-tokenizers in their order. bytes says that the pieces are raw bytes for a
// byte-level model: the last step would only have spelled them as byte characters.
func newSteps(s *spec, byteModel bool) (steps []step, bytes bool, err error) {
	flat := flatten(nil, s)
	for i, one := range flat {
		if one.Type == "ByteLevel" {
			steps = append(steps, byteLevelSteps(one)...)
			if bytes = byteModel && i == len(flat)-1; !bytes {
				steps = append(steps, func(text string, lead int,
					emit func(string, int)) {
					emit(toByteChars(text), lead)
				})
			}
			continue
		}
		st, err := newStep(one)
		if err != nil {
			return nil, false, err
		}
		steps = append(steps, st)
	}
	return steps, bytes, nil
}

func flatten(list []*spec, s *spec) []*spec {
	if s == nil {
		return list
	}
	if s.Type != "Sequence" {
		return append(list, s)
	}
	for i := range s.Pretokenizers {
		list = flatten(list, &s.Pretokenizers[i])
	}
	return list
}

func byteLevelSteps(s *spec) (steps []step) {
	if or(s.AddPrefixSpace, true) {
		steps = append(steps, func(text string, lead int, emit func(string, int)) {
			if !strings.HasPrefix(text, " ") {
				text, lead = " "+text, lead+1
			}
			emit(text, lead)
		})
	}
	if or(s.UseRegex, true) {
		steps = append(steps, splitter(scan(tokenizer.NamedSplit(tokenizer.SplitGPT2)), "Isolated", false))
	}
	return steps
}

// newStep returns the pre-tokenizer of a specification: the cases are the types of the library tokenizers, with its
// defaults. Steps emit pieces as they find them, without lists in between.
func newStep(s *spec) (step, error) {
	switch s.Type {
	case "Whitespace":
		// \w+|[^\w\s]+; what lies between is dropped.
		word := wordChars()
		words := splitter(runs(word.has), "Isolated", false)
		rest := splitter(oneChar(isSpace), "Removed", false)
		return func(text string, lead int, emit func(string, int)) {
			words(text, lead, func(piece string, lead int) {
				if r, _ := utf8.DecodeRuneInString(piece); word.has(r) {
					emit(piece, lead)
				} else {
					rest(piece, lead, emit)
				}
			})
		}, nil
	case "WhitespaceSplit":
		return splitter(oneChar(isSpace), "Removed", false), nil
	case "BertPreTokenizer":
		blanks, symbols := splitter(oneChar(isSpace), "Removed", false),
			splitter(oneChar(punctuation().has), "Isolated", false)
		return func(text string, lead int, emit func(string, int)) {
			blanks(text, lead, func(piece string, lead int) { symbols(piece, lead, emit) })
		}, nil
	case "Punctuation":
		return newSplitter(oneChar(punctuation().has), s.Behavior, false)
	case "Metaspace":
		return newMetaspace(s)
	case "Split":
		find, err := newPattern(s.Pattern)
		if err != nil {
			return nil, err
		}
		return newSplitter(find, s.Behavior, s.Invert)
	case "Digits":
		behavior := "Contiguous"
		if s.IndividualDigits {
			behavior = "Isolated"
		}
		return splitter(oneChar(numeric().has), behavior, false), nil
	case "CharDelimiterSplit":
		return splitter(literal(s.Delimiter), "Removed", false), nil
	case "UnicodeScripts":
		return splitScripts, nil
	case "FixedLength":
		n := or(s.Length, 5)
		if n < 1 {
			return nil, fmt.Errorf("FixedLength: the length is %d", n)
		}
		return func(text string, lead int, emit func(string, int)) {
			start, count := 0, 0
			for i := range text {
				if count == n {
					emit(text[start:i], max(0, lead-start))
					start, count = i, 0
				}
				count++
			}
			emit(text[start:], max(0, lead-start))
		}, nil
	}
	return nil, fmt.Errorf("the pre-tokenizer %q is not known", s.Type)
}

// newMetaspace returns the step that turns spaces into marks and cuts before each. The mark is also put in front of the
// text, or with "first" only where the text begins.
func newMetaspace(s *spec) (step, error) {
	mark := s.Replacement
	if mark == "" {
		mark = "▁"
	}
	if !isOneChar(mark) {
		return nil, fmt.Errorf("Metaspace: the replacement %q is not one character", mark)
	}
	scheme := s.PrependScheme
	if scheme == "" {
		scheme = "always"
	}
	if !or(s.AddPrefixSpace, true) {
		scheme = "never"
	}
	cut := splitter(literal(mark), "MergedWithNext", false)
	whole := !or(s.Split, true)
	return func(text string, lead int, emit func(string, int)) {
		text = strings.ReplaceAll(text, " ", mark)
		if (scheme == "always" || scheme == "first" && lead > 0) && !strings.HasPrefix(text, mark) {
			text, lead = mark+text, lead+len(mark)
		}
		if whole {
			emit(text, lead)
			return
		}
		cut(text, lead, emit)
	}, nil
}

// newSplitter returns the splitter for a behavior, whose name has two spellings.
func newSplitter(find pattern, behavior string, invert bool) (step, error) {
	for _, name := range []string{"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"} {
		if strings.EqualFold(strings.ReplaceAll(behavior, "_", ""), name) {
			return splitter(find, name, invert), nil
		}
	}
	if behavior == "" {
		return splitter(find, "Isolated", invert), nil
	}
	return nil, fmt.Errorf("the behavior %q of a pre-tokenizer is not known", behavior)
}

// segment is a part of a text that matches or lies between matches.
type segment struct {
	start, end int
	match      bool
}

// splitter cuts a text at the matches of a pattern. invert swaps matches and what lies between.
func splitter(find pattern, behavior string, invert bool) step {
	switch behavior {
	case "Isolated", "Removed":
		keep := [2]bool{true, behavior == "Isolated"}
		if invert {
			keep[0], keep[1] = keep[1], keep[0]
		}
		return func(text string, lead int, emit func(string, int)) {
			done := 0
			find(text, func(start, end int) {
				if start > done && keep[0] {
					emit(text[done:start], max(0, lead-done))
				}
				if end > start && keep[1] {
					emit(text[start:end], max(0, lead-start))
				}
				done = end
			})
			if done < len(text) && keep[0] {
				emit(text[done:], max(0, lead-done))
			}
		}
	}
	return func(text string, lead int, emit func(string, int)) {
		var list []segment
		done := 0
		find(text, func(start, end int) {
			if start > done {
				list = append(list, segment{done, start, invert})
			}
			list = append(list, segment{start, end, !invert})
			done = end
		})
		if done < len(text) {
			list = append(list, segment{done, len(text), invert})
		}
		for _, s := range joined(list, behavior) {
			emit(text[s.start:s.end], max(0, lead-s.start))
		}
	}
}

// joined merges neighbours as the behavior says.
func joined(list []segment, behavior string) []segment {
	var out []segment
	previous := false
	switch behavior {
	case "Contiguous":
		for _, s := range list {
			if s.match == previous && len(out) > 0 {
				out[len(out)-1].end = s.end
			} else {
				out = append(out, s)
			}
			previous = s.match
		}
	case "MergedWithPrevious":
		for _, s := range list {
			if s.match && !previous && len(out) > 0 {
				out[len(out)-1].end = s.end
			} else {
				out = append(out, s)
			}
			previous = s.match
		}
	case "MergedWithNext":
		for i := len(list) - 1; i >= 0; i-- {
			s := list[i]
			if s.match && !previous && len(out) > 0 {
				out[len(out)-1].start = s.start
			} else {
				out = append(out, s)
			}
			previous = s.match
		}
		for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
		}
	}
	return out
}
