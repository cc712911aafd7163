package cli

import (
	"slices"
	"strings"
	"testing"

	"aiperf/internal/cli/configure"
	"aiperf/internal/config/option"
)

// The categories are those of the original, and metric; every entry has a name of its own and a description.
func TestTrapCategoriesOfTheOriginal(t *testing.T) {
	var ours []string
	for _, c := range configure.Categories() {
		if c.Name != "metric" {
			ours = append(ours, strings.ReplaceAll(c.Name, "_", "-"))
		}
		switch {
		case c.About == "":
			t.Errorf("%s has no description", c.Name)
		case (c.List == nil) != (c.Lacks != ""):
			t.Errorf("%s has entries and says that it lacks them, or neither", c.Name)
		case c.List == nil:
			continue
		}
		names := map[string]bool{}
		for _, e := range c.List() {
			if e.Name == "" || e.About == "" || names[e.Name] {
				t.Errorf("%s: %+v", c.Name, e)
			}
			names[e.Name] = true
		}
		if len(names) == 0 {
			t.Errorf("%s is empty", c.Name)
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
		i := slices.IndexFunc(configure.Categories(), func(c configure.Category) bool { return c.Name == name })
		var names []string
		for _, e := range configure.Categories()[i].List() {
			names = append(names, e.Name)
		}
		want := slices.Clone(option.Named(flag).Values)
		slices.Sort(names)
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("%s:\n%v\n%v", name, names, want)
		}
	}
}
