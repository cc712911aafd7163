package dashboard

import (
	"strings"
	"testing"
	"time"

	"aiperf/internal/publish/progress"
)

// recording returns a dashboard that follows a recording.
func recording(t testing.TB) *Dashboard {
	t.Helper()
	d := New(Options{Title: "aiperf record", Traffic: true})
	seen := progress.Traffic{Clients: "http://127.0.0.1:8100", Upstream: "http://127.0.0.1:8000", Folder: "recording"}
	for i := range 90 {
		next := seen
		next.For = time.Duration(i) * time.Second
		next.Requests += int64(20 + i%7)
		next.InFlight = int64(5 + i%4)
		next.Rows, next.Turns, next.Sessions = next.Requests-next.InFlight, next.Requests-next.InFlight, next.Requests/5
		next.InputTokens += 12000
		next.OutputTokens += 900
		next.SharedTokens += int64(7000 + 100*(i%9))
		next.Failed += int64(i % 40 / 39)
		next.Bytes += 3000
		seen = next
		d.Recorded(&next)
	}
	seen.Prompts = progress.Lengths{Count: 2000, Sum: 1_200_000}
	copy(seen.Prompts.Up[7:], []int64{20, 180, 560, 880, 359, 1})
	seen.Replies = progress.Lengths{Count: 1990, Sum: 80_000}
	copy(seen.Replies.Up[0:], []int64{1, 2, 3, 30, 150, 470, 980, 330, 20, 2, 1, 1})
	seen.Models = []progress.Named{{Name: "meta-llama/Llama-3.1-8B-Instruct", Count: 1900}, {Name: "small", Count: 90}}
	seen.Endpoints = []progress.Named{{Name: "chat", Count: 1500}, {Name: "messages", Count: 480}, {Name: "other", Count: 3}}
	seen.For += time.Second
	d.Recorded(&seen)
	return d
}

func TestARecording(t *testing.T) {
	d := recording(t)
	for _, size := range sizes {
		text := drawn(d, size[0], size[1])
		has(t, text, "http://127.0.0.1:8100 → http://127.0.0.1:8000", "Requests", "In flight", "Shared", "Prompts mean 600", "≤ 1,024  44 %",
			"Replies mean 40.2", "2,061 of 2,067", "413, 5.0 turns each", "62 % of prompt tokens", "264 KB in recording", "73 %  chat", "92 %  meta-llama",
			"q Quit", "Lost rows  0 rows/s")
		for _, l := range strings.Split(text, "\n") {
			if strings.Contains(l, "Servers") || strings.Contains(l, "GPU") {
				t.Errorf("a recording has no such pane: %s", l)
			}
		}
	}
	// Bars are as many as there are rows: what is longer or shorter is together.
	has(t, drawn(d, 80, 24), "> 128")
	if drawn(d, 100, 30, "2", "5", "7") != drawn(d, 100, 30) {
		t.Error("a key shows a pane that a recording does not have")
	}
	has(t, drawn(d, 40, 10), "aiperf record", "Requests")
}

func TestARecordingThatLosesRowsSaysSo(t *testing.T) {
	d := New(Options{Title: "aiperf record", Traffic: true})
	first := &progress.Traffic{Clients: "http://127.0.0.1:8100", Upstream: "http://127.0.0.1:8000", Folder: "recording"}
	d.Recorded(first)
	has(t, drawn(d, 80, 24), "Nothing yet", "http://127.0.0.1:8100")
	d.Recorded(&progress.Traffic{For: time.Second, Requests: 9, InFlight: 9})
	has(t, drawn(d, 80, 24), "No prompt yet")
	d.Recorded(&progress.Traffic{For: 2 * time.Second, Requests: 90, Rows: 40, Lost: 50, Full: true, Folder: "recording",
		Models: []progress.Named{{Name: "m\x1b[2J", Count: 1}}, Turns: 40})
	text := drawn(d, 80, 24)
	has(t, text, "50 rows", "full; rows are lost", "40 of 90")
	hasNone(t, text, "\x1b")
}
