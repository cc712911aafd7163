package analysis

import (
	"os"
	"path/filepath"

	"aiperf/internal/base/artifact"
)

// overall heads the last column.
const overall = "Overall"

// Table are the rows of text, headings first; absent is what a cell without a figure holds.
func (m *Matrix) Table(absent string) [][]string {
	head := append(append([]string{"Model"}, m.Columns...), overall)
	table := [][]string{head}
	for i := range m.Rows {
		r := &m.Rows[i]
		row := []string{r.Label()}
		for _, v := range append(r.Cells[:len(r.Cells):len(r.Cells)], r.Overall) {
			if v == nil {
				row = append(row, absent)
			} else {
				row = append(row, artifact.Fixed2(*v))
			}
		}
		table = append(table, row)
	}
	return table
}

// WriteCSV writes the matrix to a file; folders are made.
func (m *Matrix) WriteCSV(path string) error {
	var out []byte
	for _, row := range m.Table("") {
		out = artifact.AppendCSVRow(out, row...)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return artifact.WriteFile(path, out)
}
