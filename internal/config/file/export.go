package file

import (
	"time"

	"aiperf/internal/config"
	"aiperf/internal/config/option"
)

// Exported is the configuration as exports carry it: the shape of the "benchmark:" body, what was given or derived,
// without secrets. Settings without a key in the schema are in [ExportedFurther].
func Exported(r *config.Run) Object {
	known, _ := separate(r)
	return known
}

// ExportedFurther holds the settings that the schema of the "benchmark:" body has no key for, in mappings as there;
// datasets and phases are under their names. It is empty where there are none.
func ExportedFurther(r *config.Run) Object {
	_, further := separate(r)
	return further
}

// separate returns the settings that the schema has keys for, and the others.
func separate(r *config.Run) (known, further Object) {
	clean, _ := r.Redactor().Strings(resolvedConfig(r)).(Object)
	return SplitBody(clean)
}

// resolvedConfig is everything that was given or derived, in the order of the "benchmark:" body.
func resolvedConfig(r *config.Run) Object {
	p := r.Asked
	out := Object{{Key: "models", Value: modelsConfig(r)}, {Key: "endpoint", Value: endpointConfig(r)},
		{Key: "datasets", Value: []any{datasetConfig(r)}}}
	phases := []any{}
	for i := range r.Phases {
		phases = append(phases, phaseConfig(&r.Phases[i], r))
	}
	out = append(out, Member{Key: "phases", Value: phases}, Member{Key: "artifacts", Value: artifactsConfig(r)})
	if len(r.SLOs) > 0 {
		slos := Object{}
		for _, s := range r.SLOs {
			slos = append(slos, Member{Key: s.Tag, Value: s.Value})
		}
		out = append(out, Member{Key: "slos", Value: slos})
	}
	if s := r.Serve; s != nil {
		out = append(out, Member{Key: "server", Value: Object{{Key: "command", Value: s.Command},
			{Key: "reset", Value: s.Reset}, {Key: "params", Value: append(Object{}, s.Params...)}}})
	}
	if r.Tokenizer.Name != "" {
		tokenizer := addGiven(Object{{Key: "name", Value: r.Tokenizer.Name}}, &p.TokenizerRevision, "revision",
			r.Tokenizer.Revision)
		out = append(out, Member{Key: "tokenizer",
			Value: addGiven(tokenizer, &p.ApplyChatTemplate, "apply_chat_template", r.Tokenizer.ChatTemplate)})
	}
	out = append(out, Member{Key: "server_metrics", Value: serverMetricsConfig(r)})
	out = setNonEmpty(out, "gpu_telemetry", gpuConfig(r))
	out = append(out, Member{Key: "network_latency", Value: networkConfig(r)})
	out = setNonEmpty(out, "otel", otelConfig(r))
	out = setNonEmpty(out, "mlflow", mlflowConfig(r))
	out = setNonEmpty(out, "wandb", wandbConfig(r))
	out = setNonEmpty(out, "runtime", runtimeConfig(r))
	out = addIf(out, p.LogLevel.Given() || r.UI.Verbose, "logging", Object{{Key: "level", Value: r.LogLevel}})
	if s := r.Submission; s != nil {
		out = append(out, Member{Key: "scenario", Value: s.Scenario})
		out = addGiven(out, &p.UnsafeOverride, "unsafe_override", p.UnsafeOverride.Get())
	}
	return out
}

// setNonEmpty appends an object unless it is empty.
func setNonEmpty(o Object, key string, value Object) Object {
	return addIf(o, len(value) > 0, key, value)
}

// addIf appends a member if it is wanted.
func addIf(o Object, wanted bool, key string, value any) Object {
	if !wanted {
		return o
	}
	return append(o, Member{Key: key, Value: value})
}

// addText appends a text unless it is empty.
func addText(o Object, key, value string) Object { return addIf(o, value != "", key, value) }

// addCount appends a whole number unless it is nil.
func addCount[T int | int64](o Object, key string, n *T) Object {
	if n == nil {
		return o
	}
	return append(o, Member{Key: key, Value: int64(*n)})
}

// addGiven appends a member if its option was set.
func addGiven(o Object, f option.Field, key string, value any) Object {
	return addIf(o, f.IsSet(), key, value)
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func modelsConfig(r *config.Run) Object {
	out := addGiven(nil, &r.Asked.ModelSelectionStrategy, "strategy", r.ModelSelection)
	items := []any{}
	for i, name := range r.Models {
		item := Object{{Key: "name", Value: name}}
		if r.ModelWeights != nil {
			item = append(item, Member{Key: "weight", Value: r.ModelWeights[i]})
		}
		items = append(items, item)
	}
	return append(out, Member{Key: "items", Value: items})
}

// secondsValue is a duration in seconds, "inf" for one without end.
func secondsValue(d time.Duration) any {
	if d == config.Unlimited {
		return "inf"
	}
	return d.Seconds()
}

func artifactsConfig(r *config.Run) Object {
	a := r.Artifacts
	out := Object{{Key: "dir", Value: a.Dir}}
	out = addText(out, "prefix", a.Prefix)
	switch a.ExportLevel {
	case "summary":
		out = append(out, Member{Key: "records", Value: false})
	case "raw":
		out = append(out, Member{Key: "records", Value: []any{"jsonl"}}, Member{Key: "raw", Value: true})
	}
	out = addIf(out, a.SliceDuration > 0, "slice_duration", a.SliceDuration.Seconds())
	out = addIf(out, len(a.Percentiles) > 0, "percentiles", a.Percentiles)
	out = addGiven(out, &r.Asked.AutoPlot, "auto_plot", r.Asked.AutoPlot.Get())
	out = addGiven(out, &r.Asked.PlotRequired, "plot_required", r.Asked.PlotRequired.Get())
	out = addGiven(out, &r.Asked.ExportHTTPTrace, "trace", a.HTTPTrace)
	out = addGiven(out, &r.Asked.ExportOutputsJSON, "export_outputs_json", a.Outputs)
	return addGiven(out, &r.Asked.ShowTraceTiming, "show_trace_timing", a.ShowTraceTiming)
}

func runtimeConfig(r *config.Run) Object {
	out := addGiven(nil, &r.Asked.UI, "ui", r.UI.Mode)
	out = addCount(out, "workers", r.Workers.Max)
	out = addCount(out, "workers_min", r.Workers.Min)
	return addCount(out, "record_processors", r.Workers.RecordProcessors)
}

// ExportedWhole is everything that was given or derived, without secrets: what [Exported] and [ExportedFurther] hold
// apart.
func ExportedWhole(r *config.Run) Object {
	clean, _ := r.Redactor().Strings(resolvedConfig(r)).(Object)
	return clean
}
