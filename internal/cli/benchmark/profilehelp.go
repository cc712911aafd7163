package benchmark

import (
	"aiperf/internal/base/manual"
	"aiperf/internal/config/env"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/option"
)

// ProfileTable returns the flags of aiperf profile with its help.
func ProfileTable() *flags.Table {
	t := *option.Flags()
	t.About = `Usage: aiperf profile [URL] [flags]

Runs a benchmark against an inference server and writes its reports.
`
	t.Examples = []flags.Example{
		{For: "ten requests at once, streamed, a hundred in all",
			Command: "aiperf profile localhost:8000 --streaming --concurrency 10 --request-count 100"},
		{For: "five requests per second for a minute, with prompts of 512 tokens",
			Command: "aiperf profile --streaming --request-rate 5 --benchmark-duration 60s --isl 512"},
		{For: "your own prompts, and the rate of replies that meet a service level",
			Command: "aiperf profile --input-file prompts.jsonl --streaming --goodput 'ttft:300ms'"},
		{For: "a recording of aiperf record, with twice as many users",
			Command: "aiperf profile --input-file recording --users x2"},
		{For: "four loads, one after the other, and which is best",
			Command: "aiperf profile --streaming --concurrency 1,4,16,64 --request-count 200"},
		{For: "in a pipeline: exit code 3 if the server is too slow",
			Command: "aiperf profile --streaming --ui none --fail-if 'ttft:p99>500ms'"},
	}
	t.Page = "guide"
	t.Footer = `Lists: a flag that takes several values takes them separated by commas or spaces, or is repeated. Numbers may be
written as 100_000; whole numbers also as 100k, 2M or 1G (decimal); times with units, as 500ms, 10s, 5m or 1h30m;
booleans as true/false, t/f, yes/no, y/n, on/off or 1/0 in any case. Underscores and dashes in flag names are the same.

Metrics have short names, such as ttft, itl, tpot, e2e, tps, rps, isl and osl: ` + manual.Page("metrics") + `. The flags as
tables: ` + manual.Page("cli") + `. Variables of the environment: ` + manual.Page("environment") + `.

Exit codes: 0 finished (some requests may have failed); 1 usage or start-up error, no results, a file that could not be
written, or all requests failed; 3 a condition of --fail-if is met; 4 --require-valid was given and the verdict is not
valid; 130 second Ctrl-C; 143 SIGTERM.
`
	t.Entries, t.EntriesTitle = variables, "Variables of the environment ("+manual.Page("environment")+" has all)"
	return &t
}

// variables are the variables of the environment for a search of the help.
func variables() (list []flags.Entry) {
	for _, v := range env.Variables() {
		if v.HasEffect() {
			list = append(list, flags.Entry{Name: option.EnvPrefix + v.Name, Help: v.Help})
		}
	}
	return list
}
