package runlog_test

import (
	"bytes"
	"log"
	"log/slog"
	"os"
	"strings"
	"testing"

	"aiperf/internal/view/runlog"
)

func TestLibrariesSpeakInTheLog(t *testing.T) {
	var before, console bytes.Buffer
	log.SetOutput(&before)
	defer log.SetOutput(os.Stderr)
	l := runlog.New(runlog.Options{Level: slog.LevelDebug, Console: &console})
	defer l.Close()
	end := l.AdoptStandard()
	log.Print("Unsolicited response")
	end()
	log.Print("afterwards")
	if got := console.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "DEBUG") ||
		!strings.Contains(got, "Unsolicited response") {
		t.Errorf("log:\n%s", got)
	}
	if got := before.String(); strings.Contains(got, "Unsolicited") || !strings.Contains(got, "afterwards") {
		t.Errorf("standard logger:\n%s", got)
	}
}
