package summary

import (
	"fmt"
	"math"

	"aiperf/internal/base/artifact"
)

// Difference is what the answers of a new run are compared with those of a base.
type Difference struct {
	// Problems is the number of problems that both graded. Of those, Lost were right in the base alone, Won in the new
	// run alone.
	Problems int `json:"problems"`
	Lost     int `json:"lost"`
	Won      int `json:"won"`
	// Others are problems of the same id that expect another answer in the new run: they are not compared.
	Others int `json:"others"`
	// Difference is the share of right answers of the new run less that of the base, among these problems; Low and High
	// are its interval at Confidence.
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	// P is how likely so uneven a split of Lost and Won is by chance alone (McNemar's exact test, two-sided).
	P          float64 `json:"p"`
	Confidence float64 `json:"-"` // files say it once for all differences
}

// PairVerdicts compares verdicts on problems of the same index; nil where no problem is common to both.
func PairVerdicts(base, next *Verdicts, confidence float64) *Difference {
	d := &Difference{}
	for i, before := range base.votes {
		if i >= len(next.votes) || !before.asked() || !next.votes[i].asked() {
			continue
		}
		if before.expected != next.votes[i].expected {
			d.Others++
			continue
		}
		d.Problems++
		switch was, is := before.correct(), next.votes[i].correct(); {
		case was && !is:
			d.Lost++
		case is && !was:
			d.Won++
		}
	}
	if d.Problems == 0 && d.Others == 0 {
		return nil
	}
	others := d.Others
	if d.Problems == 0 {
		d = &Difference{Low: -1, High: 1, P: 1, Confidence: confidence}
	} else {
		d = NewDifference(d.Problems, d.Lost, d.Won, confidence)
	}
	d.Others = others
	return d
}

// NewDifference returns the difference of so many problems, at least one, of which some were lost and some won.
func NewDifference(problems, lost, won int, confidence float64) *Difference {
	d := &Difference{Problems: problems, Lost: lost, Won: won, Confidence: confidence}
	d.Difference = float64(won-lost) / float64(problems)
	d.P = mcNemar(lost, won)
	d.Low, d.High = tango(float64(lost), float64(won), float64(problems), confidence)
	return d
}

// Shown reports whether the difference is certain at its confidence: the interval excludes zero, and the exact test, which
// asks for more where few problems changed, agrees.
func (d *Difference) Shown() bool { return (d.Low > 0 || d.High < 0) && d.P < 1-d.Confidence }

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

// Finding says what the new run does: "loses 1.8 points of accuracy, 95 %: 0.6–3.0".
func (d *Difference) Finding() string {
	points := func(v float64) string { return fmt.Sprintf("%.1f", math.Abs(100*v)) }
	level := artifact.Trimmed(100*d.Confidence, 3) + " %: "
	switch {
	case d.Problems == 0:
		return "cannot be compared in accuracy: " + d.left()
	case !d.Shown():
		return "shows no certain difference of accuracy: " + d.Points() + " points, " + level + d.Between()
	case d.High < 0:
		return "loses " + points(d.Difference) + " points of accuracy, " + level + points(d.High) + "–" + points(d.Low)
	}
	return "gains " + points(d.Difference) + " points of accuracy, " + level + points(d.Low) + "–" + points(d.High)
}

// Points writes the difference in percentage points with its sign.
func (d *Difference) Points() string { return signed(d.Difference) }

// Between writes the interval in percentage points.
func (d *Difference) Between() string { return signed(d.Low) + " to " + signed(d.High) }

// Counts says on what the finding rests: "12 of 500 problems lost, 3 won, McNemar p = 0.035".
func (d *Difference) Counts() string {
	text := fmt.Sprintf("%d of %d problems lost, %d won, McNemar p = %s", d.Lost, d.Problems, d.Won, d.Probability())
	if d.Others > 0 {
		text += "; " + d.left()
	}
	return text
}

// Probability writes P.
func (d *Difference) Probability() string {
	if d.P < 0.0001 {
		return fmt.Sprintf("%.0e", d.P)
	}
	return fmt.Sprintf("%.2g", d.P)
}

// String is the finding with its counts.
func (d *Difference) String() string {
	if d.Problems == 0 {
		return d.Finding()
	}
	return d.Finding() + " (" + d.Counts() + ")"
}

// left says how many problems are not compared, "" for none.
func (d *Difference) left() string {
	switch d.Others {
	case 0:
		return ""
	case 1:
		return "1 problem expects another answer and is left out"
	}
	return fmt.Sprintf("%d problems expect another answer and are left out", d.Others)
}

// signed writes a share in percentage points with its sign.
func signed(share float64) string {
	text := fmt.Sprintf("%+.1f", 100*share)
	switch {
	case text == "+0.0" || text == "-0.0":
		return "0.0"
	case text[0] == '-':
		return "−" + text[1:]
	}
	return text
}
