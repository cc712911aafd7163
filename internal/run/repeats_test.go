package run

import (
	"encoding/json"
	"hash/maphash"
	"math"
	"os"
	"strings"
	"testing"

	"aiperf/internal/config"
	resolver "aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/mockserver"
	"aiperf/internal/workload/dataset"
)

// What a run repeats is counted as a prefix cache without bounds would find it.
func TestRepeatsOfPrompts(t *testing.T) {
	long := func(letter string) string { return strings.Repeat(letter, 640) }
	text := func(s string) dataset.Turn { return dataset.Turn{Texts: []dataset.Media{{Contents: []string{s}}}} }
	conversation := func(texts ...string) (c dataset.Conversation) {
		for _, s := range texts {
			c.Turns = append(c.Turns, text(s))
		}
		return c
	}
	raw := func(messages string) dataset.Conversation {
		return dataset.Conversation{Turns: []dataset.Turn{{RawPayload: json.RawMessage(`{"model":"` + messages[:1] +
			`","messages":"` + messages + `"}`)}}}
	}
	system := long("s")
	prefixed := func(s string) dataset.Conversation {
		c := conversation(s)
		c.SystemMessage = &system
		return c
	}
	for _, c := range []struct {
		name          string
		conversations []dataset.Conversation
		mode          dataset.ContextMode
		times         uint32
		warm          bool
		want          float64
	}{
		{"different prompts", []dataset.Conversation{conversation(long("a")), conversation(long("b"))}, "", 1, false, 0},
		{"prompts that a warm-up sent", []dataset.Conversation{conversation(long("a"))}, "", 1, true, 1},
		{"each four times", []dataset.Conversation{conversation(long("a")), conversation(long("b"))}, "", 4, false, 0.75},
		{"equal prompts", []dataset.Conversation{conversation("short"), conversation("short")}, "", 1, false, 0.5},
		{"a shared system message", []dataset.Conversation{prefixed(long("a")), prefixed(long("b"))}, "", 1, false, 0.25},
		{"the same end only", []dataset.Conversation{conversation(long("a") + long("c")), conversation(long("b") + long("c"))},
			"", 1, false, 0},
		{"a history", []dataset.Conversation{conversation(long("a"), long("b"))}, dataset.DeltasWithResponses, 1, false,
			1.0 / 3},
		{"a history with replies of its length", []dataset.Conversation{conversation(long("a"), long("b"))},
			dataset.DeltasWithoutResponses, 1, false, 0.5},
		{"turns that stand alone", []dataset.Conversation{conversation(long("a"), long("a")+long("b"))},
			dataset.MessageArrayWithResponses, 1, false, 1.0 / 3},
		{"whole bodies", []dataset.Conversation{raw(long("a")), raw(long("b")), raw(long("a"))}, "", 1, false, 1.0 / 3},
	} {
		x := prefixIndex{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}, reply: 640}
		for i := range c.conversations {
			x.add(&c.conversations[i], c.mode, c.times, c.warm)
		}
		if got := x.known / x.all; math.Abs(got-c.want) > 0.01 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A server that took prompts from its cache which this run sent for the first time knew them before.
func TestWarmCacheIsTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		cached float64
		args   string
		told   bool
	}{
		{"an earlier run", 0.98, "--request-count 10 --num-dataset-entries 10", true},
		{"a cold cache", 0, "--request-count 10 --num-dataset-entries 10", false},
		{"prompts of this run", 0.9, "--request-count 40 --num-dataset-entries 2", false},
		{"prompts of its warm-up", 0.98, "--request-count 3 --warmup-request-count 3 --num-dataset-entries 1", false},
		{"a shared system prompt", 0.6, "--request-count 10 --num-dataset-entries 10 --shared-system-prompt-length 900",
			false},
		{"conversations", 0.5, "--conversation-num 4 --conversation-turn-mean 4 --conversation-turn-stddev 0", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			at := serve(t, mockserver.Options{Fast: true, CachedShare: c.cached})
			parsed, err := settings.Parse(append([]string{"--model", "mock-model", "--tokenizer", "builtin", "--url", at,
				"--ui", "none", "--artifact-dir", t.TempDir(), "--isl", "300", "--osl", "2", "--random-seed", "1",
				"--no-gpu-telemetry"}, strings.Fields(c.args)...),
				func(name string) (string, bool) { v, set := scrapeEnv[name]; return v, set })
			if err != nil {
				t.Fatal(err)
			}
			cfg, _, err := resolver.Resolve(parsed, Catalog{})
			if err != nil {
				t.Fatal(err)
			}
			out, err := execute(t, cfg, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(reasons(out), " warm_cache "); got != c.told {
				t.Errorf("findings %s; %+v", reasons(out), out.Result.Cached)
			}
			if out.Result.Cached == nil || math.Abs(out.Result.Cached.Share-c.cached) > 0.01 {
				t.Errorf("%+v", out.Result.Cached)
			}
			file, err := os.ReadFile(cfg.Artifacts.Path(config.SummaryJSON))
			if err != nil {
				t.Fatal(err)
			}
			var doc struct {
				Cache struct {
					Share   float64  `json:"share"`
					Metric  string   `json:"server_metric"`
					Repeats *float64 `json:"repeats_share"`
				} `json:"prefix_cache"`
			}
			if err := json.Unmarshal(file, &doc); err != nil || doc.Cache.Metric != "vllm:prompt_tokens_cached" ||
				doc.Cache.Repeats == nil {
				t.Errorf("%v: %+v", err, doc)
			}
		})
	}
}
