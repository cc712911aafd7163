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
	name, format := pu.p.PublicDataset.Get(), pu.p.CustomDatasetType.Get()
	switch {
	case name != "":
		return name
	case slices.Contains(option.SpeedBenchNames(), format):
		return format
	case pu.p.HFWekaDataset.Given():
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
	out := config.Public{Name: pu.name(), Subset: p.HFSubset.Get(), WekaRepo: p.HFWekaDataset.Get(),
		Path: p.DatasetPath.Get()}
	if out.Name != "" && out.Path == "" {
		out.Path = p.InputFile.Get()
	}
	out.Limit = int(p.RequestCount.Or(p.NumDatasetEntries.Get()))
	if pu.p.NumDatasetEntries.Given() {
		out.Entries = p.NumDatasetEntries.Get()
	}
	if slices.Contains(option.AgentSets(), out.Name) {
		out.Limit = pu.agentLimit()
	}
	for _, text := range p.DatasetFilter.Get() {
		column, value, _ := strings.Cut(text, "=")
		out.Filters = append(out.Filters, recipe.Filter{Column: column, Value: value})
	}
	return out
}

// agentLimit is the number of sessions of agents that are read: one that the user gave, else 0.
func (pu *published) agentLimit() int {
	for _, o := range []*option.Opt[int64]{&pu.p.NumDatasetEntries, &pu.p.NumSessions, &pu.p.RequestCount} {
		if o.Given() {
			return int(o.Get())
		}
	}
	return 0
}

// check refuses what only public data sets know, and what they do not.
func (pu *published) check() {
	name := pu.name()
	if active(&pu.p.CustomDatasetType) && !active(&pu.p.InputFile) && name == "" {
		pu.fault("V7", "%s can only be used together with --input-file", pu.p.CustomDatasetType.Flag())
	}
	if pu.p.InputFile.Given() && pu.p.DatasetPath.Given() {
		pu.fault("", "%s and %s cannot be used together", pu.p.DatasetPath.Flag(), pu.p.InputFile.Flag())
	}
	if flags := givenOf(&pu.p.HFSubset, &pu.p.DatasetPath, &pu.p.DatasetFilter); name == "" && len(flags) > 0 {
		pu.fault("", "%s can only be used with --public-dataset", strings.Join(flags, ", "))
	}
	if name != "" && pu.p.HFWekaDataset.Given() {
		if pu.p.InputFile.Given() {
			pu.fault("", "%s and %s cannot be used together", pu.p.HFWekaDataset.Flag(), pu.p.InputFile.Flag())
		}
		if repo := pu.p.HFWekaDataset.Get(); strings.Count(repo, "/") != 1 {
			pu.fault("", "%s: want OWNER/NAME, got %q", pu.p.HFWekaDataset.Flag(), repo)
		}
	}
	if name == option.WekaHub && !pu.p.HFWekaDataset.Given() {
		pu.fault("", "%s %s needs --hf-weka-dataset OWNER/NAME", pu.p.PublicDataset.Flag(), name)
	}
	for _, text := range pu.p.DatasetFilter.Get() {
		if column, _, ok := strings.Cut(text, "="); !ok || column == "" {
			pu.fault("", "%s: want column=value, got %q", pu.p.DatasetFilter.Flag(), text)
		}
	}
	agents := slices.Contains(option.AgentSets(), name)
	if agents && pu.agentLimit() == 0 {
		pu.fault("",
			"%s %s needs a limit on the number of sessions: give --num-conversations, --num-dataset-entries or "+
				"--request-count", pu.p.PublicDataset.Flag(), name)
	}
	switch {
	case !active(&pu.p.FixedSchedule) || agents || pu.graded():
	case name != "":
		pu.fault("", "%s cannot be used with the data set %s, whose rows have no timestamps", pu.p.FixedSchedule.Flag(),
			name)
	case !active(&pu.p.InputFile):
		pu.fault("V2", "%s can only be used together with --input-file, or with --public-dataset %s",
			pu.p.FixedSchedule.Flag(), orList(option.AgentSets()))
	}
}
