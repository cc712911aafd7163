package option

// fileOnly are the rows that no flag gives, only a configuration file. Values of the type Any are set by its reader.
func fileOnly() []Option {
	return []Option{
		opt("model-weights", Any, "", 2, "Shares of the models, in their order."),
		opt("model-tokenizers", Any, "", 2, "Tokenizers of the models, in their order."),
		opt("isl-distribution", Any, "", 2, "Input length of a turn in tokens."),
		opt("osl-distribution", Any, "", 2, "Requested output length in tokens."),
		opt("turns-distribution", Any, "", 2, "Number of turns of a conversation."),
		opt("turn-delay-distribution", Any, "", 2, "Think time before a turn in milliseconds."),
		opt("image-width-distribution", Any, "", 2, "Width of pictures in pixels."),
		opt("image-height-distribution", Any, "", 2, "Height of pictures in pixels."),
		opt("audio-length-distribution", Any, "", 2, "Length of sound in seconds."),
		opt("passages-distribution", Any, "", 2, "Passages of a query."),
		opt("passage-tokens-distribution", Any, "", 2, "Length of a passage in tokens."),
		opt("query-tokens-distribution", Any, "", 2, "Length of a query in tokens."),
		opt("sequence-pairs", Any, "", 2, "Mix of input and output lengths."),
		opt("dataset-records", Any, "", 2, "Lines of the data, written in the configuration."),
		opt("dataset-seed", Int, "", 2, "Seed of the dataset alone.", limits(AtLeast(0))),
		opt("media-mix", Any, "", 3, "Weighted kinds of request with media of their own."),
		opt("phase-seamless", Bool, "false", 2, "Start when the phase before has sent its last request."),
		opt("phase-rate-series", Any, "", 2, "A rate that changes over time: points of time_s and qps."),
		opt("phase-adaptive", Any, "", 3, "Search the highest load that meets all limits: true, or its settings."),
		opt("concurrency-ramp-shape", Enum, "linear", 2, "How the concurrency grows.", values(RampShapes()...)),
		opt("prefill-concurrency-ramp-shape", Enum, "linear", 2, "How the prefill concurrency grows.",
			values(RampShapes()...)),
		opt("request-rate-ramp-shape", Enum, "linear", 2, "How the rate grows.", values(RampShapes()...)),
		opt("convergence-min-runs", Int, "2", 3, "Runs before the criterion is looked at.", limits(AtLeast(2))),
		opt("reset-kv-cache-retry-seconds", Float, "60", 3, "Seconds in which a busy server is asked again.", seconds,
			limits(AtLeast(0))),
		opt("export-summary", Bool, "true", 1, "The summary as JSON: [json], or false; the CSV is always written."),
		opt("user-files", Any, "", 2, "Text files that are written into the folder of the run."),
		opt("template-variables", Any, "", 2, "The variables of the file, for user files."),
	}
}

// RampShapes are the ways in which a limit or a rate grows.
func RampShapes() []string { return []string{"linear", "exponential", "poisson"} }
