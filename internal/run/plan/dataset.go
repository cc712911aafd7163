package plan

import (
	"cmp"
	"math"

	"aiperf/internal/base/random"
	"aiperf/internal/config"
	"aiperf/internal/result/summary"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/compose"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/loader"
	"aiperf/internal/workload/media"
	"aiperf/internal/workload/public"
	"aiperf/internal/workload/synthetic"
)

// addMedia sets what generated turns have in addition to prompts, or instead of them.
func addMedia(o *compose.Options, d *config.Dataset) {
	o.Rankings, o.Images, o.Audio, o.MediaMix = d.Rankings, d.Images, d.Audio, d.MediaMix
	if v := d.Video; v != nil {
		video := media.VideoClip{
			Width: v.Width, Height: v.Height, Seconds: v.Seconds, FPS: v.FPS, Show: v.Show,
			Format: v.Format, Codec: v.Codec, AudioCodec: v.AudioCodec,
			Sound: media.Clip{Format: "wav", Seconds: v.Seconds, RateHz: v.AudioRateHz, Depth: v.AudioDepth,
				Channels: v.AudioChannels},
		}
		o.Videos = &compose.Videos{VideoClip: video, BatchSize: d.Batches.Video}
	}
}

// addCorpus sets the source of generated texts, and the ranges that lengths are drawn from.
func addCorpus(o *compose.Options, d *config.Dataset) {
	switch {
	case d.Corpus == "coding":
		o.Corpus = compose.Code
	case d.Corpus == "random" && d.CorpusStyle == config.StyleSGLang:
		o.Corpus = compose.AllTokens
	case d.Corpus == "random":
		o.Corpus = compose.OrdinaryTokens
	}
	if r := d.Range; r != nil {
		upTo := r.Mode == config.StyleSGLang
		o.ISLWindow, o.OSLWindow = &synthetic.Window{Ratio: r.Input, UpTo: upTo},
			&synthetic.Window{Ratio: r.Output, UpTo: upTo}
	}
}

// DatasetSeed returns the seed of all draws of the dataset: its own, or the run's.
func DatasetSeed(cfg *config.Run) random.Seed {
	if s := cfg.Dataset.Seed; s != nil {
		return random.Root(*s)
	}
	return seed(cfg)
}

// Dataset returns what is composed for the requests of an endpoint, but for what needs the run: the chat template and
// the hub.
func Dataset(cfg *config.Run, d *endpoint.Descriptor) compose.Options {
	c := &cfg.Dataset
	options := compose.Options{
		Path: c.Path, Format: c.Format, Records: c.Records, Reading: reading(cfg, d), Entries: c.Entries,
		Sampling: dataset.Sampling(c.Sampling),
		ISL:      c.ISL, OSL: c.OSL, SeqDist: c.SequenceDistribution, BatchSize: c.Batches.Text,
		Turns: c.Turns, DelayMS: c.TurnDelayMS, DelayRatio: c.TurnDelayRatio,
		PrefixPool: c.PrefixPoolSize, PrefixLength: c.PrefixLength,
		SharedSystemLength: c.SharedSystemPromptLength, SystemPrompt: c.SystemPrompt,
		UserContextLength: c.UserContextPromptLength,
		CacheBust:         c.CacheBust, Models: cfg.Models, ModelSelection: cfg.ModelSelection,
		ModelWeights: cfg.ModelWeights, Seed: DatasetSeed(cfg),
	}
	options.Kind = compose.Synthetic
	switch c.Kind {
	case config.FileDataset:
		options.Kind = compose.File
	case config.PublicDataset:
		options.Kind, options.Published = compose.Public, published(cfg)
	}
	addMedia(&options, c)
	addCorpus(&options, c)
	options.Sessions = sessionLimit(cfg)
	return options
}

// reading returns how an input file is read.
func reading(cfg *config.Run, d *endpoint.Descriptor) loader.Options {
	c := &cfg.Dataset
	o := loader.Options{
		Entries: c.MaxTraces, MaxContext: c.MaxContext, ThinkOnly: c.ThinkOnly, MaxDelayMS: c.MaxDelayMS,
		Models: cfg.Models, Columns: c.Columns,
		// The lines of a file that the user calls bodies are sent as they are.
		Stream: cfg.Endpoint.Streaming && !cfg.Endpoint.GRPC && c.Format == "",
		Weka:   cfg.Env.Weka, TraceLab: cfg.Env.Dataset.TraceLab,
		BlockSize: c.BlockSize, IgnoreTimes: c.IgnoreTimes, MaxISL: c.Synthesis.MaxISL, MaxOSL: c.Synthesis.MaxOSL,
		Reshape: reshape(cfg), Users: c.Synthesis.Users,
		MaxLine: cfg.Env.Dataset.MaxLineBytes, Baseten: c.Baseten, StripImages: c.StripImages,
		Batches: &loader.Batches{c.Batches.Text, c.Batches.Image, c.Batches.Audio, c.Batches.Video},
	}
	o.Limit, o.Draws = c.Limit, c.Limit
	if c.Played.Is {
		o.Played, o.Stream = played(cfg, d), cfg.Endpoint.Streaming
	}
	if c.Sessions != nil {
		o.Draws = int(min(*c.Sessions, math.MaxInt32))
	}
	if d.InlineMedia {
		o.IndexFrom = math.MaxInt64 // media are fetched into the dataset
	}
	if w := recorded(cfg); w != nil {
		o.Scheduled, o.Window = true, *w
	}
	return o
}

// played returns how a recording is played: --extra-inputs replace what was recorded.
func played(cfg *config.Run, d *endpoint.Descriptor) loader.Played {
	p := &cfg.Dataset.Played
	o := loader.Played{Endpoint: d.Name, MaxTokens: d.ProducesTokens, ForceLength: p.ForceLength, Model: p.Model}
	for _, m := range cfg.Endpoint.Extra {
		o.Fixed = append(o.Fixed, m.Key)
	}
	return o
}

// recorded returns the stretch of recorded time that the schedules of all phases play together; nil without one.
func recorded(cfg *config.Run) *loader.Window {
	var w *loader.Window
	for i := range cfg.Phases {
		switch s := cfg.Phases[i].Schedule; {
		case s == nil:
		case w == nil:
			w = &loader.Window{StartMS: s.StartMS, EndMS: s.EndMS}
		default:
			w.StartMS, w.EndMS = wider(w.StartMS, s.StartMS, -1), wider(w.EndMS, s.EndMS, 1)
		}
	}
	return w
}

// wider returns the bound that lies further in a direction; nil is open.
func wider(a, b *int64, direction int) *int64 {
	if a == nil || b == nil {
		return nil
	}
	if cmp.Compare(*a, *b) == direction {
		return a
	}
	return b
}

// reshape is nil where the trace stays as it is.
func reshape(cfg *config.Run) *loader.Reshape {
	s := cfg.Dataset.Synthesis
	if !s.Reshapes() {
		return nil
	}
	return &loader.Reshape{
		Speedup: s.SpeedupRatio, PrefixLen: s.PrefixLenMultiplier, PromptLen: s.PromptLenMultiplier,
		OutputLen: s.OutputLenMultiplier, PrefixRoots: s.PrefixRootMultiplier,
	}
}

// published returns which public data set is read and from where.
func published(cfg *config.Run) public.Options {
	p, env := &cfg.Dataset.Public, &cfg.Env.Dataset
	return public.Options{
		Name: p.Name, Subset: p.Subset, WekaRepo: p.WekaRepo, Filters: p.Filters, Path: p.Path, Limit: p.Limit,
		Scheduled: recorded(cfg) != nil, CacheDir: env.PublicCacheDir, Timeout: env.PublicTimeout,
	}
}

// Source returns which public data set was sent; nil for other data.
func Source(cfg *config.Run) *summary.Source {
	d := &cfg.Dataset
	if d.Kind != config.PublicDataset {
		return nil
	}
	o := published(cfg)
	from := o.Source()
	return &summary.Source{
		Loader: d.Public.Name, HubDataset: from.Repo, HubSubset: from.Subset, HubSplit: from.Split,
		Entries: d.Public.Entries,
	}
}
