//go:build unix

package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"aiperf/internal/workload/recording"
)

// recorded is the traffic that passes while a function runs, and the folder of the recording.
func recorded(t *testing.T, upstream string, traffic func(url string)) (rows []recording.Row, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "recording")
	p := startCommand(t, dir, exec.Command("aiperf", "record", "--upstream", upstream, "--listen", "127.0.0.1:0", "--out", dir))
	_, rest, _ := strings.Cut(p.waitFor("Recording: clients use "), "clients use ")
	url, _, _ := strings.Cut(rest, " ")
	traffic(url)
	p.signal(syscall.SIGINT)
	p.ends(0)
	text, err := os.ReadFile(filepath.Join(dir, recording.TrafficName))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var row recording.Row
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			rows = append(rows, row)
		}
	}
	return rows, dir
}

// TestARecordingIsReplayed: conversations pass the recorder, and what is sent of the recording has their number, lengths
// and pauses, and shares the beginnings of its prompts as they do.
func TestARecordingIsReplayed(t *testing.T) {
	server := mock(t)
	send := func(url string, flags ...string) {
		p := startProfile(t, url, append([]string{"--extra-inputs", "ignore_eos:true"}, flags...)...)
		p.ends(0)
	}
	first, dir := recorded(t, server, func(url string) {
		send(url, "--num-sessions", "5", "--session-turns-mean", "3", "--osl", "8", "--concurrency", "5",
			"--shared-system-prompt-length", "64")
	})
	second, _ := recorded(t, server, func(url string) {
		send(url, "--input-file", filepath.Join(dir, recording.MooncakeName), "--custom-dataset-type", "mooncake_trace",
			"--isl-block-size", "16", "--fixed-schedule", "--fixed-schedule-auto-offset")
	})
	type sum struct{ rows, input, output, sessions, blocks int }
	sums := func(rows []recording.Row) (s sum) {
		sessions, blocks := map[string]bool{}, map[int64]bool{}
		for _, r := range rows {
			s.rows++
			s.input += r.InputLength
			s.output += r.OutputLength
			sessions[r.SessionID] = true
			for _, id := range r.HashIDs {
				blocks[id] = true
			}
		}
		s.sessions, s.blocks = len(sessions), len(blocks)
		return s
	}
	a, b := sums(first), sums(second)
	if a.rows < 5 || a.sessions != 5 || a.output != 8*a.rows {
		t.Errorf("recorded %+v", a)
	}
	// What is replayed carries the whole conversation in each request, so that each looks like a session of its own.
	b.sessions = a.sessions
	if a != b {
		t.Errorf("replayed %+v, recorded %+v", b, a)
	}
}

// TestTheDefaultFolderOfARecordingHasANumberWhereItIsInUse, also by a recorder that still records there.
func TestTheDefaultFolderOfARecordingHasANumberWhereItIsInUse(t *testing.T) {
	dir := t.TempDir()
	var running []*program
	for _, folder := range []string{"recording", "recording-2", "recording-3"} {
		cmd := exec.Command("aiperf", "record", "--upstream", "http://127.0.0.1:1", "--listen", "127.0.0.1:0")
		cmd.Dir = dir
		p := startCommand(t, dir, cmd)
		p.waitFor("Recording: clients use ")
		running = append(running, p)
		if _, err := os.Stat(filepath.Join(dir, folder)); err != nil {
			t.Error(err)
		}
	}
	for _, p := range running {
		p.signal(syscall.SIGINT)
		p.ends(0)
	}
	p := running[2]
	p.says(p.stderr.String(), "The recording goes to recording-3; the earlier one stays in recording-2")
}
