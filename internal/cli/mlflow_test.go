package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdMLflow starts an MLflow server: mlflow URL DIR [USER:PASSWORD]. What it is told lies below DIR: a file for each
// method with a line for each request, and the uploaded files. With a user it takes no one else.
func cmdMLflow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mlflow URL DIR [USER:PASSWORD]")
	}
	dir, user := ts.MkAbs(args[1]), ""
	if len(args) > 2 {
		user = args[2]
	}
	var storing sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		if user != "" && name+":"+password != user {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		body, _ := io.ReadAll(r.Body)
		file := filepath.Join(dir, path.Base(r.URL.Path))
		if uploaded, ok := strings.CutPrefix(r.URL.Path, "/api/2.0/mlflow-artifacts/artifacts/7/r1/artifacts/"); ok {
			file = filepath.Join(dir, filepath.FromSlash(uploaded))
		} else {
			body = append(body, '\n')
		}
		storing.Lock()
		defer storing.Unlock()
		_ = os.MkdirAll(filepath.Dir(file), 0o700)
		f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		defer f.Close()
		_, _ = f.Write(body)
		fmt.Fprint(w, `{"experiment": {"experiment_id": "7", "lifecycle_stage": "active"},
			"run": {"info": {"run_id": "r1", "artifact_uri": "mlflow-artifacts:/7/r1/artifacts", "lifecycle_stage": "active"}}}`)
	}))
	ts.Defer(server.Close)
	address := server.URL
	if user != "" {
		address = strings.Replace(address, "://", "://"+user+"@", 1)
	}
	ts.Setenv(args[0], address)
}
