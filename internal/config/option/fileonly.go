package option

import (
	"aiperf/internal/base/artifact"
	"aiperf/internal/load"
)

// fileFields are the values that no flag gives, only a configuration file. Those of the type Any are set by its reader.
type fileFields struct {
	ConcurrencyRampShape, PrefillConcurrencyRampShape, RequestRateRampShape Opt[string]
	ModelTokenizers                                                         Opt[[]string]
	PhaseSeamless, ExportSummary                                            Opt[bool]
	ConvergenceMinRuns                                                      Opt[int64]
	ResetKVCacheRetrySeconds                                                Opt[float64]
	PhaseAdaptive                                                           Opt[*load.Adaptive]
	ModelWeights                                                            Opt[[]float64]
	// PhaseRateSeries is a list of config.RatePoint, UserFiles one of document.UserFile.
	PhaseRateSeries, UserFiles          Opt[any]
	EndpointTemplate, TemplateVariables Opt[artifact.Object]
}

func (f *fileFields) rows() []Option {
	return []Option{
		opt(&f.ModelWeights, "model-weights", "", 2, "Shares of the models, in their order."),
		opt(&f.ModelTokenizers, "model-tokenizers", "", 2, "Tokenizers of the models, in their order.", structured),
		opt(&f.PhaseSeamless, "phase-seamless", "false", 2, "Start when the phase before has sent its last request."),
		opt(&f.PhaseRateSeries, "phase-rate-series", "", 2, "A rate that changes over time: points of time_s and qps."),
		opt(&f.PhaseAdaptive, "phase-adaptive", "", 3,
			"Search the highest load that meets all limits: true, or its settings."),
		opt(&f.ConcurrencyRampShape, "concurrency-ramp-shape", "linear", 2, "How the concurrency grows.",
			values(RampShapes()...)),
		opt(&f.PrefillConcurrencyRampShape, "prefill-concurrency-ramp-shape", "linear", 2,
			"How the prefill concurrency grows.", values(RampShapes()...)),
		opt(&f.RequestRateRampShape, "request-rate-ramp-shape", "linear", 2, "How the rate grows.",
			values(RampShapes()...)),
		opt(&f.ConvergenceMinRuns, "convergence-min-runs", "", 3, "Runs before the criterion is looked at.",
			limits(AtLeast(2))),
		opt(&f.ResetKVCacheRetrySeconds, "reset-kv-cache-retry-seconds", "60", 3,
			"Seconds in which a busy server is asked again.", seconds, limits(AtLeast(0))),
		opt(&f.ExportSummary, "export-summary", "true", 1,
			"The summary as JSON: [json], or false; the CSV is always written."),
		opt(&f.EndpointTemplate, "endpoint-template", "", 2, "Body of the requests of a template endpoint.",
			structured),
		opt(&f.UserFiles, "user-files", "", 2, "Text files that are written into the folder of the run."),
		opt(&f.TemplateVariables, "template-variables", "", 2, "The variables of the file, for user files.",
			structured),
	}
}

// RampShapes are the ways in which a limit or a rate grows.
func RampShapes() (names []string) {
	for _, s := range load.Strategies() {
		names = append(names, s.String())
	}
	return names
}
