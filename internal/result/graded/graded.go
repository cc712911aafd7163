// Package graded reads the graded answers of runs, and compares those of two runs problem by problem.
//
// Vocabulary: a problem is asked once or several times, each time with one answer that is right or wrong; of two runs
// it is lost where it was right in the base alone, and won where it is right in the new run alone. A problem that was
// asked several times is right where most of its answers are.
//
// Invariant: answers are paired by the id of their problem, never by their order.
package graded

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"

	"aiperf/internal/base/bounded"
	"aiperf/internal/result/summary"
)

// Answer is a line of the file of graded answers.
type Answer struct {
	SessionNum  int64  `json:"session_num"`
	Problem     string `json:"conversation_id"`
	RequestID   string `json:"x_request_id"`
	AtNS        int64  `json:"timestamp_ns"`
	Task        string `json:"task"`
	Grader      string `json:"grader_name"`
	Passed      bool   `json:"passed"`
	Unparsed    bool   `json:"unparsed"`
	Expected    string `json:"expected"`
	Actual      string `json:"actual"`
	Explanation string `json:"explanation"`
	Output      string `json:"model_output"`
	Thinking    string `json:"model_thinking"`
}

// longest bounds a line.
const longest = 64 << 20

// Each calls do with the answers of a file in its order, each valid during its call only. A file that does not exist
// has none. A last line that is not whole, of a run that was killed, is left out.
func Each(path string, do func(*Answer) error) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	d := json.NewDecoder(bounded.NewLines(file, longest, ""))
	for d.More() {
		var one Answer
		err := d.Decode(&one)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := do(&one); err != nil {
			return err
		}
	}
	return nil
}

// Index numbers problems, so that the verdicts of many runs on the same problems need little memory.
type Index struct{ at map[string]int }

// NewIndex returns an index without problems.
func NewIndex() *Index { return &Index{at: map[string]int{}} }

// Verdicts are those on the answers of one run, or of several that are taken together.
type Verdicts struct {
	index *Index
	votes []vote
	score summary.TaskAccuracy
}

// vote is what the answers to a problem were; expected is a hash of the one that would be right.
type vote struct {
	right, wrong int32
	expected     uint64
}

var seed = maphash.MakeSeed()

func (v vote) asked() bool   { return v.right+v.wrong > 0 }
func (v vote) correct() bool { return v.right > v.wrong }

// Verdicts returns an empty set of verdicts on problems of the index.
func (x *Index) Verdicts() *Verdicts {
	return &Verdicts{index: x, score: summary.TaskAccuracy{Task: summary.OverallTask}}
}

// Read adds the answers of a file.
func (v *Verdicts) Read(path string) error {
	return Each(path, func(a *Answer) error {
		v.Add(a)
		return nil
	})
}

// Add adds an answer.
func (v *Verdicts) Add(a *Answer) {
	i, known := v.index.at[a.Problem]
	if !known {
		i = len(v.index.at)
		v.index.at[a.Problem] = i
	}
	for len(v.votes) <= i {
		v.votes = append(v.votes, vote{})
	}
	if !v.votes[i].asked() {
		v.score.Problems++
		v.votes[i].expected = maphash.String(seed, a.Expected)
	}
	v.score.Total++
	if a.Passed {
		v.votes[i].right++
		v.score.Correct++
	} else {
		v.votes[i].wrong++
	}
	if a.Unparsed {
		v.score.Unparsed++
	}
}

// Score counts the answers.
func (v *Verdicts) Score() summary.TaskAccuracy { return v.score }
