package file

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/suggest"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/config/schema"
	"aiperf/internal/config/settings"
	"aiperf/internal/workload/recipe"
)

// fileDefault is the origin of defaults that files have and flags do not.
var fileDefault = settings.Origin{Source: settings.FromDefault, Name: "default of configuration files"}

func (r *reader) preset(t target, name, value string) {
	if !t.IsSet(name) {
		_ = t.Set(option.Named(name), []string{value}, fileDefault) // values of the table
	}
}

// dataset reads the only dataset.
func (r *reader) dataset(body *document.Node) {
	const path = "benchmark.datasets"
	list := body.Get("datasets")
	if list == nil || list.Kind == document.Null {
		return // reported as missing
	}
	if list.Kind != document.List || len(list.Items) != 1 {
		r.fault(list, path, "must be a list with exactly one dataset; a single one may be written as dataset: {…}")
		return
	}
	d, at := list.Items[0], document.Index(path, 0)
	if d.Kind != document.Map {
		r.fault(d, at, "is %v; it must be a mapping", d.Kind)
		return
	}
	k, _ := schema.Body().Field("datasets")
	kind := schema.Synthetic
	if n := d.Get("type"); n != nil && n.Kind != document.Null {
		if kind = n.Written; !slices.Contains(schema.DatasetTypes(), kind) {
			r.fault(n, document.Path(at, "type"), "%s %s", fault.Shorten(kind),
				suggest.OneOf(kind, schema.DatasetTypes()))
			return
		}
	}
	t := target{Settings: r.base, kind: kind}
	r.section(t, k, d, at)
	if name := d.Get("name"); name != nil && strings.TrimSpace(name.Written) == "" {
		r.fault(name, document.Path(at, "name"), "is empty")
	}
	r.preset(t, "dataset-sampling-strategy", "sequential")
	switch kind {
	case schema.Synthetic:
		for batch := range mediaDefaults() {
			if r.asksFor(batch) {
				r.presetMedia(t, batch)
			}
		}
	case schema.File:
		hasPath, hasRecords := r.base.IsSet("input-file"), len(r.base.Dataset.Records) > 0
		records := d.Get("records")
		if hasPath == (records != nil) && !r.flagged("input-file") {
			r.fault(d, at, "needs exactly one of path and records")
		}
		if hasRecords {
			_ = r.base.Set(anyPath("input-file"), []string{fmt.Sprintf("%s:%d: records", r.Name, records.Pos.Line)},
				r.origin(records, document.Path(at, "records")))
		}
		if r.base.Given("map") {
			r.preset(t, "custom-dataset-type", option.Table)
		}
		r.preset(t, "custom-dataset-type", "single_turn")
		for _, name := range []string{"prompt_batch_size", "image_batch_size", "audio_batch_size", "video_batch_size"} {
			if n := d.Get(name); n != nil && n.Kind != document.Null && r.base.Text("custom-dataset-type") != "random_pool" {
				r.fault(n, document.Path(at, name), "belongs to the format random_pool, not to %s",
					r.base.Text("custom-dataset-type"))
			}
		}
		if n := r.base.Int("num-dataset-entries"); n != nil && r.base.Given("num-dataset-entries") {
			r.base.Dataset.Limit = int(min(*n, math.MaxInt32))
		}
	case schema.Public:
		if n := d.Get("hf_weka_dataset"); n != nil && n.Kind != document.Null &&
			r.base.Text("public-dataset") != option.WekaHub {
			r.fault(n, document.Path(at, "hf_weka_dataset"), "belongs to the dataset %s alone", option.WekaHub)
		}
		if !r.base.Given("public-dataset") {
			r.fault(d, document.Path(at, "dataset"), "is missing: name the published data set")
		}
	}
}

// anyPath is a path option whose value need not exist.
func anyPath(name string) option.Option {
	o := option.Named(name)
	o.MustExist = false
	return o
}

func (r *reader) flagged(name string) bool {
	return r.options.Flags != nil && r.options.Flags.Given(name)
}

// spread is a distribution of a dataset: its keys, the options that say its mean and deviation, whose names begin alike,
// and where it is kept if they cannot say it.
type spread struct {
	keys    []string
	options string
	// of are the types of dataset that have it.
	of    []string
	field func(*recipe.FileOnly) *recipe.Sizes
}

// spreads are all distributions of a dataset.
func spreads() []spread {
	type only = recipe.FileOnly
	synthetic := func(key, options string, field func(*only) *recipe.Sizes) spread {
		return spread{[]string{key}, options, []string{schema.Synthetic}, field}
	}
	return []spread{
		synthetic("prompts.isl", "prompt-input-tokens", func(d *only) *recipe.Sizes { return &d.ISL }),
		{[]string{"prompts.osl", "osl"}, "prompt-output-tokens", schema.DatasetTypes(),
			func(d *only) *recipe.Sizes { return &d.OSL }},
		synthetic("turns", "conversation-turn", func(d *only) *recipe.Sizes { return &d.Turns }),
		synthetic("turn_delay", "conversation-turn-delay", func(d *only) *recipe.Sizes { return &d.TurnDelayMS }),
		synthetic("images.width", "image-width", func(d *only) *recipe.Sizes { return &d.ImageWidth }),
		synthetic("images.height", "image-height", func(d *only) *recipe.Sizes { return &d.ImageHeight }),
		synthetic("audio.length", "audio-length", func(d *only) *recipe.Sizes { return &d.AudioSeconds }),
		synthetic("rankings.passages", "rankings-passages", func(d *only) *recipe.Sizes { return &d.Passages }),
		synthetic("rankings.passage_tokens", "rankings-passages-prompt-token",
			func(d *only) *recipe.Sizes { return &d.PassageTokens }),
		synthetic("rankings.query_tokens", "rankings-query-prompt-token",
			func(d *only) *recipe.Sizes { return &d.QueryTokens }),
	}
}

// mean and stddev are the options of a distribution.
func (s *spread) mean() string   { return s.options + "-mean" }
func (s *spread) stddev() string { return s.options + "-stddev" }

// datasetEffects are those of keys of a dataset.
func datasetEffects() map[string]effect {
	all := map[string]effect{
		"name": (*reader).checked,
		"type": (*reader).checked,
		"random_seed": func(r *reader, t target, k schema.Key, n *document.Node, path string) {
			r.checked(t, k, n, path)
			if v, ok := n.Number(); ok && v >= 0 {
				seed := uint64(v)
				t.Dataset.Seed = &seed
			}
		},
		"records":                       (*reader).recordLines,
		"images":                        media("image-batch-size"),
		"audio":                         media("audio-batch-size"),
		"video":                         media("video-batch-size"),
		"rankings":                      (*reader).rankings,
		"prompts.sequence_distribution": (*reader).sequences,
		"prompts.random_range_ratio":    (*reader).rangeRatio,
		"filters":                       items("dataset-filter"),
		"map":                           items("map"),
		"media_mix":                     (*reader).mediaMix,
	}
	for _, s := range spreads() {
		for _, key := range s.keys {
			all[key] = func(r *reader, t target, _ schema.Key, n *document.Node, path string) {
				r.sizes(t, n, path, s.mean(), s.stddev(), s.field(&t.Dataset))
				if turns := t.Dataset.Turns; key == "turns" && turns != nil && turns.Expected() < 1 {
					r.fault(n, path, "the distribution has %s turns on average; a conversation has at least 1",
						option.FormatFloat(turns.Expected()))
				}
			}
		}
	}
	return all
}

// sizes reads a distribution: into the options of mean and deviation where they can say it, else, and then too for
// checks that look at the mean, into its own place.
func (r *reader) sizes(t target, n *document.Node, path, mean, stddev string, field *recipe.Sizes) {
	d, ok := r.distribution(n, path)
	if !ok {
		return
	}
	// A distribution of its own would escape the limits of the options.
	for name, v := range map[string]float64{mean: d.Expected(), stddev: d.Stddev} {
		if most, ok := option.Named(name).Limits.Most(); ok && v > most {
			r.fault(n, path, "has a mean or a deviation of %s; it must be at most %s", option.PlainNumber(v),
				option.PlainNumber(most))
			return
		}
	}
	set := func(name string, v float64) bool {
		return t.Set(option.Named(name), []string{plain(v)}, r.origin(n, path)) == nil
	}
	// Flags round the mean and cut that of a delay, distributions are rounded up.
	plainKind := d.Min == nil && d.Max == nil && (d.Kind == recipe.Fixed || d.Kind == recipe.Gaussian)
	center := d.Mean
	if d.Kind == recipe.Fixed {
		center = d.Value
	}
	if plainKind && center == math.Trunc(center) && set(mean, center) && (d.Stddev == 0 || set(stddev, d.Stddev)) {
		return
	}
	t.Unset(stddev)
	if !set(mean, math.Ceil(d.Expected())) {
		t.Unset(mean)
	}
	*field = d
}

// mediaDefaults are what files have for media that are sent, by the option of their number.
func mediaDefaults() map[string]map[string]string {
	return map[string]map[string]string{
		"image-batch-size": {"image-width-mean": "512", "image-height-mean": "512", "image-format": "jpeg"},
		"audio-batch-size": {"audio-length-mean": "10"},
		"video-batch-size": {"video-duration": "1"},
	}
}

// media reads a section of media, which are off unless batch_size is at least 1.
func media(batch string) effect {
	return func(r *reader, t target, k schema.Key, n *document.Node, path string) {
		size, written := n.Get("batch_size").Number()
		if (!written || size < 1) && !r.asksFor(batch) {
			r.section(target{Settings: t.Copy(), kind: t.kind}, k, n, path) // only checked
			return
		}
		r.section(t, k, n, path)
		r.presetMedia(t, batch)
	}
}

// presetMedia sets the defaults of media that are sent.
func (r *reader) presetMedia(t target, batch string) {
	r.preset(t, batch, "1")
	for name, value := range mediaDefaults()[batch] {
		r.preset(t, name, value)
	}
}

// asksFor reports whether a flag gives an option of the media whose number an option is.
func (r *reader) asksFor(batch string) bool {
	prefix := strings.TrimSuffix(batch, "batch-size")
	return slices.ContainsFunc(option.All(), func(o option.Option) bool {
		return strings.HasPrefix(o.Name, prefix) && r.flagged(o.Name)
	})
}

func (r *reader) rankings(t target, k schema.Key, n *document.Node, path string) {
	r.section(t, k, n, path)
	for name, value := range map[string]string{"rankings-passages-mean": "10",
		"rankings-passages-prompt-token-mean": "128", "rankings-query-prompt-token-mean": "32"} {
		r.preset(t, name, value)
	}
}

// maxInlineRecords is the number of records from which on a file of their own is the better place.
const maxInlineRecords = 500

// recordLines takes lines of data from the configuration.
func (r *reader) recordLines(t target, _ schema.Key, n *document.Node, path string) {
	lines := func(list *document.Node, path string) (out []recipe.Line) {
		if list.Kind != document.List || len(list.Items) == 0 {
			r.fault(list, path, "must be a list of at least one mapping")
			return nil
		}
		for i, item := range list.Items {
			if item.Kind != document.Map {
				r.fault(item, document.Index(path, i), "is %v; each record is a mapping", item.Kind)
				continue
			}
			text, err := artifact.AppendJSON(nil, item.Any())
			if err != nil {
				r.fault(item, document.Index(path, i), "%v", err)
			}
			out = append(out, recipe.Line{Text: string(text), Place: r.placeOf(item, document.Index(path, i))})
		}
		return out
	}
	sum := 0
	if n.Kind == document.Map {
		if format, _ := textOf(Body(r.root).Get("datasets").Items[0].Get("format")); format != "random_pool" {
			r.fault(n, path, "is a mapping of pools, which only the format random_pool has; write a list")
			return
		}
		if len(n.Members) == 0 {
			r.fault(n, path, "is empty")
		}
		for _, m := range n.Members {
			pool := recipe.Records{Pool: m.Key, Lines: lines(m.Value, document.Path(path, m.Key))}
			sum += len(pool.Lines)
			t.Dataset.Records = append(t.Dataset.Records, pool)
		}
	} else if own := lines(n, path); own != nil {
		sum = len(own)
		t.Dataset.Records = []recipe.Records{{Lines: own}}
	}
	if sum > maxInlineRecords {
		r.warn(fault.LevelWarning, "%s: %d records in the configuration: more than %d belong into a file of their own",
			at(r.File, n, path), sum, maxInlineRecords)
	}
}

// sequences reads a mix of lengths.
func (r *reader) sequences(t target, k schema.Key, n *document.Node, path string) {
	if text, ok := textOf(n); ok {
		r.apply(t, option.Named("seq-dist"), k, []string{text}, n, path)
		return
	}
	if n.Kind != document.List || len(n.Items) == 0 {
		r.fault(n, path, "must be a list of isl, osl and probability")
		return
	}
	entry := schema.Key{Fields: []schema.Key{{Name: "isl", Kind: schema.Anything, Required: true},
		{Name: "isl_stddev", Kind: schema.Number, Limits: option.AtLeast(0)},
		{Name: "osl", Kind: schema.Anything, Required: true},
		{Name: "osl_stddev", Kind: schema.Number, Limits: option.AtLeast(0)},
		{Name: "probability", Kind: schema.Number, Limits: option.Between(0, 100), Required: true}}}
	var pairs []recipe.LengthPair
	sum := 0.0
	for i, item := range n.Items {
		at := document.Index(path, i)
		before := len(r.faults)
		scratch := target{Settings: t.Copy()}
		r.section(scratch, entry, item, at)
		if len(r.faults) > before {
			continue
		}
		isl, ok1 := r.distribution(item.Get("isl"), document.Path(at, "isl"))
		osl, ok2 := r.distribution(item.Get("osl"), document.Path(at, "osl"))
		percent, _ := item.Get("probability").Number()
		if !ok1 || !ok2 {
			continue
		}
		deviation := func(d recipe.Distribution, key string) recipe.Distribution {
			if v, ok := item.Get(key).Number(); ok && d.Kind == recipe.Fixed {
				return recipe.Distribution{Kind: recipe.Gaussian, Mean: d.Value, Stddev: v, Min: d.Min, Max: d.Max}
			}
			return d
		}
		pairs = append(pairs, recipe.LengthPair{ISL: deviation(isl, "isl_stddev"), OSL: deviation(osl, "osl_stddev"),
			Percent: percent})
		sum += percent
	}
	if math.Abs(sum-100) > 0.01 && len(pairs) == len(n.Items) {
		r.fault(n, path, "the probabilities add up to %s; they must add up to 100", plain(sum))
		return
	}
	if t.Given("random-range-ratio") {
		r.fault(n, path, "cannot be used with random_range_ratio; keep one of them")
	}
	t.Dataset.SequenceDistribution = pairs
}

// rangeRatio takes a number, a text or a mapping of input and output.
func (r *reader) rangeRatio(t target, k schema.Key, n *document.Node, path string) {
	text, ok := textOf(n)
	if n.Kind == document.Map {
		var b []byte
		b, _ = artifact.AppendJSON(nil, n.Any())
		text, ok = string(b), true
	}
	if !ok {
		r.fault(n, path, "is %v; it must be a number, or a mapping of input and output", n.Kind)
		return
	}
	prompts := Body(r.root).Get("datasets").Items[0].Get("prompts")
	for _, name := range []string{"isl", "osl"} {
		if prompts.Get(name) == nil && !r.flagged(name) {
			r.fault(n, path, "needs %s of at least 1", name)
		}
	}
	r.apply(t, option.Named("random-range-ratio"), k, []string{text}, n, path)
}
