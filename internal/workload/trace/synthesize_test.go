package trace_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/workload/trace"
)

func TestTrapLognormalParameters(t *testing.T) {
	for _, test := range []struct{ mean, median, mu, sigma float64 }{{3500, 1800, 7.4955, 1.1532},
		{2500, 1800, 7.495542, 0.810560}} {
		mu, sigma := trace.Lognormal{Mean: test.mean, Median: test.median}.Parameters()
		if math.Abs(mu-test.mu) > 5e-5 || math.Abs(sigma-test.sigma) > 5e-5 {
			t.Errorf("%v/%v: %v, %v", test.mean, test.median, mu, sigma)
		}
	}
}

func synthesized(t *testing.T, o trace.SynthesizeOptions) (dir string, rows []map[string]any) {
	t.Helper()
	o.Output, o.Now = t.TempDir(), time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	dir, files, err := trace.Synthesize(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 7 {
		t.Errorf("files: %v", files)
	}
	text, err := os.ReadFile(filepath.Join(dir, "dataset.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return dir, rows
}

// configOf returns the configuration that the manifest of a data set has.
func configOf(t *testing.T, dir string) trace.SessionConfig {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Params trace.SessionConfig `json:"generation_params"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	return manifest.Params
}

// blocksOf is the number of blocks that hold so many tokens.
func blocksOf(tokens, size int) int { return (tokens + size - 1) / size }

func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mine.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMadeSessions(t *testing.T) {
	dir, rows := synthesized(t, trace.SynthesizeOptions{Sessions: 60, Seed: 7})
	if got := filepath.Base(dir); got != "default_60s_seed7_20260203-040506" {
		t.Errorf("folder %s", got)
	}
	name := regexp.MustCompile(`^sess-[0-9a-f]{12}$`)
	c := configOf(t, dir)
	sessions, used := map[string]float64{}, map[float64]bool{}
	shared := blocksOf(c.Cache.Layer1Tokens, c.BlockSize)
	// Between the blocks that all share and those of the sessions there is room for 1000 groups of 200 blocks.
	own, least := float64(shared+1000*200), math.Inf(1)
	for i, row := range rows {
		id := row["session_id"].(string)
		input, output, ids := row["input_length"].(float64), row["output_length"].(float64), row["hash_ids"].([]any)
		if !name.MatchString(id) || len(ids) != blocksOf(int(input), c.BlockSize) {
			t.Fatalf("row %d: %v", i, row)
		}
		context, later := sessions[id]
		_, first := row["timestamp"]
		_, delay := row["delay"]
		_, group := row["group_id"]
		if first == later || delay != later || group == later {
			t.Fatalf("row %d has the fields of another place: %v", i, row)
		}
		if sessions[id] = context + input; sessions[id] >= float64(c.MaxPromptTokens) {
			t.Errorf("row %d: a context of %v", i, sessions[id])
		}
		sessions[id] += output
		for k, v := range ids {
			id := v.(float64)
			if !later && k < shared {
				if id != float64(k) {
					t.Fatalf("row %d: block %d is %v", i, k, id)
				}
				continue
			}
			if used[id] || id < own {
				t.Fatalf("row %d: id %v is not the session's own", i, id)
			}
			used[id], least = true, min(least, id)
		}
	}
	if len(sessions) != 60 {
		t.Errorf("%d sessions", len(sessions))
	}
	if least != own {
		t.Errorf("the ids of the sessions begin at %v, want %v", least, own)
	}
}

func TestTheSameSeedMakesTheSameSessionsAlsoFromItsManifest(t *testing.T) {
	first, rows := synthesized(t, trace.SynthesizeOptions{Sessions: 20, Seed: 1, MaxOSL: 400})
	again, _ := synthesized(t, trace.SynthesizeOptions{Sessions: 20, Seed: 1,
		Config: filepath.Join(first, "manifest.json")})
	other, _ := synthesized(t, trace.SynthesizeOptions{Sessions: 20, Seed: 2, MaxOSL: 400})
	read := func(dir string) string {
		text, err := os.ReadFile(filepath.Join(dir, "dataset.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if read(first) != read(again) || read(first) == read(other) {
		t.Error("the seed does not decide")
	}
	for _, row := range rows {
		if row["output_length"].(float64) > 400 {
			t.Fatalf("%v", row)
		}
	}
}

func TestSessionsOfFixedTurns(t *testing.T) {
	const plain = `"new_tokens_per_turn":{"mean":100,"median":100},"cache":{"layer1_tokens":1000,"layer1_5_tokens":600,"layer2":{"mean":100,"median":100},"groups":3,"zipf_alpha":1}`
	_, rows := synthesized(t, trace.SynthesizeOptions{Sessions: 10,
		Config: configFile(t, `{"turns":{"mean":4,"median":4},`+plain+`}`)})
	if len(rows) != 40 {
		t.Errorf("%d rows", len(rows))
	}
	path := configFile(t, `{"turns":{"mean":400,"median":400,"max_session_attempts":2},"max_prompt_tokens":3000,`+plain+
		`}`)
	if _, _, err := trace.Synthesize(context.Background(),
		trace.SynthesizeOptions{Sessions: 1, Config: path, Output: t.TempDir()}); err == nil ||
		!strings.Contains(err.Error(), "allow_truncation") {
		t.Errorf("got %v", err)
	}
}

func TestRestartsGoOnAQuarterLater(t *testing.T) {
	const n = 80
	usual, _ := synthesized(t, trace.SynthesizeOptions{Sessions: 1})
	c := configOf(t, usual)
	c.RestartProbability, c.RestartTurns, c.Reset.BaseProbability = 1, [2]int{2, 4}, 0
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	_, rows := synthesized(t, trace.SynthesizeOptions{Sessions: n, Seed: 3, Config: configFile(t, string(text))})
	type session struct {
		id      string
		restart bool
		input   int   // of the first row
		context int   // tokens of all rows
		first   []any // ids of the first row
		ids     []any // ids of all rows
	}
	var sessions []*session
	for _, row := range rows {
		id, _ := row["session_id"].(string)
		input, output := int(row["input_length"].(float64)), int(row["output_length"].(float64))
		ids, _ := row["hash_ids"].([]any)
		if len(sessions) == 0 || sessions[len(sessions)-1].id != id {
			restart, _ := row["is_restart"].(bool)
			sessions = append(sessions, &session{id: id, restart: restart, input: input, first: ids})
		}
		s := sessions[len(sessions)-1]
		s.context += input + output
		s.ids = append(s.ids, ids...)
	}
	restarts := 0
	for i, s := range sessions {
		if !s.restart {
			continue
		}
		restarts++
		// The session that goes on has the ids with which this one begins.
		before := slices.IndexFunc(sessions, func(o *session) bool {
			return o != s && len(o.ids) < len(s.first) && slices.Equal(o.ids, s.first[:len(o.ids)])
		})
		if before < 0 {
			t.Errorf("session %d begins with the context of none", i)
			continue
		}
		// Its whole context comes again, with what is new in the turn.
		fresh := s.input - sessions[before].context
		if i < n/4 || fresh < 1 || fresh > int(c.NewTokens.Max) || len(s.first) != blocksOf(s.input, c.BlockSize) {
			t.Errorf("session %d: %d tokens, %d of them new, in %d blocks", i, s.input, fresh, len(s.first))
		}
	}
	if restarts == 0 || len(sessions) != n+restarts {
		t.Errorf("%d restarts, %d sessions", restarts, len(sessions))
	}
}

func TestConfigurationsThatCannotBeMade(t *testing.T) {
	for text, want := range map[string]string{
		`{"nothing":1}`:                                 "unknown field",
		`{"cache":{"groups":0}}`:                        "groups",
		`{"max_prompt_tokens":5}`:                       "max_prompt_tokens",
		`{"new_tokens_per_turn":{"mean":1,"median":2}}`: "new_tokens_per_turn",
		`{"turns":{"mean":2,"median":2},"restart_initial_probability":0.5}`: "turns excludes",
		`{"restart_turn_range":[5,5]}`:                                      "restart_turn_range",
	} {
		_, _, err := trace.Synthesize(context.Background(),
			trace.SynthesizeOptions{Sessions: 1, Config: configFile(t, text), Output: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestThePrefixCacheDropsWhatWasUsedLongestAgo(t *testing.T) {
	c := trace.NewPrefixCache(3)
	for i, step := range []struct {
		ids  []int64
		hits int
	}{{[]int64{1, 2, 3}, 0}, {[]int64{1, 2, 3}, 3}, {[]int64{1, 9}, 1}, {[]int64{1, 2}, 2}, {[]int64{1, 2, 3}, 2}} {
		if got := c.Use(step.ids); got != step.hits {
			t.Errorf("step %d: %d hits, want %d", i, got, step.hits)
		}
	}
}
