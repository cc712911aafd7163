package run

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// example is a program of the manual's page of plugins, written to a file.
func example(t *testing.T, language, name string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/plugins.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "\n```"+language+" "+name+"\n")
	code, _, closed := strings.Cut(rest, "\n```\n")
	if !found || !closed {
		t.Fatalf("docs/plugins.md has no example %s in %s", name, language)
	}
	if n := strings.Count(code, "\n") + 1; n > 30 {
		t.Errorf("the example in %s has %d lines", language, n)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(code+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sayServer speaks the API of the examples.
type sayServer struct {
	mu     sync.Mutex
	bodies []map[string]any
}

func (s *sayServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	s.mu.Lock()
	s.bodies = append(s.bodies, body)
	s.mu.Unlock()
	if stream := body["stream"] == true || body["streaming"] == true; !stream {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices":[{"text":"one two three"}]}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, word := range []string{"one", " two", " three"} {
		fmt.Fprintf(w, "data: {\"choices\":[{\"text\":%q}]}\n\n", word)
		w.(http.Flusher).Flush()
	}
	if r.URL.Path == "/v1/completions" {
		io.WriteString(w, "data: [DONE]\n\n")
	}
}

func TestExamplesOfThePluginPageWork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language, program, file, path string
		streaming                     bool
	}{
		{"python", "python3", "say.py", "/v1/completions", true},
		{"python", "python3", "say.py", "/v1/completions", false},
		{"sh", "sh", "echo.sh", "/v1/echo", true},
	} {
		t.Run(fmt.Sprintf("%s streaming %v", c.language, c.streaming), func(t *testing.T) {
			if _, err := exec.LookPath(c.program); err != nil {
				t.Skip(err)
			}
			s := &sayServer{}
			addr := listen(t, "tcp", "127.0.0.1:0", nil, s, http1)
			flags := []string{"--endpoint-plugin", c.program + " '" + example(t, c.language, c.file) + "'", "--isl",
				"8", "--osl", "5", "--request-count", "4", "--concurrency", "2"}
			if c.streaming {
				flags = append(flags, "--streaming", "--prefill-concurrency", "1")
			}
			dir := t.TempDir()
			out, err := execute(t, resolve(t, dir, "http://"+addr.String(), flags...), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if n := out.Result.Counts; n.Successes != 4 || n.Errors != 0 {
				t.Fatalf("%+v\n%s", n, fileOf(t, dir, "profile_export.jsonl"))
			}
			for _, body := range s.bodies {
				if c.language == "python" && (body["max_tokens"] != 5.0 || body["prompt"] == "") ||
					c.language == "sh" && body["max_tokens"] != 5.0 {
					t.Errorf("sent %v", body)
				}
			}
			doc := summaryOf(t, dir)
			if c.streaming && c.language == "python" && at(doc, "time_to_first_token", "avg") == nil {
				t.Error("no time to first token")
			}
			if osl := at(doc, "output_sequence_length", "avg"); c.language == "python" && osl != 3.0 ||
				c.language == "sh" && osl != nil {
				t.Errorf("output length %v", osl)
			}
			if isl := at(doc, "input_sequence_length", "avg"); c.language == "python" && isl != 8.0 {
				t.Errorf("input length %v", isl)
			}
		})
	}
}

// A program that ends costs its requests and not the run.
func TestTrapPluginThatCrashesCostsItsRequestsOnly(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	// It encodes all and ends at the first decode of each life.
	program := filepath.Join(t.TempDir(), "p.sh")
	code := `echo '{"aiperf_plugin":1,"path":"/v1/say"}'
read -r greeting
while IFS= read -r line; do
  id=${line#*'"id":'}
  id=${id%%,*}
  case $line in
  *encode*) printf '{"id":%s,"result":{"body":{"say":"x","stream":true},"text":"x"}}\n' "$id" ;;
  *) echo "out of paper" >&2; exit 7 ;;
  esac
done
`
	if err := os.WriteFile(program, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &sayServer{}
	addr := listen(t, "tcp", "127.0.0.1:0", nil, s, http1)
	dir := t.TempDir()
	out, err := execute(t, resolve(t, dir, "http://"+addr.String(), "--endpoint-plugin", "sh '"+program+"'",
		"--streaming", "--isl", "8", "--request-count", "3"), Options{})
	if err != nil || out.Result.Counts.Errors != 3 {
		t.Fatalf("%v %+v", err, out)
	}
	if text := string(fileOf(t, dir, "profile_export.jsonl")); strings.Count(text, `"PluginError"`) != 3 ||
		!strings.Contains(text, "the plugin ended") {
		t.Errorf("%s", text)
	}
	if log := string(fileOf(t, dir, "logs/aiperf.log")); !strings.Contains(log, "out of paper") {
		t.Error("the log lacks what the program said")
	}
}
