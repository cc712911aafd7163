package html

import (
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/summary"
)

func TestTheReportShowsHowRightTheAnswersAre(t *testing.T) {
	r, run := result(t, 30)
	if page := render(t, r, run); strings.Contains(page, "h-accuracy") {
		t.Error("a run without graded answers has the section")
	}
	r.Accuracy = &summary.Accuracy{Benchmark: "mmlu", Grader: "multiple_choice", Problems: 60, Asked: 40, Ungraded: 2,
		Tasks: []summary.TaskAccuracy{{Task: "anatomy", Correct: 30, Total: 40, Unparsed: 3, Problems: 20},
			{Task: hostile, Correct: 10, Total: 40, Unparsed: 1, Problems: 20}},
		Repeats: &summary.Repeats{Problems: 40, Varied: 5, Flipped: 4}}
	run.Answers = &summary.Notable{WrongTotal: 71, VariedTotal: 5,
		Wrong: []summary.Answer{{Problem: "anatomy-00003", Actual: hostile, Expected: "B", Explanation: hostile,
			RequestID: "request-7", Output: hostile, Thinking: "so", Unparsed: true}},
		Varied: []summary.Varied{{Problem: "anatomy-00004", Expected: "C",
			Answers: []summary.Variant{{Text: "C", Right: true, Count: 2}, {Text: hostile, Count: 1}}}}}
	page := render(t, r, run)
	tags(t, page) // it is well formed
	section := element(t, page, `<section aria-labelledby="h-accuracy">`, "</section>")
	for _, part := range []string{"50.00", "40 of 80 answers right", "95 %: 35.2–64.8 %", "40 of 60 problems asked",
		"2 failed requests not graded", "12.5 % of 40 asked several times", "4 right at one time and wrong at another",
		"<th scope=\"row\">anatomy</th>", "75.00 %", "OVERALL", "71 wrong answers", "The first 1 of 71 wrong answers",
		"anatomy-00003", "request-7", "The first 1 of 5 problems"} {
		if !strings.Contains(section, part) {
			t.Errorf("the section lacks %q:\n%s", part, section)
		}
	}
	if strings.Contains(page, "<script>alert") {
		t.Error("a text of an answer is markup")
	}
	r.Accuracy.Tasks = []summary.TaskAccuracy{{Task: "anatomy", Total: 4, Unparsed: 4, Problems: 4}}
	if page := render(t, r, run); !strings.Contains(page, "All answers unparsed") {
		t.Error("the page does not warn where no answer had the form asked for")
	}
}

func TestTheSweepPageShowsAccuracyAgainstLoad(t *testing.T) {
	key := metrics.AccuracyOverall + "_avg"
	s := &answer.Sweep{Kind: "Sweep", Parameters: []answer.Parameter{{Name: "concurrency"}},
		Metrics: answer.Metrics(map[string]string{key: "ratio", "request_throughput_avg": "requests/sec"})}
	for i, n := range []int64{1, 64} {
		c := answer.Cell{Label: fmt.Sprintf("concurrency %d", n), Values: []any{n}, Runs: 1, Figures: map[string]answer.Figure{
			key: answer.Single(0.9 - 0.05*float64(i)), "request_throughput_avg": answer.Single(float64(n))}}
		a := &answer.Accuracy{TaskAccuracy: summary.TaskAccuracy{Correct: 180 - 10*int64(i), Total: 200, Problems: 200}}
		if i > 0 {
			a.Against = summary.NewDifference(200, 12, 2, 0.95)
		}
		c.SetAccuracy(a)
		s.Cells = append(s.Cells, c)
	}
	page := pageOf(t, "accuracy", s)
	section := element(t, page, `<section aria-labelledby="h-accuracy">`, "</section>")
	for _, part := range []string{"Accuracy against concurrency", "At concurrency 64 the server loses 5.0 points of accuracy",
		`id="curve-accuracy.overall"`, "85.00 %", "12, 2"} {
		if !strings.Contains(section, part) {
			t.Errorf("the section lacks %q:\n%s", part, section)
		}
	}
	if n := strings.Count(page, `id="curve-accuracy.overall"`); n != 1 {
		t.Errorf("the chart is %d times on the page", n)
	}
	if data := embedded(t, page); !strings.Contains(string(data["curves"]), "curve-accuracy.overall") {
		t.Error("the page has no data of the chart")
	}
}
