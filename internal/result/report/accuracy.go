package report

import (
	"bufio"
	"context"
	"strconv"

	"aiperf/internal/base/artifact"
	"aiperf/internal/result/summary"
)

// AccuracyCSV writes accuracy_results.csv: all tasks together, then each. A run without graded answers has no such file.
type AccuracyCSV struct{ Path string }

// Name implements Exporter.
func (AccuracyCSV) Name() string { return "accuracy CSV" }

// Export implements Exporter.
func (c AccuracyCSV) Export(_ context.Context, r *summary.Result) error {
	if r.Accuracy == nil {
		return nil
	}
	return artifact.WriteStream(c.Path, func(out *bufio.Writer) error {
		text := artifact.AppendCSVRow(nil, "task", "correct", "total", "unparsed", "accuracy")
		for _, t := range append([]summary.TaskAccuracy{r.Accuracy.Overall()}, r.Accuracy.Tasks...) {
			text = artifact.AppendCSVRow(text, t.Task, strconv.FormatInt(t.Correct, 10), strconv.FormatInt(t.Total, 10),
				strconv.FormatInt(t.Unparsed, 10), strconv.FormatFloat(t.Rate(), 'f', 4, 64))
		}
		_, err := out.Write(text)
		return err
	})
}

// accuracyDocument is the section accuracy of the summary.
func accuracyDocument(a *summary.Accuracy) *summary.AccuracyDocument {
	overall := a.Overall()
	d := &summary.AccuracyDocument{Benchmark: a.Benchmark, Grader: a.Grader, Problems: a.Problems, Asked: a.Asked,
		Ungraded: a.Ungraded, Overall: taskDocument(&overall), Late: max(0, a.Late), Repeats: a.Repeats}
	for i := range a.Tasks {
		d.Tasks = append(d.Tasks, taskDocument(&a.Tasks[i]))
	}
	return d
}

func taskDocument(t *summary.TaskAccuracy) summary.TaskAccuracyDocument {
	ci := t.Interval()
	return summary.TaskAccuracyDocument{Task: t.Task, Correct: t.Correct, Total: t.Total, Unparsed: t.Unparsed,
		Problems: t.Problems, Accuracy: t.Rate(), Low: ci.Low, High: ci.High}
}
