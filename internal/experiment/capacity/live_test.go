package capacity_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aiperf/internal/config"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/experiment/capacity"
	"aiperf/internal/experiment/search"
	"aiperf/internal/mockserver"
	"aiperf/internal/run"
	"aiperf/internal/view/runlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a mock server.
func serve(t *testing.T, o mockserver.Options) string {
	t.Helper()
	s, err := mockserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

func configured(t *testing.T, url string, args ...string) *config.Run {
	t.Helper()
	args = append([]string{"--model", "mock-model", "--url", url, "--ui", "none", "--artifact-dir", t.TempDir(),
		"--no-server-metrics", "--tokenizer", "builtin", "--streaming", "--isl", "16", "--osl", "4"}, args...)
	parsed, err := settings.Parse(args, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	cfg, _, err := resolve.Resolve(parsed, run.Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Probes.EarlyStop = true
	return cfg
}

// judged makes a run that its judge may end.
func judged(t *testing.T, cfg *config.Run, filters ...search.Filter) (capacity.Verdict, *run.Outcome) {
	t.Helper()
	log := runlog.New(runlog.Options{Level: runlog.LevelError, Console: t.Output()})
	defer log.Close()
	options, j := capacity.Attach(cfg, capacity.JudgeOptions{Filters: filters, AnyClient: true}, run.Options{Log: log})
	out, err := run.Execute(t.Context(), cfg, options)
	if err != nil {
		t.Fatal(err)
	}
	return j.Verdict(), out
}

// A probe whose verdict is certain ends as if its stop condition was met: long before the ten minutes that it was given,
// complete, not cancelled, and its summary says why.
func TestProbeEndsWhenItsVerdictIsCertain(t *testing.T) {
	url := serve(t, mockserver.Options{TTFT: 5 * time.Millisecond, ITL: time.Millisecond})
	for _, c := range []struct {
		name   string
		filter search.Filter
		want   capacity.Decision
	}{
		{"met", search.Filter{Metric: "time_to_first_token", Stat: "p90", Op: search.LE, Threshold: 60000},
			capacity.Met},
		{"violated", search.Filter{Metric: "time_to_first_token", Stat: "p90", Op: search.LE, Threshold: 1},
			capacity.Violated},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := configured(t, url, "--concurrency", "4", "--benchmark-duration", "600")
			v, out := judged(t, cfg, c.filter)
			if v.Decision != c.want || !v.EndedEarly || v.Confidence < 0.95 || v.Binding != 0 {
				t.Errorf("verdict %+v", v)
			}
			if out.Result.WasCancelled || out.Result.Incomplete != "" || out.Failed() {
				t.Errorf("the run counts as cancelled or incomplete: %+v", out.Result.Run)
			}
			if v.Saved < time.Minute {
				t.Errorf("saved %s", v.Saved)
			}
			f := v.Filters[0]
			if f.Value == nil || f.StandardError == nil || !f.Judged || f.Decision != c.want {
				t.Errorf("filter %+v", f)
			}
			text, err := os.ReadFile(filepath.Join(cfg.Artifacts.Dir, "profile_export_aiperf.json"))
			if err != nil {
				t.Fatal(err)
			}
			var doc struct {
				WasCancelled bool `json:"was_cancelled"`
				IsComplete   *bool
				EndedEarly   *struct {
					Reason       string
					Confidence   float64
					SavedSeconds float64 `json:"saved_seconds"`
				} `json:"ended_early"`
			}
			if err := json.Unmarshal(text, &doc); err != nil {
				t.Fatal(err)
			}
			if e := doc.EndedEarly; doc.WasCancelled || e == nil || e.Reason != v.Reason || e.Confidence != v.Confidence ||
				e.SavedSeconds < 60 {
				t.Errorf("the summary has %+v, the verdict is %+v", doc.EndedEarly, v)
			}
		})
	}
}

// More requests arrive than the server completes: the probe ends, what is in flight is cut off soon after, and the point
// is infeasible although no filter is.
func TestSaturatedProbeEnds(t *testing.T) {
	url := serve(t, mockserver.Options{TTFT: 20 * time.Millisecond, ITL: 2 * time.Millisecond, MaxBatch: 1, MaxQueue: -1})
	cfg := configured(t, url, "--request-rate", "100", "--benchmark-duration", "600")
	v, out := judged(t, cfg,
		search.Filter{Metric: "time_to_first_token", Stat: "p90", Op: search.LE, Threshold: 600_000})
	if !v.Saturated || v.Decision != capacity.Violated || v.Evidence == "" || !v.EndedEarly ||
		v.Filters[0].Decision == capacity.Violated {
		t.Errorf("verdict %+v", v)
	}
	if out.Result.WasCancelled || out.Result.EndedEarly == nil || out.Failed() {
		t.Errorf("the run %+v", out.Result.Run)
	}
}

// Without the option a judge only judges.
func TestProbeThatMayNotEndEarlyIsWhole(t *testing.T) {
	url := serve(t, mockserver.Options{TTFT: time.Millisecond})
	cfg := configured(t, url, "--concurrency", "2", "--request-count", "400")
	cfg.Probes.EarlyStop = false
	v, out := judged(t, cfg, search.Filter{Metric: "time_to_first_token", Stat: "p50", Op: search.LE, Threshold: 0.1})
	if v.Decision != capacity.Violated || v.EndedEarly || v.Saved != 0 ||
		out.Result.EndedEarly != nil || out.Result.Counts.Completed() != 400 {
		t.Errorf("verdict %+v, %d requests", v, out.Result.Counts.Completed())
	}
}

// Without a verdict the run is that without a judge: its summary has no key more.
func TestProbeThatIsNotDecidedRunsToItsEnd(t *testing.T) {
	url := serve(t, mockserver.Options{Fast: true})
	cfg := configured(t, url, "--concurrency", "2", "--request-count", "30")
	v, out := judged(t, cfg,
		search.Filter{Metric: "time_to_first_token", Stat: "p99", Op: search.LE, Threshold: 60000})
	if v.Decision != capacity.Undecided || v.EndedEarly || out.Result.EndedEarly != nil ||
		out.Result.Counts.Completed() != 30 {
		t.Errorf("verdict %+v, %d requests", v, out.Result.Counts.Completed())
	}
	if f := v.Filters[0]; f.Margin == nil || *f.Margin > 0 || f.Decision != capacity.Undecided {
		t.Errorf("filter %+v", f)
	}
	text, err := os.ReadFile(filepath.Join(cfg.Artifacts.Dir, "profile_export_aiperf.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"ended_early", "warmup_ended_early"} {
		if _, has := doc[key]; has {
			t.Errorf("the summary has %s", key)
		}
	}
}

// A server that refuses all prompts as too long for its context ends the probe, which says so.
func TestProbeOfPromptsThatAreRefusedEnds(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":{"message":"This model's maximum context length is 8 tokens"}}`))
	}))
	t.Cleanup(s.Close)
	cfg := configured(t, s.URL, "--concurrency", "2", "--benchmark-duration", "600")
	v, out := judged(t, cfg, search.Filter{Metric: "time_to_first_token", Stat: "p90", Op: search.LE, Threshold: 60000})
	if v.Decision != capacity.Violated || !v.EndedEarly || !strings.Contains(v.Refused, "prompts as too long") {
		t.Errorf("verdict %+v", v)
	}
	if !out.Result.Counts.AllFailed() {
		t.Errorf("counts %+v", out.Result.Counts)
	}
}
