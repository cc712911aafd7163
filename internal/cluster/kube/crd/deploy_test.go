package crd_test

import (
	"testing"

	"aiperf/internal/base/testkit"
	"aiperf/internal/cluster/kube/crd"
)

// TestDocsOfTheDefinitions keeps the definitions in the chart and in the Kustomize base equal to the tables.
func TestDocsOfTheDefinitions(t *testing.T) {
	for i, name := range []string{"aiperfjobs", "aiperfsweeps"} {
		for _, dir := range []string{"helm/crds", "kustomize/crds"} {
			testkit.Golden(t, "../../../../deploy/"+dir+"/"+name+".yaml", crd.YAML(crd.Definitions()[i]))
		}
	}
}
