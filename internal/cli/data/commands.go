// Package data has the commands about what is sent: data files, traces and tokenizers.
package data

import (
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
)

// Commands returns the commands about data.
func Commands() []command.Command {
	return []command.Command{
		{Name: "data", Summary: "show what a data file holds and what would be sent of it",
			Tables: command.Table(func() *flags.Table { return new(dataOptions).table() }), Run: runData},
		{Name: "record", Summary: "record the traffic of a server as a trace that can be replayed",
			Tables: command.Table(func() *flags.Table { return new(recordOptions).table() }), Run: runRecord},
		{Name: "anonymize", Summary: "make a recording without texts of logs that have them",
			Tables: command.Table(func() *flags.Table { return new(anonymizeOptions).table() }), Run: runAnonymize},
		{Name: "analyze-trace", Summary: "describe a trace: lengths, shared prefixes, hit rates",
			Tables: command.Table(func() *flags.Table { return new(analyzeTraceOptions).table() }), Run: runAnalyzeTrace},
		{Name: "synthesize", Summary: "generate a trace of coding sessions",
			Tables: command.Table(func() *flags.Table { return new(synthesizeOptions).table() }), Run: runSynthesize},
		{Name: "validate", Summary: "validate a trace against its format",
			Tables: command.Table(func() *flags.Table { return new(validateOptions).table() }), Run: runValidate},
		{Name: "tokenizer", Summary: "pack a tokenizer into a file; count or encode text with it",
			Tables: tokenizerTables, Run: runTokenizer},
	}
}
