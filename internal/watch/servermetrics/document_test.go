package servermetrics

import (
	"testing"

	"aiperf/internal/base/testkit"
)

func TestDocumentsAreReadAsTheyWereWritten(t *testing.T) {
	testkit.SameTags[LegacyStats](t)
	testkit.SameTags[legacyInfo](t)
}
