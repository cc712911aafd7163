package sweep_test

import (
	"testing"

	"aiperf/internal/base/testkit"
	"aiperf/internal/experiment/sweep"
)

func TestDocumentsAreReadAsTheyWereWritten(t *testing.T) {
	testkit.SameTags[sweep.DesignDocument](t)
	testkit.SameTags[sweep.PlanDocument](t)
}
