package run

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/mockserver"
	"aiperf/internal/publish/progress"
	"aiperf/internal/result/recompute"
	"aiperf/internal/result/summary"
	"aiperf/internal/view/runlog"
)

// burst is a phase of a number of requests with a concurrency.
func burst(name string, kind config.PhaseKind, concurrency int, requests int64) config.Phase {
	return config.Phase{Name: name, Kind: kind, Mode: config.Burst, Concurrency: &concurrency, Requests: &requests}
}

// phased is the configuration of a benchmark with phases of its own.
func phased(t *testing.T, url string, phases []config.Phase, args ...string) *config.Run {
	t.Helper()
	cfg := watching(t, t.TempDir(), url, append([]string{"--streaming", "--no-gpu-telemetry"}, args...)...)
	cfg.Phases = phases
	return cfg
}

// linesOf are the records of the phases of a name; "" is all of them.
func linesOf(t *testing.T, dir, phase string) []map[string]any {
	t.Helper()
	return slices.DeleteFunc(records(t, dir), func(r map[string]any) bool {
		return phase != "" && at(r, "metadata", "phase_name") != phase
	})
}

// byHand computes from lines what a summary has: requests, mean latency in ms, duration in s, and throughput.
func byHand(t *testing.T, lines []map[string]any) map[string]float64 {
	t.Helper()
	first, last, latency, n := math.Inf(1), 0.0, 0.0, 0.0
	for _, r := range lines {
		start := at(r, "metadata", "request_start_ns").(float64)
		ms := at(r, "metrics", "request_latency", "value").(float64)
		// To the last content: the stream may end later.
		first, last = min(first, start), max(last, start+ms*1e6)
		latency += ms
		n++
	}
	seconds := (last - first) / 1e9
	return map[string]float64{"request_count": n, "request_latency": latency / n, "benchmark_duration": seconds,
		"request_throughput": n / seconds}
}

func sameFigures(t *testing.T, what string, summary map[string]any, want map[string]float64) {
	t.Helper()
	for tag, value := range want {
		got, _ := at(summary, tag, "avg").(float64)
		// Instants of the lines are read as floats: to a microsecond.
		if math.Abs(got-value) > 1e-3*math.Max(1, value) {
			t.Errorf("%s: %s is %v, from the lines %v", what, tag, got, value)
		}
	}
}

// reported checks that aiperf report gives the same files again.
func reported(t *testing.T, dir string) {
	t.Helper()
	out := t.TempDir()
	if _, _, err := recompute.Report(context.Background(),
		recompute.ReportOptions{Dir: dir, OutputDir: out}); err != nil {
		t.Fatal(err)
	}
	names := []string{"profile_export_aiperf.json", "profile_export_aiperf.csv", "phase_manifest.json",
		"profile_export_console.txt"}
	for _, p := range readManifest(t, dir).Phases {
		for _, key := range []string{"metrics_json", "metrics_csv", "server_metrics_json"} {
			if name, ok := p[key].(string); ok {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		live, again := fileOf(t, dir, name), fileOf(t, out, name)
		if strings.HasSuffix(name, "console.txt") { // whose last lines name the files
			live, _, _ = bytes.Cut(live, []byte("CSV Export"))
			again, _, _ = bytes.Cut(again, []byte("CSV Export"))
		}
		if !bytes.Equal(live, again) {
			t.Errorf("%s recomputed differs:\n%s\nlive:\n%s", name, again, live)
		}
	}
}

func TestTrapRootFilesAggregateAllProfilingPhases(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{TTFT: 4 * time.Millisecond, ITL: time.Millisecond})
	cfg := phased(t, url, []config.Phase{
		burst("warmup", config.WarmupPhase, 2, 4), burst("steady", config.ProfilingPhase, 2, 8),
		burst("pause", config.WarmupPhase, 1, 3), burst("peak", config.ProfilingPhase, 4, 12),
	}, "--num-dataset-entries", "40", "--dataset-sampling-strategy", "sequential")
	w := watchConfig(t, cfg, Options{})
	if w.outcome.Failed() {
		t.Fatalf("problem %v, aborted %v", w.outcome.Problem, w.outcome.Aborted)
	}

	root := object(t, w.dir, "profile_export_aiperf.json")
	all := linesOf(t, w.dir, "")
	if len(all) != 20 {
		t.Fatalf("%d lines, want those of the 20 profiling requests", len(all))
	}
	sameFigures(t, "root", root, byHand(t, all))
	inputs := at(object(t, w.dir, "inputs.json"), "data").([]any)
	if len(inputs) != 40 {
		t.Errorf("inputs.json has %d conversations", len(inputs))
	}
	if sent := at(root, "requests_sent"); sent != nil && sent != 20.0 {
		t.Errorf("sent %v", sent)
	}
	for _, p := range []struct {
		name             string
		index, profiling float64
		requests         int
		first            int
	}{{"steady", 1, 0, 8, 4}, {"peak", 3, 1, 12, 15}} {
		lines := linesOf(t, w.dir, p.name)
		if len(lines) != p.requests {
			t.Fatalf("%s: %d lines", p.name, len(lines))
		}
		numbers, conversations := map[float64]bool{}, map[string]bool{}
		for _, r := range lines {
			m := r["metadata"].(map[string]any)
			if m["phase_index"] != p.index || m["profiling_index"] != p.profiling || m["phase_kind"] != "profiling" ||
				m["benchmark_phase"] != "profiling" {
				t.Errorf("%s: %v", p.name, m)
			}
			numbers[m["session_num"].(float64)] = true
			conversations[m["conversation_id"].(string)] = true
		}
		// Requests are counted anew in each phase; the sampler goes on over all of them.
		for i := range p.requests {
			if !numbers[float64(i)] {
				t.Errorf("%s: no request has the number %d", p.name, i)
			}
			if id := at(inputs[p.first+i], "session_id").(string); !conversations[id] {
				t.Errorf("%s: conversation %s was not sent: %v", p.name, id, conversations)
			}
		}
		sameFigures(t, p.name, object(t, w.dir, "phases/"+p.name+"/profile_export_aiperf.json"), byHand(t, lines))
	}

	m := readManifest(t, w.dir)
	if len(m.Phases) != 4 {
		t.Fatalf("%v", m.Phases)
	}
	for i, want := range []struct {
		name      string
		profiling any
		requests  float64
	}{{"warmup", nil, 4}, {"steady", 0.0, 8}, {"pause", nil, 3}, {"peak", 1.0, 12}} {
		p := m.Phases[i]
		servers := object(t, w.dir, p["server_metrics_json"].(string))
		series := at(servers, "data", "endpoint_summaries", hostOf(url), "metrics", "vllm:e2e_request_latency_seconds",
			"series").([]any)
		if p["phase_name"] != want.name || p["profiling_index"] != want.profiling ||
			p["total_request_count"] != want.requests || p["metrics_csv"] == nil ||
			at(series[0], "stats", "count") != want.requests {
			t.Errorf("%v, of the server %v", p, at(series[0], "stats", "count"))
		}
	}
	state := object(t, w.dir, "run_state.json")
	if n := len(state["phases"].([]any)); n != 4 || at(state, "counts", "requests_sent") != 20.0 ||
		at(state, "window_start_ns") != m.Phases[1]["start_ns"] ||
		at(state, "window_end_ns") != m.Phases[3]["end_ns"] {
		t.Errorf("state of the run: %d phases, counts %v, window %v to %v", n, state["counts"],
			state["window_start_ns"], state["window_end_ns"])
	}
	for schema, name := range map[string]string{"phase_manifest": "phase_manifest.json", "run_state": "run_state.json",
		"profile_export_aiperf": "phases/pause/profile_export_aiperf.json"} {
		compiled, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", "schemas",
			schema+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(documents(t, name, fileOf(t, w.dir, name))[0]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The servers' totals of the run hold those of the pause; only what came before is the warm-up.
	servers := object(t, w.dir, "server_metrics_export.json")
	before := at(servers, "warmup_metrics", "vllm:e2e_request_latency_seconds", "series").([]any)
	if root["reconciliation"] != nil || at(before[0], "stats", "count") != 4.0 {
		t.Errorf("the warm-up of the server: %v; %v", before, root["reconciliation"])
	}
	if text := string(fileOf(t, w.dir, "profile_export_console.txt")); !strings.Contains(text, "Profiling Phases") ||
		!strings.Contains(text, "│ steady │") || strings.Contains(text, "│ pause") {
		t.Errorf("console:\n%s", text)
	}
	for _, p := range []string{"warmup", "steady", "pause", "peak"} {
		if !strings.Contains(w.lines, "Phase "+p+" started") || !strings.Contains(w.lines, "Phase "+p+" complete") {
			t.Errorf("the log does not name %s", p)
		}
	}
	phases := at(root, "input_config", "phases").([]any)
	if len(phases) != 4 || at(phases[3], "name") != "peak" || at(phases[3], "concurrency") != 4.0 {
		t.Errorf("input_config: %v", phases)
	}
	reported(t, w.dir)
}

// holding starts a server that holds the replies to its requests from one number on until another one arrives.
func holding(t *testing.T, from, until int64) string {
	t.Helper()
	var n atomic.Int64
	free := make(chan struct{})
	chat := func(w http.ResponseWriter, r *http.Request) {
		switch k := n.Add(1); {
		case k == until:
			close(free)
		case k >= from && k < until:
			select {
			case <-free:
			case <-r.Context().Done():
			}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		const chunk = `data: {"object":"chat.completion.chunk",`
		io.WriteString(w, chunk+`"choices":[{"delta":{"content":"yes"}}]}`+"\n\n"+
			chunk+`"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}`+"\n\ndata: [DONE]\n\n")
	}
	return before(t, serve(t, mockserver.Options{}), map[string]http.HandlerFunc{"/v1/chat/completions": chat}).URL
}

// A seamless phase starts while the last requests of the one before are on their way; together they never exceed its
// concurrency.
func TestTrapSeamlessPhaseSharesTheConcurrency(t *testing.T) {
	t.Parallel()
	url := holding(t, 5, 8)
	first, second := burst("steady", config.ProfilingPhase, 3, 7), burst("peak", config.ProfilingPhase, 4, 12)
	second.Seamless = true
	w := watchConfig(t, phased(t, url, []config.Phase{first, second}), Options{})
	phases := w.outcome.Phases
	if len(phases) != 2 || phases[1].StartNS >= phases[0].RequestsEndNS || phases[1].StartNS < phases[0].SentEndNS {
		t.Fatalf("the second phase starts at %d, the first one has sent at %d and ends at %d", phases[1].StartNS,
			phases[0].SentEndNS, phases[0].RequestsEndNS)
	}
	m := readManifest(t, w.dir)
	for i, want := range []float64{7, 12} {
		p := m.Phases[i]
		if n := len(linesOf(t, w.dir, p["phase_name"].(string))); p["total_request_count"] != want || n != int(want) {
			t.Errorf("%d lines, %v", n, p)
		}
	}
	sameFigures(t, "root", object(t, w.dir, "profile_export_aiperf.json"), byHand(t, linesOf(t, w.dir, "")))
	exported := at(object(t, w.dir, "profile_export_aiperf.json"), "input_config", "phases").([]any)
	if at(exported[1], "seamless") != true {
		t.Error("input_config does not say that the phase is seamless")
	}
	reported(t, w.dir)
	list := linesOf(t, w.dir, "")
	for _, a := range list {
		together, now := 0, at(a, "metadata", "request_start_ns").(float64)
		for _, b := range list {
			start, end := at(b, "metadata", "request_start_ns").(float64), at(b, "metadata", "request_end_ns").(float64)
			if start <= now && now < end {
				together++
			}
		}
		if together > 4 {
			t.Errorf("%d requests at a time", together)
		}
	}
}

// A recording is replayed in parts by a warm-up and a profiling phase after a phase that is no replay.
func TestTrapScheduleAfterAConcurrencyPhase(t *testing.T) {
	t.Parallel()
	var rows []string
	for i := range 10 {
		const row = `{"timestamp":%d,"text_input":"Hello %d","output_length":1,"session_id":"s%d"}`
		rows = append(rows, fmt.Sprintf(row, 1000+20*i, i, i))
	}
	url := serve(t, mockserver.Options{})
	cfg := phased(t, url, nil, "--input-file", traceFile(t, "trace.jsonl", rows...), "--custom-dataset-type",
		"mooncake_trace", "--fixed-schedule", "--no-server-metrics")
	schedule := func(name string, kind config.PhaseKind, start, end int64) config.Phase {
		return config.Phase{Name: name, Kind: kind, Mode: config.FixedSchedule,
			Schedule: &config.Schedule{StartMS: &start, EndMS: &end}}
	}
	cfg.Phases = []config.Phase{burst("steady", config.ProfilingPhase, 2, 5),
		schedule("before", config.WarmupPhase, 1000, 1059), schedule("replay", config.ProfilingPhase, 1060, 1120),
		schedule("again", config.ProfilingPhase, 1100, 1120)}
	w := watchConfig(t, cfg, Options{})
	if w.outcome.Failed() {
		t.Fatalf("problem %v, aborted %v", w.outcome.Problem, w.outcome.Aborted)
	}
	for phase, want := range map[string]string{"steady": "s0 s1 s2 s3 s4", "replay": "s3 s4 s5 s6", "again": "s5 s6"} {
		var got []string
		for _, r := range linesOf(t, w.dir, phase) {
			got = append(got, at(r, "metadata", "conversation_id").(string))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s played %v, want %s", phase, got, want)
		}
	}
	if m := readManifest(t, w.dir); m.Phases[1]["total_request_count"] != 3.0 {
		t.Errorf("%v", m.Phases[1])
	}
	for _, name := range []string{"profile_export_aiperf.json", "phases/again/profile_export_aiperf.json"} {
		if at(object(t, w.dir, name), "replay_sched_lag_p99") == nil {
			t.Errorf("%s has no lag of the replay", name)
		}
	}
	reported(t, w.dir)
}

func TestCancellationIsThatOfThePhase(t *testing.T) {
	t.Parallel()
	calm, hasty := burst("calm", config.ProfilingPhase, 2, 6), burst("hasty", config.ProfilingPhase, 2, 5)
	hasty.Cancellation = &load.Cancellation{Percent: 100}
	cfg := phased(t, holding(t, 7, 12),
		[]config.Phase{calm, hasty, burst("after", config.ProfilingPhase, 6, 6)}, "--no-server-metrics")
	w := watchConfig(t, cfg, Options{})
	if w.outcome.Aborted != nil || w.outcome.Result.WasCancelled {
		t.Errorf("aborted %v", w.outcome.Aborted)
	}
	m := readManifest(t, w.dir)
	for i, want := range []struct{ successes, errors float64 }{{6, 0}, {0, 5}, {6, 0}} {
		p := m.Phases[i]
		if p["successful_request_count"] != want.successes || p["error_request_count"] != want.errors {
			t.Errorf("%v", p)
		}
	}
	root := object(t, w.dir, "profile_export_aiperf.json")
	if at(root, "request_count", "avg") != 12.0 || at(root, "error_request_count", "avg") != 5.0 ||
		at(root, "error_summary").([]any)[0].(map[string]any)["count"] != 5.0 {
		t.Errorf("requests %v, errors %v", at(root, "request_count"), at(root, "error_summary"))
	}
	for _, r := range linesOf(t, w.dir, "") {
		if meta := r["metadata"].(map[string]any); meta["was_cancelled"] != (meta["phase_name"] == "hasty") {
			t.Errorf("%v", meta)
		}
	}
	reported(t, w.dir)
}

func TestTrapThresholdOfAPhaseEndsTheRun(t *testing.T) {
	t.Parallel()
	half, most := 0.5, 0.99
	for _, c := range []struct {
		name         string
		run          *float64
		own          [2]*float64
		phases       int
		error        string
		kind         config.PhaseKind
		everyRequest bool
	}{
		{"its own", nil, [2]*float64{nil, &half}, 2, "of the phase peak failed", config.ProfilingPhase, true},
		{"that of the run", &half, [2]*float64{}, 1, "--failed-request-threshold", config.ProfilingPhase, false},
		{"its own wins", &half, [2]*float64{new(1.0), &most}, 2, "its failed_request_threshold", config.ProfilingPhase,
			true},
		{"a warm-up has its own only", &half, [2]*float64{}, 2, "", config.WarmupPhase, false},
		{"a warm-up that has one", nil, [2]*float64{&half, nil}, 1, "of the phase steady failed", config.WarmupPhase,
			false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			last := int64(40)
			if c.phases == 1 {
				last = 1_000_000 // it may have begun when the records of the phase before it are judged
			}
			phases := []config.Phase{burst("steady", c.kind, 1, 30), burst("peak", config.ProfilingPhase, 1, last)}
			for i := range phases {
				phases[i].FailedRequestThreshold = c.own[i]
			}
			cfg := phased(t, serve(t, mockserver.Options{ErrorRate: 100}), phases, "--no-server-metrics")
			cfg.FailedRequestThreshold = c.run
			var lines bytes.Buffer
			log := runlog.New(runlog.Options{Console: &lines})
			defer log.Close()
			out, err := Execute(t.Context(), cfg, Options{Version: "test", Log: log})
			reason := err
			if out != nil {
				reason = out.Aborted
			}
			if c.error != "" && (reason == nil || !strings.Contains(reason.Error(), c.error)) {
				t.Errorf("ended by %v, want %q", reason, c.error)
			}
			if out == nil {
				return
			}
			if c.phases == 2 && len(out.Phases) != 2 || c.phases == 1 && len(out.Phases) == 2 &&
				out.Phases[1].RequestsSent == last || c.everyRequest && out.Phases[0].RequestsSent != 30 {
				t.Errorf("%d phases, the first sent %d requests", len(out.Phases), out.Phases[0].RequestsSent)
			}
		})
	}
}

// A run that is stopped has the results so far, whatever phase it is in.
func TestStopInAnyPhaseOfSeveral(t *testing.T) {
	t.Parallel()
	for stopped, want := range map[string]struct {
		phases    int
		cancelled []any
	}{
		"steady": {2, []any{false, true}},
		"pause":  {3, []any{false, false, true}},
		"peak":   {4, []any{false, false, false, true}},
	} {
		t.Run(stopped, func(t *testing.T) {
			t.Parallel()
			endless := func(name string, kind config.PhaseKind) config.Phase {
				if name == stopped {
					return burst(name, kind, 2, 1_000_000)
				}
				return burst(name, kind, 2, 6)
			}
			stop := make(chan struct{})
			halt := sync.OnceFunc(func() { close(stop) })
			observers := observed(func(s *progress.Snapshot) {
				if now := s.Current(); now != nil && now.Name == stopped && now.RequestsCompleted > 5 {
					halt()
				}
			})
			w := watchConfig(t, phased(t, serve(t, mockserver.Options{}), []config.Phase{
				burst("warmup", config.WarmupPhase, 1, 2), endless("steady", config.ProfilingPhase),
				endless("pause", config.WarmupPhase), endless("peak", config.ProfilingPhase),
			}), Options{Stop: stop, Observers: observers})
			m := readManifest(t, w.dir)
			if len(m.Phases) != want.phases || !w.outcome.Result.WasCancelled {
				t.Fatalf("cancelled %v, phases %v", w.outcome.Result.WasCancelled, m.Phases)
			}
			total := 0.0
			for i, p := range m.Phases {
				if p["was_cancelled"] != want.cancelled[i] {
					t.Errorf("%v", p)
				}
				if p["phase_kind"] == "profiling" {
					total += p["total_request_count"].(float64)
				}
			}
			c, n := &w.outcome.Result.Counts, float64(len(linesOf(t, w.dir, "")))
			if n != total || c.Completed() != int64(total) {
				t.Errorf("%v lines, %v requests in the manifest, %+v", n, total, c)
			}
			reported(t, w.dir)
		})
	}
}

// Rates are those of the time in which was sent, without the pauses between the phases.
func TestCountsOfSeveralPhases(t *testing.T) {
	t.Parallel()
	phase := func(kind load.Kind, startNS, sentNS, sent int64, target float64) load.Stats {
		return load.Stats{Kind: kind, State: load.Complete, StartNS: startNS, SentEndNS: sentNS, RequestsSent: sent,
			RequestsCancelled: 1, SkippedArrivals: 2, DroppedByCatchup: 3, TargetRate: target}
	}
	const second = int64(time.Second)
	slow := phase(load.Profiling, 10*second, 20*second, 40, 5)
	fast := phase(load.Profiling, 60*second, 90*second, 290, 10)
	open := phase(load.Profiling, 100*second, 110*second, 70, 0)
	warmup, next := phase(load.Warmup, 1, 2, 1000, 1000), load.Stats{Kind: load.Profiling}
	for _, c := range []struct {
		phases []load.Stats
		want   summary.Counts
	}{
		{[]load.Stats{warmup}, summary.Counts{}},
		{[]load.Stats{warmup, slow}, summary.Counts{Sent: 40, CutOff: 1, SkippedArrivals: 2, DroppedByCatchup: 3,
			TargetRate: 5, DeliveredRate: 4}},
		{[]load.Stats{slow, warmup, fast, next}, summary.Counts{Sent: 330, CutOff: 2, SkippedArrivals: 4,
			DroppedByCatchup: 6, TargetRate: 8.75, DeliveredRate: 8.25}},
		{[]load.Stats{slow, fast, open}, summary.Counts{Sent: 400, CutOff: 3, SkippedArrivals: 6,
			DroppedByCatchup: 9, DeliveredRate: 8}},
	} {
		if got := countsOf(c.phases, 0); got != c.want {
			t.Errorf("%d phases: %+v, want %+v", len(c.phases), got, c.want)
		}
	}
}

// A measured phase may follow a warm-up seamlessly: the last replies of the warm-up are none of it.
func TestTrapWarmupBeforeASeamlessPhaseNeverEnters(t *testing.T) {
	t.Parallel()
	first, second := burst("warmup", config.WarmupPhase, 4, 9), burst("profiling", config.ProfilingPhase, 5, 10)
	second.Seamless = true
	w := watchConfig(t, phased(t, holding(t, 6, 10), []config.Phase{first, second}), Options{})
	if phases := w.outcome.Phases; phases[1].StartNS >= phases[0].RequestsEndNS {
		t.Error("the phases do not overlap")
	}
	sameFigures(t, "root", object(t, w.dir, "profile_export_aiperf.json"), byHand(t, linesOf(t, w.dir, "profiling")))
	if n := len(linesOf(t, w.dir, "")); n != 10 {
		t.Errorf("%d lines", n)
	}
	m := readManifest(t, w.dir)
	if m.Phases[0]["total_request_count"] != 9.0 || m.Phases[1]["total_request_count"] != 10.0 {
		t.Errorf("%v", m.Phases)
	}
	reported(t, w.dir)
}
