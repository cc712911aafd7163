package answer_test

import (
	"testing"

	"aiperf/internal/base/testkit"
	"aiperf/internal/result/answer"
)

func TestDocumentsAreReadAsTheyWereWritten(t *testing.T) {
	// Of the fields without a member, Stats are those of whole metrics, and a document says the confidence once.
	testkit.SameTags[answer.AggregateDocument](t, "Stats", "Confidence")
	testkit.SameTags[answer.CellAccuracyDocument](t, "Confidence")
	testkit.SameTags[answer.HistoryDocument](t)
	testkit.SameTags[answer.RepeatsDocument](t)
}
