package series

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"aiperf/internal/base/bounded"
)

// largest bounds the values whose squares are numbers.
const largest = 1e150

// skipped is what a per-request file holds that cannot be pooled.
type skipped struct {
	// Lines are no records; Tags are metrics with lists for values.
	Lines int
	Tags  []string
}

// requestLine is what is read of a line of the per-request file.
type requestLine struct {
	Metadata struct {
		Phase string `json:"benchmark_phase"`
	} `json:"metadata"`
	Error   json.RawMessage `json:"error"`
	Metrics map[string]struct {
		Value json.RawMessage `json:"value"`
	} `json:"metrics"`
}

// readRequests hands out the values of the successful, measured requests of a per-request file.
func readRequests(path string, take func(tag string, value float64)) (skipped, error) {
	file, err := bounded.Open(path)
	if err != nil {
		return skipped{}, fmt.Errorf("the per-request file of a run cannot be read: %w", err)
	}
	defer file.Close()
	var s skipped
	for lines := bufio.NewReaderSize(bounded.NewLines(file, bounded.MaxLine, ""), 1<<18); ; {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			s.read(line, take)
		}
		switch {
		case errors.Is(err, io.EOF):
			return s, nil
		case err != nil:
			return s, fmt.Errorf("the per-request file of a run cannot be read: %w", err)
		}
	}
}

// read hands out the values of one line.
func (s *skipped) read(text []byte, take func(tag string, value float64)) {
	var line requestLine
	if err := json.Unmarshal(text, &line); err != nil {
		s.Lines++
		return
	}
	if line.Metadata.Phase != "profiling" || len(line.Error) > 0 && string(line.Error) != "null" {
		return
	}
	for tag, m := range line.Metrics {
		if len(m.Value) > 0 && m.Value[0] == '[' {
			if !slices.Contains(s.Tags, tag) {
				s.Tags = append(s.Tags, tag)
			}
			continue
		}
		if v, err := strconv.ParseFloat(string(m.Value), 64); err == nil && math.Abs(v) < largest {
			take(tag, v)
		}
	}
}
