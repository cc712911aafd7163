package summary

import (
	"cmp"
	"slices"
)

// Notable are the answers of a run that a reader wants to see.
type Notable struct {
	// Wrong are the first wrong answers in the order in which their problems were asked, WrongTotal is how many there are.
	Wrong      []Answer
	WrongTotal int64
	// Varied are the first problems, by their ids, that got different answers; VariedTotal is how many there are.
	Varied      []Varied
	VariedTotal int64
}

// Varied is a problem that got different answers.
type Varied struct {
	Problem, Task, Expected string
	// Answers are the different ones, the most frequent first.
	Answers []Variant
}

// Variant is one of the answers to a problem.
type Variant struct {
	Text   string
	Right  bool
	Count  int64
	number int // in the order of the file
}

// mostText bounds each text of a notable answer, in characters.
const mostText = 2000

// ReadNotable reads the notable answers of a file, at most so many of each kind.
func ReadNotable(path string, most int) (*Notable, error) {
	n := &Notable{}
	seen := map[string]*Varied{}
	err := EachAnswer(path, func(a *Answer) error {
		n.wrong(a, most)
		v := seen[a.Problem]
		if v == nil {
			v = &Varied{Problem: a.Problem, Task: a.Task, Expected: shorten(a.Expected)}
			seen[a.Problem] = v
		}
		text := shorten(a.Actual)
		i := slices.IndexFunc(v.Answers, func(o Variant) bool { return o.Text == text && o.Right == a.Passed })
		if i < 0 {
			i = len(v.Answers)
			v.Answers = append(v.Answers, Variant{Text: text, Right: a.Passed, number: i})
		}
		v.Answers[i].Count++
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, v := range seen {
		if len(v.Answers) > 1 {
			n.Varied = append(n.Varied, *v)
		}
	}
	n.VariedTotal = int64(len(n.Varied))
	slices.SortFunc(n.Varied, func(a, b Varied) int { return cmp.Compare(a.Problem, b.Problem) })
	n.Varied = n.Varied[:min(most, len(n.Varied))]
	for _, v := range n.Varied {
		slices.SortFunc(v.Answers, func(a, b Variant) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.number, b.number))
		})
	}
	return n, nil
}

// wrong takes a wrong answer, of which the first ones are kept.
func (n *Notable) wrong(a *Answer, most int) {
	if a.Passed {
		return
	}
	n.WrongTotal++
	order := func(a, b Answer) int {
		return cmp.Or(cmp.Compare(a.SessionNum, b.SessionNum), cmp.Compare(a.Problem, b.Problem))
	}
	at, _ := slices.BinarySearchFunc(n.Wrong, *a, order)
	if at >= most {
		return
	}
	one := *a
	for _, text := range []*string{&one.Expected, &one.Actual, &one.Explanation, &one.Output, &one.Thinking} {
		*text = shorten(*text)
	}
	n.Wrong = slices.Insert(n.Wrong, at, one)
	n.Wrong = n.Wrong[:min(most, len(n.Wrong))]
}

func shorten(text string) string {
	if len(text) <= mostText {
		return text
	}
	if runes := []rune(text); len(runes) > mostText {
		return string(runes[:mostText]) + "…"
	}
	return text
}
