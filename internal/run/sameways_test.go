package run

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/config/file"
	resolver "aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/mockserver"
	"aiperf/internal/run/plan"
	"aiperf/internal/wire/api"
	"aiperf/internal/workload/compose"
	"aiperf/internal/workload/tokenizer"
)

// requestsOf are the conversations of a configuration, or why there are none.
func requestsOf(t *testing.T, parsed *settings.Settings) (text string, refusal error) {
	t.Helper()
	cfg, _, err := resolver.Resolve(parsed, Catalog{})
	if err != nil {
		return "", err
	}
	return conversationsOf(t, cfg)
}

func conversationsOf(t *testing.T, cfg *config.Run) (string, error) {
	t.Helper()
	d, ok := api.Lookup(cfg.Endpoint.Type)
	if !ok {
		t.Fatal(cfg.Endpoint.Type)
	}
	options := plan.Dataset(cfg, &d)
	data, _, err := compose.Build(context.Background(), options, tokenizer.Builtin())
	if err != nil {
		return "", err
	}
	var out strings.Builder
	fmt.Fprintln(&out, options.Corpus) // texts are made when they are sent
	for i := range data.Len() {
		line, err := json.Marshal(data.At(i))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s\n", line)
	}
	return out.String(), nil
}

func parsedFlags(t *testing.T, args ...string) *settings.Settings {
	t.Helper()
	parsed, err := settings.Parse(append([]string{"--model", "m", "--tokenizer", "builtin", "--url", "localhost:1", "--ui",
		"none", "--random-seed", "7", "--dataset-sampling-strategy", "sequential"}, args...), noEnv)
	if err != nil {
		t.Fatal(args, err)
	}
	return parsed
}

func parsedFile(t *testing.T, dataset, phase string) (*settings.Settings, error) {
	t.Helper()
	source, err := file.Open("bench.yaml", fmt.Appendf(nil, `
random_seed: 7
benchmark:
  model: m
  endpoint: {url: "http://localhost:1"}
  tokenizer: {name: builtin}
  dataset: {%s, sampling: sequential}
  phases: {%s}
`, dataset, phase), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	parsed, _, err := source.Settings(source.Raw, file.Options{})
	return parsed, err
}

// Each option of recorded agents has the same effect, or is refused, whether the recordings are a file, a published
// data set, one by its repository, or stand in a configuration file.
func TestRecordedAgentsAreTheSameInWhateverWayTheyAreGiven(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 3 {
		lines = append(lines, fmt.Sprintf(`{"id":"a%d","models":["big"],"block_size":64,"hash_id_scope":"local","requests":[`+
			`{"t":0,"type":"s","model":"big","in":150,"out":%d,"hash_ids":[1,2,18446744073709551615],"api_time":0.05,"think_time":0},`+
			`{"t":9,"type":"s","model":"big","in":%d,"out":0,"hash_ids":[1,2,18446744073709551615,4],"api_time":0.05,"think_time":3}]}`,
			i, 4+i, 210+i))
	}
	path := filepath.Join(t.TempDir(), "w.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const set = "semianalysis_cc_traces_weka_with_subagents"
	plain := ""
	for _, c := range []struct {
		flags   string
		dataset string
		phase   string
		refused bool
	}{
		{},
		{flags: "--max-context-length 211", dataset: "max_context_length: 211"},
		{flags: "--use-think-time-only", dataset: "use_think_time_only: true"},
		{flags: "--inter-turn-delay-cap-seconds 1", dataset: "inter_turn_delay_cap_seconds: 1"},
		{flags: "--num-dataset-entries 1", dataset: "entries: 1"},
		{flags: "--ignore-trace-delays", dataset: "ignore_trace_delays: true"},
		{flags: "--prompt-corpus sonnet", dataset: "prompts: {corpus: sonnet}"},
		{flags: "--synthesis-max-isl 211", dataset: "synthesis: {max_isl: 211}"},
		{flags: "--synthesis-max-osl 2", dataset: "synthesis: {max_osl: 2}"},
		{flags: "--isl-block-size 32", dataset: "block_size: 32", refused: true},
		{flags: "--synthesis-prefix-len-multiplier 2", dataset: "synthesis: {prefix_len_multiplier: 2}", refused: true},
		{flags: "--user-centric-rate 2 --num-users 2", phase: "type: user_centric, rate: 2, users: 2, requests: 6",
			refused: true},
	} {
		if c.phase == "" {
			c.phase = "type: concurrency, concurrency: 1, requests: 6"
			c.flags += " --concurrency 1"
		}
		if c.dataset != "" {
			c.dataset = ", " + c.dataset
		}
		first := ""
		for i, way := range []string{
			"--custom-dataset-type weka_trace --input-file " + path,
			"--input-file " + path,
			"--public-dataset " + set + " --dataset-path " + path,
			"--hf-weka-dataset someone/traces --dataset-path " + path,
			"YAML type: file, format: weka_trace, path: " + path,
			"YAML type: public, dataset: " + set + ", path: " + path,
		} {
			var parsed *settings.Settings
			var err error
			if dataset, inFile := strings.CutPrefix(way, "YAML "); inFile {
				parsed, err = parsedFile(t, dataset+c.dataset, c.phase)
			} else {
				parsed = parsedFlags(t, strings.Fields(way+" "+c.flags+" --request-count 6")...)
			}
			got := ""
			if err == nil {
				got, err = requestsOf(t, parsed)
			}
			if (err != nil) != c.refused {
				t.Errorf("%s with %s: %v", c.flags, way, err)
				continue
			}
			if i == 0 {
				first = got
			}
			if got != first {
				t.Errorf("%s with %s: other requests than those of the file:\n%s\n%s", c.flags, way, got, first)
			}
		}
		if plain == "" {
			plain = first
		} else if first == plain {
			t.Errorf("%s has no effect", c.flags)
		}
	}
}

// Every trace is sent alike whoever counts its tokens, with an empty answer on record, ids of 64 bits and times of the
// clock.
func TestTracesAreTheSameWhoeverCountsTheirTokens(t *testing.T) {
	t.Parallel()
	const big = "18446744073709551615"
	const clockMS = 1793527200000
	traces := map[string][]string{"burst_gpt_trace": {"Timestamp,Model,Request tokens,Response tokens"}}
	add := func(format, line string, args ...any) {
		traces[format] = append(traces[format], fmt.Sprintf(line, args...))
	}
	for i := range 3 {
		add("mooncake_trace", `{"timestamp":%d,"input_length":600,"output_length":%d,"hash_ids":[1,%s]}`, clockMS+i*2, 2*i, big)
		add("bailian_trace", `{"chat_id":%d,"timestamp":%d.%d,"input_length":20,"output_length":%d,"hash_ids":[1,%s]}`, i, clockMS/1000, i*2, 2*i, big)
		add("burst_gpt_trace", "%d.%d,m,40,%d", clockMS/1000, i, 2*i)
		add("otel_spans", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t%d","startTimeUnixNano":"%d000000","attributes":[`+
			`{"key":"gen_ai.usage.input_tokens","value":{"intValue":30}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":%d}}]}]}]}]}`, i, clockMS+i, 2*i)
		add("table", `{"ts":"2026-11-01T10:00:00.00%dZ","prompt_tokens":30,"completion_tokens":%d}`, i, 2*i)
		add("weka_trace", `{"id":"a%d","models":["big"],"block_size":64,"hash_id_scope":"local","requests":[`+
			`{"t":0,"type":"s","model":"big","in":70,"out":%d,"hash_ids":[1,%s]}]}`, i, 2*i, big)
		add("tracelab", `{"session_id":"s%d","round_index":0,"input_tokens_total":70,"prefix_tokens":0,"newly_append_tokens":70,"output_tokens":%d,`+
			`"timing_events":[{"event_type":"user_message","timestamp":"2026-11-01T10:00:00.00%dZ"}]}`, i, 2*i, i)
		add("dynamo_trace", `{"schema":"dynamo.request.trace.v1","event_type":"request_end","request":{"request_id":"r%d","request_received_ms":%d,`+
			`"output_tokens":%d,"replay":{"trace_block_size":64,"input_length":70,"input_sequence_hashes":[1,%s]}}}`, i, clockMS+i, 2*i, big)
	}
	for format, lines := range traces {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "trace.jsonl")
			if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			first := ""
			for _, count := range []string{"", "--use-server-token-count", "--per-chunk-usage"} {
				url, arrivals := recordedServer(t, mockserver.Options{Fast: true})
				args := strings.Fields("--streaming --random-seed 5 --custom-dataset-type " + format + " --input-file " + path + " " + count)
				if format == "weka_trace" {
					args = append(args, "--num-sessions", "3", "--concurrency", "1")
				}
				if outcome, err := execute(t, resolve(t, t.TempDir(), url, args...), Options{}); err != nil || outcome.Problem != nil {
					t.Fatalf("%s: %v %+v", count, err, outcome)
				}
				var bodies []string
				for _, a := range arrivals() {
					bodies = append(bodies, a.Body)
				}
				slices.Sort(bodies)
				got := strings.Join(bodies, "\n")
				if first == "" {
					first = got
				}
				if len(bodies) != 3 || !strings.Contains(got, `"max_completion_tokens":1`) {
					t.Errorf("%s: sent %s", count, got)
				}
				if strings.ReplaceAll(got, `,"continuous_usage_stats":true`, "") != first {
					t.Errorf("%s: sent %s\nbut without it %s", count, got, first)
				}
			}
		})
	}
}

// A schedule that begins hours later is refused, with the options that shift it; times of the clock shift by themselves.
func TestAScheduleThatBeginsHoursLaterIsRefused(t *testing.T) {
	t.Parallel()
	file := func(first int64) string {
		path := filepath.Join(t.TempDir(), "trace.jsonl")
		text := fmt.Sprintf("{\"timestamp\":%d,\"input_length\":5}\n{\"timestamp\":%d,\"input_length\":5}\n", first, first+2)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		first int64
		flags string
		want  string
	}{
		{7_200_000, "", "would be sent 2.0 hours after the start: --fixed-schedule-auto-offset"},
		{1_793_527_200, "", "--fixed-schedule-start-offset 1793527200"}, // seconds, taken for milliseconds
		{7_200_000, "--fixed-schedule-auto-offset", ""},
		{7_200_000, "--fixed-schedule-start-offset 7200000", ""},
		{1_793_527_200_000, "", ""},
		{1_793_527_200_000, "--synthesis-speedup-ratio 2", ""},
		{1_793_527_200_000, "--fixed-schedule-start-offset 1793527200001", ""},
	} {
		url := serve(t, mockserver.Options{Fast: true})
		args := append(strings.Fields(c.flags), "--input-file", file(c.first))
		outcome, err := execute(t, resolve(t, t.TempDir(), url, args...), Options{})
		switch {
		case c.want == "" && (err != nil || outcome.Problem != nil):
			t.Errorf("%d %s: %v %+v", c.first, c.flags, err, outcome)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%d %s: %v", c.first, c.flags, err)
		}
	}
}

// Own data as users have it is sent as it says: a log at its times with its lengths, chat messages as a stream.
func TestOwnDataIsSentAsItSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, text, flags string
		bodies            []string
		scheduled         bool
	}{
		{"log.csv", "ts,prompt,completion_tokens\n2026-11-01T10:00:00.050Z,b,6\n2026-11-01T10:00:00Z,a,5\n", "",
			[]string{`"content":"a"`, `"max_completion_tokens":5`, `"content":"b"`, `"max_completion_tokens":6`}, true},
		{"chat.jsonl", `{"messages":[{"role":"user","content":"Hi"}]}`, "--request-count 1", []string{`"stream":true`, `"content":"Hi"`}, false},
		{"chat.jsonl", `{"messages":[{"role":"user","content":"Hi"}],"stream":false}`, "--request-count 1", []string{`"stream":false`}, false},
		{"arrivals.csv", "time\n2026-11-01 10:00:00\n2026-11-01 10:00:00.02\n", "--custom-dataset-type table --isl 7 --osl 3",
			[]string{`"max_completion_tokens":3`}, true},
		{"own.csv", "when,what\n0,x\n", "--map text=what,timestamp= --request-count 1", []string{`"content":"x"`}, false},
	} {
		path := filepath.Join(t.TempDir(), c.file)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		url, arrivals := recordedServer(t, mockserver.Options{Fast: true})
		dir := t.TempDir()
		cfg := resolve(t, dir, url, append([]string{"--streaming", "--input-file", path}, strings.Fields(c.flags)...)...)
		if scheduled := cfg.Phases[0].Schedule != nil; scheduled != c.scheduled {
			t.Errorf("%s %s: at its times %v", c.file, c.flags, scheduled)
		}
		if outcome, err := execute(t, cfg, Options{}); err != nil || outcome.Problem != nil {
			t.Errorf("%s %s: %v %+v", c.file, c.flags, err, outcome)
			continue
		}
		sent := ""
		for _, a := range arrivals() {
			sent += a.Body
		}
		for _, want := range c.bodies {
			at := strings.Index(sent, want)
			if at < 0 {
				t.Errorf("%s %s: no %s in %s", c.file, c.flags, want, sent)
			}
		}
		if strings.HasPrefix(c.file, "arrivals") {
			for _, r := range records(t, dir) {
				isl := r["metrics"].(map[string]any)["input_sequence_length"].(map[string]any)["value"]
				if isl != 7.0 {
					t.Errorf("a prompt of %v tokens", isl)
				}
			}
		}
	}
}

// Equal ids of 64 bits are equal text, neighbouring ones are not.
func TestBlocksOfHashesAreTheTextOfTheirIDs(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for i, id := range []string{"18446744073709551615", "18446744073709551614", "18446744073709551615"} {
		fmt.Fprintf(&lines, "{\"timestamp\":%d,\"input_length\":1024,\"output_length\":4,\"hash_ids\":[1,%s]}\n", i*20, id)
	}
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	url, arrivals := recordedServer(t, mockserver.Options{Fast: true})
	cfg := resolve(t, t.TempDir(), url, "--streaming", "--no-fixed-schedule", "--concurrency", "1", "--request-count", "3",
		"--custom-dataset-type", "mooncake_trace", "--input-file", path)
	if outcome, err := execute(t, cfg, Options{}); err != nil || outcome.Problem != nil {
		t.Fatal(err, outcome)
	}
	sent := arrivals()
	if len(sent) != 3 || sent[0].Body != sent[2].Body || sent[0].Body == sent[1].Body {
		t.Errorf("%d requests; the first and the third alike %v, the first and the second %v", len(sent),
			sent[0].Body == sent[2].Body, sent[0].Body == sent[1].Body)
	}
}
