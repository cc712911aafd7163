package resolve

import (
	"aiperf/internal/config"
	"aiperf/internal/config/parse"
	"aiperf/internal/workload/recipe"
)

// dataset decides which conversations are made or read.
type dataset struct {
	*asked
	endpoint *endpoint
	file     *datafile
	scenario *scenario
	timing   *timing

	media     *media
	traces    *traces
	published *published
}

func (ds *dataset) build() config.Dataset {
	p := ds.p
	pairs, _ := ds.lengthPairs() // checked before
	data := config.Dataset{
		Kind:                     config.SyntheticDataset,
		Path:                     p.Text("input-file"),
		Format:                   ds.file.named(),
		Entries:                  int(*p.Int("num-dataset-entries")),
		Sessions:                 ds.timing.sessions,
		Columns:                  ds.file.columns(),
		BlockSize:                intOr0(p.Int("isl-block-size")),
		IgnoreTimes:              p.Bool("ignore-trace-delays"),
		Synthesis:                ds.traces.synthesis(),
		Sampling:                 p.Text("dataset-sampling-strategy"),
		ISL:                      recipe.Normal{Mean: p.Real("isl"), Stddev: p.Real("isl-stddev")},
		SequenceDistribution:     pairs,
		Batches:                  ds.media.batches(),
		Rankings:                 ds.rankings(),
		Images:                   ds.media.images(),
		Audio:                    ds.media.audio(),
		Video:                    ds.media.video(),
		Baseten:                  ds.traces.baseten(),
		StripImages:              ds.p.Bool("uuid-and-strip"),
		CacheBust:                ds.scenario.cacheBust(),
		Corpus:                   ds.corpus(),
		CorpusStyle:              ds.randomStyle(),
		Range:                    ds.lengthRange(),
		Turns:                    ds.sizes(p.Dataset.Turns, "conversation-turn"),
		TurnDelayMS:              ds.sizes(p.Dataset.TurnDelayMS, "conversation-turn-delay"),
		TurnDelayRatio:           *p.Float("conversation-turn-delay-ratio"),
		PrefixPoolSize:           int(*p.Int("prompt-prefix-pool-size")),
		PrefixLength:             int(*p.Int("prompt-prefix-length")),
		SharedSystemPromptLength: intOr0(p.Int("shared-system-prompt-length")),
		UserContextPromptLength:  intOr0(p.Int("user-context-prompt-length")),
		SystemPrompt:             ds.systemPrompt(),
		MaxContext:               intOr0(p.Int("max-context-length")),
		ThinkOnly:                p.Bool("use-think-time-only"),
	}
	if own := p.Dataset.ISL; own != nil {
		data.ISL = own
	}
	recordings := ds.given("num-dataset-entries") && ds.file.recorded
	if recordings {
		data.MaxTraces = data.Entries
	}
	if data.Path != "" {
		data.Kind = config.FileDataset
		if !recordings {
			data.Limit = p.Dataset.Limit
		}
	}
	if s := p.Float("inter-turn-delay-cap-seconds"); s != nil {
		ms := *s * 1000
		data.MaxDelayMS = &ms
	}
	if data.Public = ds.published.build(); data.Public.Name != "" {
		data.Kind, data.Path, data.Format = config.PublicDataset, "", ""
	}
	if osl := p.Int("osl"); osl != nil {
		data.OSL = recipe.Normal{Mean: float64(*osl), Stddev: p.Real("osl-stddev")}
	}
	if own := p.Dataset.OSL; own != nil {
		data.OSL = own
	}
	data.Records, data.Seed, data.MediaMix = p.Dataset.Records, p.Dataset.Seed, p.Dataset.MediaMix
	if !ds.endpoint.facts.TakesText {
		data.ISL, data.Batches.Text = recipe.Normal{}, 0
	}
	return data
}

// systemPrompt is the verbatim system text, from the flag or its file.
func (ds *dataset) systemPrompt() *string {
	switch {
	case ds.given("system-prompt"):
		text := ds.p.Text("system-prompt")
		return &text
	case ds.given("system-prompt-file"):
		data, err := parse.ReadText(ds.p.Text("system-prompt-file"), maxPromptBytes)
		if err != nil {
			ds.fault("", "%s: the file cannot be read: %v", ds.flag("system-prompt-file"), err)
		}
		text := string(data)
		return &text
	}
	return nil
}

// maxPromptBytes bounds the file of a system prompt, which every request carries.
const maxPromptBytes = 16 << 20

// rankings is nil for endpoints that rank nothing and for conversations of a file.
func (ds *dataset) rankings() *recipe.Rankings {
	if !ds.endpoint.isRankings() || !ds.file.generated() {
		return nil
	}
	return &recipe.Rankings{
		Passages:      ds.sizes(ds.p.Dataset.Passages, "rankings-passages"),
		PassageTokens: ds.sizes(ds.p.Dataset.PassageTokens, "rankings-passages-prompt-token"),
		QueryTokens:   ds.sizes(ds.p.Dataset.QueryTokens, "rankings-query-prompt-token"),
	}
}

// corpus is what texts are cut from: code for agents that were recorded at work, unless the user names another.
func (ds *dataset) corpus() string {
	if ds.file.coders && !ds.given("prompt-corpus") {
		return "coding"
	}
	return ds.p.Text("prompt-corpus")
}

// randomStyle is whose way of making random prompts is followed, for the window of lengths and for the
// tokens that are drawn.
func (ds *dataset) randomStyle() string {
	if ds.given("random-range-ratio-mode") {
		return ds.p.Text("random-range-ratio-mode")
	}
	return ds.p.Text("random-corpus-style")
}

// lengthRange is nil if no window was asked for.
func (ds *dataset) lengthRange() *config.LengthRange {
	if !ds.given("random-range-ratio") {
		return nil
	}
	r, _ := parse.LengthRange(ds.p.Text("random-range-ratio")) // checked before
	r.Mode = ds.randomStyle()
	return &r
}

func (ds *dataset) lengthPairs() ([]recipe.LengthPair, error) {
	if !ds.given("seq-dist") {
		return ds.p.Dataset.SequenceDistribution, nil
	}
	return parse.SequenceDistribution(ds.p.Text("seq-dist"))
}
