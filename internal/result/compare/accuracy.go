package compare

import (
	"path/filepath"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/result/summary"
)

// answersOf compares the graded answers of two systems; nil where one has none, or where no problem is common to both.
// The answers of several runs of a system are taken together.
func answersOf(base, next *System, confidence float64) (*summary.Difference, error) {
	index := summary.NewAnswerIndex()
	var verdicts [2]*summary.Verdicts
	for i, s := range [...]*System{base, next} {
		verdicts[i] = index.Verdicts()
		for k := range s.Runs {
			if err := verdicts[i].Read(s.Runs[k].answers()); err != nil {
				return nil, err
			}
		}
	}
	return summary.PairVerdicts(verdicts[0], verdicts[1], confidence), nil
}

// AnswersLeaning is Worse where the new system is shown to lose right answers, Better where it is shown to gain some, else
// Same.
func (c *Comparison) AnswersLeaning() Verdict {
	switch {
	case c.Answers == nil || !c.Answers.Shown():
		return Same
	case c.Answers.Difference < 0:
		return Worse
	}
	return Better
}

// answers returns the path of the run's graded answers.
func (r *Run) answers() string {
	dir, name := filepath.Split(r.Summary)
	files := config.Artifacts{Dir: dir}
	if name != files.Name(config.SummaryJSON) {
		files.Prefix = strings.TrimSuffix(name, config.Artifacts{Prefix: "x"}.Name(config.SummaryJSON)[1:])
	}
	return files.Path(config.AccuracyJSONL)
}
