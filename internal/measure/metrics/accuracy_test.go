package metrics

import "testing"

func TestSharesOfGradedAnswersAreMetrics(t *testing.T) {
	for tag, larger := range map[string]bool{AccuracyOverall: true, AccuracyUnparsed: false, AccuracyVaried: false,
		AccuracyFlipped: false, AccuracyTask + "computer science": true, AccuracyUnparsedTask + "anatomy": false} {
		d, ok := Lookup(tag)
		if !ok || d.Tag != tag || d.LargerIsBetter() != larger || d.Header == "" || d.Display != "ratio" {
			t.Errorf("%s: %+v, %v", tag, d, ok)
		}
		r := AccuracyResult(tag, 3, 4)
		if r.Header != d.Header || r.Stats.Avg != 0.75 || r.Stats.Sum != 3 || r.Stats.Count != 4 {
			t.Errorf("%s: the result is %+v", tag, r)
		}
	}
	for _, tag := range []string{"accuracy", "accuracy.", "accuracy.task.", "accuracy.overall.x", "inaccuracy.overall"} {
		if _, ok := Lookup(tag); ok {
			t.Errorf("%s is a metric", tag)
		}
	}
	if Canonical("accuracy") != AccuracyOverall {
		t.Error("accuracy is not the short name of accuracy.overall")
	}
}
