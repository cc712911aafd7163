package runlog

import (
	"strings"
	"testing"

	"aiperf/internal/publish/progress"
)

func TestTheLineHasTheAccuracySoFar(t *testing.T) {
	s := &progress.Snapshot{Stage: progress.Profiling, Accuracy: &progress.Accuracy{Correct: 7, Total: 8},
		Phases: []progress.Phase{{Kind: progress.ProfilingKind, Name: progress.ProfilingKind, State: progress.PhaseStarted,
			RequestsCompleted: 8, ExpectedRequests: 10, Progress: 0.8, Remaining: -1}}}
	line := func() string {
		b, ok := barOf(s, 1)
		if !ok {
			t.Fatal("there is no bar")
		}
		text, _ := b.line("", 120, false)
		return text
	}
	if got := line(); !strings.Contains(got, "87.5% right") {
		t.Errorf("the line is %q", got)
	}
	s.Accuracy = nil
	if got := line(); strings.Contains(got, "right") {
		t.Errorf("without graded answers the line is %q", got)
	}
}
