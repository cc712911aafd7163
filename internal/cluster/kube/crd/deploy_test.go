package crd

import (
	"testing"

	"aiperf/internal/base/testkit"
)

// TestDocsOfTheDefinitions keeps the definitions in the chart and in the Kustomize base equal to the tables.
func TestDocsOfTheDefinitions(t *testing.T) {
	for i, name := range []string{"aiperfjobs", "aiperfsweeps"} {
		for _, dir := range []string{"helm/crds", "kustomize/crds"} {
			testkit.Golden(t, "../../../../deploy/"+dir+"/"+name+".yaml", YAML(Definitions()[i]))
		}
	}
}
