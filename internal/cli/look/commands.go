// Package look has the commands that look at finished runs: they read files, and measure nothing.
package look

import (
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
)

// Commands returns the commands about finished runs.
func Commands() []command.Command {
	return []command.Command{
		{Name: "report", Summary: "recompute the summaries of a run from its records",
			Tables: command.Table(func() *flags.Table { return new(reportOptions).table() }), Run: runReport},
		{Name: "why", Summary: "say what limited a run, where its time went, and what to change",
			Tables: command.Table(func() *flags.Table { return new(whyOptions).table() }), Run: runWhy},
		{Name: "gate", Summary: "check a finished run against thresholds",
			Tables: command.Table(func() *flags.Table { return new(gateOptions).table() }), Run: runGate},
		{Name: "compare", Summary: "compare runs with a base: better, worse, no difference",
			Tables: command.Table(func() *flags.Table { return new(compareOptions).table() }), Run: runCompare},
		{Name: "serve", Summary: "show finished runs in the browser",
			Tables: command.Table(func() *flags.Table { return new(browseOptions).table() }), Run: runServe},
		{Name: "plot", Summary: "draw finished runs as pictures",
			Tables: command.Table(func() *flags.Table { return new(plotOptions).table() }), Run: runPlot},
		{Name: "share", Summary: "print a result for an issue or post, or draw it as a card",
			Tables: command.Table(func() *flags.Table { return new(shareOptions).table() }), Run: runShare},
		{Name: "speed-bench-report", Summary: "show runs of SPEED-Bench categories as a matrix",
			Tables: command.Table(func() *flags.Table { return new(speedBenchOptions).table() }), Run: runSpeedBench},
		{Name: "analyze", Summary: "draw the sessions of a run, or show what its requests say",
			Tables: analyzeTables, Run: runAnalyze},
		{Name: "server-metrics", Summary: "recompute the server metrics of a run from its recording",
			Tables: command.Table(func() *flags.Table { return new(ReplayOptions).Table() }), Run: runServerMetrics},
	}
}

// analyzeTables are the flags of each analysis.
func analyzeTables() []*flags.Table {
	return []*flags.Table{new(swimLaneOptions).table(), new(turnMessagesOptions).table()}
}
