package artifact

import (
	"strconv"
	"strings"
)

// AppendCSVRow appends one row by RFC 4180: cells are quoted only where they must be, quotes are
// doubled, and the row ends with CRLF. A row without cells is the empty line between two sections.
func AppendCSVRow(dst []byte, cells ...string) []byte {
	for i, cell := range cells {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendCell(dst, cell)
	}
	return append(dst, '\r', '\n')
}

func appendCell(dst []byte, cell string) []byte {
	cell = strings.ToValidUTF8(cell, "\uFFFD")
	if !strings.ContainsAny(cell, ",\"\r\n") {
		return append(dst, cell...)
	}
	dst = append(dst, '"')
	for i := range len(cell) {
		if cell[i] == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, cell[i])
	}
	return append(dst, '"')
}

// Fixed2 formats a value with two decimals. The exact binary value is rounded, ties to even; a value
// that is not finite is absent and gives an empty cell.
func Fixed2(v float64) string {
	if !Finite(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// Finite tells whether v can stand in a file.
func Finite(v float64) bool { return v-v == 0 }
