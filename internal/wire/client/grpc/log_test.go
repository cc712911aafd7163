package grpc

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"google.golang.org/grpc/grpclog"
)

const logs = "AIPERF_TEST_LIBRARY_LOGS"

func TestTheLibraryDoesNotWriteOnTheScreen(t *testing.T) {
	if os.Getenv(logs) != "" {
		grpclog.Component("transport").Error("something broke")
		return
	}
	for _, c := range []struct {
		level string
		heard bool
	}{{"", false}, {"error", true}} {
		again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		again.Env = append(os.Environ(), logs+"=1", "GRPC_GO_LOG_SEVERITY_LEVEL="+c.level)
		out, err := again.CombinedOutput()
		if err != nil || strings.Contains(string(out), "something broke") != c.heard {
			t.Errorf("level %q: %v\n%s", c.level, err, out)
		}
	}
}
