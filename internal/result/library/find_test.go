package library_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/result/library"
)

// tree makes files below a new folder, and returns it. A summary is written for the content "run", an aggregate for
// "repeats", that of a sweep for "sweep", a history for "search"; anything else is the content itself.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(contents(content)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func contents(what string) string {
	switch what {
	case "run":
		return summaryText("m", 4)
	case "repeats":
		return `{"aiperf_version":"0.1.0","metadata":{"aggregation_type":"confidence","num_profile_runs":3,` +
			`"num_successful_runs":2,"variation_values":{"phases.profiling.concurrency":2},"model":"m"},` +
			`"metrics":{"request_throughput_avg":{"mean":30.5,"unit":"requests/sec"}}}`
	case "sweep":
		return `{"aggregation_type":"sweep","num_profile_runs":6,"failed_runs":[],"metadata":{"sweep_parameters":` +
			`[{"name":"concurrency","values":[2,4]}]},"per_combination_metrics":[{"parameters":{"concurrency":2},` +
			`"metrics":{"request_throughput_avg":{"mean":30.5,"unit":"requests/sec"}}},{"parameters":{"concurrency":4},` +
			`"metrics":{"request_throughput_avg":{"mean":50.5,"unit":"requests/sec"}}}],"best_configurations":{},` +
			`"pareto_optimal":[]}`
	case "search":
		return `{"config":{"planner":"capacity","search_space":[{"path":"phases.profiling.concurrency","lo":1,"hi":9}],` +
			`"objectives":[]},"iterations":[{"variation_values":{"phases.profiling.concurrency":4},"feasible":true}],` +
			`"best_trials":[],"boundary_summary":{"feasible_max":{"value":4}},"convergence_reason":"precision"}`
	}
	return what
}

// summaryText is a summary as the program writes it, with its key figures.
func summaryText(model string, concurrency int) string {
	name, _ := json.Marshal(model)
	return fmt.Sprintf(`{"schema_version":"1.5","aiperf_version":"0.1.0","benchmark_id":"b",
"request_throughput":{"unit":"requests/sec","avg":119.5},
"time_to_first_token":{"unit":"ms","avg":20,"p50":18.5,"p99":51.9},"request_count":{"unit":"requests","avg":60},
"telemetry_data":{"endpoints":{"a":{"gpus":{"gpu_0":{},"gpu_1":{}}}}},
"input_config":{"models":{"items":[{"name":%s}]},"endpoint":{"urls":["http://h"],"type":"chat","streaming":true},
"phases":[{"kind":"warmup","type":"concurrency","concurrency":99},{"kind":"profiling","type":"concurrency",
"concurrency":%d}]},"run_info":{"run_label":"trial_0001","variation_values":{"phases.profiling.concurrency":%[2]d}},
"provenance":{},"client_health":{"verdict":"valid"},"was_cancelled":false,
"start_time":"2026-11-24T04:08:04.076239","end_time":"2026-11-24T04:08:05.623674"}`, name, concurrency)
}

// listed describes folders as "kind path", relative to dir.
func listed(t *testing.T, dir string, folders []library.Folder) []string {
	t.Helper()
	var out []string
	for _, d := range folders {
		rel, err := filepath.Rel(dir, d.Path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(d.Kind)+" "+filepath.ToSlash(rel))
	}
	return out
}

func find(t *testing.T, paths ...string) *library.Found {
	t.Helper()
	f, err := library.Find(paths...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func equal(t *testing.T, got []string, want ...string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// run returns the files of a run in a folder.
func run(dir string, into map[string]string) {
	into[dir+"/profile_export_aiperf.json"] = "run"
	into[dir+"/profile_export.jsonl"] = "{}\n"
}

// repeatedSweep are the files of 3 cells with 2 trials each, repeated.
func repeatedSweep(d string) map[string]string {
	files := map[string]string{d + "/aggregate/sweep_aggregate/profile_export_aiperf_sweep.json": "sweep"}
	for _, cell := range []string{"concurrency_2", "concurrency_4", "concurrency_8"} {
		files[d+"/aggregate/"+cell+"/profile_export_aiperf_aggregate.json"] = "repeats"
		for _, trial := range []string{"trial_0001", "trial_0002"} {
			run(d+"/profile_runs/"+trial+"/"+cell, files)
		}
	}
	return files
}

func TestTrapAggregatesStandForTrials(t *testing.T) {
	dir := tree(t, repeatedSweep("D"))
	equal(t, listed(t, dir, find(t, filepath.Join(dir, "D")).Plotted()), "repeats D/aggregate/concurrency_2",
		"repeats D/aggregate/concurrency_4", "repeats D/aggregate/concurrency_8")
	trials := find(t, filepath.Join(dir, "D", "profile_runs")).Plotted()
	if len(trials) != 6 {
		t.Errorf("profile_runs given: %d runs, want 6", len(trials))
	}
	both := find(t, filepath.Join(dir, "D"), filepath.Join(dir, "D", "profile_runs")).Plotted()
	if len(both) < 6 {
		t.Errorf("both given: %d, want the trials too", len(both))
	}
}

func TestTrapShadowsOfListedRuns(t *testing.T) {
	files := map[string]string{
		"D/aggregate/concurrency_2/profile_export_aiperf_aggregate.json": "repeats",
		"D/sweep_aggregate/profile_export_aiperf_sweep.json":             "sweep",
		"one/aggregate/profile_export_aiperf_aggregate.json":             "repeats",
	}
	run("D/concurrency_2", files)
	run("one", files)
	dir := tree(t, files)
	equal(t, listed(t, dir, find(t, dir).Plotted()), "run D/concurrency_2", "run one")
}

func TestTrapPlotsAreNoRuns(t *testing.T) {
	files := map[string]string{}
	run("D", files)
	run("D/plots/x", files)
	files["D/report/profile_export_aiperf.json"] = "run" // computed again
	files["D/phases/profiling/profile_export_aiperf.json"] = "run"
	dir := tree(t, files)
	equal(t, listed(t, dir, find(t, dir).Folders), "run D")
}

func TestPrefixesAreHonoured(t *testing.T) {
	dir := tree(t, map[string]string{
		"D/foo.json": "run", "D/foo.jsonl": "{}\n", "D/foo_server_metrics.json": "{}", "D/foo_server_metrics.jsonl": "{}",
		"D/data.json": "{}", "D/data.jsonl": "{}\n", "D/inputs.json": "{}",
		"E/bar.json": "run", "E/bar_run_state.json": "{}",
	})
	f := find(t, dir)
	equal(t, listed(t, dir, f.Folders), "run D", "run E")
	for _, d := range f.Folders {
		if facts := library.Read(&d); d.Files.Prefix == "" || facts.Fault != "" || facts.Model != "m" {
			t.Errorf("%+v: %+v", d, facts)
		}
	}
}

func TestLinksAreFollowedOnce(t *testing.T) {
	files := map[string]string{"D/empty": ""}
	run("D/r", files)
	run("real", files)
	dir := tree(t, files)
	for _, link := range [][2]string{{"..", "D/up"}, {"r", "D/a-link"}, {"nowhere", "D/broken"}} {
		if err := os.Symlink(link[0], filepath.Join(dir, filepath.FromSlash(link[1]))); err != nil {
			t.Skip(err)
		}
	}
	for _, name := range []string{"profile_export_aiperf.json", "profile_export.jsonl"} {
		if err := os.MkdirAll(filepath.Join(dir, "linked"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join("..", "real", name), filepath.Join(dir, "linked", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("gone.json", filepath.Join(dir, "D", "profile_export_aiperf.json")); err != nil {
		t.Fatal(err)
	}
	equal(t, listed(t, dir, find(t, dir, filepath.Join(dir, "D")).Folders), "run D/r", "run linked", "run real")
}

func TestNoLinkLeadsOut(t *testing.T) {
	files := map[string]string{}
	run("D/r", files)
	run("D/linked", files)
	run("other", files)
	dir := tree(t, files)
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, name := range []string{"D/linked/profile_export_aiperf.json", "D/linked/profile_export.jsonl"} {
		if err := os.Remove(at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"D/root": string(filepath.Separator), "D/other": at("other"), "D/up": filepath.Join("..", "other"),
		"D/linked/profile_export_aiperf.json": at("other/profile_export_aiperf.json"),
		"D/self":                              ".", "D/a": "b", "D/b": "a", "D/r/above": "..", "D/again": "r",
		"D/out": "up",
	} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Skip(err)
		}
	}
	found := find(t, at("D"))
	equal(t, listed(t, dir, found.Folders), "run D/r")
	if len(found.Faults) != 1 || found.Faults[0].Path != at("D/other") ||
		!strings.Contains(found.Faults[0].Error(), "leads out") || !strings.Contains(found.Faults[0].Error(),
		"4 others") {
		t.Errorf("%+v", found.Faults)
	}
	// The folder that they lead to, given as well, is within; it is named by its own path.
	if err := os.Remove(at("D/root")); err != nil {
		t.Fatal(err)
	}
	found = find(t, at("D"), at("other"))
	equal(t, listed(t, dir, found.Folders), "run D/linked", "run D/other", "run D/r")
	if len(found.Faults) != 0 {
		t.Errorf("%+v", found.Faults)
	}
	// A path that is a link itself is one that was given.
	equal(t, listed(t, dir, find(t, at("D/other")).Folders), "run D/other")
}

func TestPathsThatAreNoFolders(t *testing.T) {
	dir := tree(t, map[string]string{"file": "x", "empty/x": ""})
	for _, path := range []string{filepath.Join(dir, "gone"), filepath.Join(dir, "file")} {
		if _, err := library.Find(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if empty := find(t, filepath.Join(dir, "empty")).Empty(); len(empty) != 1 {
		t.Errorf("empty: %v", empty)
	}
}

// A folder that a process writes to is under way, with all in it that has no result; what a killed one left is not.
func TestFoldersThatAreBeingWritten(t *testing.T) {
	dir := tree(t, map[string]string{
		"sweep/c_2/profile_export_aiperf.json":                     "run",
		"sweep/c_4/profile_export.jsonl":                           "{}\n",
		"sweep/aggregate/c_2/profile_export_aiperf_aggregate.json": "repeats",
		"repeats/profile_runs/run_0001/profile_export.jsonl":       "{}\n",
		"killed/" + artifact.LockName:                              "the process 1",
		"killed/c_2/profile_export_aiperf.json":                    "run",
		"alone/profile_export.jsonl":                               "{}\n",
		"left/profile_export.jsonl":                                "{}\n",
		"starts/logs/aiperf.log":                                   "x",
	})
	for _, name := range []string{"sweep", "repeats", "alone", "starts"} {
		lock, err := artifact.LockFolder(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Release()
	}
	var got []string
	for _, d := range find(t, dir).Folders {
		facts := library.Read(&d)
		state := ""
		switch {
		case facts.Running:
			state = " running"
		case facts.Incomplete != "":
			state = " killed"
		case facts.Fault != "":
			state = " damaged"
		}
		rel, _ := filepath.Rel(dir, d.Path)
		got = append(got, string(d.Kind)+" "+filepath.ToSlash(rel)+state)
	}
	equal(t, got, "sweep sweep running", "run sweep/c_2", "run sweep/c_4 running", "repeats sweep/aggregate/c_2",
		"repeats repeats running", "run repeats/profile_runs/run_0001 running", "sweep killed killed", "run killed/c_2",
		"run alone running", "run left damaged")
}

func TestPartsHaveParents(t *testing.T) {
	files := repeatedSweep("D")
	files["S/search_history.json"] = "search"
	files["S/sweep_aggregate/profile_export_aiperf_sweep.json"] = "sweep"
	files["S/search_iter_0000/aggregate/profile_export_aiperf_aggregate.json"] = "repeats"
	run("S/search_iter_0000/profile_runs/trial_0001", files)
	run("alone", files)
	dir := tree(t, files)
	f := find(t, dir)
	var got []string
	for _, d := range f.Folders {
		if d.Parent < 0 {
			got = append(got, string(d.Kind)+" "+filepath.Base(d.Home))
			continue
		}
		p := f.Folders[d.Parent]
		if cell := filepath.Base(p.Home); d.Kind == library.Run && filepath.Base(d.Path) == cell &&
			p.Path == filepath.Join(dir, "D", "aggregate", cell) {
			continue // the repeats of its cell
		}
		if within, err := filepath.Rel(p.Home, d.Home); err != nil || strings.HasPrefix(within, "..") ||
			p.Kind == library.Run {
			t.Errorf("the parent of %s is %s", d.Path, p.Path)
		}
	}
	equal(t, got, "search S", "sweep D", "run alone")
	for _, d := range f.Folders {
		if d.Kind == library.Search && d.Aggregate == "" {
			t.Error("the search has no aggregate")
		}
	}
}

func TestFactsOfARun(t *testing.T) {
	dir := tree(t, map[string]string{"D/profile_export_aiperf.json": "run"})
	got := library.Read(&find(t, dir).Folders[0])
	if got.Fault != "" || got.Model != "m" || got.Load != "concurrency 4" || got.Concurrency != 4 || !got.Streaming ||
		got.Verdict != "valid" || got.Original || got.GPUs != 2 || got.Label != "trial_0001" || got.Started.IsZero() ||
		got.Figures["time_to_first_token_p99"] != 51.9 || got.Figures["request_throughput_avg"] != 119.5 {
		t.Errorf("%+v", got)
	}
}

func TestExperimentsHaveTheFactsOfTheirRuns(t *testing.T) {
	f := find(t, tree(t, repeatedSweep("D")))
	facts := library.ReadAll(f.Folders)
	if got := facts[0]; f.Folders[0].Kind != library.Sweep || got.Model != "m" || got.Cells != 2 || got.Runs != 6 ||
		got.Started.IsZero() || got.Load != "" {
		t.Errorf("%+v", got)
	}
	if got := facts[1]; got.Load != "concurrency 2" || got.Failed != 1 || got.Figures["request_throughput_avg"] != 30.5 {
		t.Errorf("%+v", got)
	}
}

func TestDamagedFilesAreNamed(t *testing.T) {
	for name, content := range map[string]string{
		"profile_export_aiperf.json":           `{"input_config":{`,
		"profile_export_aiperf_aggregate.json": `[1]`,
		"profile_export_aiperf_sweep.json":     `{"aggregation_type":7}`,
		"search_history.json":                  ``,
		"run_state.json":                       `{`,
		"profile_export.jsonl":                 "{}\n",
		"foo_run_state.json":                   "null",
	} {
		f := find(t, tree(t, map[string]string{"D/" + name: content}))
		if len(f.Folders) != 1 {
			t.Errorf("%s: %d folders", name, len(f.Folders))
			continue
		}
		if got := library.Read(&f.Folders[0]); got.Fault == "" {
			t.Errorf("%s: no fault", name)
		}
	}
}

func BenchmarkRead200Runs(b *testing.B) {
	files := map[string]string{}
	for i := range 200 {
		run(fmt.Sprintf("D/run_%d", i), files)
	}
	dir := tree(b, files)
	for b.Loop() {
		f, err := library.Find(dir)
		if err != nil || len(library.ReadAll(f.Folders)) != 200 {
			b.Fatal(err, len(f.Folders))
		}
	}
}
