package selftest

import (
	"testing"

	"aiperf/internal/base/testkit"
)

func TestDocumentsAreReadAsTheyWereWritten(t *testing.T) {
	testkit.SameTags[Document](t)
}
