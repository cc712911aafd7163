package cli

import (
	"slices"
	"strings"
	"testing"

	"aiperf/internal/config/option"
)

// The categories are those of the original, and metric; every entry has a name of its own and a description.
func TestTrapCategoriesOfTheOriginal(t *testing.T) {
	var ours []string
	for _, c := range categories() {
		if c.name != "metric" {
			ours = append(ours, strings.ReplaceAll(c.name, "_", "-"))
		}
		switch {
		case c.about == "":
			t.Errorf("%s has no description", c.name)
		case (c.list == nil) != (c.lacks != ""):
			t.Errorf("%s has entries and says that it lacks them, or neither", c.name)
		case c.list == nil:
			continue
		}
		names := map[string]bool{}
		for _, e := range c.list() {
			if e.name == "" || e.about == "" || names[e.name] {
				t.Errorf("%s: %+v", c.name, e)
			}
			names[e.name] = true
		}
		if len(names) == 0 {
			t.Errorf("%s is empty", c.name)
		}
	}
	for _, o := range originalOptions(t, "plugins") {
		if o.name == "--category" && !slices.Equal(o.values, ours) {
			t.Errorf("theirs: %v\nours:   %v", o.values, ours)
		}
	}
}

// What is listed is what the flags accept.
func TestEntriesAreTheValuesOfTheirFlags(t *testing.T) {
	for name, flag := range map[string]string{"endpoint": "endpoint-type",
		"custom_dataset_loader": "custom-dataset-type", "public_dataset_loader": "public-dataset"} {
		i := slices.IndexFunc(categories(), func(c category) bool { return c.name == name })
		var names []string
		for _, e := range categories()[i].list() {
			names = append(names, e.name)
		}
		want := slices.Clone(option.Named(flag).Values)
		slices.Sort(names)
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("%s:\n%v\n%v", name, names, want)
		}
	}
}
