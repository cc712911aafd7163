package judge_test

import (
	"testing"

	"aiperf/internal/result/judge"
)

func TestWorstState(t *testing.T) {
	fine := judge.State{Code: judge.StateComplete, Level: judge.Good, Title: "Complete"}
	client := judge.State{Code: judge.StateClient, Level: judge.Bad, Title: "Client limited"}
	cache := judge.State{Code: judge.StateLimited, Level: judge.Warn, Title: "KV cache"}
	queue := judge.State{Code: judge.StateLimited, Level: judge.Warn, Title: "Server queue"}
	few := judge.State{Code: judge.StateFailed, Level: judge.Bad, Title: "30 % failed"}
	for _, c := range []struct {
		states []judge.State
		code   string
		title  string
	}{
		{nil, "", ""},
		{[]judge.State{{}, fine}, judge.StateComplete, "Complete"},
		{[]judge.State{client, client}, judge.StateClient, "Client limited"},
		{[]judge.State{fine, client, cache, fine}, judge.StateClient, "1 of 4: client limited"},
		{[]judge.State{client, few, client}, judge.StateFailed, "1 of 3: 30 % failed"},
		{[]judge.State{cache, fine, queue, cache}, judge.StateLimited, "3 of 4: KV cache, Server queue"},
	} {
		if got := judge.Worst(c.states...); got.Code != c.code || got.Title != c.title {
			t.Errorf("%v: %+v, want %s: %s", c.states, got, c.code, c.title)
		}
	}
}
