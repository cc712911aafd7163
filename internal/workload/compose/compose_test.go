package compose_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/compose"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/recipe"
	"aiperf/internal/workload/synthetic"
	"aiperf/internal/workload/tokenizer"
)

// defaults are the options of a run in which the user gave none but a seed.
func defaults(change ...func(*compose.Options)) compose.Options {
	o := compose.Options{
		Kind:       compose.Synthetic,
		Entries:    100,
		ISL:        recipe.Normal{Mean: 550},
		BatchSize:  1,
		Turns:      recipe.Normal{Mean: 1},
		DelayRatio: 1,
		Models:     []string{"m"},
		Seed:       random.Root(42),
	}
	for _, f := range change {
		f(&o)
	}
	return o
}

func build(t *testing.T, o compose.Options) *dataset.Dataset {
	t.Helper()
	d, warnings, err := compose.Build(context.Background(), o, tokenizer.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warnings {
		t.Errorf("warning: %s", w)
	}
	return d
}

// prompts is the first text of each turn of all conversations.
func prompts(d *dataset.Dataset) []string {
	var all []string
	for _, c := range d.All() {
		for _, turn := range c.Turns {
			all = append(all, turn.Texts[0].Contents[0])
		}
	}
	return all
}

func counts(all []string) []int {
	var n []int
	for _, text := range all {
		n = append(n, tokenizer.Builtin().Count(text))
	}
	return n
}

func wantCounts(t *testing.T, all []string, want int) {
	t.Helper()
	for i, n := range counts(all) {
		if n != want {
			t.Fatalf("text %d has %d tokens, want %d", i, n, want)
		}
	}
}

func file(t *testing.T, content string) func(*compose.Options) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return func(o *compose.Options) { o.Kind, o.Path = compose.File, path }
}

// pair is an entry of fixed lengths.
func pair(isl, osl, percent float64) recipe.LengthPair {
	return recipe.LengthPair{ISL: recipe.Normal{Mean: isl}, OSL: recipe.Normal{Mean: osl}, Percent: percent}
}

func TestTrapPromptsHaveExactLengths(t *testing.T) {
	for _, isl := range []float64{100, 550} {
		d := build(t, defaults(func(o *compose.Options) { o.ISL = recipe.Normal{Mean: isl} }))
		if d.Len() != 100 || d.Sampling != dataset.Shuffle {
			t.Errorf("%d conversations, %s", d.Len(), d.Sampling)
		}
		for i, c := range d.All() {
			if want := fmt.Sprintf("session_%06d", i); c.SessionID != want {
				t.Errorf("id %s, want %s", c.SessionID, want)
			}
			if len(c.Turns) != 1 || c.SystemMessage != nil || c.UserContext != nil {
				t.Errorf("conversation %+v", c)
			}
		}
		wantCounts(t, prompts(d), int(isl))
	}
}

// adding is the built-in vocabulary as a model whose pipeline adds special tokens.
type adding struct{ tokenizer.Tokenizer }

func (adding) Specials() tokenizer.Specials { return tokenizer.Specials{BOS: 1, EOS: 2, Added: 2} }

func TestTrapAddedSpecialTokensAreSubtracted(t *testing.T) {
	o := defaults(func(o *compose.Options) { o.Entries, o.ISL = 10, recipe.Normal{Mean: 100} })
	d, _, err := compose.Build(context.Background(), o, adding{tokenizer.Builtin()})
	if err != nil {
		t.Fatal(err)
	}
	wantCounts(t, prompts(d), 98)
	o.ISL = recipe.Normal{Mean: 2}
	if d, _, err = compose.Build(context.Background(), o, adding{tokenizer.Builtin()}); err != nil {
		t.Fatal(err)
	}
	wantCounts(t, prompts(d), 1)
	o.ISL = recipe.Normal{Mean: 100}
	o.SeqDist = []recipe.LengthPair{pair(100, 5, 100)}
	if d, _, err = compose.Build(context.Background(), o, adding{tokenizer.Builtin()}); err != nil {
		t.Fatal(err)
	}
	wantCounts(t, prompts(d), 100)
}

func TestTrapSameSeedSameDataset(t *testing.T) {
	o := defaults(func(o *compose.Options) {
		o.ISL = recipe.Normal{Mean: 60, Stddev: 20}
		o.OSL = recipe.Normal{Mean: 30, Stddev: 9}
		o.Turns = recipe.Normal{Mean: 2, Stddev: 1}
		o.DelayMS = recipe.Normal{Mean: 50, Stddev: 20}
		o.PrefixPool, o.PrefixLength, o.SharedSystemLength, o.UserContextLength = 3, 10, 12, 14
		o.Models, o.ModelSelection = []string{"a", "b"}, compose.RandomModel
	})
	want := build(t, o)
	before := runtime.GOMAXPROCS(1)
	alone := build(t, o)
	runtime.GOMAXPROCS(before)
	if !reflect.DeepEqual(alone, want) || !reflect.DeepEqual(build(t, o), want) {
		t.Error("the dataset depends on the number of cores")
	}
	o.Seed = random.Root(43)
	other := prompts(build(t, o))
	for i, text := range prompts(want)[:50] {
		if text == other[i] {
			t.Errorf("text %d is the same with another seed", i)
		}
	}
}

// The generator is frozen: a seed gives the same data in every release.
func TestDatasetOfASeedIsFrozen(t *testing.T) {
	o := defaults(func(o *compose.Options) {
		o.ISL, o.OSL = recipe.Normal{Mean: 80, Stddev: 20}, recipe.Normal{Mean: 20, Stddev: 5}
		o.Turns, o.DelayMS = recipe.Normal{Mean: 3, Stddev: 1}, recipe.Normal{Mean: 100, Stddev: 10}
		o.PrefixPool, o.PrefixLength = 4, 20
	})
	// What a generator fills; fields that it leaves alone may come and go.
	type turn struct {
		Model, Role                   string
		TimestampMS, DelayMS          *float64
		MaxTokens                     *int
		Texts, Images, Audios, Videos []dataset.Media
		RawMessages, RawTools         []json.RawMessage
		Extra                         []dataset.Field
	}
	type conversation struct {
		SessionID                  string
		Turns                      []turn
		ContextMode                dataset.ContextMode
		SystemMessage, UserContext *string
	}
	var all []conversation
	for _, c := range build(t, o).All() {
		kept := conversation{c.SessionID, nil, c.ContextMode, c.SystemMessage, c.UserContext}
		for _, t := range c.Turns {
			kept.Turns = append(kept.Turns, turn{
				t.Model, t.Role, t.TimestampMS, t.DelayMS, t.MaxTokens,
				t.Texts, t.Images, t.Audios, t.Videos, t.RawMessages, t.RawTools, t.Extra,
			})
		}
		all = append(all, kept)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	const want = "15e54f249cc3cca542d24f2a829079fa6dee058c03f7e5c4862138622e60fe3f"
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("the dataset of seed 42 has changed: %s, want %s", got, want)
	}
}

func TestTrapIDsWithoutASeedAreRandom(t *testing.T) {
	seedless := func() *dataset.Dataset {
		return build(t, defaults(func(o *compose.Options) { o.Seed, o.Entries = random.Seed{}, 5 }))
	}
	a, b := seedless(), seedless()
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for i, c := range a.All() {
		if !uuid.MatchString(c.SessionID) || c.SessionID == b.At(i).SessionID {
			t.Errorf("ids %s and %s", c.SessionID, b.At(i).SessionID)
		}
	}
	if prompts(a)[0] == prompts(b)[0] {
		t.Error("two runs without a seed have the same texts")
	}
}

func TestTrapOutputLimit(t *testing.T) {
	limits := func(o compose.Options) (all []int) {
		for _, c := range build(t, o).All() {
			for _, turn := range c.Turns {
				if turn.MaxTokens == nil {
					all = append(all, -1)
				} else {
					all = append(all, *turn.MaxTokens)
				}
			}
		}
		return all
	}
	small := func(o *compose.Options) { o.Entries, o.ISL = 2, recipe.Normal{Mean: 5} }
	for _, c := range []struct {
		name string
		o    compose.Options
		want []int
	}{
		{"none", defaults(small), []int{-1, -1}},
		{"osl 0", defaults(small, func(o *compose.Options) { o.OSL = recipe.Normal{} }), []int{1, 1}},
		{"osl", defaults(small, func(o *compose.Options) { o.OSL = recipe.Normal{Mean: 32} }), []int{32, 32}},
		{"a file's own limit wins", defaults(file(t, `{"text":"a","output_length":7}
{"text":"b"}`), func(o *compose.Options) { o.OSL = recipe.Normal{Mean: 32} }), []int{7, 32}},
		{"sequence distribution before osl", defaults(file(t, `{"text":"a","output_length":7}
{"text":"b"}`), func(o *compose.Options) {
			o.OSL, o.SeqDist = recipe.Normal{Mean: 32}, []recipe.LengthPair{pair(9, 8, 100)}
		}), []int{7, 8}},
		{"file without limits", defaults(file(t, `{"turns":[{"text":"a"},{"text":"b"}]}`)), []int{-1, -1}},
	} {
		if got := limits(c.o); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestTrapSequenceDistributionDraw(t *testing.T) {
	pairs := []recipe.LengthPair{pair(256, 128, 40), pair(512, 256, 60)}
	for u, want := range map[float64]float64{0: 256, 0.39: 256, 0.40: 512, 0.99: 512} {
		if got := compose.ChoosePair(pairs, u).ISL.Expected(); got != want {
			t.Errorf("u = %v chose %v, want %v", u, got, want)
		}
	}
	short := []recipe.LengthPair{pair(1, 0, 50), pair(2, 0, 49.9999)}
	if got := compose.ChoosePair(short, 0.9999999).ISL.Expected(); got != 2 {
		t.Errorf("behind the last share: %v", got)
	}
}

func TestTrapSequenceDistributionNeverMixesPairs(t *testing.T) {
	d := build(t, defaults(func(o *compose.Options) {
		o.Turns, o.BatchSize = recipe.Normal{Mean: 3}, 2
		o.SeqDist = []recipe.LengthPair{pair(64, 32, 50), pair(10, 7, 50)}
	}))
	seen := map[string]int{}
	for _, c := range d.All() {
		for _, turn := range c.Turns {
			for _, n := range counts(turn.Texts[0].Contents) {
				seen[fmt.Sprint(n, *turn.MaxTokens)]++
			}
		}
	}
	if len(seen) != 2 || seen["64 32"] < 200 || seen["10 7"] < 200 {
		t.Errorf("pairs %v", seen)
	}
}

func TestTrapPrefixIsAddedToTheFirstTurnOnly(t *testing.T) {
	d := build(t, defaults(func(o *compose.Options) {
		o.ISL, o.Turns, o.PrefixPool, o.PrefixLength = recipe.Normal{Mean: 128}, recipe.Normal{Mean: 2}, 1, 20
	}))
	var first, second []string
	for i, text := range prompts(d) {
		if i%2 == 0 {
			first = append(first, text)
		} else {
			second = append(second, text)
		}
	}
	wantCounts(t, first, 148)
	wantCounts(t, second, 128)
	prefix := tokenizer.Builtin().Decode(tokenizer.Builtin().Encode(nil, first[0])[:18])
	for i := range first {
		if !strings.HasPrefix(first[i], prefix) || strings.HasPrefix(second[i], prefix) {
			t.Fatalf("%q does not stand before first turns alone", prefix)
		}
	}
}

func TestTrapPrefixPoolSize(t *testing.T) {
	d := build(t, defaults(func(o *compose.Options) {
		o.ISL, o.PrefixPool, o.PrefixLength = recipe.Normal{Mean: 30}, 3, 20
	}))
	heads := map[string]int{}
	for _, text := range prompts(d) {
		heads[text[:30]]++
	}
	if len(heads) != 3 {
		t.Errorf("%d different beginnings, want 3: %v", len(heads), heads)
	}
}

func TestTrapSystemPromptIsShared(t *testing.T) {
	d := build(t, defaults(func(o *compose.Options) {
		o.Turns, o.Entries, o.SharedSystemLength = recipe.Normal{Mean: 3}, 5, 50
	}))
	for _, c := range d.All() {
		if c.SystemMessage == nil || *c.SystemMessage != *d.At(0).SystemMessage || len(c.Turns) != 3 {
			t.Fatalf("conversation %+v", c)
		}
	}
	wantCounts(t, []string{*d.At(0).SystemMessage}, 50)
	verbatim := "Be brief."
	d = build(t, defaults(file(t, `{"text":"a"}`), func(o *compose.Options) { o.SystemPrompt = &verbatim }))
	if got := d.At(0).SystemMessage; got == nil || *got != verbatim {
		t.Errorf("verbatim system prompt: %v", got)
	}
}

func TestTrapUserContextsDiffer(t *testing.T) {
	d := build(t, defaults(func(o *compose.Options) { o.Entries, o.UserContextLength = 5, 30 }))
	seen := map[string]bool{}
	for _, c := range d.All() {
		seen[*c.UserContext] = true
		wantCounts(t, []string{*c.UserContext}, 30)
	}
	if len(seen) != 5 {
		t.Errorf("%d different contexts", len(seen))
	}
}

func TestTrapStreamsDoNotDisturbEachOther(t *testing.T) {
	base := func(change ...func(*compose.Options)) *dataset.Dataset {
		return build(t, defaults(append([]func(*compose.Options){func(o *compose.Options) {
			o.Entries, o.ISL = 20, recipe.Normal{Mean: 40, Stddev: 10}
		}}, change...)...))
	}
	plain := prompts(base())
	if got := prompts(base(func(o *compose.Options) { o.UserContextLength = 10 })); !reflect.DeepEqual(got, plain) {
		t.Error("user contexts change the prompts")
	}
	if got := prompts(base(func(o *compose.Options) {
		o.OSL = recipe.Normal{Mean: 9, Stddev: 3}
	})); !reflect.DeepEqual(got, plain) {
		t.Error("output lengths change the prompts")
	}
	pooled := prompts(base(func(o *compose.Options) { o.PrefixPool, o.PrefixLength = 2, 15 }))
	for i := range plain {
		if strings.HasSuffix(pooled[i], plain[i][len(plain[i])/2:]) {
			t.Errorf("prompt %d is the same behind a prefix pool", i)
		}
		if n, want := tokenizer.Builtin().Count(pooled[i]), tokenizer.Builtin().Count(plain[i])+15; n != want {
			t.Errorf("prompt %d has %d tokens behind a prefix, want %d", i, n, want)
		}
	}
}

func TestTrapMultiTurnDelays(t *testing.T) {
	d := build(t, defaults(func(o *compose.Options) {
		o.Entries, o.Turns, o.DelayMS, o.DelayRatio = 4, recipe.Normal{Mean: 3}, recipe.Normal{Mean: 100}, 0.5
	}))
	if d.Len() != 4 || d.Turns() != 12 {
		t.Fatalf("%d conversations, %d turns", d.Len(), d.Turns())
	}
	for _, c := range d.All() {
		if c.Turns[0].DelayMS != nil || *c.Turns[1].DelayMS != 50 || *c.Turns[2].DelayMS != 50 {
			t.Errorf("delays %v %v %v", c.Turns[0].DelayMS, *c.Turns[1].DelayMS, *c.Turns[2].DelayMS)
		}
	}
}

func TestTrapModelsAlternatePerTurn(t *testing.T) {
	two := func(o *compose.Options) {
		o.Entries, o.ISL, o.Turns, o.Models = 50, recipe.Normal{Mean: 5}, recipe.Normal{Mean: 2}, []string{"A", "B"}
	}
	for _, c := range build(t, defaults(two)).All() {
		if c.Turns[0].Model != "A" || c.Turns[1].Model != "B" {
			t.Fatalf("models %s, %s", c.Turns[0].Model, c.Turns[1].Model)
		}
	}
	drawn := map[string]int{}
	random := func(o *compose.Options) { o.ModelSelection = compose.RandomModel }
	for _, c := range build(t, defaults(two, random)).All() {
		drawn[c.Turns[0].Model+c.Turns[1].Model]++
	}
	if len(drawn) != 4 {
		t.Errorf("random selection drew %v", drawn)
	}
}

// Models by weight have their shares of the turns; one of no weight has none, and a seed gives the same models again.
func TestModelsByWeight(t *testing.T) {
	drawn := func(weights ...float64) (string, map[string]int) {
		counts, order := map[string]int{}, ""
		d := build(t, defaults(func(o *compose.Options) {
			o.Entries, o.ISL = 2000, recipe.Normal{Mean: 5}
			o.Models, o.ModelSelection, o.ModelWeights = []string{"A", "B", "C"},
				compose.Weighted, weights
		}))
		for _, c := range d.All() {
			counts[c.Turns[0].Model]++
			order += c.Turns[0].Model
		}
		return order, counts
	}
	first, counts := drawn(0.7, 0.3, 0)
	if counts["A"] < 1300 || counts["A"] > 1500 || counts["A"]+counts["B"] != 2000 {
		t.Errorf("drawn %v", counts)
	}
	if again, _ := drawn(0.7, 0.3, 0); again != first {
		t.Error("the same seed drew other models")
	}
	if _, counts := drawn(0.333, 0.333, 0.333); counts["C"] < 560 || counts["C"] > 780 {
		t.Errorf("thirds: %v", counts)
	}
	for want, weights := range map[string][]float64{
		"2 of 3 have one": {0.5, 0.5}, "0 of 3 have one": nil, "sum to 1.1": {0.5, 0.6, 0},
		"from 0 to 1": {-0.5, 1, 0.5},
	} {
		_, _, err := compose.Build(context.Background(), defaults(func(o *compose.Options) {
			o.Models, o.ModelSelection, o.ModelWeights = []string{"A", "B", "C"}, compose.Weighted, weights
		}), tokenizer.Builtin())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", weights, err, want)
		}
	}
}

func TestTrapGeneratedIDsAvoidThoseOfTheFile(t *testing.T) {
	d := build(t, defaults(file(t, `{"text":"a"}
{"text":"b","session_id":"session_000001"}
{"text":"c"}
{"text":"d","session_id":"session_000000"}`)))
	var ids []string
	for _, c := range d.All() {
		ids = append(ids, c.SessionID)
	}
	if want := []string{"session_000002", "session_000001", "session_000003", "session_000000"}; !reflect.DeepEqual(ids,
		want) {
		t.Errorf("ids %v, want %v", ids, want)
	}
}

func TestFileNeedsNoTokenizer(t *testing.T) {
	o := defaults(file(t, `{"text":"a","extra_key":1}`), func(o *compose.Options) { o.Sampling = dataset.Random })
	d, warnings, err := compose.Build(context.Background(), o, nil)
	if err != nil || d.Sampling != dataset.Random || len(warnings) != 1 || !strings.Contains(warnings[0], "extra_key") {
		t.Errorf("%+v, %v, %v", d, warnings, err)
	}
}

func TestBatchOfTexts(t *testing.T) {
	d := build(t, defaults(func(o *compose.Options) { o.Entries, o.BatchSize, o.ISL = 3, 4, recipe.Normal{Mean: 12} }))
	for _, c := range d.All() {
		texts := c.Turns[0].Texts
		if len(texts) != 1 || texts[0].Name != "text" || len(texts[0].Contents) != 4 {
			t.Fatalf("texts %+v", texts)
		}
		wantCounts(t, texts[0].Contents, 12)
	}
}

func TestOptionsThatCannotBeBuilt(t *testing.T) {
	prompt := "x"
	for want, change := range map[string]func(*compose.Options){
		"--isl":                    func(o *compose.Options) { o.ISL = recipe.Normal{Mean: 0} },
		"--batch-size":             func(o *compose.Options) { o.BatchSize = 0 },
		"--num-dataset-entries":    func(o *compose.Options) { o.Entries = 0 },
		"--system-prompt":          func(o *compose.Options) { o.SystemPrompt, o.SharedSystemLength = &prompt, 5 },
		"model selection":          func(o *compose.Options) { o.ModelSelection = "best" },
		"--conversation-turn-mean": func(o *compose.Options) { o.Turns = recipe.Normal{Mean: -1} },
		"--osl":                    func(o *compose.Options) { o.OSL = recipe.Normal{Mean: -1} },
		"kind of dataset":          func(o *compose.Options) { o.Kind = "cloud" },
		"cannot be read":           func(o *compose.Options) { o.Kind, o.Path = compose.File, "/nowhere" },
	} {
		_, _, err := compose.Build(context.Background(), defaults(change), tokenizer.Builtin())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
	if _, _, err := compose.Build(context.Background(), defaults(), nil); err == nil {
		t.Error("synthetic text without a tokenizer was accepted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := compose.Build(ctx, defaults(), tokenizer.Builtin()); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

// coarse makes one token of so many bytes, whatever they are: a corpus of few tokens.
type coarse struct{ tokenizer.Tokenizer }

const coarseBytes = 1000

func (c coarse) Encode(dst []int, text string) []int {
	return append(dst, make([]int, c.Count(text))...)
}
func (coarse) Count(text string) int   { return (len(text) + coarseBytes - 1) / coarseBytes }
func (coarse) Decode(ids []int) string { return strings.Repeat("x", coarseBytes*len(ids)) }

func TestWarnings(t *testing.T) {
	// The corpus of the built-in tokenizer, which prompts would take long to repeat, is of the size that these say.
	if corpus := synthetic.NewSource(tokenizer.Builtin()).CorpusTokens(); corpus < 1.2e6 || corpus >= 1.3e6 {
		t.Errorf("the corpus has %d tokens", corpus)
	}
	corpus := float64(synthetic.NewSource(coarse{tokenizer.Builtin()}).CorpusTokens())
	prompts := func(n int, isl float64) func(*compose.Options) {
		return func(o *compose.Options) { o.Entries, o.ISL = n, recipe.Normal{Mean: isl} }
	}
	for _, c := range []struct {
		want   string
		change func(*compose.Options)
	}{
		{"--num-prefix-prompts 2 has no effect", func(o *compose.Options) {
			o.ISL, o.PrefixPool = recipe.Normal{Mean: 5}, 2
		}},
		{"repeat the corpus", prompts(1, corpus+1)},
		{"", prompts(1, corpus)},
		{"begin at the same place", prompts(11, math.Floor(0.95*corpus))},
		{"", prompts(10, corpus)},
	} {
		_, warnings, err := compose.Build(t.Context(), defaults(c.change), coarse{tokenizer.Builtin()})
		if err != nil {
			t.Fatal(err)
		}
		if c.want == "" && len(warnings) == 0 {
			continue
		}
		if len(warnings) != 1 || c.want == "" || !strings.Contains(warnings[0], c.want) {
			t.Errorf("warnings %q, want one about %q", warnings, c.want)
		}
	}
}

func BenchmarkBuildDefault(b *testing.B) {
	for b.Loop() {
		if _, _, err := compose.Build(context.Background(), defaults(), tokenizer.Builtin()); err != nil {
			b.Fatal(err)
		}
	}
}
