package config

import (
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/wire/api"
	"aiperf/internal/workload/recipe"
)

// formType is the content type of multipart bodies.
const formType = "multipart/form-data"

func (d *draft) positive(name string) bool {
	switch v := d.p.Value(name).(type) {
	case int64:
		return v > 0
	case float64:
		return v > 0
	}
	return false
}

func (d *draft) checkPrefixes() {
	contexts := d.givenOf("shared-system-prompt-length", "user-context-prompt-length")
	var prefixes []string
	for _, name := range []string{"prompt-prefix-pool-size", "prompt-prefix-length"} {
		if d.positive(name) {
			prefixes = append(prefixes, d.flag(name))
		}
	}
	if len(contexts) > 0 && len(prefixes) > 0 {
		d.fault("V28", "%s and %s are mutually exclusive", strings.Join(contexts, ", "), strings.Join(prefixes, ", "))
	}
	if d.given("user-context-prompt-length") && !d.given("num-dataset-entries") {
		d.warn("%s: each of the %d conversations that --num-dataset-entries is by default gets a context of its own",
			d.flag("user-context-prompt-length"), *d.p.Int("num-dataset-entries"))
	}
	pool, length := d.positive("prompt-prefix-pool-size"), d.positive("prompt-prefix-length")
	switch {
	case length && !pool:
		d.warn("%s has no effect without --num-prefix-prompts, which says how many different prefixes there are",
			d.flag("prompt-prefix-length"))
	case pool && !length:
		d.warn("%s has no effect without --prompt-prefix-length", d.flag("prompt-prefix-pool-size"))
	}
}

// checkText refuses text options where requests hold no text.
func (d *draft) checkText() {
	if _, err := d.lengthPairs(); err != nil {
		d.fault("", "%s: %v", d.flag("seq-dist"), err)
	}
	if d.facts.TakesText {
		return
	}
	var flags []string
	for _, name := range []string{"isl", "isl-stddev", "prompt-batch-size", "prompt-prefix-pool-size",
		"prompt-prefix-length"} {
		if d.given(name) && d.positive(name) {
			flags = append(flags, d.flag(name))
		}
	}
	flags = append(flags, d.givenOf("seq-dist", "shared-system-prompt-length", "user-context-prompt-length")...)
	if len(flags) > 0 {
		d.fault("V31", "%s cannot be used with --endpoint-type %s, whose requests hold no text",
			strings.Join(flags, ", "), d.endpointType)
	}
}

func (d *draft) lengthPairs() ([]recipe.LengthPair, error) {
	if !d.given("seq-dist") {
		return nil, nil
	}
	return ParseSequenceDistribution(d.p.Text("seq-dist"))
}

func (d *draft) checkRankings() {
	tokens := d.givenOf("rankings-passages-prompt-token-mean", "rankings-passages-prompt-token-stddev",
		"rankings-query-prompt-token-mean", "rankings-query-prompt-token-stddev")
	all := append(d.givenOf("rankings-passages-mean", "rankings-passages-stddev"), tokens...)
	if len(all) > 0 && !d.isRankings() {
		types := typesThat(func(f api.Descriptor) bool { return strings.Contains(f.Name, "rankings") })
		d.fault("V29", "%s can only be used with rankings endpoints: %s", strings.Join(all, ", "),
			strings.Join(types, ", "))
	}
	lengths := d.givenOf("isl", "isl-stddev")
	if len(lengths) > 0 && (d.isRankings() || len(tokens) > 0) {
		d.fault("V30", "%s cannot be used for rankings; use one set of options: "+
			"--rankings-passages-prompt-token-mean and --rankings-query-prompt-token-mean", strings.Join(lengths, ", "))
	}
}

func (d *draft) checkTokenizer() {
	if d.facts.ProducesTokens || d.facts.TokenizesInput {
		return
	}
	if flags := d.givenOf("tokenizer", "tokenizer-revision", "tokenizer-trust-remote-code",
		"apply-chat-template"); len(flags) > 0 {
		d.fault("V32", "%s cannot be used with --endpoint-type %s, which counts no tokens", strings.Join(flags, ", "),
			d.endpointType)
	}
}

func (d *draft) checkContentType() {
	switch asked := d.p.Text("request-content-type"); {
	case asked == formType && !d.facts.FormData:
		d.fault("V33", "%s multipart/form-data is only supported for endpoint types that support form-data encoding "+
			"(e.g., video_generation), but --endpoint-type %s does not support it.",
			d.flag("request-content-type"), d.endpointType)
	case asked != formType && d.given("request-content-type") && d.facts.FormDataOnly:
		d.fault("", "%s %s: the requests of --endpoint-type %s are forms; leave the option out",
			d.flag("request-content-type"), asked, d.endpointType)
	}
	if d.active("download-video-content") && d.endpointType != "video_generation" {
		d.warn("%s has no effect: --endpoint-type %s makes no videos", d.flag("download-video-content"), d.endpointType)
	}
	d.checkTokenIDs()
	if d.active("per-chunk-usage") && d.endpointType != "chat" {
		d.fault("", "%s is only supported for --endpoint-type chat", d.flag("per-chunk-usage"))
	}
	d.checkStrip()
}

// checkStrip: only the chat API knows ids of images, and only single_turn rows have them ready to strip.
func (d *draft) checkStrip() {
	if !d.active("uuid-and-strip") {
		return
	}
	flag := d.flag("uuid-and-strip")
	if d.endpointType != "chat" {
		d.fault("", "%s is only supported for --endpoint-type chat", flag)
	}
	switch format := d.p.Text("custom-dataset-type"); {
	case !d.given("input-file"):
		d.fault("", "%s needs images with uuids: give single_turn data with --input-file", flag)
	case format != "" && format != "single_turn":
		d.fault("", "%s can only be used with --custom-dataset-type single_turn, not with %s", flag, format)
	}
}

// checkTokenIDs holds the demands of types that send token ids.
func (d *draft) checkTokenIDs() {
	if d.facts.StreamsOnly && !d.streaming {
		d.fault("", "--endpoint-type %s has no replies but streams: add --streaming", d.endpointType)
	}
	if !d.facts.TokenIDs {
		return
	}
	if flags := d.givenOf("shared-system-prompt-length", "user-context-prompt-length"); len(flags) > 0 {
		d.fault("", "%s cannot be used with --endpoint-type %s, which sends token ids and knows no messages",
			strings.Join(flags, ", "), d.endpointType)
	}
}

func (d *draft) checkTelemetry() {
	if d.given("gpu-telemetry") {
		items, err := parseGPUItems(d.p.Texts("gpu-telemetry"))
		if err != nil {
			d.fault("V35", "%s: %v", d.flag("gpu-telemetry"), err)
		}
		if items.collector != "" && !d.allLocal() {
			d.warn("%s %s reads only the GPUs of this machine, but the server is elsewhere: %s",
				d.flag("gpu-telemetry"), items.collector, strings.Join(d.remoteURLs(), ", "))
		}
		if items.dashboard {
			d.unavailable(d.flag("gpu-telemetry")+" dashboard",
				"it lacks the dashboard; leave dashboard out for tables at the end")
		}
	}
	if d.given("server-metrics") {
		if _, err := serverMetricsURLs(d.p.Texts("server-metrics")); err != nil {
			d.fault("", "%s: %v", d.flag("server-metrics"), err)
		}
	}
}

// allLocal reports whether every server runs on this machine, as far as its name says.
func (d *draft) allLocal() bool { return len(d.remoteURLs()) == 0 }

// remoteURLs are those of servers elsewhere, redacted.
func (d *draft) remoteURLs() []string {
	var list []string
	for _, text := range d.p.Texts("url") {
		if !isLoopback(withScheme(text)) {
			list = append(list, artifact.RedactURLs(text))
		}
	}
	return list
}
