package plan_test

import (
	"slices"
	"testing"

	"aiperf/internal/config/option"
	"aiperf/internal/workload/public"
)

func TestTheOptionNamesThePublicDataSetsThatCanBeRead(t *testing.T) {
	for _, o := range option.All() {
		if o.Name != "public-dataset" {
			continue
		}
		options, known := slices.Sorted(slices.Values(o.BuiltValues)), slices.Sorted(slices.Values(public.Names()))
		if !slices.Equal(options, known) {
			t.Errorf("the option lists\n%v\nand there are\n%v", options, known)
		}
	}
}
