package capacity_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"aiperf/internal/experiment/capacity"
	"aiperf/internal/result/judge"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/trust"
)

var usual = capacity.QuickLimits{TTFT: capacity.QuickLimit{95, 1000}, ITL: capacity.QuickLimit{95, 50}}

// served is a server that answers so many users at once; the others wait in its queue.
func served(at int, slots int) capacity.Stage {
	s := capacity.Stage{Users: at, TTFT: 40, TTFTLimited: 60, ITL: 8, ITLLimited: 9, PerUser: 125,
		Total:    120 * float64(min(at, slots)),
		Requests: 100, Throughput: 2 * float64(min(at, slots)), Latency: 500}
	if at > slots {
		s.TTFT, s.TTFTLimited, s.Latency = 900, 1500, 1400
	}
	waiting, running := float64(max(at-slots, 0)), float64(min(at, slots))
	s.Judged = judge.Judge(&judge.Facts{Successes: 100, Concurrency: float64(at),
		Servers: &servermetrics.Load{Waiting: &waiting, Running: &running}})
	return s
}

// unseen is a stage of a server without a metrics page.
func unseen(s capacity.Stage) capacity.Stage {
	s.Judged = judge.Judge(&judge.Facts{Successes: int64(s.Requests), Failed: int64(s.Failed * s.Requests)})
	return s
}

// stagesOf makes stages as Next asks until there are no more.
func stagesOf(t *testing.T, most int, stage func(users int) capacity.Stage) (stages []capacity.Stage) {
	t.Helper()
	for {
		users, more := capacity.NextUsers(stages, usual, most)
		if !more {
			return stages
		}
		for _, s := range stages {
			if s.Users == users {
				t.Fatalf("%d users are measured twice", users)
			}
		}
		if users < 1 || users > most || len(stages) > 30 {
			t.Fatalf("stage %d has %d users", len(stages), users)
		}
		stages = append(stages, stage(users))
	}
}

func TestTheNumberOfUsersIsFound(t *testing.T) {
	for _, slots := range []int{1, 2, 3, 7, 16, 40, 100, 255} {
		stages := stagesOf(t, 256, func(users int) capacity.Stage { return served(users, slots) })
		if got := capacity.BestStage(stages, usual); got > slots || got < slots-max(1, slots/8) {
			t.Errorf("%d users of %d in %d runs", got, slots, len(stages))
		}
		if len(stages) > 12 {
			t.Errorf("%d slots took %d runs", slots, len(stages))
		}
	}
	stages := stagesOf(t, 64, func(users int) capacity.Stage { return served(users, 1000) })
	if capacity.BestStage(stages, usual) != 64 {
		t.Errorf("the most users: %d", capacity.BestStage(stages, usual))
	}
}

// TestTrapClientLimitedIsNeitherFeasibleNorNot: the answer is that of the largest stage below which was measured.
func TestTrapClientLimitedIsNeitherFeasibleNorNot(t *testing.T) {
	stages := stagesOf(t, 256, func(users int) capacity.Stage {
		s := served(users, 1000)
		if users >= 20 {
			s.TTFTLimited = 5000
			s.Judged = judge.Judge(&judge.Facts{Successes: 100, Client: trust.Document{Verdict: trust.ClientLimited}})
		}
		return s
	})
	got := capacity.BestStage(stages, usual)
	if got < 13 || got > 19 {
		t.Errorf("%d users", got)
	}
	lines := strings.Join(capacity.QuickAnswer(stages, capacity.QuickFacts{Limits: usual}), "\n")
	if !strings.Contains(lines, "at least") || !strings.Contains(lines, "64 users the client was the bottleneck") {
		t.Error(lines)
	}
}

func TestAnswersSayWhy(t *testing.T) {
	one, none := served(1, 1), math.NaN()
	for name, c := range map[string]struct {
		stages []capacity.Stage
		want   []string
	}{
		"its queue": {[]capacity.Stage{one, served(4, 1)},
			[]string{"At once:   1 user within TTFT p95 <= 1 s and ITL p95 <= 50 ms: " +
				"125 tokens/s each after the first, 120 in total", "at 4 users TTFT p95 is 1.5 s", "Server queue: 3 requests waited", "--max-num-seqs"}},
		"a full cache": {[]capacity.Stage{one, {Users: 4, Requests: 20, TTFTLimited: 3000, ITL: 9, ITLLimited: 12,
			PerUser: 100, Judged: judge.Judge(&judge.Facts{Successes: 20,
				Servers: &servermetrics.Load{KVUsageMax: new(99.0)}})}},
			[]string{"KV cache: The server's KV cache was full: up to 99 % in use"}},
		"shared computing": {[]capacity.Stage{one, unseen(capacity.Stage{Users: 4, Requests: 20, TTFT: 50, TTFTLimited: 90,
			ITL: 60, ITLLimited: 70, Latency: 3800, Throughput: 2.1})},
			[]string{"time between tokens grows", "ITL × 7.5"}},
		"a queue that it does not report": {[]capacity.Stage{one, unseen(capacity.Stage{Users: 4, Requests: 20, TTFT: 2000,
			TTFTLimited: 3000, ITL: 8, ITLLimited: 9, Latency: 2500, Throughput: 2.1})},
			[]string{"Requests wait before their first token"}},
		"errors": {[]capacity.Stage{one, unseen(capacity.Stage{Users: 4, Requests: 20, TTFTLimited: 90, ITL: 8, Failed: 0.25,
			Error: "429 Too Many Requests"})},
			[]string{"5 of 25 requests failed (20 %)"}},
		"too slow alone": {[]capacity.Stage{unseen(capacity.Stage{Users: 1, Requests: 20, TTFT: 2000, TTFTLimited: 3000,
			ITL: 100, ITLLimited: 100})},
			[]string{"At once:   0 users", "Not even 1 user keeps TTFT p95 <= 1 s"}},
		"nothing": {[]capacity.Stage{{Users: 1, TTFT: none, TTFTLimited: math.Inf(1), Failed: 1,
			Error: "no request succeeded"}},
			[]string{"One user:  no request succeeded", "At once:   0 users"}},
		"no end": {[]capacity.Stage{one}, []string{"at least 1 user within", "not reached"}},
	} {
		t.Run(name, func(t *testing.T) {
			lines := capacity.QuickAnswer(c.stages, capacity.QuickFacts{Server: "vLLM", Limits: usual,
				Took: time.Minute, Command: "aiperf profile"})
			if len(lines) != 5 {
				t.Fatalf("%d lines", len(lines))
			}
			text := strings.Join(lines, "\n")
			for _, want := range append(c.want, "Server:    vLLM (", "Repeat:    aiperf profile") {
				if !strings.Contains(text, want) {
					t.Errorf("the answer lacks %q:\n%s", want, text)
				}
			}
			if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Error(text)
			}
		})
	}
}

func TestQuickLimits(t *testing.T) {
	for text, want := range map[string]capacity.QuickLimit{"500": {95, 500}, "p99:0.5": {99, 0.5},
		"p50:20ms": {50, 20}} {
		if got, err := capacity.ParseQuickLimit(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "x", "inf", "NaN", "p98:1", "99:1", "p99:"} {
		if got, err := capacity.ParseQuickLimit(text); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}

// Tokens per second and the time between two are one figure: the mean of the requests' own rates is higher.
func TestSpeedOfAUserIsOneFigure(t *testing.T) {
	s := served(1, 1)
	s.ITL, s.PerUser = 6.25, 289
	text := strings.Join(capacity.QuickAnswer([]capacity.Stage{s}, capacity.QuickFacts{Limits: usual}), "\n")
	if !strings.Contains(text, "then 160 tokens/s (one every 6.25 ms)") || strings.Contains(text, "289") {
		t.Error(text)
	}
}
