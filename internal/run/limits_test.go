package run

import (
	"testing"

	"aiperf/internal/mockserver"
)

// Of a number of requests and one of sessions the one that is reached first ends the run: sessions of three turns.
func TestTheFirstOfTwoLimitsEndsTheRun(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{Fast: true})
	for _, c := range []struct {
		requests, sessions string
		want               int64
	}{{"4", "5", 4}, {"20", "2", 6}, {"6", "2", 6}} {
		cfg := resolve(t, t.TempDir(), url, "--session-turns-mean", "3", "--request-count", c.requests, "--num-sessions",
			c.sessions, "--concurrency", "2", "--isl", "8", "--osl", "4")
		out, err := execute(t, cfg, Options{})
		if err != nil || int64(out.Result.Counts.Successes) != c.want {
			t.Errorf("%+v: %v %+v", c, err, out.Result.Counts)
		}
	}
}
