package cli_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/testkit"
	"aiperf/internal/cli/command"
)

// pages are the documents whose commands are run, and what a command finds when it starts: the page's own code blocks
// of a language, written to files. A block that begins with its language and the name of a file is written there too.
var pages = map[string]map[string]string{
	"README.md":               nil,
	"docs/README.md":          nil,
	"docs/accuracy.md":        nil,
	"docs/adaptive-scale.md":  {"yaml": "search.yaml"},
	"docs/agentic.md":         nil,
	"docs/analysis.md":        nil,
	"docs/anonymize.md":       nil,
	"docs/benchmarks.md":      nil,
	"docs/branching.md":       {"jsonl": "sessions.jsonl"},
	"docs/capacity.md":        nil,
	"docs/chat.md":            nil,
	"docs/ci.md":              nil,
	"docs/configuration.md":   nil,
	"docs/dashboard.md":       nil,
	"docs/datasets.md":        nil,
	"docs/endpoints.md":       nil,
	"docs/fleet.md":           nil,
	"docs/from-genai-perf.md": nil,
	"docs/from-guidellm.md":   nil,
	"docs/from-k6.md":         nil,
	"docs/from-vllm-bench.md": nil,
	"docs/gpu-telemetry.md":   nil,
	"docs/guide.md":           nil,
	"docs/html-report.md":     nil,
	"docs/install.md":         nil,
	"docs/jobs.md":            {"jsonl": "agents.jsonl"},
	"docs/kubernetes.md":      nil,
	"docs/live.md":            nil,
	"docs/mock-server.md":     nil,
	"docs/plugins.md":         nil,
	"docs/operator.md":        {"yaml": "job.yaml"},
	"docs/other-results.md":   nil,
	"docs/plots.md":           nil,
	"docs/public-datasets.md": nil,
	"docs/quick.md":           nil,
	"docs/record.md":          nil,
	"docs/replay.md":          nil,
	"docs/recipes.md":         nil,
	"docs/results.md":         nil,
	"docs/runs.md":            nil,
	"docs/selftest.md":        nil,
	"docs/serve.md":           nil,
	"docs/server-metrics.md":  nil,
	"docs/servers.md":         nil,
	"docs/share.md":           nil,
	"docs/sweeps.md":          {"yaml": "sweep.yaml"},
	"docs/telemetry.md":       nil,
	"docs/tokenizers.md":      nil,
	"docs/traces.md":          {"jsonl": "trace.jsonl"},
	"docs/your-traffic.md":    nil,
}

// absent names what a command of the documents needs and a test does not have. A command that holds one of these texts
// is read by nobody but its reader; every other command is run as it is printed.
var absent = map[string]string{
	"…":                          "a part of a command",
	"vllm.json":                  "a result of another tool",
	"benchmarks.json":            "a result of another tool",
	"aiperf mock-server":         "the server that the test itself starts",
	"aiperf top localhost":       "it watches until it is interrupted",
	"aiperf selftest":            "a minute of an idle machine; it has tests of its own",
	"--auth-type sigv4":          "an account with a cloud",
	"https://api.openai.com":     "an account with a provider",
	"--sagemaker-endpoint-name":  "an account with a cloud",
	"--public-dataset":           "a network",
	"aiperf tokenizer pack meta": "a network",
	"weka_trace":                 "recorded traces of agents",
	"syfi_coding_trace":          "recorded traces of agents",
	"aiperf agent":               "an agent that waits for a coordinator on another machine",
	"--wait-for-agents":          "a coordinator that waits for other machines",
	"8000 --out recording":       "a recorder that runs until it is interrupted",
	"--input-file recording":     "a recording",
	"aiperf serve":               "a server that answers until it is interrupted",
	"aiperf speed-bench-report":  "runs of a data set from a network",
	"aiperf compare baseline":    "folders of earlier runs",
	"artifacts/c4 artifacts/c16": "folders of earlier runs",
	"--request-count 1000000":    "a million requests",
	"$SERVER":                    "the settings of a pipeline",
	"--from 60 --to 360":         "a run of some minutes",
	"--from 30 --to 330":         "a run of some minutes",
	"aiperf synthesize":          "a minute of computing",
	"--config search.yaml":       "a minute, and a server that can be saturated",
}

// shorter makes the commands fit for a test, and sends them to the server that it started.
var shorter = []string{
	"--benchmark-duration 60", "--benchmark-duration 1",
	"--benchmark-duration 120", "--benchmark-duration 1",
	"--warmup-duration 10", "--warmup-duration 1",
	"--ttft 500", "--ttft 500 --seconds 1 --max-users 2",
	"--profile-run-cooldown-seconds 10", "--profile-run-cooldown-seconds 0",
	"--session-turn-delay-mean 500", "--session-turn-delay-mean 5",
	"--max 200 --artifact-dir", "--max 4 --budget 2s --probe 1s --probe-warmup 0 --artifact-dir",
	"--max 40 --budget 60s", "--max 4 --budget 3s --probe 1s --probe-warmup 0",
	"--max 40 --budget 2m", "--max 4 --budget 3s --probe 2s --probe-warmup 0 --arrival-pattern constant",
}

// smaller makes loads smaller, too, where tests do not run in their long versions: every command is still run, and sends
// enough for each of its figures.
var smaller = []string{
	"--request-count 2000", "--request-count 60",
	"--request-count 400", "--request-count 40",
	"--request-count 100", "--request-count 20",
	"--request-count 40", "--request-count 20",
	"--num-sessions 20", "--num-sessions 5", "--num-sessions 40", "--num-sessions 8",
	"duration: 6s ", "duration: 3s ", "duration: 6s\n", "duration: 3s\n",
}

// served are the pages whose mock servers are started as the page prints them, so that the figures have its proportions.
var served = []string{"docs/README.md", "docs/ci.md", "docs/recipes.md"}

// long are the pages with the most to run: only where tests run in their long versions.
var long = []string{"docs/capacity.md", "docs/configuration.md", "docs/datasets.md", "docs/plugins.md", "docs/results.md",
	"docs/sweeps.md"}

// TestDocumentedCommands runs the commands that stand in code blocks of the documents, page by page and in their order.
func TestDocumentedCommands(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		name, _ := filepath.Rel(root, file)
		name = filepath.ToSlash(name)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		commands := documentedCommands(string(text))
		blocks, listed := pages[name]
		if len(commands) == 0 {
			if listed {
				t.Errorf("%s has no command any more", name)
			}
			continue
		}
		if !listed {
			t.Errorf("%s has commands and is not among the pages whose commands are run", name)
			continue
		}
		runnable := slices.DeleteFunc(commands, func(step step) bool { return isAbsent(step.command, used) })
		if len(runnable) == 0 {
			continue
		}
		t.Run(strings.NewReplacer("docs/README", "index", "docs/", "", ".md", "").Replace(name), func(t *testing.T) {
			t.Parallel()
			if !testkit.Full() && slices.Contains(long, name) {
				t.Skip("runs with AIPERF_TEST_FULL=1")
			}
			ports := map[string][]string{"8000": nil}
			if slices.Contains(served, name) {
				for _, m := range printedServer.FindAllStringSubmatch(string(text), -1) {
					ports[m[1]] = append([]string{"--no-fast"}, strings.Fields(m[2])...)
				}
			}
			runDocumented(t, string(text), runnable, blocks, ports)
		})
	}
	for what := range absent {
		if !used[what] {
			t.Errorf("no documented command needs %q any more", what)
		}
	}
}

// printedServer matches the command of a page that starts a mock server: its port, and its other flags.
var printedServer = regexp.MustCompile(`(?m)^    aiperf mock-server --port (\d+) (.*)$`)

func isAbsent(command string, used map[string]bool) bool {
	found := false
	for what := range absent {
		if strings.Contains(command, what) {
			used[what], found = true, true
		}
	}
	return found
}

// ourCommand matches a command of the program, with variables of the environment before it.
var ourCommand = regexp.MustCompile(`^([A-Z_]+=\S+ )*aiperf `)

// step is a command of a page, and the output that the page shows after the last command of a block.
type step struct {
	command, shown string
	block          int // which block of the page it stands in
}

// documentedCommands returns the commands of a page, with their continuations: all lines of its blocks of the language
// "sh", which a block of the language "text" may follow for what they print; in other blocks the lines that begin with
// "aiperf", or with "printf" for the files that they read. Programs that this machine lacks are not run.
func documentedCommands(page string) []step {
	var steps []step
	block, blocks := "", 0 // the fence that opened the block, and how many there were
	script, continues := false, false
	for line := range strings.SplitSeq(page, "\n") {
		if strings.HasPrefix(line, "```") {
			continues = false
			if block != "" {
				block = ""
				continue
			}
			block, blocks = line, blocks+1
			script = script && line == "```text"
			continue
		}
		if block == "" && !strings.HasPrefix(line, "    ") {
			script = script && line == "" // nothing else stands between commands and what they print
			continues = false
			continue
		}
		if block == "```text" && script {
			steps[len(steps)-1].shown += line + "\n"
			continue
		}
		line = strings.TrimSpace(line)
		switch {
		case continues:
			steps[len(steps)-1].command += "\n" + line
		case ourCommand.MatchString(line), strings.HasPrefix(line, "printf "),
			block == "```sh" && line != "" && !strings.HasPrefix(line, "#"):
			steps = append(steps, step{command: line, block: blocks})
			script = block == "```sh"
		default:
			continue
		}
		continues = strings.HasSuffix(line, `\`)
	}
	return steps
}

// figure matches a number of a report with its sign.
var figure = regexp.MustCompile(`[-+−]?[0-9][0-9,.]*`)

// missingLine returns the first line of what a page shows that is not printed, in this order; "" if all are. Figures and
// blanks may differ, and "…" stands for any text. Lines may be left out of the page.
func missingLine(shown, printed string) string {
	plain := func(line string) string { return strings.Join(strings.Fields(figure.ReplaceAllString(line, "0")), " ") }
	lines := strings.Split(printed, "\n")
	for wanted := range strings.Lines(shown) {
		pattern := regexp.QuoteMeta(plain(wanted))
		like := regexp.MustCompile("^" + strings.ReplaceAll(pattern, "…", ".*") + "$")
		at := slices.IndexFunc(lines, func(line string) bool { return like.MatchString(plain(line)) })
		if at < 0 {
			return strings.TrimSpace(wanted)
		}
		if strings.Trim(pattern, "… ") != "" {
			lines = lines[at+1:]
		}
	}
	return ""
}

// lacksModules reports whether a program of a page cannot run, because this machine has no Python or lacks what it imports.
func lacksModules(dir string) bool {
	programs, _ := filepath.Glob(filepath.Join(dir, "*.py"))
	for _, program := range programs {
		text, err := os.ReadFile(program)
		if err != nil {
			return true
		}
		imports := regexp.MustCompile(`(?m)^import \w+$`).FindAllString(string(text), -1)
		if exec.Command("python3", "-c", strings.Join(imports, "\n")).Run() != nil {
			return true
		}
	}
	return false
}

// codeBlocks returns the page's fenced blocks of a language.
func codeBlocks(page, language string) []string {
	var blocks []string
	for {
		_, rest, found := strings.Cut(page, "\n```"+language+"\n")
		if !found {
			return blocks
		}
		block, after, _ := strings.Cut(rest, "\n```")
		blocks = append(blocks, block+"\n")
		page = after
	}
}

// namedBlocks returns the page's fenced blocks that begin with a language and the name of a file.
func namedBlocks(page string) map[string]string {
	blocks := map[string]string{}
	for _, m := range regexp.MustCompile("(?ms)^```[a-z]+ (\\S+)\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		blocks[m[1]] = m[2]
	}
	return blocks
}

// runDocumented runs the commands of a page in their order. Ports are those where it has a mock server, with their flags.
func runDocumented(t *testing.T, page string, steps []step, blocks map[string]string, ports map[string][]string) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("the documented commands need bash, which this system lacks")
	}
	dir := t.TempDir()
	for language, file := range blocks {
		found := codeBlocks(page, language)
		if len(found) == 0 {
			t.Fatalf("the page has no code block of %s for %s", language, file)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(found[0]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if templates := "docs/plugins"; strings.Contains(page, templates) {
		if err := os.CopyFS(filepath.Join(dir, templates), os.DirFS("../../"+templates)); err != nil {
			t.Fatal(err)
		}
	}
	changed := slices.Clone(shorter)
	if !testkit.Full() {
		changed = append(changed, smaller...)
	}
	for port, flags := range ports {
		server, err := startMock(dir, flags...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.stop)
		_, host, _ := strings.Cut(server.url, "://")
		changed = append(changed, "localhost:"+port, host, "127.0.0.1:"+port, host)
	}
	if recorder := "127.0.0.1:8100"; strings.Contains(page, recorder) {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		changed = append(changed, recorder, free.Addr().String())
		free.Close()
	}
	replacer := strings.NewReplacer(changed...)
	for file, text := range namedBlocks(page) {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(replacer.Replace(text)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var printed strings.Builder // by the commands of a block
	block := 0
	for _, step := range steps {
		typed := step.command
		if step.block != block {
			block = step.block
			printed.Reset()
		}
		if strings.Contains(typed, "python") && lacksModules(dir) {
			continue
		}
		if program, _, _ := strings.Cut(typed, " "); !ourCommand.MatchString(typed) {
			if _, err := exec.LookPath(program); err != nil && program != "printf" { // a builtin of the shell
				continue
			}
		}
		cmd := exec.Command(shell, "-c", replacer.Replace(typed))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HF_HUB_OFFLINE=1", "HF_HOME="+dir+"/hf", "XDG_CACHE_HOME="+dir+"/cache",
			"AIPERF_SERVER_METRICS_COLLECTION_FLUSH_PERIOD=0.1")
		kill := time.AfterFunc(patience, func() { cmd.Process.Kill() })
		out, err := cmd.CombinedOutput()
		kill.Stop()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == command.ExitThreshold &&
			(strings.Contains(typed, "--fail-if") || strings.Contains(typed, "aiperf capacity") ||
				strings.Contains(typed, "aiperf quick")) {
			continue // The command did its work: on a busy machine a threshold may be exceeded, or nothing be measured.
		}
		if err != nil {
			t.Errorf("%s\n%v\n%s", typed, err, tail(string(out), 3000))
		}
		printed.Write(out)
		if line := missingLine(step.shown, printed.String()); line != "" {
			t.Errorf("%s\ndoes not print what the page shows:\n  %s\nbut\n%s", typed, line, tail(printed.String(), 5000))
		}
	}
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }
