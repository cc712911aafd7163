package run

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/mockserver"
	"aiperf/internal/publish/progress"
)

// reasons are the codes of the findings.
func reasons(out *Outcome) string {
	var codes []string
	for _, r := range out.Client.Reasons {
		codes = append(codes, r.Code)
	}
	return " " + strings.Join(codes, " ") + " "
}

// Prompts that are sent again are announced before the load where their number is known, counted in any case, and no
// matter where something makes them unique or nobody would cache them.
func TestRepeatedPromptsAreToldAndCounted(t *testing.T) {
	t.Parallel()
	at := serve(t, mockserver.Options{Fast: true})
	for _, c := range []struct {
		name            string
		args            string
		announced, told bool
		distinct, most  int64
	}{
		{"more requests than prompts", "--request-count 30 --num-dataset-entries 10", true, true, 10, 3},
		{"a prompt for each", "--request-count 10 --num-dataset-entries 10", false, false, 10, 1},
		{"marks against caches", "--request-count 30 --num-dataset-entries 10 --cache-bust first_turn_prefix", false,
			false, 10, 3},
		{"embeddings", "--request-count 30 --num-dataset-entries 10 --endpoint-type embeddings", false, false, 10, 3},
		{"conversations", "--conversation-num 6 --num-dataset-entries 3 --conversation-turn-mean 2", false, false, 3,
			2},
		{"a duration", "--benchmark-duration 600 --num-dataset-entries 1", false, true, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			cfg := resolve(t, dir, at, append(strings.Fields(c.args), "--isl", "5", "--osl", "2", "--random-seed",
				"1")...)
			stop := make(chan struct{})
			o := Options{Stop: stop}
			if c.most == 0 {
				enough := sync.OnceFunc(func() { close(stop) })
				o.Observers = observed(func(s *progress.Snapshot) {
					if s.Records.Successes > 2 {
						enough()
					}
				})
			}
			out, err := execute(t, cfg, o)
			if err != nil {
				t.Fatal(err)
			}
			log, err := os.ReadFile(cfg.Artifacts.Path(config.LogFile))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(log), "prompts will be sent about"); got != c.announced {
				t.Errorf("announced %t", got)
			}
			if got := strings.Contains(reasons(out), " repeated_prompts "); got != c.told {
				t.Errorf("findings %s", reasons(out))
			}
			d := out.Result.Dataset
			if d == nil || d.DistinctPrompts != c.distinct || c.most > 0 && d.MaxRepeats != c.most || c.most == 0 &&
				d.MaxRepeats < 2 {
				t.Errorf("%+v", d)
			}
			text, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
			if err != nil || !strings.Contains(string(text), `"mean_repeats"`) {
				t.Errorf("the file has no block: %v", err)
			}
		})
	}
}

// The sessions that branch off a conversation are no repeats of its first prompt.
func TestBranchesDoNotRepeatPrompts(t *testing.T) {
	t.Parallel()
	at := serve(t, mockserver.Options{Fast: true})
	file := filepath.Join(t.TempDir(), "tree.jsonl")
	if err := os.WriteFile(file, []byte(forkingTree), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg := resolve(t, t.TempDir(), at, "--input-file", file, "--custom-dataset-type", "dag_jsonl", "--num-sessions",
		"1", "--isl", "5", "--osl", "2")
	out, err := execute(t, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := out.Result.Dataset; d == nil || d.DistinctPrompts != 1 || d.MaxRepeats != 1 {
		t.Errorf("%+v", d)
	}
	if strings.Contains(reasons(out), " repeated_prompts ") {
		t.Errorf("findings %s", reasons(out))
	}
}

// A server whose first requests are slow is told, with the warm-up that helps.
func TestColdStartIsTold(t *testing.T) {
	t.Parallel()
	target, _ := url.Parse(serve(t, mockserver.Options{Fast: true}))
	proxy := httputil.NewSingleHostReverseProxy(target)
	var asked atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/chat/completions") && asked.Add(1) <= 2 {
			time.Sleep(2 * time.Second) // what is tested: a slow answer, also beside the others on a busy machine
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	out, err := execute(t, resolve(t, t.TempDir(), front.URL, "--request-count", "30", "--isl", "5", "--osl", "2",
		"--streaming"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range out.Client.Reasons {
		if r.Code == "cold_start" {
			// How many are slow beside the rest depends on the machine; internal/watch/trust tests the count.
			_, count, _ := strings.Cut(r.Advice, "--warmup-request-count ")
			if n, err := strconv.Atoi(count); err != nil || n < 1 || n >= 30 {
				t.Errorf("%+v", r)
			}
			return
		}
	}
	t.Errorf("findings %s", reasons(out))
}
