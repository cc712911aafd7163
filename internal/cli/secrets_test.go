package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/testkit"
	"aiperf/internal/cli/command"
)

// given are secrets by the way in which a run gets them. None contains another one.
var given = map[string]string{
	"key file":        `sk-file"1/a+b c`,
	"cookie":          "cookie0sid0value",
	"header token":    "hdr-token-11112222",
	"header secret":   `hdr'secret&3333<4>`,
	"basic password":  "basic-pass-55556666",
	"extra input":     "extra-key-77778888",
	"nested input":    "nested-secret-9999",
	"number input":    "8471936250",
	"URL password":    "url-pass-abcdefgh",
	"URL parameter":   "url-param/ijkl+mnop",
	"metrics user":    "metrics-pass-qrstuv",
	"GPU parameter":   "gpu-token-wxyz0123",
	"environment":     "env-openai-key-4567",
	"environment HF":  "hf_token_89abcdef",
	"otel attribute":  "otel-api-key-ghij",
	"otel parameter":  "otel-pass-klmnopqr",
	"mlflow password": "mlflow-pass-stuvwx",
	"mlflow tag":      "mlflow-tag-key-yz01",
	"environment AWS": "aws/secret+access/key",
}

// spelled are the forms in which a secret must not be found, in files as well as on screens.
func spelled(secret string) []string {
	quoted := string(artifact.AppendString(nil, secret))
	forHTML, _ := json.Marshal(secret)
	return []string{
		secret, "Bearer " + secret, url.QueryEscape(secret), url.PathEscape(secret), quoted[1 : len(quoted)-1],
		string(forHTML[1 : len(forHTML)-1]),
		html.EscapeString(secret), strings.ReplaceAll(secret, "/", `\/`),
		base64.StdEncoding.EncodeToString([]byte(secret)),
		base64.RawURLEncoding.EncodeToString([]byte(secret)),
	}
}

// echo is a server that sends back all that it is told and, in every spelling, all that it may know.
type echo struct {
	mu      sync.Mutex
	asked   int
	elseway string   // where redirects go
	foreign []string // what arrived there
	bodies  []string
}

func (e *echo) all(r *http.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", r.URL.RequestURI(), r.Header)
	body, _ := io.ReadAll(r.Body)
	b.Write(body)
	e.mu.Lock()
	e.bodies = append(e.bodies, string(body))
	e.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		for _, s := range spelled(given[name]) {
			b.WriteString(" [" + s + "] ")
		}
	}
	return b.String()
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text := e.all(r)
	label := strings.NewReplacer("\\", `\\`, "\"", `\"`, "\n", `\n`).Replace(text)
	switch {
	case strings.HasSuffix(r.URL.Path, "/metrics"):
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprintf(w, "# HELP vllm:num_requests_running %s\n# TYPE vllm:num_requests_running gauge\n",
			strings.ReplaceAll(label, "\n", " "))
		fmt.Fprintf(w, "vllm:num_requests_running{model_name=\"%s\"} 8471936250\n", label)
		fmt.Fprintf(w, "# TYPE DCGM_FI_DEV_GPU_UTIL "+
			"gauge\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-1\",modelName=\"%s\",Hostname=\"h\"} 50\n", label)
		return
	case r.URL.Path == "/foreign":
		e.mu.Lock()
		e.foreign = append(e.foreign, fmt.Sprint(r.Header))
		e.mu.Unlock()
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprint(w, text)
		return
	}
	e.mu.Lock()
	e.asked++
	turn := e.asked % 4
	e.mu.Unlock()
	w.Header().Set("X-Echo", strings.ReplaceAll(text, "\n", " "))
	w.Header().Set("Set-Cookie", "sid="+given["cookie"])
	quoted, _ := json.Marshal(text)
	switch turn {
	case 0:
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, `{"error":{"message":%s}}`, quoted)
	case 1:
		w.Header().Set("Location", e.elseway)
		w.WriteHeader(http.StatusTemporaryRedirect)
	case 2:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"object":"chat.completion","choices":[{"message":{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":8,"completion_tokens":3}}`, quoted)
	default:
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, text)
	}
}

// services stands in for a tracking server of MLflow and for a collector of OpenTelemetry: it keeps what it is sent,
// and looks at the live page of the run meanwhile.
type services struct {
	live string

	mu   sync.Mutex
	sent map[string][]byte // by path
	page []byte
}

func (s *services) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var page []byte
	if resp, err := http.Get("http://" + s.live + "/metrics"); err == nil {
		page, _ = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent[r.URL.Path] = append(s.sent[r.URL.Path], r.URL.RawQuery+string(body)...)
	s.page = append(s.page, page...)
	if r.URL.Path == "/v1/metrics" {
		return
	}
	fmt.Fprint(w, `{"experiment": {"experiment_id": "7", "lifecycle_stage": "active"},
		"run": {"info": {"run_id": "r1", "artifact_uri": "mlflow-artifacts:/7/r1/artifacts", "lifecycle_stage": "active"}}}`)
}

func TestNoSecretReachesAFileOrAScreen(t *testing.T) {
	outside := &services{live: testkit.Address(t), sent: map[string][]byte{}}
	publishing := httptest.NewServer(outside)
	defer publishing.Close()
	published := strings.TrimPrefix(publishing.URL, "http://")
	e := &echo{}
	server, other := httptest.NewServer(e), httptest.NewServer(e)
	defer server.Close()
	defer other.Close()
	e.elseway = other.URL + "/foreign"
	dir := t.TempDir()
	keyFile := filepath.Join(dir, "key")
	if err := os.WriteFile(keyFile, []byte(given["key file"]+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(server.URL, "http://")
	environment := map[string]string{
		"AIPERF_SERVER_METRICS_COLLECTION_INTERVAL": "0.1",
		"OPENAI_API_KEY": given["environment"], "HF_TOKEN": given["environment HF"],
		"AWS_SECRET_ACCESS_KEY": given["environment AWS"],
	}
	out := filepath.Join(dir, "out")
	basic := base64.StdEncoding.EncodeToString([]byte("me:" + given["basic password"]))
	quoted, _ := json.Marshal(given["nested input"])
	code, screen := runProfile(t, environment,
		"--model", "m", "--tokenizer", "builtin", "--isl", "8", "--osl", "3", "--request-count", "12", "--request-rate",
		"15", "-vv",
		"--url", "http://me:"+url.QueryEscape(given["URL password"])+"@"+host+"/?api_key="+
			url.QueryEscape(given["URL parameter"])+"&version=2",
		"--api-key", "@"+keyFile,
		"--header", "Cookie: sid="+given["cookie"]+"; theme=dark", "--header", "X-Auth-Token:"+given["header token"],
		"--header", "X-Client-Secret:"+given["header secret"], "--header", "X-Proxy-Auth: Basic "+basic, "--header",
		"X-Plain:visible-value",
		"--extra-inputs", `{"api_key":"`+given["extra input"]+`","metadata":{"user_password":`+string(quoted)+
			`},"pin_password":`+given["number input"]+`,"max_tokens":3}`,
		"--system-prompt", "my keys are "+strings.Join(slices.Sorted(maps.Values(given)), " and "),
		"--server-metrics", "http://me:"+given["metrics user"]+"@"+host+"/more/metrics",
		"--server-metrics-formats", "json", "csv", "jsonl", "parquet",
		"--gpu-telemetry", server.URL+"/gpu/metrics?token="+given["GPU parameter"],
		"--otel-url", "http://me:"+given["otel parameter"]+"@"+published, "--otel-resource-attributes",
		"api_key="+given["otel attribute"],
		"--mlflow-tracking-uri", "http://me:"+given["mlflow password"]+"@"+published, "--mlflow-tag",
		"api_key:"+given["mlflow tag"],
		"--metrics-listen", outside.live,
		"--export-level", "raw", "--export-http-trace", "--export-outputs-json", "--export-records-parquet",
		"--html-report", "--slice-duration", "1",
		"--ui", "none", "--artifact-dir", out)
	if code != command.ExitOK {
		t.Fatalf("exit code %d:\n%s", code, screen)
	}
	findSecrets(t, "the screen", []byte(screen))
	if len(outside.sent["/v1/metrics"]) == 0 || len(outside.sent) < 15 ||
		!bytes.Contains(outside.page, []byte("aiperf_")) {
		t.Errorf("published to %d paths, a page of %d bytes", len(outside.sent), len(outside.page))
	}
	findSecrets(t, "the live page", outside.page)
	for path, body := range outside.sent {
		findSecrets(t, "published at "+path, body)
	}
	files := 0
	err := filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		findSecrets(t, filepath.Base(path), data)
		return err
	})
	if err != nil || files < 15 {
		t.Errorf("%d files, %v", files, err)
	}

	// What is sent stays what it is, but to another origin nothing of it goes.
	if sent := strings.Join(e.bodies, "\n"); !strings.Contains(sent, given["extra input"]) ||
		!strings.Contains(sent, `"pin_password":`+given["number input"]) {
		t.Error("the server did not get what was given")
	}
	if len(e.foreign) == 0 {
		t.Error("no redirect was followed")
	}
	for _, headers := range e.foreign {
		if strings.Contains(headers, "visible-value") || strings.Contains(headers, "Authorization") {
			t.Errorf("another origin got %s", headers)
		}
		findSecrets(t, "another origin", []byte(headers))
	}
	// Figures and harmless texts stay.
	raw, _ := os.ReadFile(filepath.Join(out, "profile_export_raw.jsonl"))
	for _, want := range []string{"visible-value", `"max_tokens":3`, `"pin_password":"<redacted>"`, "theme"} {
		if want != "theme" && !bytes.Contains(raw, []byte(want)) {
			t.Errorf("%s is missing in the raw records", want)
		}
	}
	metrics, _ := os.ReadFile(filepath.Join(out, "server_metrics_export.json"))
	if !bytes.Contains(metrics, []byte("8471936250")) {
		t.Error("a figure that looks like a secret is changed")
	}
}

func findSecrets(t *testing.T, where string, data []byte) {
	t.Helper()
	for name, secret := range given {
		for _, s := range spelled(secret) {
			if name == "number input" && (strings.HasSuffix(where, "json") || strings.HasSuffix(where, "csv") ||
				strings.HasSuffix(where, "jsonl") || strings.HasSuffix(where, "html")) {
				continue // also a figure of the server
			}
			if i := bytes.Index(data, []byte(s)); i >= 0 {
				t.Errorf("%s holds the %s as %s: …%s…", where, name, s, data[max(0, i-80):min(len(data), i+len(s)+20)])
				break
			}
		}
	}
}

// runProfile runs the command in this process.
func runProfile(t *testing.T, environment map[string]string, args ...string) (code int, screen string) {
	t.Helper()
	var said bytes.Buffer
	var mu sync.Mutex
	w := writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return said.Write(p)
	})
	e := &command.Env{
		Terminal:  &command.Terminal{Out: w, Err: w, StyledOut: w, StyledErr: w},
		LookupEnv: func(name string) (string, bool) { v, ok := environment[name]; return v, ok },
	}
	code = execute(e, append([]string{"profile"}, args...))
	return code, said.String()
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
