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
		Kind:                 config.SyntheticDataset,
		Path:                 p.InputFile.Get(),
		Format:               ds.file.named(),
		Entries:              int(p.NumDatasetEntries.Get()),
		Sessions:             ds.timing.sessions,
		Columns:              ds.file.columns(),
		BlockSize:            int(p.ISLBlockSize.Get()),
		IgnoreTimes:          p.IgnoreTraceDelays.Get(),
		Synthesis:            ds.traces.synthesis(),
		Sampling:             p.DatasetSamplingStrategy.Get(),
		ISL:                  recipe.Normal{Mean: float64(p.ISL.Get()), Stddev: p.ISLStddev.Get()},
		SequenceDistribution: pairs,
		Batches:              ds.media.batches(),
		Rankings:             ds.rankings(),
		Images:               ds.media.images(),
		Audio:                ds.media.audio(),
		Video:                ds.media.video(),
		Baseten:              ds.traces.baseten(),
		StripImages:          ds.p.UUIDAndStrip.Get(),
		CacheBust:            ds.scenario.cacheBust(),
		Corpus:               ds.corpus(),
		CorpusStyle:          ds.randomStyle(),
		Range:                ds.lengthRange(),
		Turns:                sizes(p.Dataset.Turns, &p.ConversationTurnMean, &p.ConversationTurnStddev),
		TurnDelayMS: sizes(p.Dataset.TurnDelayMS, &p.ConversationTurnDelayMean,
			&p.ConversationTurnDelayStddev),
		TurnDelayRatio:           p.ConversationTurnDelayRatio.Get(),
		PrefixPoolSize:           int(p.PromptPrefixPoolSize.Get()),
		PrefixLength:             int(p.PromptPrefixLength.Get()),
		SharedSystemPromptLength: int(p.SharedSystemPromptLength.Get()),
		UserContextPromptLength:  int(p.UserContextPromptLength.Get()),
		SystemPrompt:             ds.systemPrompt(),
		MaxContext:               int(p.MaxContextLength.Get()),
		ThinkOnly:                p.UseThinkTimeOnly.Get(),
		Played:                   ds.played(),
	}
	if own := p.Dataset.ISL; own != nil {
		data.ISL = own
	}
	recordings := ds.p.NumDatasetEntries.Given() && ds.file.recorded
	if recordings {
		data.MaxTraces = data.Entries
	}
	if data.Path != "" {
		data.Kind = config.FileDataset
		if !recordings {
			data.Limit = p.Dataset.Limit
		}
	}
	if s := p.InterTurnDelayCapSeconds.Pointer(); s != nil {
		ms := *s * 1000
		data.MaxDelayMS = &ms
	}
	if data.Public = ds.published.build(); data.Public.Name != "" {
		data.Kind, data.Path, data.Format = config.PublicDataset, "", ""
	}
	if osl := p.OSL.Pointer(); osl != nil {
		data.OSL = recipe.Normal{Mean: float64(*osl), Stddev: p.OSLStddev.Get()}
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
	case ds.p.SystemPrompt.Given():
		text := ds.p.SystemPrompt.Get()
		return &text
	case ds.p.SystemPromptFile.Given():
		data, err := parse.ReadText(ds.p.SystemPromptFile.Get(), maxPromptBytes)
		if err != nil {
			ds.fault("", "%s: the file cannot be read: %v", ds.p.SystemPromptFile.Flag(), err)
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
	p := ds.p
	return &recipe.Rankings{
		Passages: sizes(p.Dataset.Passages, &p.RankingsPassagesMean, &p.RankingsPassagesStddev),
		PassageTokens: sizes(p.Dataset.PassageTokens, &p.RankingsPassagesPromptTokenMean,
			&p.RankingsPassagesPromptTokenStddev),
		QueryTokens: sizes(p.Dataset.QueryTokens, &p.RankingsQueryPromptTokenMean, &p.RankingsQueryPromptTokenStddev),
	}
}

// corpus is what texts are cut from: code for agents that were recorded at work, unless the user names another.
func (ds *dataset) corpus() string {
	if ds.file.coders && !ds.p.PromptCorpus.Given() {
		return "coding"
	}
	return ds.p.PromptCorpus.Get()
}

// randomStyle is whose way of making random prompts is followed, for the window of lengths and for the
// tokens that are drawn.
func (ds *dataset) randomStyle() string {
	if ds.p.RandomRangeRatioMode.Given() {
		return ds.p.RandomRangeRatioMode.Get()
	}
	return ds.p.RandomCorpusStyle.Get()
}

// lengthRange is nil if no window was asked for.
func (ds *dataset) lengthRange() *config.LengthRange {
	if !ds.p.RandomRangeRatio.Given() {
		return nil
	}
	r, _ := parse.LengthRange(ds.p.RandomRangeRatio.Get()) // checked before
	r.Mode = ds.randomStyle()
	return &r
}

func (ds *dataset) lengthPairs() ([]recipe.LengthPair, error) {
	if !ds.p.SeqDist.Given() {
		return ds.p.Dataset.SequenceDistribution, nil
	}
	return parse.SequenceDistribution(ds.p.SeqDist.Get())
}
