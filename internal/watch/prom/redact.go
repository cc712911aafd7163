package prom

import "bytes"

// RedactPage returns a page whose comments and labels have passed through redact; names and numbers stay as they are. A
// page that redact does not change is returned as it is, without a copy.
func RedactPage(page []byte, redact func([]byte) []byte) []byte {
	if bytes.Equal(redact(page), page) {
		return page
	}
	out := make([]byte, 0, len(page))
	for line := range bytes.Lines(page) {
		start, end := 0, len(line)
		if !bytes.HasPrefix(line, []byte{'#'}) {
			start, end = bytes.IndexByte(line, '{'), bytes.LastIndexByte(line, '}')
		}
		if start < 0 || end < start {
			out = append(out, line...)
			continue
		}
		out = append(append(append(out, line[:start]...), redact(line[start:end])...), line[end:]...)
	}
	return out
}
