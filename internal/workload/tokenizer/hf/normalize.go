package hf

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"aiperf/internal/workload/tokenizer"
)

// normalizer changes a text. dropped reports whether its first characters were removed.
type normalizer func(s string) (out string, dropped bool)

// newNormalizer returns the normalizer of a specification, nil for none: the cases are the types of the library
// tokenizers. It reports with each text whether it dropped the text's first character.
func newNormalizer(s *spec) (normalizer, error) {
	if s == nil {
		return nil, nil
	}
	switch s.Type {
	case "Sequence":
		return newNormalizerSequence(s.Normalizers)
	case "NFC", "NFD", "NFKC", "NFKD":
		f := forms[s.Type]
		return func(t string) (string, bool) { return f.apply(t), false }, nil
	case "Lowercase":
		return func(t string) (string, bool) { return lower(t), false }, nil
	case "Strip":
		left, right := s.StripLeft, s.StripRight
		return func(t string) (string, bool) {
			before := len(t)
			if left {
				t = strings.TrimLeftFunc(t, isSpace)
			}
			dropped := len(t) < before
			if right {
				t = strings.TrimRightFunc(t, isSpace)
			}
			return t, dropped
		}, nil
	case "StripAccents":
		set := marks()
		return func(t string) (string, bool) { return without(t, set.has) }, nil
	case "Replace":
		find, err := newPattern(s.Pattern)
		if err != nil {
			return nil, err
		}
		content := s.Content
		return func(t string) (string, bool) { return replaceAll(t, find, content) }, nil
	case "Prepend":
		prefix := s.Prepend
		return func(t string) (string, bool) {
			if t == "" {
				return t, false
			}
			return prefix + t, false
		}, nil
	case "BertNormalizer":
		return newBert(s), nil
	case "Precompiled":
		m, err := tokenizer.CharsmapFromBase64(s.Charsmap)
		if err != nil {
			return nil, err
		}
		return func(t string) (string, bool) { return applyCharsmap(m, t), false }, nil
	case "ByteLevel":
		return func(t string) (string, bool) { return toByteChars(t), false }, nil
	case "Nmt":
		return nmt, nil
	}
	return nil, fmt.Errorf("the normalizer %q is not known", s.Type)
}

// newNormalizerSequence applies normalizers one after the other; none at all is nil, so that the text is not copied.
func newNormalizerSequence(list []spec) (normalizer, error) {
	var all []normalizer
	for i := range list {
		n, err := newNormalizer(&list[i])
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return func(t string) (string, bool) {
		dropped := false
		for _, n := range all {
			if n == nil {
				continue
			}
			var d bool
			t, d = n(t)
			dropped = dropped || d
		}
		return t, dropped
	}, nil
}

// without is t without the code points of a set.
func without(t string, set func(rune) bool) (string, bool) {
	at := strings.IndexFunc(t, set)
	if at < 0 {
		return t, false
	}
	return strings.Map(func(r rune) rune {
		if set(r) {
			return -1
		}
		return r
	}, t), at == 0
}

func replaceAll(t string, find pattern, content string) (string, bool) {
	var b strings.Builder
	done, dropped := 0, false
	find(t, func(start, end int) {
		if start == 0 && end > 0 && content == "" {
			dropped = true
		}
		b.WriteString(t[done:start])
		b.WriteString(content)
		done = end
	})
	if done == 0 && b.Len() == 0 && !dropped {
		return t, false
	}
	b.WriteString(t[done:])
	return b.String(), dropped
}

// lowerLater are the capitals that the standard library does not know yet.
var lowerLater = map[rune]rune{
	0x1c89: 0x1c8a, 0xa7cb: 0x264, 0xa7cc: 0xa7cd, 0xa7ce: 0xa7cf, 0xa7d2: 0xa7d3, 0xa7d4: 0xa7d5, 0xa7da: 0xa7db,
	0xa7dc: 0x19b,
}

// lower folds each code point by itself: no final sigma, and a dotted capital I becomes two.
func lower(t string) string {
	ascii, capital := true, false
	for i := range len(t) {
		ascii = ascii && t[i] < utf8.RuneSelf
		capital = capital || t[i] >= 'A' && t[i] <= 'Z'
	}
	if ascii {
		if !capital {
			return t
		}
		return strings.ToLower(t)
	}
	var b strings.Builder
	b.Grow(len(t))
	for _, r := range t {
		switch {
		case r == 0x130:
			b.WriteString("i\u0307")
		case r >= 0x10d50 && r <= 0x10d65:
			b.WriteRune(r + 0x20)
		case r >= 0x16ea0 && r <= 0x16eb8:
			b.WriteRune(r + 0x1b)
		default:
			if l, ok := lowerLater[r]; ok {
				r = l
			} else {
				r = unicode.ToLower(r)
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// newBert returns the BertNormalizer: controls go and white space becomes a blank, ideographs are set apart,
// accents go, capitals are folded.
func newBert(s *spec) normalizer {
	clean, chinese, fold := or(s.CleanText, true), or(s.HandleChineseChars, true), or(s.Lowercase, true)
	strip := or(s.StripAccents, fold)
	gone := func(r rune) bool { return r == 0 || r == utf8.RuneError || isBertControl(r) }
	accent := nonspacing()
	return func(t string) (string, bool) {
		dropped := false
		if clean {
			t, dropped = without(t, gone)
			t = strings.Map(func(r rune) rune {
				if isSpace(r) {
					return ' '
				}
				return r
			}, t)
		}
		if chinese && strings.IndexFunc(t, isBertChinese) >= 0 {
			var b strings.Builder
			for _, r := range t {
				if isBertChinese(r) {
					b.WriteByte(' ')
					b.WriteRune(r)
					b.WriteByte(' ')
				} else {
					b.WriteRune(r)
				}
			}
			t = b.String()
		}
		if strip {
			var d bool
			t, d = without(forms["NFD"].apply(t), accent.has)
			dropped = dropped || d
		}
		if fold {
			t = lower(t)
		}
		return t, dropped
	}
}

func isBertControl(r rune) bool {
	return r != '\t' && r != '\n' && r != '\r' && controls().has(r)
}

// isBertChinese has the gap at U+2B820 that the reference engine has.
func isBertChinese(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3400 && r <= 0x4dbf || r >= 0x20000 && r <= 0x2a6df || r >= 0x2a700 &&
		r <= 0x2b81f ||
		r >= 0x2b920 && r <= 0x2ceaf || r >= 0xf900 && r <= 0xfaff || r >= 0x2f800 && r <= 0x2fa1f
}

// nmt drops controls and makes blanks of other white space.
func nmt(t string) (string, bool) {
	t, dropped := without(t, func(r rune) bool {
		return r >= 1 && r <= 8 || r == 0xb || r >= 0xe && r <= 0x1f || r == 0x7f || r == 0x8f || r == 0x9f
	})
	return strings.Map(func(r rune) rune {
		switch r {
		case '\t', '\n', '\f', '\r', 0x1680, 0x2028, 0x2029, 0x2581, 0xfeff, 0xfffd:
			return ' '
		}
		if r >= 0x200b && r <= 0x200f {
			return ' '
		}
		return r
	}, t), dropped
}
