package resolve

import (
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/config/parse"
	"aiperf/internal/config/settings"
	"aiperf/internal/wire/api"
)

func (ds *dataset) checkPrefixes() {
	contexts := ds.givenOf("shared-system-prompt-length", "user-context-prompt-length")
	var prefixes []string
	for _, name := range []string{"prompt-prefix-pool-size", "prompt-prefix-length"} {
		if ds.positive(name) {
			prefixes = append(prefixes, ds.flag(name))
		}
	}
	if len(contexts) > 0 && len(prefixes) > 0 {
		ds.fault("V28", "%s and %s are mutually exclusive", strings.Join(contexts, ", "), strings.Join(prefixes, ", "))
	}
	if ds.given("user-context-prompt-length") && !ds.given("num-dataset-entries") {
		ds.warn("%s: each of the %d conversations (the default of --num-dataset-entries) gets its own context",
			ds.flag("user-context-prompt-length"), *ds.p.Int("num-dataset-entries"))
	}
	pool, length := ds.positive("prompt-prefix-pool-size"), ds.positive("prompt-prefix-length")
	switch {
	case length && !pool:
		ds.warn("%s has no effect without --num-prefix-prompts, which sets the number of different prefixes",
			ds.flag("prompt-prefix-length"))
	case pool && !length:
		ds.warn("%s has no effect without --prompt-prefix-length", ds.flag("prompt-prefix-pool-size"))
	}
}

// checkSystemPrompt refuses a system text that requests cannot carry, or that another prefix replaces.
func (ds *dataset) checkSystemPrompt() {
	prompts := ds.givenOf("system-prompt", "system-prompt-file")
	if len(prompts) == 0 {
		return
	}
	if !ds.endpoint.facts.SystemMessage {
		types := typesThat(func(f api.Descriptor) bool { return f.SystemMessage })
		ds.fault("", "%s cannot be used with --endpoint-type %s, which takes no system message; use %s",
			strings.Join(prompts, ", "), ds.endpoint.endpointType, orList(types))
	}
	var prefixes []string
	for _, name := range []string{"prompt-prefix-pool-size", "prompt-prefix-length"} {
		if ds.positive(name) {
			prefixes = append(prefixes, ds.flag(name))
		}
	}
	if len(prefixes) > 0 {
		ds.fault("", "%s and %s are mutually exclusive", strings.Join(prompts, ", "), strings.Join(prefixes, ", "))
	}
}

// checkText refuses text options where requests hold no text.
func (ds *dataset) checkText() {
	if _, err := ds.lengthPairs(); err != nil {
		ds.fault("", "%s: %v", ds.flag("seq-dist"), err)
	}
	if ds.endpoint.facts.TakesText {
		return
	}
	var flags []string
	for _, name := range []string{"isl", "isl-stddev", "prompt-batch-size", "prompt-prefix-pool-size",
		"prompt-prefix-length"} {
		if ds.given(name) && ds.positive(name) {
			flags = append(flags, ds.flag(name))
		}
	}
	if len(ds.p.Dataset.SequenceDistribution) > 0 {
		flags = append(flags, "sequence_distribution")
	}
	flags = append(flags, ds.givenOf("seq-dist", "shared-system-prompt-length", "user-context-prompt-length")...)
	if len(flags) > 0 {
		ds.fault("V31", "%s cannot be used with --endpoint-type %s, whose requests contain no text",
			strings.Join(flags, ", "), ds.endpoint.endpointType)
	}
}

func (ds *dataset) checkRankings() {
	tokens := ds.givenOf("rankings-passages-prompt-token-mean", "rankings-passages-prompt-token-stddev",
		"rankings-query-prompt-token-mean", "rankings-query-prompt-token-stddev")
	all := append(ds.givenOf("rankings-passages-mean", "rankings-passages-stddev"), tokens...)
	if len(all) > 0 && !ds.endpoint.isRankings() {
		types := typesThat(func(f api.Descriptor) bool { return f.Ranks })
		ds.fault("V29", "%s can only be used with rankings endpoints: %s", strings.Join(all, ", "),
			strings.Join(types, ", "))
	}
	lengths := ds.givenOf("isl", "isl-stddev")
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
	flag := ds.flag("cache-bust") + " " + target
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
	system := len(ds.givenOf("system-prompt", "system-prompt-file", "shared-system-prompt-length")) > 0
	if target == "warmup_isolation_system" && !system && ds.file.generated() {
		ds.fault("", "%s needs a system prompt: give --system-prompt, --system-prompt-file or "+
			"--shared-system-prompt-length", flag)
	}
}

func (ds *dataset) checkLengthRange() {
	if ds.given("random-range-ratio-mode") && ds.given("random-corpus-style") &&
		ds.p.Text("random-range-ratio-mode") != ds.p.Text("random-corpus-style") {
		ds.fault("", "%s and %s contradict each other: the style decides the range of lengths and the tokens "+
			"together; give one of them",
			ds.flag("random-range-ratio-mode"), ds.flag("random-corpus-style"))
	}
	if !ds.given("random-range-ratio") {
		if ds.given("random-range-ratio-mode") && ds.corpus() != "random" {
			ds.warn("%s has no effect without --random-range-ratio", ds.flag("random-range-ratio-mode"))
		}
		return
	}
	r, err := parse.LengthRange(ds.p.Text("random-range-ratio"))
	if err != nil {
		ds.fault("", "%s: %v", ds.flag("random-range-ratio"), err)
		return
	}
	mode := ds.lengthRange().Mode
	for _, x := range []float64{r.Input, r.Output} {
		if !(x >= 0 && (x < 1 || x == 1 && mode == config.StyleSGLang)) {
			ds.fault("", "%s must be at least 0 and below 1, or up to 1 with --random-corpus-style sglang",
				ds.flag("random-range-ratio"))
			break
		}
	}
	if ds.positive("isl-stddev") || ds.positive("osl-stddev") {
		ds.warn("the standard deviations of --isl and --osl have no effect with %s, which draws lengths uniformly",
			ds.flag("random-range-ratio"))
	}
}

// warnOutputLength reports that a requested output length alone does not make servers keep it.
func (ds *dataset) warnOutputLength() {
	if !ds.given("osl") || ds.graded() {
		return
	}
	extra := ds.p.Pairs("extra-inputs")
	for _, key := range []string{"ignore_eos", "min_tokens", "min_new_tokens"} {
		if value, ok := extra.Get(key); ok && truthy(value) {
			return
		}
	}
	n := int64(0)
	if osl := ds.p.Int("osl"); osl != nil {
		n = *osl
	}
	say := ds.warn
	if ds.p.Origin("osl").Source == settings.FromFile { // a file that is valid
		say = ds.info
	}
	say("%s only limits the output: a model may stop earlier. To get that length add --extra-inputs "+
		"ignore_eos:true or --extra-inputs min_tokens:%d (SGLang, TGI: min_new_tokens:%d) if the server supports them",
		ds.flag("osl"), n, n)
}

// warnDeviations names standard deviations of what has no mean.
func (ds *dataset) warnDeviations() {
	for _, of := range [...]struct{ deviation, mean string }{
		{"osl-stddev", "osl"}, {"audio-length-stddev", "audio-length-mean"},
		{"image-width-stddev", "image-width-mean"}, {"image-height-stddev", "image-height-mean"},
	} {
		if ds.positive(of.deviation) && !ds.given(of.mean) {
			ds.warn("%s has no effect without --%s", ds.flag(of.deviation), of.mean)
		}
	}
}
