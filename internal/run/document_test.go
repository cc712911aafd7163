package run

import (
	"testing"

	"aiperf/internal/base/testkit"
)

func TestDocumentsAreReadAsTheyWereWritten(t *testing.T) {
	testkit.SameTags[runConfigDocument](t)
	testkit.SameTags[searchManifest](t)
	testkit.SameTags[readyDocument](t)
}
