package summary_test

import (
	"testing"

	"aiperf/internal/base/testkit"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/trust"
)

func TestDocumentsAreReadAsTheyWereWritten(t *testing.T) {
	testkit.SameTags[summary.Document](t, "Brief") // which is for the console
	testkit.SameTags[summary.Provenance](t)
	testkit.SameTags[summary.PhaseManifest](t)
	testkit.SameTags[summary.PhaseTelemetry](t)
	testkit.SameTags[summary.TimesliceDocument](t)
	testkit.SameTags[trust.Document](t)
}
