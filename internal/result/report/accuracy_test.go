package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
)

// graded is a run of two tasks, of which each problem was asked twice.
func graded() *summary.Result {
	r := &summary.Result{}
	r.Accuracy = &summary.Accuracy{Benchmark: "mmlu", Grader: "multiple_choice", Problems: 30, Asked: 20, Ungraded: 1,
		Tasks: []summary.TaskAccuracy{{Task: "anatomy", Correct: 15, Total: 20, Unparsed: 2, Problems: 10},
			{Task: "world religions, all", Correct: 20, Total: 20, Problems: 10}},
		Repeats: &summary.Repeats{Problems: 20, Varied: 3, Flipped: 1}}
	r.Metrics = r.Accuracy.Metrics()
	return r
}

func TestAccuracyCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accuracy_results.csv")
	if err := (report.AccuracyCSV{Path: path}).Export(t.Context(), &summary.Result{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a run without graded answers has the file")
	}
	if err := (report.AccuracyCSV{Path: path}).Export(t.Context(), graded()); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const want = "task,correct,total,unparsed,accuracy\nOVERALL,35,40,2,0.8750\nanatomy,15,20,2,0.7500\n" +
		"\"world religions, all\",20,20,0,1.0000\n"
	if strings.ReplaceAll(string(got), "\r\n", "\n") != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
}

func TestAccuracyInTheSummary(t *testing.T) {
	r := graded()
	section, _ := report.SummaryObject(r, nil).Get("accuracy")
	text, err := artifact.AppendJSON(nil, section)
	if err != nil {
		t.Fatal(err)
	}
	o, err := artifact.ParseObject(text)
	if err != nil {
		t.Fatal(err)
	}
	overall, _ := o.Get("overall")
	row := overall.(artifact.Object)
	for key, want := range map[string]string{"correct": "35", "total": "40", "problems": "20", "accuracy": "0.875"} {
		v, _ := row.Get(key)
		if got, _ := artifact.AppendJSON(nil, v); string(got) != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	// 40 answers to 20 problems are as sure as 20 answers.
	low, _ := artifact.AppendJSON(nil, func() any { v, _ := row.Get("ci95_low"); return v }())
	once := summary.TaskAccuracy{Correct: 35, Total: 40, Problems: 20}
	if want := string(artifact.AppendFloat(nil, once.Interval().Low)); string(low) != want ||
		once.Interval().Low >= (&summary.TaskAccuracy{Correct: 35, Total: 40}).Interval().Low {
		t.Errorf("the interval begins at %s, want %s", low, want)
	}
	for tag, want := range map[string]float64{"accuracy.overall": 0.875, "accuracy.task.anatomy": 0.75,
		"accuracy.unparsed": 0.05, "accuracy.unparsed.task.anatomy": 0.1, "accuracy.varied": 0.15, "accuracy.flipped": 0.05} {
		if v, ok := r.Value(tag); !ok || v != want {
			t.Errorf("%s is %v, want %v", tag, v, want)
		}
	}
}
