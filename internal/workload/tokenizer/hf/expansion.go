package hf

import "aiperf/internal/workload/tokenizer"

// maxExpansion bounds how many times as long as a text what is made of it may be. A file can chain replacements, each
// of which makes a text a hundred times as long; those of published tokenizers together stay below 100.
const maxExpansion = 512

// formExpansion is the most by which a Unicode form makes a text longer: U+FDFA has three bytes, its compatibility form
// 33. A form of what has a form is no longer.
const formExpansion = 11

// expansion returns how many times as long as a text what a component makes of it can be; what is added once does not
// count, unless it is longer than all that may be added to a short text.
func expansion(s *spec) float64 {
	form := false
	return expansionOf(s, &form)
}

// expansionOf returns by how much a step may lengthen a text at most, as a ratio: it bounds the memory that a tokenizer
// of others can ask for. Steps of a sequence multiply; a normal form lengthens a text once only, which form remembers.
func expansionOf(s *spec, form *bool) float64 {
	if s == nil {
		return 1
	}
	by := 1.0
	switch s.Type {
	case "Sequence":
		for _, list := range [][]spec{s.Normalizers, s.Pretokenizers, s.Decoders} {
			for i := range list {
				by *= expansionOf(&list[i], form)
			}
		}
	case "NFC", "NFD", "NFKC", "NFKD", "BertNormalizer":
		if !*form {
			*form, by = true, formExpansion
		}
	case "Lowercase":
		by = 1.5
	case "ByteLevel":
		by = 2
	case "Replace":
		by = replaceExpansion(s.Pattern, len(s.Content))
	case "Metaspace":
		by = max(1, float64(len(s.Replacement)))
	case "Prepend":
		by = max(1, float64(len(s.Prepend))/maxExpansion)
	case "Precompiled":
		if m, err := tokenizer.CharsmapFromBase64(s.Charsmap); err == nil {
			by = max(1, float64(m.LongestText()))
		}
	}
	return by
}

// replaceExpansion returns that of the replacement of a pattern by n bytes. A regular expression may match nothing,
// between any two bytes.
func replaceExpansion(p *patternSpec, n int) float64 {
	switch {
	case p == nil:
		return 1
	case p.String == nil:
		return 1 + float64(n)
	case *p.String == "":
		return 1 + float64(n)
	}
	return max(1, float64(n)/float64(len(*p.String)))
}
