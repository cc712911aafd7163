package otlp

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The SDK reads the standard's variables by itself. What --otel-url says goes before all of them: its address, and
// whether the connection is secured.
func TestVariablesDoNotChangeTheTransport(t *testing.T) {
	c := &received{}
	secured := httptest.NewUnstartedServer(c)
	secured.EnableHTTP2 = true
	secured.StartTLS()
	t.Cleanup(secured.Close)
	authority := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(authority,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secured.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	overHTTP, overGRPC := &received{}, &received{}
	for _, tt := range []struct {
		name, url string
		got       *received
	}{{"HTTP", serveHTTP(t, overHTTP).String(), overHTTP}, {"HTTPS", secured.URL, c},
		{"gRPC", serveGRPC(t, overGRPC).String(), overGRPC}} {
		for _, variable := range []string{
			"OTEL_EXPORTER_OTLP_INSECURE=true", "OTEL_EXPORTER_OTLP_METRICS_INSECURE=true",
			"OTEL_EXPORTER_OTLP_INSECURE=false",
			"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_ENDPOINT=https://127.0.0.1:1",
			"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://127.0.0.1:1/else",
		} {
			t.Run(tt.name+" "+variable, func(t *testing.T) {
				name, value, _ := strings.Cut(variable, "=")
				t.Setenv(name, value)
				t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", authority)
				o, log := testOptions(t, parse(t, tt.url))
				var err error
				if o.Environment, err = ReadEnvironment(os.LookupEnv); err != nil {
					t.Fatal(err)
				}
				before := tt.got.count()
				s, err := newStream(o.Options, o.run)
				if err != nil {
					t.Fatal(err)
				}
				s.record(sampleRecord(2))
				s.flush()
				if tt.got.count() < before+2 || len(log.warnings()) > 0 {
					t.Errorf("%d pushes, warnings %q", tt.got.count()-before, log.warnings())
				}
			})
		}
	}
}
