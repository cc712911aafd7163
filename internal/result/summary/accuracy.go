package summary

import (
	"hash/maphash"
	"maps"
	"slices"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/stats"
)

// Accuracy is how many answers of a run were right.
type Accuracy struct {
	Benchmark string `json:"benchmark"`
	Grader    string `json:"grader"`
	// Problems is the number of problems that could be asked, Asked of those that were graded at least once.
	Problems int64 `json:"problems"`
	Asked    int64 `json:"asked"`
	// Ungraded are failed requests, which have no answer.
	Ungraded int64 `json:"ungraded"`
	// Late are answers that could not be graded before the run ended.
	Late int64 `json:"late,omitempty"`
	// Tasks are by name.
	Tasks []TaskAccuracy `json:"tasks"`
	// Repeats is nil where no problem was graded more than once.
	Repeats *Repeats `json:"repeats,omitempty"`
}

// TaskAccuracy counts the graded answers of a task.
type TaskAccuracy struct {
	Task     string `json:"task"`
	Correct  int64  `json:"correct"`
	Total    int64  `json:"total"`
	Unparsed int64  `json:"unparsed"`
	// Problems is the number of different problems among them.
	Problems int64 `json:"problems,omitempty"`
}

// Repeats says how alike the answers to the same problem are.
type Repeats struct {
	// Problems were graded more than once. Of those, Varied got another extracted answer at least once, and Flipped was
	// right at least once and wrong at least once.
	Problems int64 `json:"problems"`
	Varied   int64 `json:"varied"`
	Flipped  int64 `json:"flipped"`
}

// Tally counts graded answers. It is not safe for concurrent use.
type Tally struct {
	tasks    map[string]*TaskAccuracy
	problems map[string]*heard
}

// heard is what is known of the answers to a problem.
type heard struct {
	first        uint64
	times        int64
	varied       bool
	right, wrong bool
}

var answerSeed = maphash.MakeSeed()

// Add counts an answer to a problem of a task; extracted is what was found in it.
func (c *Tally) Add(problem, task, extracted string, correct, unparsed bool) {
	if c.tasks == nil {
		c.tasks, c.problems = map[string]*TaskAccuracy{}, map[string]*heard{}
	}
	t := c.tasks[task]
	if t == nil {
		t = &TaskAccuracy{Task: task}
		c.tasks[task] = t
	}
	t.Total++
	if correct {
		t.Correct++
	}
	if unparsed {
		t.Unparsed++
	}
	hash := maphash.String(answerSeed, extracted)
	h := c.problems[problem]
	if h == nil {
		h = &heard{first: hash}
		c.problems[problem] = h
		t.Problems++
	}
	h.times++
	h.varied = h.varied || hash != h.first
	h.right, h.wrong = h.right || correct, h.wrong || !correct
}

// Fill puts what was counted into an accuracy, and leaves what it says of the run.
func (c *Tally) Fill(a *Accuracy) {
	a.Asked, a.Tasks, a.Repeats = int64(len(c.problems)), []TaskAccuracy{}, nil
	for _, name := range slices.Sorted(maps.Keys(c.tasks)) {
		a.Tasks = append(a.Tasks, *c.tasks[name])
	}
	repeats := Repeats{}
	for _, h := range c.problems {
		if h.times > 1 {
			repeats.Problems++
			if h.varied {
				repeats.Varied++
			}
			if h.right && h.wrong {
				repeats.Flipped++
			}
		}
	}
	if repeats.Problems > 0 {
		a.Repeats = &repeats
	}
}

// accuracyConfidence is that of the intervals of accuracies.
const accuracyConfidence = 0.95

// Rate returns the share of right answers, 0 of none.
func (t *TaskAccuracy) Rate() float64 { return share(t.Correct, t.Total) }

// Interval returns the interval that has the true share with a confidence of 95 % (Wilson). Several answers to the same
// problem count as one observation, since they say little more than one does.
func (t *TaskAccuracy) Interval() stats.Range {
	n := t.Total
	if t.Problems > 0 {
		n = min(n, t.Problems)
	}
	if n == 0 {
		return stats.Range{High: 1}
	}
	return stats.Wilson(t.Rate(), float64(n), accuracyConfidence)
}

// Overall adds the tasks up.
func (a *Accuracy) Overall() TaskAccuracy {
	all := TaskAccuracy{Task: OverallTask}
	for _, t := range a.Tasks {
		all.Correct += t.Correct
		all.Total += t.Total
		all.Unparsed += t.Unparsed
		all.Problems += t.Problems
	}
	return all
}

// NoneParsed is said of a run of which no answer was in the form asked for.
const NoneParsed = "No answer was given in the form that was asked for. Check that the server answers in full: its limit " +
	"of tokens, its chat template, and whether the model thinks before it answers."

// OverallTask stands for all tasks in tables.
const OverallTask = "OVERALL"

func share(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// Metrics returns the figures as metrics; none of nil, or where nothing was graded.
func (a *Accuracy) Metrics() []metrics.Metric {
	if a == nil {
		return nil
	}
	overall := a.Overall()
	if overall.Total == 0 {
		return nil
	}
	list := []metrics.Metric{metrics.AccuracyResult(metrics.AccuracyOverall, overall.Correct, overall.Total)}
	for _, t := range a.Tasks {
		list = append(list, metrics.AccuracyResult(metrics.AccuracyTask+t.Task, t.Correct, t.Total))
	}
	list = append(list, metrics.AccuracyResult(metrics.AccuracyUnparsed, overall.Unparsed, overall.Total))
	for _, t := range a.Tasks {
		list = append(list, metrics.AccuracyResult(metrics.AccuracyUnparsedTask+t.Task, t.Unparsed, t.Total))
	}
	if r := a.Repeats; r != nil {
		list = append(list, metrics.AccuracyResult(metrics.AccuracyVaried, r.Varied, r.Problems),
			metrics.AccuracyResult(metrics.AccuracyFlipped, r.Flipped, r.Problems))
	}
	return list
}
