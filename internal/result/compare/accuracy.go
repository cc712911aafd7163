package compare

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/result/graded"
)

// Answers compares the graded answers of two runs, problem by problem.
type Answers struct {
	// Problems is the number of problems that both runs graded. Of those, Lost were right in the base alone, Won in the
	// new run alone. A problem that was asked several times is right where most of its answers are.
	Problems, Lost, Won int
	// Others are problems of the same name whose expected answers differ: they are not compared.
	Others int
	// Difference is the share of right answers of the new run less that of the base, among these problems; Low and High
	// are its interval.
	Difference, Low, High float64
	// P is how likely so uneven a split of Lost and Won is by chance alone (McNemar's exact test, two-sided).
	P          float64
	Confidence float64
}

// answersOf compares graded answers; nil where a run has none, or where no problem is common to both.
func answersOf(base, next *System, confidence float64) (*Answers, error) {
	if len(base.Runs) != 1 || len(next.Runs) != 1 || base.aggregate != nil || next.aggregate != nil {
		return nil, nil
	}
	a, err := base.Runs[0].answers()
	if err != nil || a == nil {
		return nil, err
	}
	b, err := next.Runs[0].answers()
	if err != nil || b == nil {
		return nil, err
	}
	out := &Answers{Confidence: confidence}
	for id, before := range a {
		after, ok := b[id]
		if !ok {
			continue
		}
		if before.expected != after.expected {
			out.Others++
			continue
		}
		out.Problems++
		switch was, is := before.right > 0, after.right > 0; {
		case was && !is:
			out.Lost++
		case is && !was:
			out.Won++
		}
	}
	if out.Problems == 0 && out.Others == 0 {
		return nil, nil
	}
	if out.Problems > 0 {
		out.judge()
	}
	return out, nil
}

// answers returns the problems of a run by their ids; nil where none was graded.
func (r *Run) answers() (map[string]problem, error) {
	dir, name := filepath.Split(r.Summary)
	files := config.Artifacts{Dir: dir}
	if name != files.Name(config.SummaryJSON) {
		files.Prefix = strings.TrimSuffix(name, config.Artifacts{Prefix: "x"}.Name(config.SummaryJSON)[1:])
	}
	path := files.Path(config.AccuracyJSONL)
	list := map[string]problem{}
	_, err := graded.Read(path, func(a *graded.Answer) {
		p := list[a.Problem]
		if p.expected = a.Expected; a.Passed {
			p.right++
		} else {
			p.right--
		}
		list[a.Problem] = p
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return list, err
}

// problem is how many answers to a problem are right, less how many are wrong, and what was expected.
type problem struct {
	right    int
	expected string
}

// judge computes the difference, its interval and the probability.
func (a *Answers) judge() {
	n, lost, won := float64(a.Problems), float64(a.Lost), float64(a.Won)
	a.Difference = (won - lost) / n
	a.P = mcNemar(a.Lost, a.Won)
	a.Low, a.High = tango(lost, won, n, a.Confidence)
}

// tango returns the score interval of a difference of paired shares (Tango 1998): the differences that a score test does
// not reject.
func tango(lost, won, n, confidence float64) (low, high float64) {
	z := math.Sqrt2 * math.Erfinv(confidence)
	score := func(d float64) float64 {
		// The maximum likelihood estimate of the share lost, given the difference d = won − lost.
		b := -won - lost + (2*n-won+lost)*d
		c := -lost * d * (1 - d)
		q := (math.Sqrt(max(0, b*b-8*n*c)) - b) / (4 * n)
		v := n * (2*q + d*(1-d))
		if v <= 0 {
			return math.Copysign(math.Inf(1), won-lost-n*d)
		}
		return (won - lost - n*d) / math.Sqrt(v)
	}
	at := (won - lost) / n
	find := func(inside, outside float64) float64 {
		for range 60 {
			if mid := (inside + outside) / 2; math.Abs(score(mid)) <= z {
				inside = mid
			} else {
				outside = mid
			}
		}
		return inside
	}
	return find(at, -1), find(at, 1)
}

// mcNemar returns the two-sided probability of a split at least as uneven by fair coins.
func mcNemar(lost, won int) float64 {
	n, least := lost+won, min(lost, won)
	if n == 0 {
		return 1
	}
	sum := 0.0
	all, _ := math.Lgamma(float64(n + 1))
	for k := range least + 1 {
		a, _ := math.Lgamma(float64(k + 1))
		b, _ := math.Lgamma(float64(n - k + 1))
		sum += math.Exp(all - a - b - float64(n)*math.Ln2)
	}
	return min(1, 2*sum)
}

// String says the difference in a line.
func (a *Answers) String() string {
	others := fmt.Sprintf("%d problems expect another answer and are left out", a.Others)
	if a.Others == 1 {
		others = "1 problem expects another answer and is left out"
	}
	if a.Problems == 0 {
		return "accuracy: no problem can be compared: " + others
	}
	points := func(v float64) string { return fmt.Sprintf("%.1f", math.Abs(100*v)) }
	text := "accuracy: no difference"
	between := fmt.Sprintf("%s … %s", signed(100*a.Low, oneDigit), signed(100*a.High, oneDigit))
	switch {
	case a.Difference < 0:
		text = "accuracy: " + points(a.Difference) + " points lower"
		if a.High < 0 {
			between = points(a.High) + "–" + points(a.Low)
		}
	case a.Difference > 0:
		text = "accuracy: " + points(a.Difference) + " points higher"
		if a.Low > 0 {
			between = points(a.Low) + "–" + points(a.High)
		}
	}
	text = fmt.Sprintf("%s, %.4g %%: %s, %d of %d problems lost, %d won, p = %.2g (McNemar)", text, 100*a.Confidence,
		between, a.Lost, a.Problems, a.Won, a.P)
	if a.Others > 0 {
		text += "; " + others
	}
	return text
}

func oneDigit(v float64) string { return fmt.Sprintf("%.1f", v) }

func (a *Answers) object() artifact.Object {
	return artifact.Object{
		{Key: "problems", Value: a.Problems}, {Key: "lost", Value: a.Lost}, {Key: "won", Value: a.Won}, {Key: "others", Value: a.Others},
		{Key: "difference", Value: a.Difference}, {Key: "low", Value: a.Low}, {Key: "high", Value: a.High},
		{Key: "p", Value: a.P},
	}
}
