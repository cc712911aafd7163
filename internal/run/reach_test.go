package run

import (
	"strings"
	"testing"
	"time"
)

// closedPort is an address at which nothing listens. A port that was open before would be given to the next test.
const closedPort = "http://127.0.0.1:1"

// The whole run: what was sent is accounted for, the records stand in the results, the reason is the outcome's.
func TestRunAgainstAClosedPortEnds(t *testing.T) {
	t.Parallel()
	start, dir := time.Now(), t.TempDir()
	out, err := execute(t, resolve(t, dir, closedPort, "--benchmark-duration", "600", "--concurrency", "3", "--isl",
		"5"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	counts := out.Result.Counts
	if out.Aborted == nil || !strings.Contains(out.Aborted.Error(), "never reached") {
		t.Errorf("the reason is %v", out.Aborted)
	}
	if n := int64(len(records(t, dir))); n != counts.Errors {
		t.Errorf("%d lines for %d errors", n, counts.Errors)
	}
	if counts.Successes != 0 || counts.Errors < 100 || counts.Errors >= 1000 ||
		counts.Sent != counts.Errors+counts.CutOff {
		t.Errorf("%+v", counts)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

func TestNoFailFastGoesOn(t *testing.T) {
	t.Parallel()
	out, err := execute(t, resolve(t, t.TempDir(), closedPort, "--request-count", "300", "--isl", "5",
		"--no-fail-fast"), Options{})
	if err != nil || out.Aborted != nil || out.Result.Counts.Errors != 300 {
		t.Errorf("%+v, %v", out, err)
	}
}
