package summary

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"

	"aiperf/internal/base/bounded"
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

// EachAnswer calls do with the answers of a file in its order, each valid during its call only. A file that does not exist
// has none. A last line that is not whole, of a run that was killed, is left out.
func EachAnswer(path string, do func(*Answer) error) error {
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

// AnswerIndex numbers problems, so that the verdicts of many runs on the same problems need little memory.
type AnswerIndex struct{ at map[string]int }

// NewAnswerIndex returns an index without problems.
func NewAnswerIndex() *AnswerIndex { return &AnswerIndex{at: map[string]int{}} }

// Verdicts are those on the answers of one run, or of several that are taken together.
type Verdicts struct {
	index *AnswerIndex
	votes []vote
	score TaskAccuracy
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
func (x *AnswerIndex) Verdicts() *Verdicts {
	return &Verdicts{index: x, score: TaskAccuracy{Task: OverallTask}}
}

// Read adds the answers of a file.
func (v *Verdicts) Read(path string) error {
	return EachAnswer(path, func(a *Answer) error {
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
func (v *Verdicts) Score() TaskAccuracy { return v.score }
