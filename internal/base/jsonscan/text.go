package jsonscan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// IsText reports whether a raw value is a string with at least one character.
func IsText(raw []byte) bool { return len(raw) > 2 && raw[0] == '"' }

// IsNull reports whether a raw value is missing or null.
func IsNull(raw []byte) bool { return len(raw) == 0 || raw[0] == 'n' }

// Text returns the text of a raw string; any other value has none.
func Text(raw []byte) string {
	if !IsText(raw) {
		return ""
	}
	if s, ok := plain(raw); ok {
		return string(s)
	}
	return string(AppendText(nil, raw))
}

// plain returns what stands between the quotes if that is the text.
func plain(raw []byte) (s []byte, ok bool) {
	s = raw[1 : len(raw)-1]
	return s, bytes.IndexByte(s, '\\') < 0 && utf8.Valid(s)
}

// AppendText appends the text of a raw string, which has its quotes and was passed over without a fault.
func AppendText(dst, raw []byte) []byte {
	s, ok := plain(raw)
	if ok {
		return append(dst, s...)
	}
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\':
			var n int
			dst, n = appendEscape(dst, s[i:])
			i += n
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		default:
			r, n := utf8.DecodeRune(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
		}
	}
	return dst
}

// appendEscape appends the character of the escape at the start of s and returns its length.
func appendEscape(dst, s []byte) ([]byte, int) {
	switch c := s[1]; c {
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case 'n':
		return append(dst, '\n'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'u':
		r, n := hex4(s, 2), 6
		if utf16.IsSurrogate(r) {
			pair := rune(-1)
			if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
				pair = hex4(s, 8)
			}
			if r = utf16.DecodeRune(r, pair); r != utf8.RuneError {
				n = 12
			}
		}
		return utf8.AppendRune(dst, r), n
	default:
		return append(dst, c), 2
	}
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string: only what must be escaped is, other characters stay raw, and each byte that
// is not UTF-8 becomes U+FFFD.
func AppendString[S ~string | ~[]byte](dst []byte, s S) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			dst = append(dst, s[start:i]...)
			dst = appendEscaped(dst, c)
			i++
			start = i
			continue
		}
		// At most four bytes are examined, so the conversion does not allocate.
		r, n := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\uFFFD"...)
			start = i + 1
		}
		i += n
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// appendEscaped appends the escape of a quote, a backslash or a control character.
func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// AppendCompact appends a raw value without white space and with strings as [AppendString] writes them. The order of
// members and the spelling of numbers stay. raw must be valid.
func AppendCompact(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case ' ', '\n', '\r', '\t':
			i++
		case '"':
			end, escaped := String(raw, i)
			if end < 0 {
				return append(dst, raw[i:]...)
			}
			if s := raw[i:end]; escaped || !utf8.Valid(s) {
				dst = AppendString(dst, AppendText(nil, s))
			} else {
				dst = append(dst, s...)
			}
			i = end
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst
}
