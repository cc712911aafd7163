// Package graded reads the files of graded answers: a line for each answer of a profiling phase, in JSON.
//
// One line is in memory at a time. The last line of a run that was killed may not be whole; it is left out.
package graded

import (
	"bufio"
	"encoding/json"
	"fmt"

	"aiperf/internal/base/bounded"
)

// Answer is what is read of a line.
type Answer struct {
	// Problem is the id of its conversation.
	Problem string `json:"conversation_id"`
	Task    string `json:"task"`
	// SentNS is when the request was sent, wall epoch ns.
	SentNS   int64  `json:"timestamp_ns"`
	Passed   bool   `json:"passed"`
	Unparsed bool   `json:"unparsed"`
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
}

// Read calls each with the answers of a file. cut reports that the last line is not whole.
func Read(path string, each func(*Answer)) (cut bool, err error) {
	file, err := bounded.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, bounded.MaxLine)
	var bad error
	for n := 1; lines.Scan(); n++ {
		if bad != nil {
			return false, bad
		}
		var one Answer
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			bad = fmt.Errorf("%s:%d: not a graded answer: %w", path, n, err)
			continue
		}
		each(&one)
	}
	if err := lines.Err(); err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	return bad != nil, nil
}
