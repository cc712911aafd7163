package otlp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTargets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		url, protocol, want string
	}{
		{"//collector", "", "http://collector:4318/v1/metrics"},
		{"//collector:9", "", "http://collector:9/v1/metrics"},
		{"//collector:9/", "", "http://collector:9/v1/metrics"},
		{"http://collector", "", "http://collector:4318/v1/metrics"},
		{"http://collector/otlp", "", "http://collector:4318/otlp/v1/metrics"},
		{"http://collector/otlp/v1/metrics/", "", "http://collector:4318/otlp/v1/metrics"},
		{"https://collector", "", "https://collector:443/v1/metrics"},
		{"https://collector:4318", "http/protobuf", "https://collector:4318/v1/metrics"},
		{"grpc://collector", "", "grpc://collector:4317"},
		{"grpcs://collector", "http/protobuf", "grpcs://collector:4317"},
		{"//collector", "grpc", "grpc://collector:4317"},
		{"http://collector:9", "grpc", "grpc://collector:9"},
		{"https://collector", "grpc", "grpcs://collector:443"},
		{"http://u:p@[::1]", "", "http://[::1]:4318/v1/metrics"},
	} {
		e := environment(t, map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": tt.protocol})
		target := newTarget(parse(t, tt.url), &e)
		if got := target.String(); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.url, tt.protocol, got, tt.want)
		}
	}
}

func TestVariablesForMetricsGoFirst(t *testing.T) {
	t.Parallel()
	e := environment(t, map[string]string{
		"OTEL_EXPORTER_OTLP_TIMEOUT": "1000", "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT": "2500",
		"OTEL_EXPORTER_OTLP_HEADERS": "a=1,B=2", "OTEL_EXPORTER_OTLP_METRICS_HEADERS": "b=3, c = 4%2C5 ",
		"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "grpc",
		"OTEL_RESOURCE_ATTRIBUTES": "service.name=other,x=y", "OTEL_SERVICE_NAME": "mine",
	})
	if e.Timeout(time.Minute) != 2500*time.Millisecond || !e.grpc {
		t.Errorf("timeout %v, gRPC %v", e.timeout, e.grpc)
	}
	for name, want := range map[string]string{"a": "1", "b": "3", "c": "4,5"} {
		if e.headers[name] != want {
			t.Errorf("header %s is %q, want %q", name, e.headers[name], want)
		}
	}
	if last := e.attributes[len(e.attributes)-1]; last.Value.AsString() != "mine" {
		t.Errorf("service.name is %v at last", last)
	}
	empty := noEnvironment(t)
	if empty.Timeout(time.Minute) != time.Minute {
		t.Errorf("timeout %v", empty.Timeout(time.Minute))
	}
}

func TestWrongVariablesAreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.pem")
	if err := os.WriteFile(garbage, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, value, want string }{
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json",
			`"http/json" is not supported; use grpc or http/protobuf`},
		{"OTEL_EXPORTER_OTLP_HEADERS", "a=1,s3cret", "item 2 is not of the form name=value"},
		{"OTEL_EXPORTER_OTLP_METRICS_HEADERS", "a=%zz", "item 1 is not of the form"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "a b=s3cret", "not a valid header"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "a=s3cret%0d%0ax:y", "not a valid header"},
		{"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "use gzip or none"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "x(y)=s3cret", "not a valid header"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "x=s3cret%01", "not a valid header"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "-1", "not a number of milliseconds"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "9223372036854775807", "not a number of milliseconds"},
		{"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "sometimes", "use cumulative, delta or lowmemory"},
		{"OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "x", "use explicit_bucket_histogram or"},
		{"OTEL_RESOURCE_ATTRIBUTES", "x", "item 1"},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE", filepath.Join(dir, "none.pem"), "no such file"},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE", garbage, "contains no certificate in PEM format"},
		{"OTEL_EXPORTER_OTLP_CLIENT_KEY", garbage, "set both or none"},
	} {
		_, err := ReadEnvironment(func(name string) (string, bool) { return tt.value, name == tt.name })
		if err == nil || !strings.Contains(err.Error(), tt.name) || !strings.Contains(err.Error(), tt.want) ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s=%s: %v, want %q", tt.name, tt.value, err, tt.want)
		}
	}
}

func FuzzPairs(f *testing.F) {
	for _, seed := range []string{"", "a=b", "a=b,c=%20", ",,=", "a=%", "=x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parsePairs(text)
		for _, p := range list {
			if p.name == "" {
				t.Errorf("%q: a pair without a name: %v %v", text, list, err)
			}
		}
	})
}
