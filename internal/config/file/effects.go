package file

import (
	"math"
	"strconv"
	"strings"
	"sync"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/config/schema"
)

// effect reads the value of a key.
type effect = func(r *reader, t target, k schema.Key, n *document.Node, path string)

// effects are the keys whose values are no single option's, by their paths with [] for indices. They are made when the
// first file is read.
var effects struct {
	once sync.Once
	of   map[string]effect
}

// effectOf is the effect of the key at a path, nil if it is that of its option.
func effectOf(path string) effect {
	effects.once.Do(func() { effects.of = allEffects() })
	return effects.of[general.ReplaceAllString(path, "[]")]
}

func allEffects() map[string]effect {
	all := map[string]effect{
		"schema_version":                                (*reader).version,
		"benchmark.models.items":                        (*reader).modelItems,
		"benchmark.slos":                                (*reader).slos,
		"benchmark.endpoint.template":                   (*reader).template,
		"benchmark.endpoint.urls":                       (*reader).urls,
		"benchmark.endpoint.reset_kv_cache":             hook(&option.Rows().ResetKVCache),
		"benchmark.endpoint.server_profiler":            hook(&option.Rows().ServerProfiler),
		"benchmark.endpoint.path":                       (*reader).rooted,
		"benchmark.endpoint.reset_kv_cache.path":        (*reader).rooted,
		"benchmark.endpoint.server_profiler.start_path": (*reader).rooted,
		"benchmark.endpoint.server_profiler.stop_path":  (*reader).rooted,
		"benchmark.artifacts.summary":                   (*reader).summary,
		"benchmark.artifacts.records":                   (*reader).records,
		"benchmark.artifacts.raw":                       (*reader).raw,
		"benchmark.artifacts.user_files":                (*reader).userFiles,
		"benchmark.gpu_telemetry":                       (*reader).gpu,
		"benchmark.server_metrics.enabled":              off(&option.Rows().NoServerMetrics),
		"benchmark.server_metrics.discovery.mode":       (*reader).discovery,
		"benchmark.otel.stream_metrics_enabled":         (*reader).checked,
		"benchmark.otel.stream_timing_enabled":          (*reader).checked,
		"benchmark.otel.custom_resource_attributes":     items(&option.Rows().OTelResourceAttributes),
		"benchmark.network_latency.enabled":             (*reader).latency,
	}
	for path, effect := range datasetEffects() {
		all["benchmark.datasets[]."+path] = effect
	}
	for path, effect := range phaseEffects() {
		all["benchmark.phases[]."+path] = effect
	}
	return all
}

// checked keys are looked at by another key's effect.
func (r *reader) checked(_ target, k schema.Key, n *document.Node, path string) {
	if _, err := r.tokens(k, n); err != nil {
		r.fault(n, path, "%v", err)
	}
}

func (r *reader) version(_ target, k schema.Key, n *document.Node, path string) {
	if n.Written != "2.0" && n.Written != "2" {
		r.fault(n, path, "%s is not a version that this program reads; it reads 2.0", fault.Shorten(n.Written))
	}
}

func (r *reader) modelItems(t target, k schema.Key, n *document.Node, path string) {
	var names []string
	var weights []float64
	var tokenizers []string
	r.each(n, path, func(item *document.Node, path string) {
		if item.Kind != document.Map {
			r.fault(item, path, "is %v; it must be a mapping with the key name", item.Kind)
			return
		}
		scratch := target{Settings: t.Copy()}
		r.section(scratch, schema.Key{Kind: schema.Section, Fields: k.Fields}, item, path)
		name, _ := textOf(item.Get("name"))
		names = append(names, name)
		if w := item.Get("weight"); w != nil && w.Kind != document.Null {
			share, _ := w.Number()
			weights = append(weights, share)
		}
		tokenizer, _ := textOf(item.Get("tokenizer").Get("name"))
		tokenizers = append(tokenizers, tokenizer)
	})
	if n.Kind == document.List && len(names) == 0 {
		r.fault(n, path, "is empty: name at least one model")
		return
	}
	if err := t.ModelNames.Row().SetItems(&t.ModelNames, names, r.origin(n, path)); err != nil {
		r.fault(n, path, "%v", err)
	}
	if len(weights) > 0 {
		t.ModelWeights.Put(weights, r.origin(n, path))
	}
	if strings.Join(tokenizers, "") != "" {
		t.ModelTokenizers.Put(tokenizers, r.origin(n, path))
	}
}

// models checks that a choice by weight has all weights.
func (r *reader) models(body *document.Node) {
	models := body.Get("models")
	if models == nil || r.base.ModelSelectionStrategy.Get() != "weighted" {
		return
	}
	weights := r.base.ModelWeights.Get()
	items := models.Get("items")
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	switch {
	case items == nil:
	case len(weights) < len(items.Items):
		r.fault(items, "benchmark.models.items", "strategy weighted needs a weight for each model")
	case math.Abs(sum-1) > 0.01+1e-9:
		r.fault(items, "benchmark.models.items", "the weights add up to %s; they must add up to 1", plain(sum))
	}
}

func textOf(n *document.Node) (string, bool) {
	if n == nil || n.Scalar == nil {
		return "", false
	}
	return n.Written, true
}

// slos takes thresholds as the option writes them.
func (r *reader) slos(t target, k schema.Key, n *document.Node, path string) {
	if n.Kind != document.Map {
		r.fault(n, path, "is %v; it must be a mapping of metric tags to numbers", n.Kind)
		return
	}
	var items []string
	for _, m := range n.Members {
		v, ok := m.Value.Number()
		if !ok || strings.ContainsAny(m.Key, " :") || m.Key == "" {
			r.fault(m.Value, document.Path(path, m.Key), "must be a metric tag and a number")
			continue
		}
		items = append(items, m.Key+":"+plain(v))
	}
	if len(items) > 0 {
		r.apply(&t.Goodput, []string{strings.Join(items, " ")}, n, path)
	}
}

// template puts body and response_field where the endpoint looks for them: among the extra inputs.
func (r *reader) template(t target, k schema.Key, n *document.Node, path string) {
	r.section(target{Settings: t.Copy()}, k, n, path)
	if body, ok := textOf(n.Get("body")); ok {
		field, given := textOf(n.Get("response_field"))
		if !given {
			field = "text"
		}
		t.EndpointTemplate.Put(artifact.Object{{Key: "payload_template", Value: body},
			{Key: "response_field", Value: field}}, r.origin(n, path))
	}
}

// urls reads texts, and mappings of a URL and the headers of the requests to it.
func (r *reader) urls(t target, k schema.Key, n *document.Node, path string) {
	if n.Kind != document.List {
		r.set(t, k, n, path)
		return
	}
	var urls, headers []string
	for i, item := range n.Items {
		if item.Kind != document.Map {
			urls = append(urls, item.Written)
			if item.Scalar == nil {
				r.fault(item, document.Index(path, i), "is %v; it must be a text, or a mapping with url and headers",
					item.Kind)
			}
			continue
		}
		below, before := document.Index(path, i), len(r.faults)
		r.section(target{Settings: t.Copy()}, schema.Key{Fields: k.Fields}, item, below)
		if len(r.faults) > before {
			continue
		}
		url, _ := textOf(item.Get("url"))
		urls = append(urls, url)
		for _, m := range orNull(item.Get("headers")).Members {
			text, _ := textOf(m.Value)
			header := option.URLHeader{At: strconv.Itoa(i), Name: m.Key, Value: text}.String()
			if _, err := option.ParseURLHeader(header); err != nil {
				r.fault(m.Value, document.Path(below, "headers"), "%v", err)
				continue
			}
			headers = append(headers, header)
		}
	}
	r.apply(&t.URL, urls, n, path)
	if len(headers) > 0 {
		r.apply(&t.URLHeader, headers, n, path)
	}
}

// hook reads a hook: true, false or its settings.
func hook(of option.Field) effect {
	return func(r *reader, t target, k schema.Key, n *document.Node, path string) {
		if b, ok := boolean(n); ok {
			r.apply(t.Field(of.Row()), []string{strconv.FormatBool(b)}, n, path)
			return
		}
		if n.Kind != document.Map {
			r.fault(n, path, "is %v; it must be true, false or a mapping", n.Kind)
			return
		}
		r.apply(t.Field(of.Row()), []string{"true"}, n, path)
		r.section(t, k, n, path)
	}
}

func (r *reader) rooted(t target, k schema.Key, n *document.Node, path string) {
	if text, _ := textOf(n); !strings.HasPrefix(text, "/") || strings.Contains(text, "://") {
		r.fault(n, path, "must be a path that starts with / and names no host")
		return
	}
	r.set(t, k, n, path)
}

// summary is [json] or false.
func (r *reader) summary(t target, _ schema.Key, n *document.Node, path string) {
	if on, ok := r.listed(n, path, "json"); ok {
		t.ExportSummary.Put(on, r.origin(n, path))
	}
}

// listed reads a list that may hold one word alone, or false.
func (r *reader) listed(n *document.Node, path, word string) (on, ok bool) {
	if b, isBool := boolean(n); isBool && !b {
		return false, true
	}
	if n.Kind != document.List || len(n.Items) != 1 || n.Items[0].Written != word {
		r.fault(n, path, "must be [%s] or false", word)
		return false, false
	}
	return true, true
}

// records and raw make up the level of the exports: raw wins.
func (r *reader) records(t target, _ schema.Key, n *document.Node, path string) {
	on, ok := r.listed(n, path, "jsonl")
	if !ok || t.ExportLevel.Get() == "raw" && t.ExportLevel.Given() {
		return
	}
	level := "records"
	if !on {
		level = "summary"
	}
	r.apply(&t.ExportLevel, []string{level}, n, path)
}

func (r *reader) raw(t target, k schema.Key, n *document.Node, path string) {
	on, ok := boolean(n)
	if !ok {
		r.checked(t, k, n, path)
		return
	}
	if on {
		r.apply(&t.ExportLevel, []string{"raw"}, n, path)
	}
}

// userFiles checks files that are written when the run begins; they are rendered then.
func (r *reader) userFiles(t target, k schema.Key, n *document.Node, path string) {
	var files []document.UserFile
	r.each(n, path, func(item *document.Node, path string) {
		before := len(r.faults)
		r.section(target{Settings: t.Copy()}, schema.Key{Fields: k.Fields}, item, path)
		if len(r.faults) > before {
			return
		}
		name, _ := textOf(item.Get("path"))
		format, _ := textOf(item.Get("format"))
		if err := document.CheckUserPath(name); err != nil {
			r.fault(item.Get("path"), document.Path(path, "path"), "%v", err)
			return
		}
		f, err := document.NewUserFile(name, format, orNull(item.Get("content")))
		if err != nil {
			r.fault(item, path, "%v", err)
			return
		}
		files = append(files, f)
	})
	t.UserFiles.Put(files, r.origin(n, path))
}

// gpu makes the items of the flag of the settings, and passes on the price, which is one of no items.
func (r *reader) gpu(t target, k schema.Key, n *document.Node, path string) {
	faults := len(r.faults)
	r.section(target{Settings: t.Copy()}, k, n, path)
	if n.Kind != document.Map || len(r.faults) > faults {
		return
	}
	for _, name := range []string{"price_per_gpu_hour", "num_gpus"} {
		if of := n.Get(name); of != nil && of.Kind != document.Null {
			key, _ := k.Field(name)
			r.apply(t.Field(key.Option), []string{of.Written}, of, document.Path(path, name))
		}
	}
	if on, ok := boolean(orNull(n.Get("enabled"))); ok && !on {
		r.apply(&t.NoGPUTelemetry, []string{"true"}, n.Get("enabled"), path+".enabled")
		return
	}
	var items []string
	if urls := n.Get("urls"); urls != nil {
		for _, u := range urls.Items {
			items = append(items, u.Written)
		}
	}
	collector, _ := textOf(n.Get("collector"))
	if collector == "pynvml" || collector == "amdsmi" {
		if len(items) > 0 {
			r.fault(n.Get("urls"), document.Path(path, "urls"),
				"cannot be used with collector %s, which reads the GPUs of "+
					"this machine", collector)
			return
		}
		items = append(items, collector)
	}
	if mode, _ := textOf(n.Get("mode")); mode == "realtime_dashboard" {
		items = append(items, "dashboard")
	}
	if file, ok := textOf(n.Get("metrics_file")); ok {
		items = append(items, r.locate(file))
	}
	if len(items) > 0 {
		r.apply(&t.GPUTelemetry, items, n, path)
	}
}

func orNull(n *document.Node) *document.Node {
	if n == nil {
		return &document.Node{}
	}
	return n
}

// off sets an option that says no where the key says yes.
func off(of option.Field) effect {
	return func(r *reader, t target, k schema.Key, n *document.Node, path string) {
		on, ok := boolean(n)
		if !ok {
			r.checked(t, k, n, path)
		} else if !on {
			r.apply(t.Field(of.Row()), []string{"true"}, n, path)
		}
	}
}

func (r *reader) discovery(t target, k schema.Key, n *document.Node, path string) {
	r.checked(t, k, n, path)
	if n.Written == "kubernetes" {
		r.fault(n, path, "kubernetes is not available in this release: name the pages in server_metrics.urls")
	}
}

// latency: measured unless a mean is given.
func (r *reader) latency(t target, k schema.Key, n *document.Node, path string) {
	on, ok := boolean(n)
	if !ok {
		r.checked(t, k, n, path)
		return
	}
	if mean := Body(r.root).Get("network_latency").Get("mean_ms"); on && (mean == nil || mean.Kind == document.Null) {
		r.apply(&t.NetworkLatencyAutomatic, []string{"true"}, n, path)
	}
}

// items reads a mapping as the name=value items of an option.
func items(of option.Field) effect {
	return func(r *reader, t target, k schema.Key, n *document.Node, path string) {
		if _, err := r.tokens(k, n); err != nil {
			r.fault(n, path, "%v", err)
			return
		}
		var list []string
		for _, m := range n.Members {
			list = append(list, m.Key+"="+m.Value.Written)
		}
		if len(list) > 0 {
			r.apply(t.Field(of.Row()), list, n, path)
		}
	}
}

// defaults sets what a file leaves out and what follows from several of its keys.
func (r *reader) defaults() {
	b, body := r.base, Body(r.root)
	if body.Get("endpoint").Get("template") != nil && body.Get("endpoint").Get("type") == nil {
		preset(&b.EndpointType, "template")
	}
	t := b.EndpointTemplate.Get()
	if t != nil && b.EndpointType.Get() != "template" {
		r.warn(fault.LevelWarning, "%s: without effect: the endpoint has the type %s", b.EndpointTemplate.Origin(),
			b.EndpointType.Get())
	} else if t != nil {
		extra := b.ExtraInputs.Get()
		for _, m := range t {
			extra = extra.Set(m.Key, m.Value)
		}
		b.ExtraInputs.Put(extra, b.EndpointTemplate.Origin())
	}
	if r.root.Get("multi_run").Get("convergence") != nil {
		preset(&b.ConvergenceMinRuns, "2")
	}
	if otel := body.Get("otel"); b.OTelURL.Given() && otel != nil {
		metrics, m := boolean(orNull(otel.Get("stream_metrics_enabled")))
		timing, t := boolean(orNull(otel.Get("stream_timing_enabled")))
		metrics, timing = metrics || !m, timing || !t
		switch {
		case metrics && timing:
		case metrics:
			preset(&b.Stream, "metrics")
		case timing:
			preset(&b.Stream, "timing")
		default:
			r.fault(otel, "benchmark.otel", "sends nothing: set stream_metrics_enabled or stream_timing_enabled")
		}
	}
	r.relations(body)
}

// relations are the rules between keys that hold for files alone: flags have no such combination, or let it be.
func (r *reader) relations(body *document.Node) {
	b, endpoint := r.base, body.Get("endpoint")
	if kind := endpoint.Get("type"); kind != nil && b.EndpointType.Get() == "template" {
		if _, ok := b.ExtraInputs.Get().Get("payload_template"); !ok {
			r.fault(kind, "benchmark.endpoint.type", "template needs endpoint.template with the body of the requests")
		}
	}
	store, _ := b.ExtraInputs.Get().Get("store")
	if b.EndpointType.Get() == "responses" && store == true && !b.UseServerTokenCount.Get() &&
		endpoint.Get("extra") != nil {
		r.fault(endpoint.Get("extra"), "benchmark.endpoint.extra", "store: true needs use_server_token_count: true")
	}
	if outputs := body.Get("artifacts").Get("export_outputs_json"); b.ExportOutputsJSON.Get() && outputs != nil &&
		strings.TrimSuffix(b.ProfileExportPrefix.Get(), ".json") == "outputs" {
		r.fault(orSelf(body.Get("artifacts").Get("prefix"), outputs), "benchmark.artifacts.prefix",
			"%s would give another file the name outputs.json, which export_outputs_json writes",
			fault.Shorten(b.ProfileExportPrefix.Get()))
	}
}
