package session

import (
	"regexp"
	"strings"
	"testing"

	"aiperf/internal/workload/dataset"
)

func bust(s *Store, target string) *Store {
	s.options.CacheBust = &CacheBust{Target: target, RunID: "run"}
	return s
}

func TestTrapMarkOfAPlayIsInEachOfItsRequests(t *testing.T) {
	s := bust(store(t, "chat", talk("c", "", "a", "b", "c")), FirstTurnSuffix)
	pattern := regexp.MustCompile(`^u:a\n\n(\[rid:[0-9a-f]{12}\])`)
	marks := map[string]bool{}
	for k := range uint64(3) {
		play := s.Session(k, 0)
		first := pattern.FindStringSubmatch(said(t, play.Prepare(0)))
		if first == nil {
			t.Fatalf("play %d says %q", k, said(t, play.Prepare(0)))
		}
		marks[first[1]] = true
		play.Capture(0, reply(t, "r"))
		for turn := 1; turn < 3; turn++ {
			text := said(t, play.Prepare(turn))
			if !strings.HasPrefix(text, "u:a\n\n"+first[1]) || strings.Count(text, "[rid:") != 1 {
				t.Errorf("play %d, turn %d says %q", k, turn, text)
			}
		}
	}
	if len(marks) != 3 {
		t.Errorf("%d marks of 3 plays", len(marks))
	}
	if got := s.options.Dataset.At(0).Turns[0].Texts[0].Contents[0]; got != "a" {
		t.Errorf("the dataset has become %q", got)
	}
}

// What was put into a request is told with it, as it stands there.
func TestPreparedRequestsTellTheirMarks(t *testing.T) {
	for target, want := range map[string]string{
		FirstTurnPrefix: `^\[rid:[0-9a-f]{12}\]\n\n$`, FirstTurnSuffix: `^\n\n\[rid:[0-9a-f]{12}\]$`,
		SystemPrefix: `^\[rid:[0-9a-f]{12}\]\n\n$`, WarmupFirstTurn: `^$`,
	} {
		p := bust(store(t, "chat", talk("c", "s", "a")), target).Session(0, 0).Prepare(0)
		marker := p.Identity.CacheBustMarker
		if !regexp.MustCompile(want).MatchString(marker) || !strings.Contains(said(t, p), marker) {
			t.Errorf("%s: %q", target, marker)
		}
		if told := p.Identity.CacheBustTarget; (told == target) != (marker != "") {
			t.Errorf("%s: the target is %q", target, told)
		}
	}
	warm := bust(store(t, "chat", talk("c", "s", "a")), WarmupSystem).Session(0, 0)
	warm.Warm(true)
	if p := warm.Prepare(0); p.Identity.CacheBustMarker != "[warmup]\n\n" ||
		p.Identity.CacheBustTarget != WarmupSystem {
		t.Errorf("in a warm-up: %+v", p.Identity)
	}
	if p := store(t, "chat", talk("c", "s", "a")).Session(0,
		0).Prepare(0); p.Identity.CacheBustMarker+p.Identity.CacheBustTarget != "" {
		t.Errorf("without marks: %+v", p.Identity)
	}
}

func TestMarksOfRunsDiffer(t *testing.T) {
	one, two := bust(store(t, "chat", talk("c", "", "a")), FirstTurnPrefix),
		bust(store(t, "chat", talk("c", "", "a")), FirstTurnPrefix)
	two.options.CacheBust.RunID = "another"
	a, b := said(t, one.Session(0, 0).Prepare(0)), said(t, two.Session(0, 0).Prepare(0))
	if a == b || !strings.HasPrefix(a, "u:[rid:") || !strings.HasSuffix(a, "]\n\na") {
		t.Errorf("%q and %q", a, b)
	}
}

func TestMissingSystemMessageIsToldOnce(t *testing.T) {
	s := bust(store(t, "chat", talk("c", "", "a", "b")), SystemPrefix)
	told := 0
	s.options.CacheBust.NoSystem = func() { told++ }
	for k := range uint64(3) {
		if text := said(t, s.Session(k, 0).Prepare(0)); !strings.HasPrefix(text, "u:[rid:") {
			t.Errorf("%q", text)
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
	system := "S"
	with := talk("c", "", "a")
	with.SystemMessage = &system
	s = bust(store(t, "chat", with), SystemPrefix)
	s.options.CacheBust.NoSystem = func() { t.Error("there is a system message") }
	if text := said(t, s.Session(0,
		0).Prepare(0)); !regexp.MustCompile(`^s:\[rid:[0-9a-f]{12}\]\n\nS`).MatchString(text) ||
		strings.Count(text, "[rid:") != 1 {
		t.Errorf("%q", text)
	}
}

func TestWarmupIsMarkedApart(t *testing.T) {
	s := bust(store(t, "chat", talk("c", dataset.MessageArrayWithResponses, "a", "b")), WarmupFirstTurn)
	play := s.Session(0, 0)
	if !play.Warm(true) || play.Warm(true) {
		t.Error("the first of two says changes, the second does not")
	}
	if text := said(t, play.Prepare(0)); text != "u:[warmup]\n\na" {
		t.Errorf("warm-up says %q", text)
	}
	if !play.Warm(false) {
		t.Error("a request prepared for the warm-up would be sent afterwards")
	}
	if text := said(t, play.Prepare(0)); text != "u:a" {
		t.Errorf("profiling says %q", text)
	}
	plain := store(t, "chat", talk("c", "", "a")).Session(0, 0)
	if plain.Warm(true) {
		t.Error("nothing changes without marks")
	}
}
