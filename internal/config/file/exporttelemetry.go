package file

import (
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/config/parse"
)

func serverMetricsConfig(r *config.Run) Object {
	s := r.ServerMetrics
	if !s.Enabled {
		return Object{{Key: "enabled", Value: false}}
	}
	urls, _ := parse.ServerMetricsURLs(s.URLs) // checked before
	for i := range urls {
		urls[i] = artifact.RedactURLs(urls[i])
	}
	return Object{{Key: "enabled", Value: true}, {Key: "urls", Value: texts(urls)},
		{Key: "formats", Value: texts(s.Formats)}}
}

func gpuConfig(r *config.Run) Object {
	g := r.GPU
	if !g.Enabled {
		return append(Object{{Key: "enabled", Value: false}}, priceConfig(&g)...)
	}
	var out Object
	if len(g.Exporters) > 0 {
		urls := make([]string, len(g.Exporters))
		for i, e := range g.Exporters {
			urls[i] = artifact.RedactURLs(e.URL)
		}
		out = append(out, Member{Key: "urls", Value: texts(urls)})
	}
	out = addText(out, "collector", g.Collector)
	out = addText(out, "metrics_file", g.MetricsFile)
	return append(out, priceConfig(&g)...)
}

// priceConfig has the price of the GPUs, if one was given.
func priceConfig(g *config.GPU) (out Object) {
	out = addIf(out, g.PricePerHour > 0, "price_per_gpu_hour", g.PricePerHour)
	out = addIf(out, g.Count > 0, "num_gpus", g.Count)
	return out
}

func networkConfig(r *config.Run) Object {
	out := Object{{Key: "enabled", Value: r.Network.Automatic || r.Network.Mean != nil}}
	if mean := r.Asked.NetworkLatencyMean.Pointer(); mean != nil {
		out = append(out, Member{Key: "mean_ms", Value: *mean})
	}
	return addGiven(out, &r.Asked.NetworkLatencyPingInterval, "ping_interval", r.Network.Interval.Seconds())
}

// otelConfig is the part of the configuration that exports carry.
func otelConfig(r *config.Run) Object {
	o := r.OTel
	if o.URL == nil {
		return nil
	}
	out := Object{{Key: "metrics_url", Value: artifact.RedactAddress(strings.TrimPrefix(o.URL.String(), "//"))}}
	out = addGiven(out, &r.Asked.Stream, "stream_metrics_enabled", o.Metrics)
	out = addGiven(out, &r.Asked.Stream, "stream_timing_enabled", o.Timing)
	if len(o.Attributes) > 0 {
		attributes := Object{}
		for _, a := range o.Attributes {
			attributes = append(attributes, Member{Key: a.Name, Value: a.Value})
		}
		out = append(out, Member{Key: "custom_resource_attributes", Value: artifact.HideSensitive(attributes)})
	}
	return addGiven(out, &r.Asked.GenAIProvider, "gen_ai_provider", o.Provider)
}

// mlflowConfig is the part of the configuration that exports carry.
func mlflowConfig(r *config.Run) Object {
	m := r.MLflow
	if m.URI == nil {
		return nil
	}
	out := Object{{Key: "tracking_uri", Value: artifact.RedactURLs(m.URI.String())},
		{Key: "experiment", Value: m.Experiment}}
	out = addGiven(out, &r.Asked.MLflowRunName, "run_name", m.RunName)
	if len(m.Tags) > 0 {
		tags := Object{}
		for _, t := range m.Tags {
			tags = append(tags, Member{Key: t.Name, Value: t.Value})
		}
		out = append(out, Member{Key: "tags", Value: artifact.HideSensitive(tags)})
	}
	out = addGiven(out, &r.Asked.MLflowParentRunID, "parent_run_id", m.ParentRunID)
	return addGiven(out, &r.Asked.MLflowArtifactGlob, "artifact_globs", texts(m.Globs))
}

// wandbConfig is the part of the configuration that exports carry.
func wandbConfig(r *config.Run) Object {
	w := r.WandB
	if w.Project == "" {
		return nil
	}
	out := addGiven(Object{{Key: "project", Value: w.Project}}, &r.Asked.WandBEntity, "entity", w.Entity)
	out = addGiven(out, &r.Asked.WandBRunName, "run_name", w.RunName)
	return addGiven(out, &r.Asked.WandBTag, "tags", texts(w.Tags))
}
