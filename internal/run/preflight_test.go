package run

import (
	"bytes"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Calls and streams share a connection: descriptors and ports are not counted for each of them.
func TestPreflightCountsConnectionsNotStreams(t *testing.T) {
	t.Parallel()
	const many = 100_000_000 // the most that --concurrency takes
	infer := []string{"--endpoint-type", "kserve_v2_infer"}
	for _, c := range []struct {
		name  string
		url   string
		flags []string
		want  bool // that nothing is said
	}{
		{"HTTP/1.1", "http://127.0.0.1:1", nil, false},
		{"HTTP/2", "http://127.0.0.1:1", []string{"--http2"}, true},
		{"gRPC", "grpc://127.0.0.1:1", infer, true},
		{"gRPC, a connection for each session", "grpc://127.0.0.1:1",
			append(slices.Clip(infer), "--connection-reuse-strategy", "sticky-user-sessions"), false},
		{"gRPC, a connection for each call", "grpc://127.0.0.1:1",
			append(slices.Clip(infer), "--connection-reuse-strategy", "never"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := resolve(t, t.TempDir(), c.url,
				append(c.flags, "--concurrency", strconv.Itoa(many), "--request-count", strconv.Itoa(many))...)
			cfg.Env.HTTP.ConnectionLimit = many
			var log bytes.Buffer
			b := &base{cfg: cfg, log: slog.New(slog.NewTextHandler(&log, nil))}
			(&target{base: b, urls: cfg.Endpoint.URLs}).preflight(1)
			if told := strings.Contains(log.String(), "file descriptors") ||
				strings.Contains(log.String(), "need a port each"); told == c.want {
				t.Errorf("warnings:\n%s", &log)
			}
		})
	}
}
