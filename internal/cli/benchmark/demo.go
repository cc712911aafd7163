package benchmark

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/config/option"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/mockserver"
	"aiperf/internal/run"
)

// demoArgs are the demo's benchmark: short, streaming, with a warm-up.
var demoArgs = []string{
	"--model", "mock-model", "--tokenizer", "builtin", "--endpoint-type", "chat", "--streaming",
	"--concurrency", "8", "--request-count", "80", "--warmup-request-count", "8", "--isl", "128", "--osl", "32",
	"--extra-inputs", "ignore_eos:true", "--goodput", "time_to_first_token:100 inter_token_latency:20",
	"--random-seed", "42", "--no-server-metrics", "--no-gpu-telemetry", "--html-report", "--artifact-dir",
	demoDir,
}

// demoDir is the folder of the demo, with a number behind it while there are results in it.
const demoDir = "artifacts/demo"

const demoHelp = `Usage: aiperf demo [profile flags]

Starts the embedded mock server as a process of its own on a free loopback port (time to first token
40 ms, 8 ms between tokens), runs a short streaming chat benchmark against it and reports. Flags of
"aiperf profile" replace or extend the demo's own.
`

// demoOwn says which flags the demo has of its own.
func demoOwn() string {
	return "The flags of the demo itself:\n  " + strings.Join(command.Quoted(demoArgs), " ") + "\n"
}

// runDemo starts the mock server as a child process and runs a short benchmark against it.
func runDemo(e *command.Env, args []string) error {
	if words, asked := flags.HelpWords(args); asked {
		return e.Help(demoTable(), words)
	}
	server, err := mockserver.StartProcess(mockserver.ProcessOptions{Log: os.Stderr, Args: []string{
		"--ttft", "40", "--itl", "8", "--ttft-jitter-cv", "0.2", "--itl-jitter-cv", "0.1", "--random-seed", "42"}})
	if err != nil {
		return err
	}
	defer server.Stop()
	fmt.Fprintf(e.Terminal.Err, "Mock server: %s\n", server.URL)
	e.HideSecrets(args)
	parsed, err := settings.Parse(overridden(demoArgs, append(args, "--url", server.URL)), e.LookupEnv)
	if err != nil {
		return err
	}
	parsed, loaded, err := loadFile(e, parsed)
	if err != nil {
		return err
	}
	defer loaded.remove()
	cfg, warnings, err := resolve.Resolve(parsed, run.Catalog{})
	if err != nil {
		return err
	}
	loaded.note(cfg)
	if cfg.Artifacts.Dir == filepath.FromSlash(demoDir) && !parsed.Overwrite.Get() {
		cfg.Artifacts.Derived = true
	}
	return command.Exit(newBench(e).execute(&experiment{}, cfg, nil, warnings))
}

// overridden leaves out of base each flag, with its values, that given names too, in whatever spelling.
func overridden(base, given []string) []string {
	named := map[string]bool{}
	for _, arg := range given {
		if name, _, _ := strings.Cut(arg, "="); strings.HasPrefix(name, "-") {
			for _, spelling := range spellings(name) {
				named[spelling] = true
			}
		}
	}
	var args []string
	keep := true
	for _, arg := range base {
		if strings.HasPrefix(arg, "--") {
			keep = !named[arg]
		}
		if keep {
			args = append(args, arg)
		}
	}
	return append(args, given...)
}

// spellings are all ways to write a flag.
func spellings(typed string) []string {
	if i, _ := option.Flags().Find(typed); i >= 0 {
		return option.Flags().Flags[i].Spellings()
	}
	return nil
}
