//go:build unix

package cli_test

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/testkit"
	"aiperf/internal/config/configtest"
)

// resumed is an experiment that is killed and goes on: each of its runs sends perRun requests.
type resumed struct {
	name  string
	flags []string
	// runs is 0 where a search decides on it.
	runs int
	// document has the members that are those of an undisturbed experiment.
	document string
	members  []string
}

const perRun = 4

func resumable(tiers string) []resumed {
	count := []string{"--request-count", fmt.Sprint(perRun)}
	search := append([]string{"--streaming", "--search-space", "concurrency:1,8:int", "--search-metric", "request_throughput",
		"--search-direction", "maximize", "--search-max-iterations", "4", "--search-initial-points", "3",
		"--search-random-seed", "1"}, count...)
	return []resumed{
		{"repeats", append([]string{"--concurrency", "2", "--num-profile-runs", "4"}, count...), 4,
			"aggregate/profile_export_aiperf_aggregate.json",
			[]string{"metadata.num_profile_runs", "metadata.num_successful_runs", "metadata.run_labels.*",
				"metadata.failed_runs.len", "metrics.request_count_avg.mean"}},
		{"sweep", append([]string{"--concurrency", "1,2,3,4"}, count...), 4,
			"sweep_aggregate/profile_export_aiperf_sweep.json",
			[]string{"num_successful_runs", "failed_runs.len", "per_combination_metrics.*.parameters.concurrency"}},
		{"sweep and repeats", append([]string{"--concurrency", "1,2", "--num-profile-runs", "2"}, count...), 4,
			"aggregate/sweep_aggregate/profile_export_aiperf_sweep.json",
			[]string{"num_successful_runs", "failed_runs.len", "per_combination_metrics.*.parameters.concurrency"}},
		{"search", search, 4, "search_history.json",
			// The last point depends on the figures of the first three.
			[]string{"iterations.len", "iterations.0.variation_values.concurrency",
				"iterations.1.variation_values.concurrency", "iterations.2.variation_values.concurrency",
				"convergence_reason"}},
		{"tiers", []string{"--config", tiers}, 0, "search_history.json",
			[]string{"iterations.len", "iterations.*.variation_values.concurrency", "tier_results.*.label"}},
	}
}

// tiersFile writes a search of two limits that every answer keeps: its points do not depend on how fast the machine is.
func tiersFile(t *testing.T) string {
	return configtest.WriteFile(t, "tiers.yaml", `sweep:
  type: adaptive_search
  planner: smooth_isotonic
  search_space: [{path: concurrency, lo: 1, hi: 8, kind: int}]
  objectives: [{metric: request_throughput, direction: maximize}]
  sla_tiers:
    - {label: gold, filters: [{metric_tag: time_to_first_token, stat: p95, op: lt, threshold: 1000000}]}
    - {label: silver, filters: [{metric_tag: time_to_first_token, stat: p95, op: lt, threshold: 2000000}]}
  max_iterations: 6
  sla_warmup_seconds: 0
benchmark:
  endpoint: {streaming: true}
  dataset: {type: synthetic, isl: 8, osl: 2}
  phases: {type: concurrency, concurrency: 1, requests: 4}
`)
}

// scripted answers after a moment and counts what it is asked.
type scripted struct {
	url   string
	mu    sync.Mutex
	asked int
	// at are the numbers of requests at which something is wanted.
	at map[int]chan struct{}
}

func newScripted(t *testing.T) *scripted {
	s := &scripted{at: map[int]chan struct{}{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost { // a look for models or metrics
			http.NotFound(w, r)
			return
		}
		s.mu.Lock()
		s.asked++
		if wanted := s.at[s.asked]; wanted != nil {
			close(wanted)
			delete(s.at, s.asked)
		}
		s.mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		if strings.Contains(string(body), `"stream":true`) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"yes"}}]}`+
				"\n\ndata: [DONE]\n\n")
			return
		}
		io.WriteString(w, `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"yes"}}]}`)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *scripted) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// reached is closed when that many requests have been asked from now on.
func (s *scripted) reached(n int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted := make(chan struct{})
	if n <= 0 {
		close(wanted)
	} else {
		s.at[s.asked+n] = wanted
	}
	return wanted
}

// runsOf returns the folders of the complete runs below a folder, with the content of their files.
func runsOf(t *testing.T, dir string) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "profile_export_aiperf.json" {
			folder := filepath.Dir(path)
			name, _ := filepath.Rel(dir, folder)
			out[name] = map[string]string{}
			return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || d.Name() == ".aiperf.lock" { // that of a killed run keeps nobody out
					return err
				}
				text, err := os.ReadFile(path)
				file, _ := filepath.Rel(folder, path)
				out[name][file] = string(text)
				return err
			})
		}
		return nil // what vanishes while a killed process ends does not matter
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// instants is how many instants of each experiment are tried.
func instants() int { return testkit.Seeds(1, 8) }

// TestResumeMakesOnlyWhatIsMissing kills repeats, sweeps and searches at instants all over their course, the writing of
// their files included. With --resume, runs that were complete keep every byte and are not sent again, all others are
// made, and the summary is that of an experiment that nobody killed.
func TestResumeMakesOnlyWhatIsMissing(t *testing.T) {
	t.Parallel()
	for number, c := range resumable(tiersFile(t)) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			flags := append([]string{"--osl", "2", "--random-seed", "3", "--no-gpu-telemetry"}, c.flags...)
			s := newScripted(t)
			undisturbed := &program{t: t, dir: filepath.Join(t.TempDir(), "whole")}
			if out, err := profileCommand(s.url, undisturbed.dir, flags...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, tail(string(out), 3000))
			}
			total := s.count()
			want, whole := undisturbed.show(c.document, c.members...), runsOf(t, undisturbed.dir)
			if c.runs == 0 {
				c.runs = len(whole)
			}
			if len(whole) != c.runs || total != c.runs*perRun || c.runs < 2 {
				t.Fatalf("%d runs with %d requests", len(whole), total)
			}
			draw := rand.New(rand.NewPCG(uint64(number), 5))
			kept := 0
			for i := range instants() {
				// After so many requests, and after a moment more, in which files are written.
				at := 1 + (i*total+draw.IntN(total))/instants()
				moment := time.Duration(draw.IntN(40)) * time.Millisecond
				reached, before := s.reached(at), s.count()
				p := startProfile(t, s.url, flags...)
				select {
				case <-reached:
				case <-time.After(patience):
					t.Fatalf("%d of %d requests came", s.count()-before, at)
				}
				time.Sleep(moment) // any moment will do
				_ = p.cmd.Process.Signal(syscall.SIGKILL)
				p.read.Wait()
				_ = p.cmd.Wait()
				complete := runsOf(t, p.dir)
				before = s.count()
				out, err := profileCommand(s.url, p.dir, append(flags, "--resume")...).CombinedOutput()
				where := fmt.Sprintf("killed %v after request %d with %d of %d runs complete", moment, at, len(complete), c.runs)
				if err != nil {
					t.Fatalf("%s: %v\n%s", where, err, tail(string(out), 3000))
				}
				if sent := s.count() - before; sent != (c.runs-len(complete))*perRun {
					t.Errorf("%s: %d requests were sent to go on", where, sent)
				}
				now := runsOf(t, p.dir)
				for name, files := range complete {
					for file, text := range files {
						if now[name][file] != text {
							t.Errorf("%s: %s of %s is another one", where, file, name)
						}
					}
				}
				for name, files := range whole {
					if a, b := names(now[name]), names(files); !slices.Equal(a, b) {
						t.Errorf("%s: %s has the files %q, want %q", where, name, a, b)
					}
				}
				if got := p.show(c.document, c.members...); got != want {
					t.Errorf("%s: %s has\n%s\nwant\n%s", where, c.document, got, want)
				}
				kept += len(complete)
			}
			t.Logf("%d kills, %d complete runs kept", instants(), kept)
		})
	}
}

func names(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }
