package grpc

import (
	"io"
	"os"

	"google.golang.org/grpc/grpclog"
)

// The library logs what breaks on the standard error stream, across whatever stands on the screen. What matters
// of it is in the error of the exchange. GRPC_GO_LOG_SEVERITY_LEVEL, the library's own variable, lets it speak.
func init() {
	if os.Getenv("GRPC_GO_LOG_SEVERITY_LEVEL") == "" {
		grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
	}
}
