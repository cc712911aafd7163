// Package benchmark has the commands that measure: a benchmark with all that its options ask for, the shorter ways to
// one, and the test of the program itself. A bench makes the runs of one benchmark.
package benchmark

import (
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
)

// Commands returns the commands that measure servers.
func Commands() []command.Command {
	return []command.Command{
		{Name: "profile", Summary: "run a benchmark against an inference server",
			Tables: command.Table(ProfileTable), Run: runProfile},
		{Name: "agent", Summary: "make a share of the load of runs that another machine coordinates",
			Tables: command.Table(func() *flags.Table { return new(agentOptions).table() }), Run: runAgent},
		{Name: "quick", Summary: "measure a server for a minute and answer in five lines",
			Tables: command.Table(func() *flags.Table { return new(quickOptions).table() }), Run: runQuick},
		{Name: "top", Summary: "watch servers and GPUs without a load",
			Tables: command.Table(func() *flags.Table { return new(topOptions).table() }), Run: runTop},
		{Name: "demo", Summary: "run a short benchmark against the embedded mock server",
			Tables: command.Table(demoTable), Run: runDemo},
		{Name: "capacity", Summary: "find how much load a server takes within limits",
			Tables: command.Table(func() *flags.Table { return newCapacityFlags().table() }), Run: runCapacity},
	}
}

// Selftest returns the command that tests the program itself.
func Selftest() []command.Command {
	return []command.Command{
		{Name: "selftest", Summary: "check this program, and how much load this machine can make",
			Tables: command.Table(func() *flags.Table { return new(selftestOptions).table() }), Run: runSelftest},
	}
}

// demoTable is that of profile, whose flags aiperf demo takes.
func demoTable() *flags.Table {
	demo := ProfileTable()
	demo.Command, demo.About, demo.Examples = "demo", demoHelp, []flags.Example{
		{For: "the whole path, from a server to a report, in some seconds", Command: "aiperf demo"},
		{For: "with another load, and a page that shows it while it runs",
			Command: "aiperf demo --concurrency 32 --request-count 400 --web"},
	}
	demo.Short, demo.ShortFooter = []flags.Section{}, demoOwn()
	return demo
}
