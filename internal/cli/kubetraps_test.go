package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// kubeProgram runs aiperf with a kubeconfig of a cluster whose requests are counted, in a context without a namespace.
func kubeProgram(t *testing.T, env []string, args ...string) (out, errors string, code int, requests int64) {
	t.Helper()
	var count atomic.Int64
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		count.Add(1)
		w.WriteHeader(http.StatusTeapot)
	}))
	defer cluster.Close()
	config := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "c",
		"clusters": [{"name": "c", "cluster": {"server": %q}}], "users": [{"name": "u", "user": {}}],
		"contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}`, cluster.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("aiperf", args...)
	cmd.Env = append(append(os.Environ(), "KUBECONFIG="+config, "HOME="+t.TempDir()), env...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), count.Load()
}

var small = []string{"--name", "demo", "--image", "i:1", "-m", "m", "--url", "http://x:1", "--request-count", "10"}

// 25 workers do not fill pods of ten: an error where manifests are made; the operator's dry run only says that the
// estimate was skipped.
func TestTrap2WorkersThatDoNotFillPodsInADryRun(t *testing.T) {
	args := append([]string{"kube", "profile", "--dry-run", "-n", "bench", "--total-workers", "25"}, small...)
	out, said, code, _ := kubeProgram(t, nil, append(args, "--no-operator")...)
	if code != 1 || out != "" || !strings.Contains(said, "20 or 30") {
		t.Errorf("direct: exit code %d\n%s%s", code, out, said)
	}
	out, said, code, _ = kubeProgram(t, nil, append(args, "--operator")...)
	if code != 0 || !strings.Contains(out, `"workers": 25`) || !strings.Contains(said, "not estimated") {
		t.Errorf("operator: exit code %d\n%s%s", code, out, said)
	}
}

func TestTrap15ShutdownNeedsFromPods(t *testing.T) {
	_, said, code, requests := kubeProgram(t, nil, "kube", "results", "demo", "-n", "bench", "--shutdown")
	if code != 1 || requests != 0 || !strings.Contains(said, "--shutdown needs --from-pods") {
		t.Errorf("exit code %d, %d requests\n%s", code, requests, said)
	}
}

func TestTrap16ASweepInsideAPodIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	_, said, code, _ := kubeProgram(t, []string{"AIPERF_OPERATOR_MANAGED=1"}, "profile", "-m", "m", "--url",
		"http://127.0.0.1:9", "--request-count", "4", "--tokenizer", "builtin", "--concurrency", "1,2", "--artifact-dir", dir)
	if code != 1 || !strings.Contains(said, "AIPerfSweep") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("it made a folder of results")
	}
}

func TestTrap19ADryRunAsksNoClusterButNeedsANamespace(t *testing.T) {
	args := append([]string{"kube", "profile", "--dry-run"}, small...)
	_, said, code, requests := kubeProgram(t, nil, args...)
	if code != 1 || requests != 0 || !strings.Contains(said, "namespace") {
		t.Errorf("without a namespace: exit code %d, %d requests\n%s", code, requests, said)
	}
	for _, mode := range []string{"--operator", "--no-operator"} {
		out, said, code, requests := kubeProgram(t, nil, append(args, "-n", "bench", mode)...)
		if code != 0 || requests != 0 || !strings.Contains(out, "demo") {
			t.Errorf("%s: exit code %d, %d requests\n%s%s", mode, code, requests, out, said)
		}
	}
	cmd := exec.Command("aiperf", append(args, "-n", "bench")...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(t.TempDir(), "none"))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("without a kubeconfig: %v\n%s", err, text)
	}
}
