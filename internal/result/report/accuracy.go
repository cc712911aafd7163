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

// accuracyObject is the section accuracy of the summary, with the intervals that the metrics lack.
func accuracyObject(a *summary.Accuracy) artifact.Object {
	row := func(t *summary.TaskAccuracy) artifact.Object {
		ci := t.Interval()
		return artifact.Object{
			{Key: "task", Value: t.Task}, {Key: "correct", Value: t.Correct}, {Key: "total", Value: t.Total},
			{Key: "unparsed", Value: t.Unparsed}, {Key: "problems", Value: t.Problems},
			{Key: "accuracy", Value: t.Rate()},
			{Key: "ci95_low", Value: ci.Low}, {Key: "ci95_high", Value: ci.High},
		}
	}
	overall := a.Overall()
	tasks := make([]any, len(a.Tasks))
	for i := range a.Tasks {
		tasks[i] = row(&a.Tasks[i])
	}
	o := artifact.Object{
		{Key: "benchmark", Value: a.Benchmark}, {Key: "grader", Value: a.Grader}, {Key: "problems", Value: a.Problems},
		{Key: "asked", Value: a.Asked}, {Key: "ungraded", Value: a.Ungraded}, {Key: "overall", Value: row(&overall)},
		{Key: "tasks", Value: tasks},
	}
	if a.Late > 0 {
		o = append(o, artifact.Member{Key: "late", Value: a.Late})
	}
	if p := a.Repeats; p != nil {
		o = append(o, artifact.Member{Key: "repeats", Value: artifact.Object{
			{Key: "problems", Value: p.Problems}, {Key: "varied", Value: p.Varied}, {Key: "flipped", Value: p.Flipped},
		}})
	}
	return o
}
