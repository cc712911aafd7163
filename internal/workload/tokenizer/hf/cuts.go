package hf

import (
	"strings"

	"aiperf/internal/workload/tokenizer"
)

// CutsAtBlanks reports whether a text may be cut between a letter or digit and a blank: where every component
// is known to look no further.
func (t *Tokenizer) CutsAtBlanks() bool { return t.cuts }

func cutsAtBlanks(f *file) bool {
	for _, a := range f.AddedTokens {
		if strings.Contains(a.Content, " ") || a.RStrip {
			return false
		}
	}
	return composesOnly(f.Normalizer) && splitsAtBlanks(flatten(nil, f.PreTokenizer))
}

// composesOnly reports whether a normalizer is a Unicode form or nothing.
func composesOnly(s *spec) bool {
	if s == nil {
		return true
	}
	if s.Type == "Sequence" {
		for i := range s.Normalizers {
			if !composesOnly(&s.Normalizers[i]) {
				return false
			}
		}
		return true
	}
	_, ok := forms[s.Type]
	return ok
}

// splitsAtBlanks reports whether some pre-tokenizer surely cuts before a blank behind a word, and all keep
// what they cut.
func splitsAtBlanks(list []*spec) bool {
	cuts := false
	for _, s := range list {
		switch s.Type {
		case "ByteLevel":
			cuts = cuts || or(s.UseRegex, true)
		case "Split":
			if s.Pattern == nil || s.Pattern.Regex == nil || s.Invert || !strings.EqualFold(s.Behavior, "Isolated") {
				return false
			}
			if tokenizer.KnownSplit(*s.Pattern.Regex) == nil {
				return false
			}
			cuts = cuts || strings.HasSuffix(*s.Pattern.Regex, `|\s+`) || strings.HasSuffix(*s.Pattern.Regex, `|\s`)
		case "Digits":
		default:
			return false
		}
	}
	return cuts
}
