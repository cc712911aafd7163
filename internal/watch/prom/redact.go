package prom

import (
	"bytes"

	"aiperf/internal/base/artifact"
)

// RedactPage returns a page in whose texts r has hidden secrets: comments, the help of a metric, the values of labels.
// Numbers stay as they are, and names of metrics and labels stay readable, see [artifact.Redactor.Name]. A page without
// a secret is returned as it is, without a copy.
func RedactPage(page []byte, r *artifact.Redactor) []byte {
	if bytes.Equal(r.Bytes(page), page) {
		return page
	}
	out := make([]byte, 0, len(page))
	for line := range bytes.Lines(page) {
		if bytes.HasPrefix(line, []byte{'#'}) {
			start, end := describedName(line)
			out = append(append(append(out, line[:start]...), r.Name(line[start:end])...), r.Bytes(line[end:])...)
			continue
		}
		start, end := bytes.IndexByte(line, '{'), bytes.LastIndexByte(line, '}')
		if start < 0 || end < start {
			if start = bytes.IndexAny(line, " \t"); start < 0 {
				start = len(line)
			}
			end = start
		}
		out = appendLabels(append(out, r.Name(line[:start])...), line[start:end], r)
		out = append(out, line[end:]...)
	}
	return out
}

// describedName returns where the name of the metric that a comment describes stands; nothing for other comments.
func describedName(line []byte) (start, end int) {
	for _, what := range []string{"# HELP ", "# TYPE ", "# UNIT "} {
		if rest, ok := bytes.CutPrefix(line, []byte(what)); ok {
			start, end = len(what), len(line)
			if n := bytes.IndexByte(rest, ' '); n >= 0 {
				end = start + n
			}
			return start, end
		}
	}
	return 0, 0
}

// appendLabels appends what stands between the braces of a line: names, and values in quotes.
func appendLabels(dst, labels []byte, r *artifact.Redactor) []byte {
	for len(labels) > 0 {
		n := bytes.IndexByte(labels, '"')
		if n < 0 {
			n = len(labels)
		}
		dst = append(dst, r.Name(labels[:n])...)
		if labels = labels[n:]; len(labels) == 0 {
			break
		}
		end := 1
		for ; end < len(labels) && labels[end] != '"'; end++ {
			if labels[end] == '\\' {
				end++
			}
		}
		end = min(end+1, len(labels))
		dst, labels = append(dst, r.Bytes(labels[:end])...), labels[end:]
	}
	return dst
}
