package main

import (
	"math"
	"testing"
)

// TestSaturatedServerKeepsItsLaws checks the engine by figures that follow from its parameters alone.
func TestSaturatedServerKeepsItsLaws(t *testing.T) {
	s := Server{Batch: 32, Step: .01, Each: .0005, Prefill: 1e-6, Tokens: 100, Lo: 1, Hi: 100}
	at := func(load float64) *Figures {
		return s.Session(1).Measure(Probe{Load: load, Warmup: 10, Seconds: 100}, nil)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > .02*want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	f := at(32)
	itl, _ := f.Figure(ITL, "p50")
	near("time between tokens of a full batch", itl, 26)
	e2e, _ := f.Figure(E2E, "avg")
	near("latency of a full batch", e2e, 99*26)
	// Twice as many requests as places: each waits as long as it is served, and the throughput stays.
	f = at(64)
	wait, _ := f.Figure(TTFT, "p50")
	near("wait for a place", wait, 99*26)
	tokens, _ := f.Figure(Tokens, "avg")
	near("throughput", tokens, 32/.026)
}

func TestSessionsFollowFromTheirSeed(t *testing.T) {
	for _, s := range Servers() {
		figures := func(seed uint64) (last *Figures) {
			session := s.Session(seed)
			for _, load := range []float64{8, 16} {
				last = session.Measure(Probe{Load: load, Warmup: 2, Seconds: 10}, nil)
			}
			return last
		}
		a, b, other := figures(1), figures(1), figures(2)
		if len(a.Records) != len(b.Records) || a.Records[len(a.Records)-1] != b.Records[len(b.Records)-1] {
			t.Errorf("%s: two sessions of one seed differ", s.Name)
		}
		if a.Records[len(a.Records)-1] == other.Records[len(other.Records)-1] {
			t.Errorf("%s: two seeds are the same session", s.Name)
		}
	}
}

func TestProbesEndWhenTheirVerdictIsCertain(t *testing.T) {
	s := Servers()[0].Session(1)
	f := s.Measure(Probe{Load: 8, Warmup: 2, Seconds: 60}, func(f *Figures) bool { return len(f.Records) == 100 })
	if len(f.Records) != 100 || f.Seconds > 20 {
		t.Errorf("%d requests in %v s, want 100 in less than 20 s", len(f.Records), f.Seconds)
	}
}

func TestOldPromptsAreServedFromTheCache(t *testing.T) {
	for _, s := range Servers() {
		if s.Cached == 0 {
			continue
		}
		second := func(fresh bool) float64 {
			session := s.Session(1)
			session.Measure(Probe{Load: 64, Seconds: 60, Fresh: fresh}, nil)
			v, _ := session.Measure(Probe{Load: 64, Seconds: 30, Fresh: fresh}, nil).Figure(TTFT, "p50")
			return v
		}
		if again, fresh := second(false), second(true); again > fresh/2 {
			t.Errorf("%s: time to first token %v with old prompts, %v with new ones", s.Name, again, fresh)
		}
	}
}

// TestStoredAnswersAreThoseOfTheServers computes the answers of a few servers with fewer requests.
func TestStoredAnswersAreThoseOfTheServers(t *testing.T) {
	truths, err := Truths()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range Servers() {
		want, ok := truths[s.Name]
		if !ok {
			t.Errorf("%s has no answer: go run ./bench/search -truth", s.Name)
		}
		switch s.Name {
		case "linear", "knee", "cliff-batch-full", "drift", "none-holds":
			got := s.Truth(30_000)
			if math.Abs(got.Load-want.Load) > .02*want.Load || math.Abs(got.Late-want.Late) > .02*want.Late {
				t.Errorf("%s: the answer is %+v, truth.csv has %+v", s.Name, got, want)
			}
		}
	}
	if len(truths) != 24 || len(Servers()) != 24 {
		t.Errorf("%d servers, %d answers", len(Servers()), len(truths))
	}
}
