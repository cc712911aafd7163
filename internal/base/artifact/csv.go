package artifact

import (
	"strconv"
	"strings"

	"aiperf/internal/base/terminal"
)

// AppendCSVRow appends one row by RFC 4180: cells are quoted only where they must be, quotes are
// doubled, and the row ends with CRLF. A row without cells is the empty line between two sections.
//
// A text that a spreadsheet would run as a formula gets an apostrophe in front: one that begins with =, +,
// - or @ and is not a number. Control characters other than line breaks and tabs stand as escapes.
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
	if isPlain(cell) {
		return append(dst, cell...)
	}
	cell = terminal.Text(cell)
	if isFormula(cell) {
		cell = "'" + cell
	}
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

// isPlain reports whether a cell needs nothing done: it has letters, digits, dots and underscores only.
func isPlain(cell string) bool {
	for i := range len(cell) {
		if c := cell[i]; !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '.' || c == '_') {
			return false
		}
	}
	return true
}

// isFormula reports whether a spreadsheet may run a cell.
func isFormula(cell string) bool {
	if len(cell) < 2 || strings.IndexByte("=+-@", cell[0]) < 0 {
		return false
	}
	_, err := strconv.ParseFloat(cell, 64)
	return err != nil
}

// Fixed2 formats a value with two decimals. The exact binary value is rounded, ties to even; a value
// that is not finite is absent and gives an empty cell.
func Fixed2(v float64) string {
	if !Finite(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// Finite reports whether v can stand in a file.
func Finite(v float64) bool { return v-v == 0 }
