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
	"aiperf/internal/workload/recipe"
)

// fileDefault is the origin of defaults that files have and flags do not.
var fileDefault = option.Origin{Source: option.FromDefault, Name: "default of configuration files"}

// preset gives an option that is not set a default of files.
func preset(f option.Field, value string) {
	if !f.IsSet() {
		_ = f.Set([]string{value}, fileDefault) // values of the table
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
	preset(&t.DatasetSamplingStrategy, "sequential")
	switch kind {
	case schema.Synthetic:
		for _, m := range medias() {
			if r.asksFor(m) {
				m.preset(t)
			}
		}
	case schema.File:
		hasPath, hasRecords := r.base.InputFile.IsSet(), len(r.base.Dataset.Records) > 0
		records := d.Get("records")
		if hasPath == (records != nil) && !r.flags().InputFile.Given() {
			r.fault(d, at, "needs exactly one of path and records")
		}
		if hasRecords {
			r.base.InputFile.Put(fmt.Sprintf("%s:%d: records", r.Name, records.Pos.Line),
				r.origin(records, document.Path(at, "records")))
		}
		if r.base.Map.Given() {
			preset(&t.CustomDatasetType, option.Table)
		}
		preset(&t.CustomDatasetType, "single_turn")
		for _, name := range []string{"prompt_batch_size", "image_batch_size", "audio_batch_size", "video_batch_size"} {
			if n := d.Get(name); n != nil && n.Kind != document.Null &&
				r.base.CustomDatasetType.Get() != "random_pool" {
				r.fault(n, document.Path(at, name), "belongs to the format random_pool, not to %s",
					r.base.CustomDatasetType.Get())
			}
		}
		if n := r.base.NumDatasetEntries.Pointer(); n != nil && r.base.NumDatasetEntries.Given() {
			r.base.Dataset.Limit = int(min(*n, math.MaxInt32))
		}
	case schema.Public:
		if n := d.Get("hf_weka_dataset"); n != nil && n.Kind != document.Null &&
			r.base.PublicDataset.Get() != option.WekaHub {
			r.fault(n, document.Path(at, "hf_weka_dataset"), "belongs to the dataset %s alone", option.WekaHub)
		}
		if !r.base.PublicDataset.Given() {
			r.fault(d, document.Path(at, "dataset"), "is missing: name the published data set")
		}
	}
}

// flags are the options that were given with the file.
func (r *reader) flags() *option.Tree {
	if r.options.Flags == nil {
		return option.Rows()
	}
	return &r.options.Flags.Tree
}

// spread is a distribution of a dataset: its keys, the options that say its mean and deviation, and where it is kept if
// they cannot say it.
type spread struct {
	keys []string
	// of are the types of dataset that have it.
	of           []string
	mean, stddev option.Field
	field        func(*recipe.FileOnly) *recipe.Sizes
}

// spreads are all distributions of a dataset.
func spreads() []spread {
	type only = recipe.FileOnly
	t := option.Rows()
	synthetic := func(key string, mean, stddev option.Field, field func(*only) *recipe.Sizes) spread {
		return spread{[]string{key}, []string{schema.Synthetic}, mean, stddev, field}
	}
	return []spread{
		synthetic("prompts.isl", &t.ISL, &t.ISLStddev, func(d *only) *recipe.Sizes { return &d.ISL }),
		{[]string{"prompts.osl", "osl"}, schema.DatasetTypes(), &t.OSL, &t.OSLStddev,
			func(d *only) *recipe.Sizes { return &d.OSL }},
		synthetic("turns", &t.ConversationTurnMean, &t.ConversationTurnStddev,
			func(d *only) *recipe.Sizes { return &d.Turns }),
		synthetic("turn_delay", &t.ConversationTurnDelayMean, &t.ConversationTurnDelayStddev,
			func(d *only) *recipe.Sizes { return &d.TurnDelayMS }),
		synthetic("images.width", &t.ImageWidthMean, &t.ImageWidthStddev,
			func(d *only) *recipe.Sizes { return &d.ImageWidth }),
		synthetic("images.height", &t.ImageHeightMean, &t.ImageHeightStddev,
			func(d *only) *recipe.Sizes { return &d.ImageHeight }),
		synthetic("audio.length", &t.AudioLengthMean, &t.AudioLengthStddev,
			func(d *only) *recipe.Sizes { return &d.AudioSeconds }),
		synthetic("rankings.passages", &t.RankingsPassagesMean, &t.RankingsPassagesStddev,
			func(d *only) *recipe.Sizes { return &d.Passages }),
		synthetic("rankings.passage_tokens", &t.RankingsPassagesPromptTokenMean, &t.RankingsPassagesPromptTokenStddev,
			func(d *only) *recipe.Sizes { return &d.PassageTokens }),
		synthetic("rankings.query_tokens", &t.RankingsQueryPromptTokenMean, &t.RankingsQueryPromptTokenStddev,
			func(d *only) *recipe.Sizes { return &d.QueryTokens }),
	}
}

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
		"rankings":                      (*reader).rankings,
		"prompts.sequence_distribution": (*reader).sequences,
		"prompts.random_range_ratio":    (*reader).rangeRatio,
		"filters":                       items(&option.Rows().DatasetFilter),
		"map":                           items(&option.Rows().Map),
		"media_mix":                     (*reader).mediaMix,
	}
	for _, m := range medias() {
		all[m.key] = m.effect
	}
	for _, s := range spreads() {
		for _, key := range s.keys {
			all[key] = func(r *reader, t target, _ schema.Key, n *document.Node, path string) {
				r.sizes(n, path, t.Field(s.mean.Row()), t.Field(s.stddev.Row()), s.field(&t.Dataset))
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
func (r *reader) sizes(n *document.Node, path string, mean, stddev option.Field, field *recipe.Sizes) {
	d, ok := r.distribution(n, path)
	if !ok {
		return
	}
	// A distribution of its own would escape the limits of the options.
	for f, v := range map[option.Field]float64{mean: d.Expected(), stddev: d.Stddev} {
		if most, ok := f.Row().Limits.Most(); ok && v > most {
			r.fault(n, path, "has a mean or a deviation of %s; it must be at most %s", option.PlainNumber(v),
				option.PlainNumber(most))
			return
		}
	}
	set := func(f option.Field, v float64) bool { return f.Set([]string{plain(v)}, r.origin(n, path)) == nil }
	// Flags round the mean and cut that of a delay, distributions are rounded up.
	plainKind := d.Min == nil && d.Max == nil && (d.Kind == recipe.Fixed || d.Kind == recipe.Gaussian)
	center := d.Mean
	if d.Kind == recipe.Fixed {
		center = d.Value
	}
	if plainKind && center == math.Trunc(center) && set(mean, center) && (d.Stddev == 0 || set(stddev, d.Stddev)) {
		return
	}
	stddev.Unset()
	if !set(mean, math.Ceil(d.Expected())) {
		mean.Unset()
	}
	*field = d
}

// media is a section of media, which are off unless batch_size is at least 1: the option of their number, and the
// defaults that files have where they are sent.
type media struct {
	key      string
	batch    option.Field
	defaults map[option.Field]string
}

// medias are all sections of media.
func medias() []media {
	t := option.Rows()
	return []media{
		{"images", &t.ImageBatchSize,
			map[option.Field]string{&t.ImageWidthMean: "512", &t.ImageHeightMean: "512", &t.ImageFormat: "jpeg"}},
		{"audio", &t.AudioBatchSize, map[option.Field]string{&t.AudioLengthMean: "10"}},
		{"video", &t.VideoBatchSize, map[option.Field]string{&t.VideoDuration: "1"}},
	}
}

func (m media) effect(r *reader, t target, k schema.Key, n *document.Node, path string) {
	size, written := n.Get("batch_size").Number()
	if (!written || size < 1) && !r.asksFor(m) {
		r.section(target{Settings: t.Copy(), kind: t.kind}, k, n, path) // only checked
		return
	}
	r.section(t, k, n, path)
	m.preset(t)
}

// preset sets the defaults of media that are sent.
func (m media) preset(t target) {
	preset(t.Field(m.batch.Row()), "1")
	for f, value := range m.defaults {
		preset(t.Field(f.Row()), value)
	}
}

// asksFor reports whether a flag gives an option of the media, whose names begin alike.
func (r *reader) asksFor(m media) bool {
	prefix := strings.TrimSuffix(m.batch.Row().Name, "batch-size")
	for f := range r.flags().Fields() {
		if strings.HasPrefix(f.Row().Name, prefix) && f.Given() {
			return true
		}
	}
	return false
}

func (r *reader) rankings(t target, k schema.Key, n *document.Node, path string) {
	r.section(t, k, n, path)
	preset(&t.RankingsPassagesMean, "10")
	preset(&t.RankingsPassagesPromptTokenMean, "128")
	preset(&t.RankingsQueryPromptTokenMean, "32")
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
		r.apply(&t.SeqDist, []string{text}, n, path)
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
	if t.RandomRangeRatio.Given() {
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
	for _, length := range []struct {
		key string
		of  option.Field
	}{{"isl", &r.flags().ISL}, {"osl", &r.flags().OSL}} {
		if prompts.Get(length.key) == nil && !length.of.Given() {
			r.fault(n, path, "needs %s of at least 1", length.key)
		}
	}
	r.apply(&t.RandomRangeRatio, []string{text}, n, path)
}
