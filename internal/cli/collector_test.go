package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
	colmetricpb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// cmdCollector starts a collector of OpenTelemetry metrics: collector URL FILE [STATUS]. FILE has its last push as
// JSON; with a status it takes none.
func cmdCollector(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: collector URL FILE [STATUS]")
	}
	status, path := http.StatusOK, ts.MkAbs(args[1])
	if len(args) > 2 {
		n, err := strconv.Atoi(args[2])
		ts.Check(err)
		status = n
	}
	var writing sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		push := new(colmetricpb.ExportMetricsServiceRequest)
		body, err := io.ReadAll(r.Body)
		if err != nil || proto.Unmarshal(body, push) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(status)
		writing.Lock()
		defer writing.Unlock()
		_ = os.WriteFile(path, []byte(protojson.MarshalOptions{}.Format(push)), 0o600)
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}
