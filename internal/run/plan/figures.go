package plan

import (
	"slices"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/wire/endpoint"
)

// Metrics returns which metrics a run has and how they are computed.
func Metrics(cfg *config.Run, d *endpoint.Descriptor) metrics.Config {
	c, env := metrics.DefaultConfig(), &cfg.Env
	c.Streaming = cfg.Endpoint.Streaming
	endpoint.Capabilities(d, &c)
	c.UseServerTokens = cfg.Endpoint.UseServerTokenCount
	c.ShowInternal, c.ShowExperimental = env.Dev.ShowInternalMetrics, env.Dev.ShowExperimentalMetrics
	for _, slo := range cfg.SLOs {
		c.SLOs = append(c.SLOs, metrics.SLO{Tag: slo.Tag, Value: slo.Value})
	}
	c.UsageDiffPercent = env.Metrics.UsagePctDiffThreshold
	c.OSLMismatchPercent = env.Metrics.OSLMismatchPctThreshold
	c.OSLMismatchTokens = int64(env.Metrics.OSLMismatchMaxTokenThreshold)
	c.Accuracy = cfg.Accuracy != nil
	c.SliceNS = int64(cfg.Artifacts.SliceDuration)
	c.ContextOverflow = env.ContextOverflow.Substrings
	c.SkipContextOverflow = cfg.AnyProfiling(func(p *config.Phase) bool { return p.Mode == config.AgenticReplay })
	c.Percentiles = cfg.Artifacts.Percentiles
	c.PricePerGPUHour = cfg.GPU.PricePerHour
	c.FixedSchedule = cfg.AnyProfiling(func(p *config.Phase) bool { return p.Schedule != nil })
	c.OpenLoop = cfg.AnyProfiling(func(p *config.Phase) bool {
		return p.Mode != config.Burst && p.Mode != config.AgenticReplay && !p.AtOnce()
	})
	return c
}

// DefaultStatsInterval is the period of the figures in the log where none was chosen.
const DefaultStatsInterval = 30 * time.Second

// StatsInterval returns the period of the figures in the log, 0 for none.
func StatsInterval(cfg *config.Run) time.Duration {
	switch {
	case cfg.UI.StatsInterval != nil:
		return *cfg.UI.StatsInterval
	case cfg.Env.UI.RealtimeMetricsInterval != nil:
		return *cfg.Env.UI.RealtimeMetricsInterval
	}
	return DefaultStatsInterval
}

// Limited reports whether a cap may hold arrivals back as it was asked to.
func Limited(cfg *config.Run) bool {
	return cfg.AnyProfiling(func(p *config.Phase) bool { return p.Concurrency != nil || p.Prefill != nil })
}

// JudgesJobs reports whether a run has service level objectives for jobs: then a session of one request is a job, too.
func JudgesJobs(cfg *config.Run) bool {
	return slices.ContainsFunc(cfg.SLOs, func(o config.SLO) bool {
		d, known := metrics.Lookup(o.Tag)
		return known && d.Kind == metrics.KindJob
	})
}
