package capacity_test

import (
	"testing"

	"aiperf/internal/base/testkit"
	"aiperf/internal/experiment/capacity"
)

func TestDocumentsAreReadAsTheyWereWritten(t *testing.T) {
	testkit.SameTags[capacity.VerdictDocument](t)
}
