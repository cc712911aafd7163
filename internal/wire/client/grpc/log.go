package grpc

import (
	"io"
	"os"

	"google.golang.org/grpc/grpclog"
)

// The library logs failures to the standard error stream, into the progress on the screen. The error of the exchange
// has what matters of them. GRPC_GO_LOG_SEVERITY_LEVEL, the library's own variable, enables its log.
func init() {
	if os.Getenv("GRPC_GO_LOG_SEVERITY_LEVEL") == "" {
		grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
	}
}
