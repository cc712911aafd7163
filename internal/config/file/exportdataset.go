package file

import (
	"cmp"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/workload/recipe"
)

// datasetName is the name of the only dataset of a run in exports.
const datasetName = "main"

func datasetConfig(r *config.Run) Object {
	p, d := r.Asked, r.Dataset
	out := Object{{Key: "name", Value: datasetName}, {Key: "type", Value: string(d.Kind)}}
	if d.Kind == config.FileDataset {
		if from := d.Loaded; from != nil {
			out = append(out, Member{Key: "path", Value: from.Path}, Member{Key: "format", Value: from.By})
		} else {
			out = append(out, source(d))
			out = addGiven(out, &p.CustomDatasetType, "format", d.Format)
		}
	}
	if d.Kind == config.PublicDataset {
		out = append(out, publicConfig(d.Public)...)
	}
	if d.Kind == config.SyntheticDataset {
		out = append(out, Member{Key: "entries", Value: int64(d.Entries)})
	} else {
		out = addGiven(out, &p.NumDatasetEntries, "entries", int64(d.Entries))
	}
	if seed := cmp.Or(d.Seed, r.RandomSeed); seed != nil {
		out = append(out, Member{Key: "random_seed", Value: int64(*seed)})
	}
	out = addGiven(out, &p.DatasetSamplingStrategy, "sampling", d.Sampling)
	if d.Kind == config.SyntheticDataset {
		out = setNonEmpty(out, "prompts", promptsConfig(r))
	} else {
		out = setNonEmpty(readConfig(out, r), "synthesis", synthesisConfig(r))
	}
	var prefix Object
	prefix = addGiven(prefix, &p.PromptPrefixPoolSize, "pool_size", int64(d.PrefixPoolSize))
	prefix = addGiven(prefix, &p.PromptPrefixLength, "length", int64(d.PrefixLength))
	prefix = addGiven(prefix, &p.SharedSystemPromptLength, "shared_system_length",
		int64(d.SharedSystemPromptLength))
	prefix = addGiven(prefix, &p.UserContextPromptLength, "user_context_length", int64(d.UserContextPromptLength))
	out = setNonEmpty(out, "prefix_prompts", prefix)
	if d.SystemPrompt != nil {
		out = append(out, Member{Key: "system_prompt", Value: *d.SystemPrompt})
	}
	if p.ConversationTurnMean.IsSet() || p.ConversationTurnStddev.IsSet() {
		out = append(out, Member{Key: "turns", Value: spreadObject(d.Turns)})
	}
	if p.ConversationTurnDelayMean.IsSet() || p.ConversationTurnDelayStddev.IsSet() {
		out = append(out, Member{Key: "turn_delay", Value: spreadObject(d.TurnDelayMS)})
	}
	out = addGiven(out, &p.ConversationTurnDelayRatio, "turn_delay_ratio", d.TurnDelayRatio)
	if k := d.Rankings; k != nil {
		out = append(out, Member{Key: "rankings", Value: Object{{Key: "passages", Value: distribution(k.Passages)},
			{Key: "passage_tokens", Value: distribution(k.PassageTokens)},
			{Key: "query_tokens", Value: distribution(k.QueryTokens)}}})
	}
	return mediaConfig(out, r)
}

// source is the path of a file, or its lines where they were written in the configuration.
func source(d config.Dataset) Member {
	if len(d.Records) == 0 {
		return Member{Key: "path", Value: d.Path}
	}
	var pools Object
	for _, r := range d.Records {
		lines := make([]any, len(r.Lines))
		for i, l := range r.Lines {
			lines[i], _ = artifact.ParseObject([]byte(l.Text)) // a line is an object
		}
		if r.Pool == "" {
			return Member{Key: "records", Value: lines}
		}
		pools = append(pools, Member{Key: r.Pool, Value: lines})
	}
	return Member{Key: "records", Value: pools}
}

// readConfig adds what concerns data that is read instead of generated.
func readConfig(out Object, r *config.Run) Object {
	p, d := r.Asked, r.Dataset
	if d.OSL != nil {
		out = append(out, Member{Key: "osl", Value: distribution(d.OSL)})
	}
	out = addGiven(out, &p.ISLBlockSize, "block_size", int64(d.BlockSize))
	var columns Object
	for _, c := range d.Columns {
		columns = append(columns, Member{Key: c.Role, Value: c.Column})
	}
	out = setNonEmpty(out, "map", columns)
	out = setNonEmpty(out, "prompts", addGiven(nil, &p.PromptCorpus, "corpus", d.Corpus))
	out = setNonEmpty(out, "cache_bust", cacheBustConfig(d.CacheBust))
	if d.Format == "random_pool" {
		out = addGiven(out, &p.PromptBatchSize, "prompt_batch_size", int64(d.Batches.Text))
		out = addGiven(out, &p.ImageBatchSize, "image_batch_size", int64(d.Batches.Image))
		out = addGiven(out, &p.AudioBatchSize, "audio_batch_size", int64(d.Batches.Audio))
		out = addGiven(out, &p.VideoBatchSize, "video_batch_size", int64(d.Batches.Video))
	}
	for _, ph := range r.PhasesOf(config.ProfilingPhase) {
		if l := ph.Lanes; l != nil && l.TreeIdle != config.Unlimited {
			out = append(out, Member{Key: "trace_idle_gap_cap_seconds", Value: l.TreeIdle.Seconds()})
			break
		}
	}
	out = addIf(out, d.MaxContext > 0, "max_context_length", int64(d.MaxContext))
	out = addIf(out, d.IgnoreTimes, "ignore_trace_delays", true)
	out = addIf(out, d.ThinkOnly, "use_think_time_only", true)
	if d.MaxDelayMS != nil {
		out = append(out, Member{Key: "inter_turn_delay_cap_seconds", Value: *d.MaxDelayMS / 1000})
	}
	return out
}

func cacheBustConfig(target string) Object {
	if target == "" {
		return nil
	}
	return Object{{Key: "target", Value: target}}
}

func promptsConfig(r *config.Run) Object {
	p, d := r.Asked, r.Dataset
	out := Object{}
	if p.ISL.IsSet() || p.ISLStddev.IsSet() {
		out = append(out, Member{Key: "isl", Value: distribution(d.ISL)})
	}
	if d.OSL != nil {
		out = append(out, Member{Key: "osl", Value: distribution(d.OSL)})
	}
	out = addGiven(out, &p.PromptBatchSize, "batch_size", int64(d.Batches.Text))
	out = addGiven(out, &p.ISLBlockSize, "block_size", int64(d.BlockSize))
	out = addGiven(out, &p.PromptCorpus, "corpus", d.Corpus)
	if d.Range != nil {
		out = append(out, Member{Key: "random_range_ratio", Value: p.RandomRangeRatio.Get()})
		out = addGiven(out, &p.RandomRangeRatioMode, "random_range_ratio_mode", d.Range.Mode)
	}
	out = addGiven(out, &p.RandomCorpusStyle, "random_corpus_style", p.RandomCorpusStyle.Get())
	out = setNonEmpty(out, "cache_bust", cacheBustConfig(d.CacheBust))
	if len(d.SequenceDistribution) > 0 {
		pairs := []any{}
		for _, pair := range d.SequenceDistribution {
			pairs = append(pairs, Object{
				{Key: "isl", Value: distribution(pair.ISL)},
				{Key: "osl", Value: distribution(pair.OSL)},
				{Key: "probability", Value: pair.Percent},
			})
		}
		out = append(out, Member{Key: "sequence_distribution", Value: pairs})
	}
	return out
}

func synthesisConfig(r *config.Run) Object {
	p, s := r.Asked, r.Dataset.Synthesis
	out := addGiven(nil, &p.SynthesisSpeedupRatio, "speedup_ratio", s.SpeedupRatio)
	out = addGiven(out, &p.SynthesisUsers, "users", s.Users)
	out = addGiven(out, &p.SynthesisPrefixLenMultiplier, "prefix_len_multiplier", s.PrefixLenMultiplier)
	out = addGiven(out, &p.SynthesisPrefixRootMultiplier, "prefix_root_multiplier", int64(s.PrefixRootMultiplier))
	out = addGiven(out, &p.SynthesisPromptLenMultiplier, "prompt_len_multiplier", s.PromptLenMultiplier)
	out = addGiven(out, &p.SynthesisOutputLenMultiplier, "output_len_multiplier", s.OutputLenMultiplier)
	out = addGiven(out, &p.SynthesisMaxISL, "max_isl", int64(s.MaxISL))
	return addGiven(out, &p.SynthesisMaxOSL, "max_osl", int64(s.MaxOSL))
}

// distribution is a mapping of the mean and, unless it is 0, the standard deviation; of what a file asked for as it
// can be written there.
func distribution(s recipe.Sizes) Object {
	n, ok := s.(recipe.Normal)
	if !ok {
		return writtenDistribution(s.(recipe.Distribution))
	}
	out := Object{{Key: "mean", Value: n.Mean}}
	return addIf(out, n.Stddev != 0, "stddev", n.Stddev)
}

// spreadObject is a mapping of the mean and the standard deviation, 0 too.
func spreadObject(s recipe.Sizes) Object {
	n, ok := s.(recipe.Normal)
	if !ok {
		return distribution(s)
	}
	return Object{{Key: "mean", Value: n.Mean}, {Key: "stddev", Value: n.Stddev}}
}

// writtenDistribution is a distribution in the form of a configuration file.
func writtenDistribution(d recipe.Distribution) Object {
	out := Object{{Key: "type", Value: string(d.Kind)}}
	add := func(key string, value any) { out = append(out, Member{Key: key, Value: value}) }
	switch d.Kind {
	case recipe.Fixed:
		add("value", d.Value)
	case recipe.Gaussian:
		add("mean", d.Mean)
		add("stddev", d.Stddev)
	case recipe.LogNormal:
		add("mean", d.Mean)
		add("median", d.Median)
	case recipe.Uniform:
		add("min", d.Low)
		add("max", d.High)
	case recipe.Exponential:
		add("mean", d.Mean)
	case recipe.Zipf:
		add("alpha", d.Alpha)
		add("scale", d.Scale)
		add("offset", d.Offset)
	case recipe.Multimodal:
		peaks := []any{}
		for _, p := range d.Peaks {
			peaks = append(peaks, Object{{Key: "distribution", Value: writtenDistribution(p.Distribution)},
				{Key: "weight", Value: p.Weight}})
		}
		add("peaks", peaks)
	case recipe.Empirical:
		points := []any{}
		for _, p := range d.Points {
			points = append(points, Object{{Key: "value", Value: p.Value}, {Key: "weight", Value: p.Weight}})
		}
		add("points", points)
	}
	if d.Kind == recipe.Uniform && (d.Min != nil || d.Max != nil) { // its own ends have the names of the limits
		out = Object{{Key: "type", Value: "clamped"}, {Key: "distribution", Value: out}}
	}
	if d.Min != nil {
		add("min", *d.Min)
	}
	if d.Max != nil {
		add("max", *d.Max)
	}
	return out
}

func publicConfig(p config.Public) Object {
	out := Object{{Key: "dataset", Value: p.Name}}
	out = addText(out, "hf_subset", p.Subset)
	out = addText(out, "hf_weka_dataset", p.WekaRepo)
	out = addText(out, "path", p.Path)
	var filters Object
	for _, f := range p.Filters {
		filters = append(filters, Member{Key: f.Column, Value: f.Value})
	}
	return setNonEmpty(out, "filters", filters)
}

// mediaConfig adds what was said of media to the exported configuration of the dataset.
func mediaConfig(out Object, r *config.Run) Object {
	p, d := r.Asked, r.Dataset
	if i := d.Images; i != nil {
		o := Object{{Key: "batch_size", Value: int64(d.Batches.Image)}, {Key: "width", Value: distribution(i.Width)},
			{Key: "height", Value: distribution(i.Height)}}
		o = append(o, Member{Key: "format", Value: i.Format})
		o = addGiven(o, &p.ImageSource, "source", i.Source)
		out = append(out, Member{Key: "images",
			Value: addGiven(o, &p.ImageSourceSampling, "source_sampling", i.Sampling)})
	}
	if a := d.Audio; a != nil {
		out = append(out, Member{Key: "audio", Value: Object{
			{Key: "batch_size", Value: int64(d.Batches.Audio)}, {Key: "length", Value: distribution(a.Seconds)},
			{Key: "format", Value: a.Format}, {Key: "depths", Value: p.AudioDepths.Value()},
			{Key: "sample_rates", Value: p.AudioSampleRates.Value()}, {Key: "channels", Value: int64(a.Channels)},
		}})
	}
	if v := d.Video; v != nil {
		o := Object{
			{Key: "batch_size", Value: int64(d.Batches.Video)}, {Key: "duration", Value: v.Seconds},
			{Key: "fps", Value: int64(v.FPS)},
			{Key: "width", Value: int64(v.Width)}, {Key: "height", Value: int64(v.Height)},
			{Key: "synth_type", Value: v.Show},
			{Key: "format", Value: v.Format}, {Key: "codec", Value: v.Codec},
		}
		if v.AudioChannels > 0 {
			o = append(o, Member{Key: "audio", Value: Object{
				{Key: "sample_rate", Value: float64(v.AudioRateHz) / 1000},
				{Key: "channels", Value: int64(v.AudioChannels)},
				{Key: "codec", Value: v.AudioCodec}, {Key: "depth", Value: int64(v.AudioDepth)},
			}})
		}
		out = append(out, Member{Key: "video", Value: o})
	}
	return out
}
