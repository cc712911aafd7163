package option

import "aiperf/internal/load"

// fileOnly are the rows that no flag gives, only a configuration file. Values of the type Any are set by its reader.
func fileOnly() []Option {
	return []Option{
		opt("model-weights", Any, "", 2, "Shares of the models, in their order."),
		opt("model-tokenizers", Any, "", 2, "Tokenizers of the models, in their order."),
		opt("phase-seamless", Bool, "false", 2, "Start when the phase before has sent its last request."),
		opt("phase-rate-series", Any, "", 2, "A rate that changes over time: points of time_s and qps."),
		opt("phase-adaptive", Any, "", 3, "Search the highest load that meets all limits: true, or its settings."),
		opt("concurrency-ramp-shape", Enum, "linear", 2, "How the concurrency grows.", values(RampShapes()...)),
		opt("prefill-concurrency-ramp-shape", Enum, "linear", 2, "How the prefill concurrency grows.",
			values(RampShapes()...)),
		opt("request-rate-ramp-shape", Enum, "linear", 2, "How the rate grows.", values(RampShapes()...)),
		opt("convergence-min-runs", Int, "", 3, "Runs before the criterion is looked at.", limits(AtLeast(2))),
		opt("reset-kv-cache-retry-seconds", Float, "60", 3, "Seconds in which a busy server is asked again.", seconds,
			limits(AtLeast(0))),
		opt("export-summary", Bool, "true", 1, "The summary as JSON: [json], or false; the CSV is always written."),
		opt("endpoint-template", Any, "", 2, "Body of the requests of a template endpoint."),
		opt("user-files", Any, "", 2, "Text files that are written into the folder of the run."),
		opt("template-variables", Any, "", 2, "The variables of the file, for user files."),
	}
}

// RampShapes are the ways in which a limit or a rate grows.
func RampShapes() (names []string) {
	for _, s := range load.Strategies() {
		names = append(names, s.String())
	}
	return names
}
