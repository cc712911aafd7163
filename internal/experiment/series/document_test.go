package series

import (
	"testing"

	"aiperf/internal/base/testkit"
)

func TestDocumentsAreReadAsTheyWereWritten(t *testing.T) {
	testkit.SameTags[CollatedDocument](t)
}
