package run

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	resolver "aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/result/report"
)

// templates are the templates of the manual.
const templates = "../../docs/plugins"

// template is the folder of a template, ready to be used.
func template(t *testing.T, language string) string {
	t.Helper()
	dir := filepath.Join(templates, language)
	if language != "go" {
		if _, err := exec.LookPath("python3"); err != nil {
			t.Skip(err)
		}
		return dir
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	if runtime.GOOS == "windows" {
		t.Skip("the manifest names the program without .exe")
	}
	own := t.TempDir()
	if err := os.CopyFS(own, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", "plugin", ".")
	build.Dir = own
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return own
}

// completions starts a server whose every reply has three tokens, and counts the requests.
func completions(t *testing.T) (url string, requests *atomic.Int64) {
	t.Helper()
	requests = new(atomic.Int64)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"text_completion","choices":[{"text":"one two three"}]}`)
	})
	return "http://" + listen(t, "tcp", "127.0.0.1:0", nil, handler, http1).String(), requests
}

// outcomeOf is what a failing test shows of an outcome.
func outcomeOf(out *Outcome) string {
	if out == nil {
		return "no outcome"
	}
	return fmt.Sprintf("%+v %v %v %v %+v", out.Result.Counts, out.Problem, out.PluginProblem, out.Aborted,
		out.Result.Errors)
}

func TestTemplatesOfPlugins(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"python", "go"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			plugin := template(t, language)
			file := filepath.Join(t.TempDir(), "three.prompts")
			if err := os.WriteFile(file, []byte("Say hi.\n\nCount to ten.\nStop.\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"--plugin-dir", plugin, "--input-file", file, "--endpoint-type", "completions",
				"--request-count", "3", "--percentiles", "99.9"}
			parsed, err := settings.Parse(append(args, "--model", "m"), noEnv)
			if err != nil {
				t.Fatal(err)
			}
			program := resolver.Loader(parsed, resolver.Plugins(parsed))
			if program == nil || program.Name != "prompt_lines" {
				t.Fatalf("the loader of .prompts is %v", program)
			}
			loaded, remove, err := LoadFile(t.Context(), parsed, program)
			if err != nil {
				t.Fatal(err)
			}
			want := `{"text":"Say hi."}` + "\n" + `{"text":"Count to ten."}` + "\n" + `{"text":"Stop."}` + "\n"
			if text, err := os.ReadFile(loaded); err != nil || string(text) != want {
				t.Errorf("%v\n%s", err, text)
			}
			args[3] = loaded
			url, _ := completions(t)
			dir := t.TempDir()
			out, err := execute(t, resolve(t, dir, url, append(args, "--custom-dataset-type",
				program.Format)...), Options{})
			remove()
			if err != nil || out.Result.Counts.Successes != 3 || out.Failed() {
				t.Fatalf("%v %s", err, outcomeOf(out))
			}
			if _, err := os.Stat(loaded); !os.IsNotExist(err) {
				t.Errorf("the file that was made is still there: %v", err)
			}
			doc := summaryOf(t, dir)
			latency, _ := at(doc, "request_latency", "avg").(float64)
			got, _ := at(doc, "latency_per_token", "avg").(float64)
			if ratio := got * 3 / latency; ratio < 0.999999 || ratio > 1.000001 { // every reply has three tokens
				t.Errorf("%v per token, latency %v", got, latency)
			}
			if at(doc, "latency_per_token", "p99.9") == nil || at(doc, "latency_per_token", "unit") != "ms" ||
				at(doc, "latency_per_token", "count") != 3.0 {
				t.Errorf("%v", at(doc, "latency_per_token"))
			}
			for _, name := range []string{"profile_export_aiperf.csv", "profile_export_console.txt"} {
				if text := string(fileOf(t, dir, name)); !strings.Contains(text, "Latency Per Token (ms)") {
					t.Errorf("%s lacks the metric\n%s", name, text)
				}
			}
			if line := string(fileOf(t, dir, "summary_line.txt")); !strings.Contains(line, "requests/s") {
				t.Errorf("the exporter wrote %q", line)
			}
		})
	}
}

func TestTemplatesOfPluginsAreShort(t *testing.T) {
	t.Parallel()
	for file, most := range map[string]int{"python/plugin.py": 50, "go/main.go": 100} {
		text, err := os.ReadFile(filepath.Join(templates, file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > most {
			t.Errorf("%s has %d lines", file, n)
		}
	}
}

// shellPlugin declares a shell script, which gets its greeting in $greeting, as a program of a category.
func shellPlugin(t *testing.T, category, code string) string {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	manifest := fmt.Sprintf("schema_version: \"1.0\"\nname: own\nprovides:\n"+
		"  - {category: %s, name: mine, entry: sh mine.sh, metadata: {format: single_turn}}\n", category)
	for name, text := range map[string]string{"plugin.yaml": manifest,
		"mine.sh": "read -r greeting\n" + code + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const greets = `echo '{"aiperf_plugin":1}'; read -r call || exit 0
`

func TestTrapPluginThatFailsAfterTheRunCostsItsFigureOnly(t *testing.T) {
	t.Parallel()
	for _, category := range []string{"metric", "data_exporter"} {
		for what, code := range map[string]string{
			"standard error ends with: out of paper": greets + "echo out of paper >&2; exit 7",
			"did not reply within 200ms":             greets + "exec sleep 60",
			"not a reply":                            greets + "echo hello",
			"no paper":                               greets + `echo '{"id":1,"error":"no paper"}'; read -r call`,
		} {
			t.Run(category+" "+what, func(t *testing.T) {
				t.Parallel()
				url, _ := completions(t)
				dir := t.TempDir()
				cfg := resolve(t, dir, url, "--endpoint-type", "completions", "--request-count", "2", "--isl",
					"4", "--plugin-dir", shellPlugin(t, category, code))
				if strings.HasPrefix(what, "did not") {
					cfg.Env.Plugin.CallTimeout = 200 * time.Millisecond
				}
				out, err := execute(t, cfg, Options{})
				if err != nil || out.Failed() || out.Result.Counts.Successes != 2 {
					t.Fatalf("%v %s", err, outcomeOf(out))
				}
				if doc := summaryOf(t, dir); at(doc, "request_latency", "avg") == nil || at(doc, "mine") != nil {
					t.Errorf("%v", doc)
				}
				log := string(fileOf(t, dir, "logs/aiperf.log"))
				if !strings.Contains(log, category+" mine (") || !strings.Contains(log, what) {
					t.Errorf("the log lacks what happened:\n%s", log)
				}
				cfg.Env.Plugin.Fatal = true
				out, err = execute(t, cfg, Options{})
				if err != nil || !out.Failed() || out.PluginProblem == nil ||
					!strings.Contains(out.PluginProblem.Error(), what) {
					t.Errorf("with AIPERF_RAISE_ON_CALLBACK_ERROR: %v %s", err, outcomeOf(out))
				}
			})
		}
	}
}

func TestTrapPluginThatCannotStartEndsTheRunBeforeTheFirstRequest(t *testing.T) {
	t.Parallel()
	url, requests := completions(t)
	_, err := execute(t, resolve(t, t.TempDir(), url, "--endpoint-type", "completions", "--request-count", "2",
		"--plugin-dir", shellPlugin(t, "metric", "echo no licence >&2; exit 3")), Options{})
	if err == nil || !strings.Contains(err.Error(), "metric mine (") ||
		!strings.Contains(err.Error(), "exit status 3") ||
		!strings.Contains(err.Error(), "no licence") {
		t.Errorf("%v", err)
	}
	if n := requests.Load(); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestTrapFigureOfAPluginIsOneOfTheRunAndStaysInItsState(t *testing.T) {
	t.Parallel()
	url, _ := completions(t)
	dir := t.TempDir()
	plugin := shellPlugin(t, "metric", `echo '{"aiperf_plugin":1}'
while read -r call; do
  id=${call#*'"id":'}
  case $call in
  *'"method":"measure"'*) echo "{\"id\":${id%%,*},\"result\":{}}" ;;
  *'"count":2'*) echo "{\"id\":${id%%,*},\"result\":{\"value\":2.5}}" ;;
  esac
done`)
	out, err := execute(t, resolve(t, dir, url, "--endpoint-type", "completions", "--request-count", "2",
		"--warmup-request-count", "3", "--plugin-dir", plugin), Options{})
	if err != nil || out.Failed() {
		t.Fatalf("%v %s", err, outcomeOf(out))
	}
	block, err := json.Marshal(at(summaryOf(t, dir), "mine"))
	if err != nil || string(block) != `{"avg":2.5,"unit":""}` {
		t.Errorf("%s %v", block, err)
	}
	var state struct {
		Figures []struct {
			Tag   string
			Stats struct{ Avg float64 }
		} `json:"plugin_metrics"`
	}
	if err := json.Unmarshal(fileOf(t, dir, "run_state.json"), &state); err != nil || len(state.Figures) != 1 ||
		state.Figures[0].Stats.Avg != 2.5 {
		t.Errorf("%+v %v", state, err)
	}
	if _, ok := report.SummaryObject(&out.Result, nil).Get("mine"); !ok {
		t.Error("the outcome lacks the figure")
	}
}

func TestTrapLoaderThatFailsIsAnErrorBeforeTheLoad(t *testing.T) {
	t.Parallel()
	for what, code := range map[string]string{
		"its standard error ends with: torn page": greets + "echo torn page >&2; exit 1",
		"found nothing":  greets + `echo '{"id":1,"result":{"lines":[]}}'; read -r call`,
		"cannot be read": greets + `echo '{"id":1,"error":"cannot be read"}'; read -r call`,
		"version 9":      `echo '{"aiperf_plugin":9}'; read -r call`,
	} {
		file := filepath.Join(t.TempDir(), "a.book")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		parsed, err := settings.Parse([]string{"--model", "m", "--plugin-dir",
			shellPlugin(t, "custom_dataset_loader", code),
			"--input-file", file, "--custom-dataset-type", "mine"}, noEnv)
		if err != nil {
			t.Fatal(err)
		}
		program := resolver.Loader(parsed, resolver.Plugins(parsed))
		if program == nil {
			t.Fatal("no loader")
		}
		path, _, err := LoadFile(context.Background(), parsed, program)
		if err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), "mine (") {
			t.Errorf("%s: %s %v", what, path, err)
		}
	}
}

// A loader that hangs ends with the command, long before the limit of its call.
func TestTrapLoaderThatHangsEndsWithTheCommand(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.book")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	called := filepath.Join(t.TempDir(), "called")
	plugin := shellPlugin(t, "custom_dataset_loader", greets+"echo >'"+called+"'; exec sleep 600")
	parsed, err := settings.Parse([]string{"--model", "m", "--plugin-dir", plugin, "--input-file", file,
		"--custom-dataset-type", "mine"}, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	parsed.Env.Plugin.CallTimeout = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for { // until the call has begun
			if _, err := os.Stat(called); err == nil || t.Context().Err() != nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	_, _, err = LoadFile(ctx, parsed, resolver.Loader(parsed, resolver.Plugins(parsed)))
	if err == nil || !strings.Contains(err.Error(), "it was interrupted") {
		t.Errorf("%v", err)
	}
}

func TestEndpointOfAManifest(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	program := example(t, "python", "say.py")
	manifest := "schema_version: \"1.0\"\nname: own\nprovides:\n" +
		"  - {category: endpoint, name: say, entry: python3 say.py}\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(program), "plugin.yaml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	url, requests := completions(t)
	out, err := execute(t, resolve(t, t.TempDir(), url, "--endpoint-type", "say", "--plugin-dir", filepath.Dir(program),
		"--request-count", "3", "--isl", "4"), Options{})
	if err != nil || out.Result.Counts.Successes != 3 || requests.Load() != 3 {
		t.Fatalf("%v %s", err, outcomeOf(out))
	}
}
