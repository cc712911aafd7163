package recipe_test

import (
	"testing"

	"aiperf/internal/base/testkit"
	"aiperf/internal/experiment/recipe"
)

func TestDocumentsAreReadAsTheyWereWritten(t *testing.T) {
	testkit.SameTags[recipe.CurveDocument](t)
	testkit.SameTags[recipe.SurfaceDocument](t)
	testkit.SameTags[recipe.FrontDocument](t)
	testkit.SameTags[recipe.FailureDocument](t)
}
