package series

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"aiperf/internal/measure/recordfile"
)

// largest bounds the values whose squares are numbers.
const largest = 1e150

// skipped counts what cannot be pooled in a per-request file.
type skipped struct {
	// Lines are not records; Tags are metrics with lists for values.
	Lines int
	Tags  []string
}

// readRequests calls take with the values of the successful profiling requests of a per-request file.
func readRequests(path string, take func(tag string, value float64)) (s skipped, err error) {
	var rows recordfile.RowParser
	for line, err := range recordfile.Lines(path) {
		if err != nil {
			return s, fmt.Errorf("the per-request file of a run cannot be read: %w", err)
		}
		s.read(&rows, line.Text, take)
	}
	return s, nil
}

// read calls take with the values of one line.
func (s *skipped) read(rows *recordfile.RowParser, line []byte, take func(tag string, value float64)) {
	row, err := rows.Parse(line)
	if err != nil && len(bytes.TrimSpace(line)) > 0 {
		s.Lines++
	}
	if err != nil || row.Phase != "profiling" || row.Failed {
		return
	}
	for _, tag := range row.Lists {
		if !slices.Contains(s.Tags, tag) {
			s.Tags = append(s.Tags, tag)
		}
	}
	for _, v := range row.Values {
		if math.Abs(v.Number) < largest {
			take(v.Tag, v.Number)
		}
	}
}
