package trust

import (
	"strings"
	"testing"
	"time"
)

// Durations and rates reach from the first success to the last one: only what lies between is in them.
func TestOutagesInRates(t *testing.T) {
	for _, c := range []struct {
		before, after int64
		want          string
	}{
		{0, 0, "; rates and durations include the outage"},
		{0, 40, "; the outage was after the last success, and neither rates nor durations include it"},
		{40, 0, "; the outage was before the first success, and neither rates nor durations include it"},
		{10, 30, "; the outage was before the first success and after the last one, and neither rates nor durations " +
			"include it"},
		{0, 25, "; rates and durations include the outage only between successes: 25 of the failures came before the " +
			"first one or after the last one"},
	} {
		h, in := calm()
		in.Course = Course{Unreached: 40, Outage: time.Second, UnreachedBefore: c.before, UnreachedAfter: c.after}
		if got := Judge(h, in).Warnings(); len(got) != 1 || !strings.HasSuffix(got[0], c.want) {
			t.Errorf("%d before, %d after: %q", c.before, c.after, got)
		}
	}
}

func TestCourse(t *testing.T) {
	ttft := func(values ...float64) FirstRequests { return FirstRequests{Tag: TTFT, Values: values} }
	for _, c := range []struct {
		name   string
		course Course
		want   string // code and part of the message, "" for nothing
	}{
		{"nothing", Course{}, ""},
		{"an outage", Course{Unreached: 40, Outage: 3200 * time.Millisecond},
			"server_away 40 requests failed for lack of a connection, for up to 3.20 s"},
		{"some failures", Course{Unreached: 3}, ""},
		{"cold", Course{First: ttft(900, 700, 21, 20)},
			"cold_start the first 2 requests took 40.0 × the median (time_to_first_token 800 ms on average, median " +
				"20.0 ms)"},
		{"the first one cold", Course{First: ttft(900, 21)}, "cold_start the first request took 45.0 × the median"},
		{"slow later on", Course{First: ttft(21, 900, 900)}, ""},
		{"slow throughout", Course{First: ttft(900, 900)}, ""},
		{"slower, but by little", Course{First: ttft(60, 20)}, ""},
		{"the first one failed", Course{First: ttft(-1, 900, 20)}, ""},
		{"replies in one piece", Course{Replies: Replies{Streamed: 200, InOnePiece: 35}},
			"in_one_piece 35 of 200 replies arrived in one piece"},
		{"replies that were not streamed", Course{Replies: Replies{Streamed: 100, InOnePiece: 1, Unstreamed: 50}},
			"in_one_piece 51 of 150 replies arrived in one piece, 50 of them not streamed although a stream was asked for"},
		{"usual endings", Course{Replies: Replies{Valid: 9, Endings: map[string]int64{"stop": 3, "MAX_TOKENS": 6}}}, ""},
		{"unusual endings", Course{Replies: Replies{Valid: 9, Endings: map[string]int64{"stop": 3, "error": 4, "abort": 2}}},
			"unusual_endings 6 replies ended for another reason than that they were complete or long enough: abort 2, error 4"},
		{"streams without an end", Course{Replies: Replies{Valid: 9, Unfinished: 2}},
			"closed_early 2 of 9 replies ended with neither a finish reason nor [DONE]"},
		{"output that nobody reads", Course{Replies: Replies{Valid: 9, Unread: map[string]int64{"message.b": 2, "message.a": 9}}},
			"unread_output replies carried output that is not read: message.a in 9 replies, message.b in 2 replies"},
		{"streams that repeat themselves", Course{Replies: Replies{Valid: 9, Cumulative: 9}},
			"cumulative_stream each event of 9 replies repeated the text so far"},
		{"a reply held back", Course{Replies: Replies{Streamed: 200, HeldBack: 1}}, ""},
		{"prompts once each", Course{Prompts: &Prompts{Distinct: 10, Sent: 10, Max: 1}}, ""},
		{"prompts again", Course{Prompts: &Prompts{Distinct: 100, Sent: 300, Max: 4,
			Remedy: "--num-dataset-entries 300"}},
			"repeated_prompts 300 requests sent 100 different prompts, each 3.00 times on average and at most 4 times"},
		{"prompts of an earlier run in the server's cache", Course{WarmCache: &WarmCache{Share: 0.98, Repeats: 0.02,
			Remedy: "--reset-kv-cache"}},
			"warm_cache 98 % of the prompt tokens came from the server's prefix cache, more than this run's repeats " +
				"explain (2 %): an earlier run probably sent the same prompts"},
	} {
		h, in := calm()
		for i := range in.Metrics {
			if in.Metrics[i].Tag == TTFT {
				in.Metrics[i].P50 = 20
			}
		}
		in.Course = c.course
		r := Judge(h, in)
		var got []string
		for _, reason := range r.Reasons {
			got = append(got, reason.Code+" "+reason.Message)
		}
		text := strings.Join(got, "\n")
		if c.want == "" && text != "" || !strings.HasPrefix(text, c.want) || r.Verdict != Valid {
			t.Errorf("%s: %q, %s", c.name, text, r.Verdict)
		}
		if notes, warnings := len(r.Notes()), len(r.Warnings()); c.want != "" && (notes != 1 || warnings != 1) {
			t.Errorf("%s: %d notes, %d warnings", c.name, notes, warnings)
		}
		if c.want != "" && !strings.Contains(r.Lines()[1], "time stamps") {
			t.Errorf("%s: the verdict's own lines have changed: %q", c.name, r.Lines())
		}
	}
	h, in := calm()
	in.Course.Replies = Replies{Streamed: 200, HeldBack: 180}
	r := Judge(h, in)
	if notes := r.Notes(); len(notes) != 1 ||
		!strings.Contains(notes[0], "180 of 200 replies brought their first two tokens together, 35 to 45 ms after the head") {
		t.Errorf("replies held back: %q", notes)
	}
	if b := r.Bounds[0]; b.Tag != TTFT || b.Value < 45 {
		t.Errorf("replies held back: %+v", b)
	}
	h, in = calm()
	in.Course.Prompts = &Prompts{Distinct: 1, Sent: 2, Max: 2, Announced: true}
	if r := Judge(h, in); len(r.Warnings()) != 0 || len(r.Notes()) != 1 {
		t.Errorf("announced before the load: warnings %q, notes %q", r.Warnings(), r.Notes())
	}
	h, in = calm()
	in.Course.WarmCache = &WarmCache{Share: 1, Quiet: true}
	if r := Judge(h, in); len(r.Warnings()) != 0 || len(r.Notes()) != 1 {
		t.Errorf("a run of an experiment: warnings %q, notes %q", r.Warnings(), r.Notes())
	}
}
