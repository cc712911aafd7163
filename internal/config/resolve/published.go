package resolve

import (
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/config/option"
	"aiperf/internal/workload/recipe"
)

// published decides which published data set is sent.
type published struct{ *asked }

// name is the data set that is asked for, openly or by a weka repository.
func (pu *published) name() string {
	name, format := pu.p.Text("public-dataset"), pu.p.Text("custom-dataset-type")
	switch {
	case name != "":
		return name
	case slices.Contains(option.SpeedBenchNames(), format):
		return format
	case pu.given("hf-weka-dataset"):
		return option.WekaHub
	}
	return ""
}

// ofWeka reports that the data set consists of recorded agents, which are read as files of them are.
func (pu *published) ofWeka() bool {
	name := pu.name()
	return name == option.WekaHub || slices.Contains(option.WekaSets(), name)
}

func (pu *published) build() config.Public {
	p := pu.p
	out := config.Public{Name: pu.name(), Subset: p.Text("hf-subset"), WekaRepo: p.Text("hf-weka-dataset"),
		Path: p.Text("dataset-path")}
	if out.Name != "" && out.Path == "" {
		out.Path = p.Text("input-file")
	}
	out.Limit = int(*p.Int("num-dataset-entries"))
	if pu.given("num-dataset-entries") {
		out.Entries = *p.Int("num-dataset-entries")
	}
	if n := p.Int("request-count"); n != nil {
		out.Limit = int(*n)
	}
	if slices.Contains(option.AgentSets(), out.Name) {
		out.Limit = pu.agentLimit()
	}
	for _, text := range p.Texts("dataset-filter") {
		column, value, _ := strings.Cut(text, "=")
		out.Filters = append(out.Filters, recipe.Filter{Column: column, Value: value})
	}
	return out
}

// agentLimit is the number of sessions of agents that are read: one that the user gave, else 0.
func (pu *published) agentLimit() int {
	for _, name := range []string{"num-dataset-entries", "num-sessions", "request-count"} {
		if pu.given(name) {
			return int(*pu.p.Int(name))
		}
	}
	return 0
}

// check refuses what only public data sets know, and what they do not.
func (pu *published) check() {
	name := pu.name()
	if pu.active("custom-dataset-type") && !pu.active("input-file") && name == "" {
		pu.fault("V7", "%s can only be used together with --input-file", pu.flag("custom-dataset-type"))
	}
	if pu.given("input-file") && pu.given("dataset-path") {
		pu.fault("", "%s and %s cannot be used together", pu.flag("dataset-path"), pu.flag("input-file"))
	}
	if flags := pu.givenOf("hf-subset", "dataset-path", "dataset-filter"); name == "" && len(flags) > 0 {
		pu.fault("", "%s can only be used with --public-dataset", strings.Join(flags, ", "))
	}
	if name != "" && pu.given("hf-weka-dataset") {
		if pu.given("input-file") {
			pu.fault("", "%s and %s cannot be used together", pu.flag("hf-weka-dataset"), pu.flag("input-file"))
		}
		if repo := pu.p.Text("hf-weka-dataset"); strings.Count(repo, "/") != 1 {
			pu.fault("", "%s: want OWNER/NAME, got %q", pu.flag("hf-weka-dataset"), repo)
		}
	}
	if name == option.WekaHub && !pu.given("hf-weka-dataset") {
		pu.fault("", "%s %s needs --hf-weka-dataset OWNER/NAME", pu.flag("public-dataset"), name)
	}
	for _, text := range pu.p.Texts("dataset-filter") {
		if column, _, ok := strings.Cut(text, "="); !ok || column == "" {
			pu.fault("", "%s: want column=value, got %q", pu.flag("dataset-filter"), text)
		}
	}
	agents := slices.Contains(option.AgentSets(), name)
	if agents && pu.agentLimit() == 0 {
		pu.fault("",
			"%s %s needs a limit on the number of sessions: give --num-conversations, --num-dataset-entries or "+
				"--request-count", pu.flag("public-dataset"), name)
	}
	switch {
	case !pu.active("fixed-schedule") || agents || pu.graded():
	case name != "":
		pu.fault("", "%s cannot be used with the data set %s, whose rows have no timestamps", pu.flag("fixed-schedule"),
			name)
	case !pu.active("input-file"):
		pu.fault("V2", "%s can only be used together with --input-file, or with --public-dataset %s",
			pu.flag("fixed-schedule"), orList(option.AgentSets()))
	}
}
