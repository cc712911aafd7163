package file_test

import (
	"errors"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/config/configtest"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/file"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/run"
)

// bench is a file with a body. Each line is a key of the body, or one of the envelope if it begins with "/"; keys that
// a body needs and no line has are those of the smallest file.
func bench(lines ...string) string {
	var body, envelope strings.Builder
	has := map[string]bool{}
	for _, line := range lines {
		key, _, _ := strings.Cut(line, ":")
		has[key] = true
		if rest, top := strings.CutPrefix(line, "/"); top {
			envelope.WriteString(rest + "\n")
		} else {
			body.WriteString("  " + line + "\n")
		}
	}
	for _, d := range []struct {
		line  string
		keys  []string
		needs bool
	}{
		{line: "model: m", keys: []string{"model", "models"}},
		{line: `endpoint: {url: "http://h:1"}`, keys: []string{"endpoint"}},
		{line: "dataset: {isl: 512, osl: 128}", keys: []string{"dataset", "datasets"}},
		{line: "phases: {type: concurrency, concurrency: 8, requests: 100}",
			keys: []string{"phases", "warmup", "profiling"}},
	} {
		written := false
		for _, key := range d.keys {
			written = written || has[key]
		}
		if !written {
			body.WriteString("  " + d.line + "\n")
		}
	}
	return "benchmark:\n" + body.String() + envelope.String()
}

// load resolves a file with flags over it, as a run does.
func load(t *testing.T, text, flags string) (*config.Run, []fault.Warning, error) {
	t.Helper()
	over, err := settings.Parse(configtest.Words(flags), configtest.Environ())
	if err != nil {
		return nil, nil, err
	}
	source, err := file.Open("bench.yaml", []byte(text), configtest.Environ())
	if err != nil {
		return nil, nil, err
	}
	p, _, err := source.Settings(source.Raw, file.Options{Flags: over, NoFiles: true})
	if err != nil {
		return nil, nil, err
	}
	return resolve.Resolve(p, run.Catalog{})
}

// trap is a file, the flags over it, and what comes of it.
type trap struct {
	name, text, flags string
	// fault is what the error says; "": the file is valid.
	fault string
	// parts are in the exported configuration, or, behind "!", not in it.
	parts []string
}

func check(t *testing.T, traps []trap) {
	t.Helper()
	for _, c := range traps {
		t.Run(c.name, func(t *testing.T) {
			r, _, err := load(t, c.text, c.flags)
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Fatalf("the fault is %v, want %q\nof:\n%s", err, c.fault, c.text)
				}
				var list fault.List
				if !errors.As(err, &list) || len(list) != 1 && !strings.Contains(c.name, "all at once") {
					t.Errorf("%d faults: %v", len(list), err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v\nof:\n%s", err, c.text)
			}
			got := exported(t, r)
			for _, part := range c.parts {
				if absent, not := strings.CutPrefix(part, "!"); not {
					if strings.Contains(got, absent) {
						t.Errorf("%s has %s", got, absent)
					}
				} else if !strings.Contains(got, part) {
					t.Errorf("%s has no %s", got, part)
				}
			}
		})
	}
}

// exported is the whole configuration of a run.
func exported(t *testing.T, r *config.Run) string {
	t.Helper()
	text, err := artifact.AppendJSON(nil, file.ExportedWhole(r))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTrapShortForms(t *testing.T) {
	check(t, []trap{
		{name: "model and models", text: bench("model: a", "models: [b]"), fault: "cannot be used with models"},
		{
			name:  "dataset and datasets",
			text:  bench("dataset: {}", "datasets: [{name: a}]"),
			fault: "cannot be used with datasets",
		},
		{name: "profiling and phases", text: bench("profiling: {type: concurrency, requests: 1}",
			"phases: {type: concurrency, requests: 1}"), fault: "cannot be used with phases"},
		{name: "warmup, profiling and phases", text: bench(
			"profiling: {type: concurrency, requests: 1}",
			"warmup: {type: concurrency, requests: 1}",
			"phases: {type: concurrency, requests: 1}",
		), fault: "cannot be used with phases"},
		{name: "url and urls", text: bench("endpoint: {url: a, urls: [b]}"), parts: []string{`"urls":["http://b"]`}},
		{name: "warmup alone", text: bench("warmup: {type: concurrency, requests: 1}"), fault: "needs profiling"},
		{name: "profiling alone", text: bench("profiling: {type: concurrency, requests: 7}"),
			parts: []string{`"name":"profiling","kind":"profiling"`, `"requests":7`}},
		{name: "warmup and profiling", text: bench("profiling: {type: concurrency, requests: 7}",
			"warmup: {type: concurrency, requests: 3}"), parts: []string{`"phases":[{"name":"warmup","kind":"warmup"`,
			`{"name":"profiling","kind":"profiling"`}},
		{name: "a mapping of phases without type", text: bench("phases: {requests: 5}"), fault: "has no type"},
		{name: "datasets that are no list", text: bench("datasets: {name: a}"), fault: "exactly one dataset"},
		{name: "a dataset without name", text: bench("datasets: [{isl: 5}]"), fault: "datasets[0].name: is missing"},
		{name: "two datasets", text: bench("datasets: [{name: a}, {name: b}]"), fault: "exactly one dataset"},
		{name: "one name of a model", text: bench("models: a"), parts: []string{`"items":[{"name":"a"}]`}},
		{name: "names of models", text: bench("model: [a, b]"), parts: []string{`"items":[{"name":"a"},{"name":"b"}]`}},
		{
			name:  "null is no value",
			text:  bench("tokenizer: null", "dataset: {isl: null, osl: 5}"),
			parts: []string{`"osl"`, `!"isl"`},
		},
		{name: "the model is null", text: bench("model: null"), fault: "models: is missing"},
		{name: "isl below prompts wins", text: bench("dataset: {osl: {mean: 9, stddev: 2}, prompts: {osl: {mean: 1}}}"),
			parts: []string{`"osl":{"mean":1.0,"stddev":2.0}`}},
		{
			name:  "one phase keeps its name",
			text:  bench("phases: {type: concurrency, name: main, kind: profiling, requests: 2}"),
			parts: []string{`"name":"main"`},
		},
	})
}

func TestTrapNamesOfKeys(t *testing.T) {
	check(t, []trap{
		{
			name: "camelCase",
			text: bench(
				"/multiRun: {numRuns: 3}",
				"phases: {type: concurrency, requests: 5, gracePeriod: 3s, duration: 5}",
			),
			parts: []string{`"grace_period":3.0`},
		},
		{
			name:  "both spellings",
			text:  bench("/multi_run: {num_runs: 3}", "/multiRun: {numRuns: 3}"),
			fault: "is another spelling of multi_run",
		},
		{
			name:  "both spellings in a phase",
			text:  bench("phases: {type: concurrency, requests: 5, concurrency_ramp: 5, concurrencyRamp: 5}"),
			fault: "is another spelling of concurrency_ramp",
		},
		{
			name:  "free names stay",
			text:  bench(`endpoint: {url: "http://h:1", headers: {someName: a, some_name: b}, extra: {maxTokens: 5}}`),
			parts: []string{`"someName":"a"`, `"some_name":"b"`, `"maxTokens":5`},
		},
		{name: "an unknown key of the envelope", text: bench("/sweeps: {}"), fault: "'sweeps' (did you mean 'sweep'?)"},
		{
			name:  "unknown keys, all at once",
			text:  bench("/sweeps: {}", "/zzzzz: 1"),
			fault: "'zzzzz'; known are benchmark, multiRun, multi_run",
		},
		{
			name:  "a key of the body at the top",
			text:  bench("/scenario: inferencex-agentx-mvp"),
			fault: "'scenario' (nest it under 'benchmark:')",
		},
		{
			name:  "a near miss of the body at the top",
			text:  bench("/endpiont: {}"),
			fault: "'endpiont' (did you mean 'benchmark.endpoint'?)",
		},
		{
			name:  "an unknown key of a section",
			text:  bench("phases: [{name: profiling, type: concurrency, requests: 5, concurency: 4}]"),
			fault: "benchmark.phases[0].concurency: unknown key; did you mean concurrency?",
		},
		{name: "a key of another type", text: bench("phases: {type: constant, rate: 5, smoothness: 2, requests: 5}"),
			fault: "smoothness: does not belong to the type constant, but to gamma"},
		{name: "a key that is a number", text: "1: a\n", fault: "bench.yaml:1:1"},
		{name: "schema 3.0", text: bench(`/schemaVersion: "3.0"`), fault: "it reads 2.0"},
		{name: "schema 2.0", text: bench(`/schemaVersion: "2.0"`)},
	})
}

func TestTrapBothSpellingsMeanTheSame(t *testing.T) {
	var last string
	for _, text := range []string{"/multi_run: {num_runs: 3, cooldown_seconds: 5}",
		"/multiRun: {numRuns: 3, cooldownSeconds: 5}"} {
		r, _, err := load(t, bench(text), "")
		if err != nil {
			t.Fatal(err)
		}
		got := exported(t, r)
		if r.Asked.NumProfileRuns.Pointer() == nil || r.Asked.NumProfileRuns.Get() != 3 || last != "" && got != last {
			t.Errorf("%s\n%s\n%s", text, got, last)
		}
		last = got
	}
}

func TestTrapAFlatFileIsTakenAsABody(t *testing.T) {
	const flat = `model: m
endpoint: {url: "http://h:1"}
dataset: {isl: 5}
phases: {type: concurrency, requests: 5}
`
	r, warnings, err := load(t, flat, "")
	if err != nil {
		t.Fatal(err)
	}
	if text := configtest.Texting(warnings); strings.Count(text, "at the top of the file") != 1 ||
		!strings.Contains(text, "model, endpoint, dataset, phases") {
		t.Errorf("warnings:\n%s", text)
	}
	source, err := file.Open("bench.yaml", []byte(flat), configtest.Environ())
	if err != nil {
		t.Fatal(err)
	}
	if name := source.Raw.Get("benchmark").Get("datasets").Items[0].Get("name"); name.Written != "main" {
		t.Errorf("the dataset is %s, want main", name.Written)
	}
	if got := exported(t, r); !strings.Contains(got, `"requests":5`) {
		t.Errorf("%s", got)
	}
	source, err = file.Open("bench.yaml", []byte(bench()), configtest.Environ())
	if err != nil {
		t.Fatal(err)
	}
	if name := source.Raw.Get("benchmark").Get("datasets").Items[0].Get("name"); name.Written != "default" {
		t.Errorf("below benchmark the dataset is %s, want default", name.Written)
	}
	check(t, []trap{{name: "warmup is not moved", text: strings.Replace(flat, "phases", "profiling", 1),
		fault: "'profiling' (nest it under 'benchmark:')"}})
}

func TestTrapPhases(t *testing.T) {
	two := func(a, b string) string { return bench("phases: [{" + a + "}, {" + b + "}]") }
	const rest = "type: concurrency, requests: 5"
	check(t, []trap{
		{name: "no stop condition", text: bench("phases: {type: concurrency, concurrency: 8}"),
			fault: "add requests, duration or sessions"},
		{
			name:  "only a warm-up",
			text:  bench("phases: [{name: warmup, " + rest + "}]"),
			fault: "need a phase of kind profiling",
		},
		{
			name:  "names that differ in case",
			text:  two("name: Load, kind: profiling, "+rest, "name: load, kind: profiling, "+rest),
			fault: "names differ in more than case",
		},
		{name: "no kind", text: bench("phases: [{name: load, " + rest + "}]"), fault: "phases[0].kind: is missing"},
		{name: "a name of another kind", text: bench("phases: [{name: warmup, kind: profiling, " + rest + "}]"),
			fault: "the name warmup is that of phases of kind warmup"},
		{
			name:  "a device of Windows",
			text:  bench("phases: [{name: com1, kind: profiling, " + rest + "}]"),
			fault: "a device on Windows",
		},
		{name: "any order", text: two("name: profiling, "+rest, "name: warmup, "+rest)},
		{
			name:  "a warm-up in the results",
			text:  two("name: warmup, exclude_from_results: false, "+rest, "name: profiling, "+rest),
			fault: "phases[0].exclude_from_results: must be true",
		},
		{
			name: "a warm-up outside the results",
			text: two("name: warmup, exclude_from_results: true, "+rest, "name: profiling, "+rest),
		},
		{
			name:  "profiling outside the results",
			text:  bench("phases: {type: concurrency, requests: 5, exclude_from_results: true}"),
			fault: "must be false",
		},
		{name: "grace without duration", text: bench("phases: {type: concurrency, requests: 5, grace_period: 30}"),
			fault: "grace_period: needs duration"},
		{name: "grace without end", text: bench("phases: {type: concurrency, duration: 5m, grace_period: inf}"),
			parts: []string{`"duration":300.0`, `"grace_period":"inf"`}},
		{name: "seamless on the first", text: two("name: warmup, seamless: true, "+rest, "name: profiling, "+rest),
			fault: "phases[0].seamless: the first phase"},
		{name: "seamless on the second", text: two("name: warmup, "+rest, "name: profiling, seamless: true, "+rest),
			parts: []string{`"seamless":true`}},
		{
			name: "start with automatic offset",
			text: bench(
				"dataset: {type: file, path: x.jsonl, format: mooncake_trace}",
				"phases: {type: fixed_schedule, start_offset: 1000}",
			),
			fault: "auto_offset, which is true unless the file says false",
		},
		{
			name: "start without automatic offset",
			text: bench(
				"dataset: {type: file, path: x.jsonl, format: mooncake_trace}",
				"phases: {type: fixed_schedule, start_offset: 1000, auto_offset: false}",
			),
			parts: []string{`"start_offset":1000`},
		},
		{
			name:  "neither rate nor series",
			text:  bench("phases: {type: poisson, requests: 5}"),
			fault: "exactly one of rate and rate_series",
		},
		{name: "rate and series", text: bench("phases: {type: poisson, requests: 5, rate: 5, " +
			"rate_series: [{time_s: 0, qps: 1}, {time_s: 1, qps: 2}]}"), fault: "exactly one of rate and rate_series"},
		{
			name:  "fewer sessions than users",
			text:  bench("dataset: {turns: 2}", "phases: {type: user_centric, rate: 1, users: 5, sessions: 4}"),
			fault: "sessions: 4 is less than users, 5",
		},
		{
			name: "a schedule in random order",
			text: bench("dataset: {type: file, path: x.jsonl, format: mooncake_trace, sampling: random}",
				"phases: {type: fixed_schedule}"),
			fault: "needs the dataset's sampling sequential",
		},
		{name: "a list is a sweep", text: bench("phases: {type: concurrency, concurrency: [8, 16], requests: 5}"),
			fault: "concurrency: is a list; several values are a sweep"},
	})
}

func TestTrapTimes(t *testing.T) {
	of := func(d string) string { return bench("phases: {type: concurrency, duration: " + d + "}") }
	check(t, []trap{
		{name: "a bare text", text: of(`"90"`), parts: []string{`"duration":90.0`}},
		{name: "minutes", text: of("1.5m"), parts: []string{`"duration":90.0`}},
		{name: "a blank", text: of("2 h"), parts: []string{`"duration":7200.0`}},
		{name: "any case", text: of("2 HR"), parts: []string{`"duration":7200.0`}},
		{name: "milliseconds", text: of("500ms"), fault: "is not a time"},
		{name: "days", text: of("1d"), fault: "is not a time"},
		{name: "two units", text: of("1h30m"), fault: "is not a time"},
		{name: "below 0", text: of("-5"), fault: "-5"},
		{name: "a ramp with a shape", text: bench("phases: {type: concurrency, concurrency: 4, requests: 5, " +
			"concurrency_ramp: {duration: 30s, strategy: exponential}}"),
			parts: []string{`"concurrency_ramp":{"duration":30.0,"strategy":"exponential"}`}},
		{name: "the timeout has no unit in files", text: bench(`endpoint: {url: "http://h:1", timeout: 600}`),
			parts: []string{`"timeout":600.0`}},
	})
}

func TestTrapValuesOfModelsAndEndpoints(t *testing.T) {
	weighted := func(weights ...string) string {
		var items []string
		for i, w := range weights {
			items = append(items, "{name: "+string(rune('a'+i))+", weight: "+w+"}")
		}
		return bench("models: {strategy: weighted, items: [" + strings.Join(items, ", ") + "]}")
	}
	endpoint := func(text string) string { return bench(`endpoint: {url: "http://h:1", ` + text + "}") }
	check(t, []trap{
		{name: "weights above 1", text: weighted("0.5", "0.6"), fault: "the weights add up to 1.1"},
		{name: "weights near 1", text: weighted("0.333", "0.333", "0.333")},
		{
			name:  "a weight is missing",
			text:  bench("models: {strategy: weighted, items: [{name: a, weight: 1}, {name: b}]}"),
			fault: "a weight for each model",
		},
		{
			name:  "a URL gets its scheme",
			text:  bench(`endpoint: {urls: ["localhost:8000"]}`),
			parts: []string{`"urls":["http://localhost:8000"]`},
		},
		{
			name:  "the path of a hook is relative",
			text:  endpoint(`reset_kv_cache: {path: "http://x/y"}`),
			fault: "names no host",
		},
		{
			name:  "a hook with its defaults",
			text:  endpoint("reset_kv_cache: true"),
			parts: []string{`"reset_kv_cache":`},
		},
		{name: "a path begins with a slash", text: endpoint("path: v1/x"), fault: "path that starts with /"},
		{name: "a type in any case", text: endpoint("type: CHAT"), parts: []string{`"type":"chat"`}},
		{name: "whole numbers with a point", text: bench("dataset: {entries: 5.0}"), parts: []string{`"entries":5`}},
		{name: "no whole number", text: bench("dataset: {entries: 5.5}"), fault: "5.5 is not a whole number"},
		{name: "a number as a text", text: bench("dataset: {entries: '5'}"), parts: []string{`"entries":5`}},
		{name: "a boolean as a text", text: endpoint("streaming: 'yes'"), parts: []string{`"streaming":true`}},
		{name: "2 is no boolean", text: endpoint("streaming: 2"), fault: "is not a boolean"},
		{name: "a sweep, the default screen", text: bench("/sweep: {type: grid, parameters: {concurrency: [1, 2]}}")},
		{ // The original refuses it; the dashboard here shows the runs of a sweep.
			name:  "a sweep, the dashboard",
			text:  bench("/sweep: {type: grid, parameters: {concurrency: [1, 2]}}", "runtime: {ui: dashboard}"),
			parts: []string{`"ui":"dashboard"`},
		},
	})
}

func TestTrapDatasets(t *testing.T) {
	fixed := func(text string) string { return bench("dataset: {type: file, " + text + "}") }
	check(t, []trap{
		{name: "no records", text: fixed("records: []"), fault: "at least one mapping"},
		{
			name:  "pools without random_pool",
			text:  fixed("format: single_turn, records: {a: [{text: x}]}"),
			fault: "only the format random_pool",
		},
		{name: "pools of random_pool", text: fixed("format: random_pool, records: {a: [{text: x}]}")},
		{
			name:  "path and records",
			text:  fixed("path: x, records: [{text: x}]"),
			fault: "exactly one of path and records",
		},
		{name: "neither path nor records", text: fixed("entries: 5"), fault: "exactly one of path and records"},
		{
			name:  "path without type",
			text:  bench("dataset: {path: x}"),
			fault: "does not belong to the type synthetic, but to file",
		},
		{
			name:  "prefixes of size 0",
			text:  bench("dataset: {prefix_prompts: {pool_size: 0}}"),
			fault: "pool_size: 0 is out of range",
		},
		{
			name:  "probabilities below 100",
			text:  bench("dataset: {prompts: {sequence_distribution: [{isl: 1, osl: 1, probability: 50}]}}"),
			fault: "must add up to 100",
		},
		{name: "no turns", text: bench("dataset: {turns: 0}"),
			fault: "bench.yaml:2:20: benchmark.datasets[0].turns: the distribution has 0.0 turns on average"},
		{name: "half a turn on average", text: bench("dataset: {turns: {points: [{value: 0}, {value: 1}]}}"),
			fault: "the distribution has 0.5 turns on average"},
		{name: "files are sequential", text: bench(), parts: []string{`"sampling":"sequential"`}},
		{name: "media are off", text: bench("dataset: {images: {width: 64}}"), parts: []string{`!"images"`}},
		{name: "pictures are jpeg of 512", text: bench("dataset: {images: {batch_size: 1}}"),
			parts: []string{`"width":{"mean":512.0}`, `"height":{"mean":512.0}`, `"format":"jpeg"`}},
	})
}

func TestTrapOutputs(t *testing.T) {
	of := func(text string) string { return bench("artifacts: {" + text + "}") }
	userFile := func(text string) string { return of("user_files: [{" + text + "}]") }
	check(t, []trap{
		{name: "no summary", text: of("summary: false")},
		{name: "an empty summary", text: of("summary: []"), fault: "must be [json] or false"},
		{name: "another summary", text: of("summary: [csv]"), fault: "must be [json] or false"},
		{name: "no records", text: of("records: false"), parts: []string{`"records":false`}},
		{name: "no server metrics of no servers", text: bench("server_metrics: {enabled: false, urls: []}"),
			parts: []string{`"server_metrics":{"enabled":false`}},
		{name: "no server metrics of a server", text: bench(`server_metrics: {enabled: false, urls: ["http://h:1"]}`),
			fault: "cannot be used together"},
		{name: "raw wins over records", text: of("raw: true, records: false"), parts: []string{`"raw":true`}},
		{name: "a file outside the folder", text: userFile("path: ../x, content: a"), fault: "user_files[0].path"},
		{name: "a file at the root", text: userFile("path: /x, content: a"), fault: "user_files[0].path"},
		{name: "a text as JSON", text: userFile("path: x, format: json, content: a"), fault: "user_files[0]"},
	})
	r, _, err := load(t, of("summary: false"), "")
	if err != nil || !r.Artifacts.NoSummaryJSON {
		t.Errorf("%+v: %v", r, err)
	}
}

func TestTrapSeeds(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       uint64
	}{
		{"one run", bench(), 0},
		{"two runs", bench("/multi_run: {num_runs: 2}"), 42},
		{"two runs with seeds of their own", bench("/multi_run: {num_runs: 2, set_consistent_seed: false}"), 0},
		{"a seed", bench("/multi_run: {num_runs: 2}", "/random_seed: 7"), 7},
	} {
		r, _, err := load(t, c.text, "")
		switch {
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case (r.RandomSeed == nil) != (c.want == 0), r.RandomSeed != nil && *r.RandomSeed != c.want:
			t.Errorf("%s: seed %v, want %d", c.name, r.RandomSeed, c.want)
		}
	}
}

func TestTrapFlagsOverAFile(t *testing.T) {
	const rest = "type: concurrency, requests: 5"
	profiling := func(text string) string { return bench("phases: {" + text + "}") }
	check(t, []trap{
		{name: "an explicit 0", text: bench(), flags: "--concurrency 0", fault: "--concurrency"},
		{
			name:  "a load flag",
			text:  bench(),
			flags: "--concurrency 4",
			parts: []string{`"concurrency":4`, `"requests":100`},
		},
		{
			name: "two measured phases",
			text: bench(
				"phases: [{name: a, kind: profiling, " + rest + "}, {name: b, kind: profiling, " + rest + "}]",
			),
			flags: "--concurrency 4",
			fault: "several phases that it could mean (a, b)",
		},
		{
			name:  "a flag that would be lost",
			text:  bench(),
			flags: "--public-dataset sharegpt",
			fault: "--public-dataset: cannot be used with --config",
		},
		{
			name:  "variants would be lost",
			text:  bench(),
			flags: "--variant a:concurrency=4 --variant b:concurrency=5",
			fault: "--variant: cannot be used with --config",
		},
		{name: "flags that would be lost, in one fault", text: bench(), flags: "--no-fixed-schedule --isl-min 5",
			fault: "cannot be used with --config"},
		{
			name:  "a warm-up is put in front",
			text:  bench(),
			flags: "--warmup-request-count 5",
			parts: []string{
				`"phases":[{"name":"warmup","kind":"warmup"`,
				`"requests":5`,
				`{"name":"profiling","kind":"profiling"`,
			},
		},
		{name: "a warm-up needs a stop", text: bench(), flags: "--warmup-concurrency 5", fault: "has no warm-up phase"},
		{
			name:  "the first warm-up",
			text:  bench("phases: [{name: warmup, " + rest + "}, {name: profiling, " + rest + "}]"),
			flags: "--warmup-concurrency 3",
			parts: []string{`"concurrency":3`},
		},
		{
			name:  "a warm-up rate needs a pattern",
			text:  bench("phases: [{name: warmup, " + rest + "}, {name: profiling, " + rest + "}]"),
			flags: "--warmup-request-rate 3",
			fault: "give --warmup-arrival-pattern too",
		},
		{
			name:  "no effect on a dataset",
			text:  bench("dataset: {type: file, path: x, format: single_turn}"),
			flags: "--isl 128",
			fault: "--isl: no effect on a dataset of type file",
		},
		{
			name:  "an output length of a file",
			text:  bench("dataset: {type: file, path: x, format: single_turn}"),
			flags: "--osl 5",
			parts: []string{`"osl":`},
		},
		{
			name:  "an input length",
			text:  bench(),
			flags: "--isl 128",
			parts: []string{`"isl":{"mean":128.0}`, `"osl":{"mean":128.0}`},
		},
		{name: "a rate makes poisson of concurrency", text: bench(), flags: "--request-rate 5",
			parts: []string{`"type":"poisson"`, `"rate":5.0`, `"concurrency":8`}},
		{name: "a rate with a pattern", text: bench(), flags: "--request-rate 5 --arrival-pattern constant",
			parts: []string{`"type":"constant"`}},
		{
			name:  "a rate keeps the type",
			text:  profiling("type: constant, rate: 2, requests: 5"),
			flags: "--request-rate 5",
			parts: []string{`"type":"constant"`, `"rate":5.0`},
		},
		{
			name:  "a rate of users",
			text:  bench("dataset: {turns: 2}", "phases: {type: user_centric, rate: 2, users: 2, sessions: 5}"),
			flags: "--request-rate 5",
			parts: []string{`"type":"user_centric"`, `"rate":5.0`},
		},
		{
			name:  "a pattern without a rate",
			text:  bench(),
			flags: "--arrival-pattern constant",
			fault: "--arrival-pattern",
		},
		{
			name:  "a pattern of users",
			text:  bench("dataset: {turns: 2}", "phases: {type: user_centric, rate: 2, users: 2, sessions: 5}"),
			flags: "--arrival-pattern constant",
			fault: "--arrival-pattern needs a phase with a rate",
		},
		{
			name:  "smoothness makes gamma",
			text:  profiling("type: poisson, rate: 2, requests: 5"),
			flags: "--arrival-smoothness 2",
			parts: []string{`"type":"gamma"`, `"smoothness":2.0`},
		},
		{
			name:  "smoothness without a rate",
			text:  bench(),
			flags: "--arrival-smoothness 2",
			fault: "--arrival-smoothness",
		},
		{name: "two flags for one key", text: bench(), flags: "--request-rate 5 --user-centric-rate 3 --num-users 2",
			fault: "--user-centric-rate"},
		{name: "a schedule and a rate", text: bench("dataset: {type: file, path: x, format: mooncake_trace}"),
			flags: "--fixed-schedule --request-rate 5", fault: "--fixed-schedule"},
		{
			name: "a start turns the automatic offset off",
			text: bench("dataset: {type: file, path: x, format: mooncake_trace}",
				"phases: {type: fixed_schedule}"),
			flags: "--fixed-schedule-start-offset 1000",
			parts: []string{`"auto_offset":false`, `"start_offset":1000`},
		},
		{name: "an offset needs a schedule", text: bench(), flags: "--fixed-schedule-end-offset 5",
			fault: "fixed"},
		{name: "a duration brings a grace period", text: bench(), flags: "--benchmark-duration 5",
			parts: []string{`"duration":5.0`, `"grace_period":30.0`}},
		{name: "a duration keeps the grace period", text: profiling("type: concurrency, duration: 9, grace_period: 2"),
			flags: "--benchmark-duration 5", parts: []string{`"duration":5.0`, `"grace_period":2.0`}},
		{name: "a delay of cancellation needs a rate", text: bench(), flags: "--request-cancellation-delay 5",
			fault: "cancellation"},
		{name: "prefixes of size 0 by a flag", text: bench(), flags: "--num-prefix-prompts 0"},
		{name: "pictures by a flag", text: bench("dataset: {images: {width: 64}}"), flags: "--image-height-mean 32",
			parts: []string{`"batch_size":1`, `"width":{"mean":64.0}`, `"height":{"mean":32.0}`}},
		{name: "pictures by a flag alone", text: bench(), flags: "--image-height-mean 32",
			parts: []string{`"batch_size":1`, `"width":{"mean":512.0}`, `"height":{"mean":32.0}`, `"format":"jpeg"`}},
		{name: "thresholds by key", text: bench("slos: {request_latency: 5, time_to_first_token: 9}",
			`endpoint: {url: "http://h:1", streaming: true}`), flags: "--goodput request_latency:7",
			parts: []string{`"request_latency":7.0`, `"time_to_first_token":9.0`}},
		{
			name:  "headers by name",
			text:  bench(`endpoint: {url: "http://h:1", headers: {A: x, B: y}}`),
			flags: "--header a:z",
			parts: []string{`"a":"z"`, `"B":"y"`, `!"A":"x"`},
		},
		{
			name:  "headers of URLs",
			text:  bench(`endpoint: {urls: [{url: "h:1", headers: {X-A: x, Authorization: Bearer k}}, "http://h:2"]}`),
			parts: []string{`"urls":[{"url":"http://h:1","headers":{"X-A":"x","Authorization":"<redacted>"}},"http://h:2"]`},
		},
		{
			name:  "headers of URLs by a flag",
			text:  bench(`endpoint: {urls: [{url: "http://h:1", headers: {X-A: x, X-B: y}}, "http://h:2"]}`),
			flags: "--url-header 0=x-a:z --url-header 1=X-C:c",
			parts: []string{`{"url":"http://h:1","headers":{"X-B":"y","x-a":"z"}},{"url":"http://h:2","headers":{"X-C":"c"}}`},
		},
		{
			name:  "URLs by a flag have no headers of the file's",
			text:  bench(`endpoint: {urls: [{url: "http://h:1", headers: {X-A: x}}, "http://h:2"]}`),
			flags: "--url http://other:1",
			parts: []string{`"urls":["http://other:1"]`},
		},
		{
			name: "a single URL with headers",
			text: bench(`endpoint: {url: {url: "http://h:1", headers: {X-A: x}}, session_cookies: true, echo_headers: [X-T]}`),
			parts: []string{`"urls":[{"url":"http://h:1","headers":{"X-A":"x"}}]`, `"session_cookies":true`,
				`"echo_headers":["X-T"]`},
		},
		{
			name:  "a URL without a url",
			text:  bench(`endpoint: {urls: [{headers: {X-A: x}}]}`),
			fault: "benchmark.endpoint.urls[0].url: is missing",
		},
		{
			name:  "a header of a URL that cannot be sent",
			text:  bench(`endpoint: {urls: [{url: "http://h:1", headers: {Content-Length: hunter2}}]}`),
			fault: "benchmark.endpoint.urls[0].headers: the header Content-Length describes",
		},
		{
			name: "a flag wins over a template",
			text: bench("phases: {type: concurrency, concurrency: '{{ n }}', requests: 5}",
				"/variables: {n: 4}"),
			flags: "--concurrency 9",
			parts: []string{`"concurrency":9`},
		},
		{name: "a seed", text: bench("/random_seed: 5"), flags: "--random-seed 6", parts: []string{`"random_seed":6`}},
		{
			name:  "a flag at its default",
			text:  bench(`endpoint: {url: "http://h:1", timeout: 5}`),
			flags: "--request-timeout-seconds 21600",
			parts: []string{`!"timeout":5.0`},
		},
		{name: "false wins", text: bench(`endpoint: {url: "http://h:1", streaming: true}`), flags: "--streaming=false",
			parts: []string{`!"streaming":true`}},
	})
}

func TestTrapReferencesKeepTheirTypes(t *testing.T) {
	check(t, []trap{
		{
			name:  "a number",
			text:  bench(`endpoint: {url: "http://h:1", timeout: "${T:600.0}"}`),
			parts: []string{`"timeout":600.0`},
		},
		{
			name:  "part of a text",
			text:  bench(`endpoint: {url: "http://h:1", path: "/v${N:1}"}`),
			parts: []string{`"path":"/v1"`},
		},
		{
			name:  "a boolean",
			text:  bench(`endpoint: {url: "http://h:1", streaming: "${B:true}"}`),
			parts: []string{`"streaming":true`},
		},
		{
			name:  "a default with colons",
			text:  bench(`endpoint: {url: "${A:http://h:1/v1}"}`),
			parts: []string{`"urls":["http://h:1/v1"]`},
		},
		{name: "no end", text: bench(`endpoint: {url: "http://h:1", api_key: "${X"}`), fault: "bench.yaml:"},
		{name: "not set", text: bench(`endpoint: {url: "http://h:1", api_key: "${X}"}`), fault: "X"},
		{
			name:  "a whole quotient",
			text:  bench("dataset: {entries: '{{ a / 2 }}'}", "/variables: {a: 512}"),
			parts: []string{`"entries":256`},
		},
	})
}
