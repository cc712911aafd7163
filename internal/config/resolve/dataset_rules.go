package resolve

import (
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/config/option"
	"aiperf/internal/config/parse"
	"aiperf/internal/wire/api"
)

// positiveOf lists the flags of those options whose numbers are above 0.
func positiveOf(options ...option.Field) (flags []string) {
	for _, o := range options {
		if positive(o) {
			flags = append(flags, o.Flag())
		}
	}
	return flags
}

func (ds *dataset) checkPrefixes() {
	contexts := givenOf(&ds.p.SharedSystemPromptLength, &ds.p.UserContextPromptLength)
	prefixes := positiveOf(&ds.p.PromptPrefixPoolSize, &ds.p.PromptPrefixLength)
	if len(contexts) > 0 && len(prefixes) > 0 {
		ds.fault("V28", "%s and %s are mutually exclusive", strings.Join(contexts, ", "), strings.Join(prefixes, ", "))
	}
	if ds.p.UserContextPromptLength.Given() && !ds.p.NumDatasetEntries.Given() {
		ds.warn("%s: each of the %d conversations (the default of --num-dataset-entries) gets its own context",
			ds.p.UserContextPromptLength.Flag(), ds.p.NumDatasetEntries.Get())
	}
	pool, length := positive(&ds.p.PromptPrefixPoolSize), positive(&ds.p.PromptPrefixLength)
	switch {
	case length && !pool:
		ds.warn("%s has no effect without --num-prefix-prompts, which sets the number of different prefixes",
			ds.p.PromptPrefixLength.Flag())
	case pool && !length:
		ds.warn("%s has no effect without --prompt-prefix-length", ds.p.PromptPrefixPoolSize.Flag())
	}
}

// checkSystemPrompt refuses a system text that requests cannot carry, or that another prefix replaces.
func (ds *dataset) checkSystemPrompt() {
	prompts := givenOf(&ds.p.SystemPrompt, &ds.p.SystemPromptFile)
	if len(prompts) == 0 {
		return
	}
	if !ds.endpoint.facts.SystemMessage {
		types := typesThat(func(f api.Descriptor) bool { return f.SystemMessage })
		ds.fault("", "%s cannot be used with --endpoint-type %s, which takes no system message; use %s",
			strings.Join(prompts, ", "), ds.endpoint.endpointType, orList(types))
	}
	prefixes := positiveOf(&ds.p.PromptPrefixPoolSize, &ds.p.PromptPrefixLength)
	if len(prefixes) > 0 {
		ds.fault("", "%s and %s are mutually exclusive", strings.Join(prompts, ", "), strings.Join(prefixes, ", "))
	}
}

// checkText refuses text options where requests hold no text.
func (ds *dataset) checkText() {
	if _, err := ds.lengthPairs(); err != nil {
		ds.fault("", "%s: %v", ds.p.SeqDist.Flag(), err)
	}
	if ds.endpoint.facts.TakesText {
		return
	}
	var flags []string
	for _, o := range []option.Field{&ds.p.ISL, &ds.p.ISLStddev, &ds.p.PromptBatchSize, &ds.p.PromptPrefixPoolSize,
		&ds.p.PromptPrefixLength} {
		if o.Given() && positive(o) {
			flags = append(flags, o.Flag())
		}
	}
	if len(ds.p.Dataset.SequenceDistribution) > 0 {
		flags = append(flags, "sequence_distribution")
	}
	flags = append(flags, givenOf(&ds.p.SeqDist, &ds.p.SharedSystemPromptLength, &ds.p.UserContextPromptLength)...)
	if len(flags) > 0 {
		ds.fault("V31", "%s cannot be used with --endpoint-type %s, whose requests contain no text",
			strings.Join(flags, ", "), ds.endpoint.endpointType)
	}
}

func (ds *dataset) checkRankings() {
	tokens := givenOf(&ds.p.RankingsPassagesPromptTokenMean, &ds.p.RankingsPassagesPromptTokenStddev,
		&ds.p.RankingsQueryPromptTokenMean, &ds.p.RankingsQueryPromptTokenStddev)
	all := append(givenOf(&ds.p.RankingsPassagesMean, &ds.p.RankingsPassagesStddev), tokens...)
	if len(all) > 0 && !ds.endpoint.isRankings() {
		types := typesThat(func(f api.Descriptor) bool { return f.Ranks })
		ds.fault("V29", "%s can only be used with rankings endpoints: %s", strings.Join(all, ", "),
			strings.Join(types, ", "))
	}
	lengths := givenOf(&ds.p.ISL, &ds.p.ISLStddev)
	if len(lengths) > 0 && ds.endpoint.isRankings() {
		ds.warn("%s has no effect with --endpoint-type %s: --rankings-passages-prompt-token-mean and "+
			"--rankings-query-prompt-token-mean set the lengths", strings.Join(lengths, ", "), ds.endpoint.endpointType)
	}
}

// checkCacheBust refuses marks where no message can carry them.
func (ds *dataset) checkCacheBust() {
	target := ds.scenario.cacheBust()
	if target == "" {
		return
	}
	flag := ds.p.CacheBust.Flag() + " " + target
	if !ds.endpoint.facts.Marks {
		types := typesThat(func(f api.Descriptor) bool { return f.Marks })
		ds.fault("", "%s can only be used with --endpoint-type %s, not with %s", flag, orList(types),
			ds.endpoint.endpointType)
	}
	if !strings.HasPrefix(target, "warmup_") {
		return
	}
	if !ds.timing.warmsUp() {
		ds.warn("%s has no effect without a warm-up: give --warmup-request-count, --num-warmup-sessions or "+
			"--warmup-duration", flag)
	}
	system := len(givenOf(&ds.p.SystemPrompt, &ds.p.SystemPromptFile, &ds.p.SharedSystemPromptLength)) > 0
	if target == "warmup_isolation_system" && !system && ds.file.generated() {
		ds.fault("", "%s needs a system prompt: give --system-prompt, --system-prompt-file or "+
			"--shared-system-prompt-length", flag)
	}
}

func (ds *dataset) checkLengthRange() {
	if ds.p.RandomRangeRatioMode.Given() && ds.p.RandomCorpusStyle.Given() &&
		ds.p.RandomRangeRatioMode.Get() != ds.p.RandomCorpusStyle.Get() {
		ds.fault("", "%s and %s contradict each other: the style decides the range of lengths and the tokens "+
			"together; give one of them",
			ds.p.RandomRangeRatioMode.Flag(), ds.p.RandomCorpusStyle.Flag())
	}
	if !ds.p.RandomRangeRatio.Given() {
		if ds.p.RandomRangeRatioMode.Given() && ds.corpus() != "random" {
			ds.warn("%s has no effect without --random-range-ratio", ds.p.RandomRangeRatioMode.Flag())
		}
		return
	}
	r, err := parse.LengthRange(ds.p.RandomRangeRatio.Get())
	if err != nil {
		ds.fault("", "%s: %v", ds.p.RandomRangeRatio.Flag(), err)
		return
	}
	mode := ds.lengthRange().Mode
	for _, x := range []float64{r.Input, r.Output} {
		if !(x >= 0 && (x < 1 || x == 1 && mode == config.StyleSGLang)) {
			ds.fault("", "%s must be at least 0 and below 1, or up to 1 with --random-corpus-style sglang",
				ds.p.RandomRangeRatio.Flag())
			break
		}
	}
	if positive(&ds.p.ISLStddev) || positive(&ds.p.OSLStddev) {
		ds.warn("the standard deviations of --isl and --osl have no effect with %s, which draws lengths uniformly",
			ds.p.RandomRangeRatio.Flag())
	}
}

// asksForLength reports whether requests ask for replies that do not end before their limit.
func (ds *dataset) asksForLength() bool {
	extra := ds.p.ExtraInputs.Get()
	return slices.ContainsFunc([]string{"ignore_eos", "min_tokens", "min_new_tokens"}, func(key string) bool {
		value, ok := extra.Get(key)
		return ok && truthy(value)
	})
}

// warnOutputLength reports that a requested output length alone does not make servers keep it.
func (ds *dataset) warnOutputLength() {
	if !ds.p.OSL.Given() || ds.graded() {
		return
	}
	if ds.asksForLength() {
		return
	}
	n := int64(0)
	if osl := ds.p.OSL.Pointer(); osl != nil {
		n = *osl
	}
	say := ds.warn
	if ds.p.OSL.Origin().Source == option.FromFile { // a file that is valid
		say = ds.info
	}
	say("%s only limits the output: a model may stop earlier. To get that length add --extra-inputs "+
		"ignore_eos:true or --extra-inputs min_tokens:%d (SGLang, TGI: min_new_tokens:%d) if the server supports them",
		ds.p.OSL.Flag(), n, n)
}

// warnDeviations names standard deviations of what has no mean.
func (ds *dataset) warnDeviations() {
	p := ds.p
	for _, of := range [...]struct{ deviation, mean option.Field }{
		{&p.OSLStddev, &p.OSL}, {&p.AudioLengthStddev, &p.AudioLengthMean},
		{&p.ImageWidthStddev, &p.ImageWidthMean}, {&p.ImageHeightStddev, &p.ImageHeightMean},
	} {
		if positive(of.deviation) && !of.mean.Given() {
			ds.warn("%s has no effect without --%s", of.deviation.Flag(), of.mean.Row().Usual())
		}
	}
}
