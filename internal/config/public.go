package config

import (
	"slices"
	"strings"

	"aiperf/internal/workload/recipe"
)

// Public says which published data set is sent.
type Public struct {
	// Name is empty where none is.
	Name string
	// Subset replaces the data set's own, WekaRepo its repository; empty: neither.
	Subset, WekaRepo string
	// Path is the user's copy; empty: it is looked for.
	Path string
	// Filters are columns and the values that rows must have.
	Filters []recipe.Filter
	// Limit is the number of conversations after which a data set ends that is read as a stream; of sessions of agents,
	// 0 where the user gave none.
	Limit int
	// Entries is the number of conversations that was asked for; 0 if none was.
	Entries int64
}

// publicName is the data set that is asked for, openly or by a weka repository.
func (d *draft) publicName() string {
	name, format := d.p.Text("public-dataset"), d.p.Text("custom-dataset-type")
	switch {
	case name != "":
		return name
	case slices.Contains(speedBenchNames(), format):
		return format
	case d.given("hf-weka-dataset"):
		return wekaHub
	}
	return ""
}

func (d *draft) public() Public {
	p := d.p
	out := Public{Name: d.publicName(), Subset: p.Text("hf-subset"), WekaRepo: p.Text("hf-weka-dataset"),
		Path: p.Text("dataset-path")}
	if out.Name != "" && out.Path == "" {
		out.Path = p.Text("input-file")
	}
	out.Limit = int(*p.Int("num-dataset-entries"))
	if d.given("num-dataset-entries") {
		out.Entries = *p.Int("num-dataset-entries")
	}
	if n := p.Int("request-count"); n != nil {
		out.Limit = int(*n)
	}
	if slices.Contains(agentSets(), out.Name) {
		out.Limit = d.agentLimit()
	}
	for _, text := range p.Texts("dataset-filter") {
		column, value, _ := strings.Cut(text, "=")
		out.Filters = append(out.Filters, recipe.Filter{Column: column, Value: value})
	}
	return out
}

// agentLimit is the number of sessions of agents that are read: one that the user gave, else 0.
func (d *draft) agentLimit() int {
	for _, name := range []string{"num-dataset-entries", "num-sessions", "request-count"} {
		if d.given(name) {
			return int(*d.p.Int(name))
		}
	}
	return 0
}

// checkPublic refuses what only public data sets know, and what they do not.
func (d *draft) checkPublic() {
	name := d.publicName()
	if d.active("custom-dataset-type") && !d.active("input-file") && name == "" {
		d.fault("V7", "%s can only be used together with --input-file", d.flag("custom-dataset-type"))
	}
	if d.given("input-file") && d.given("dataset-path") {
		d.fault("", "%s and %s cannot be used together", d.flag("dataset-path"), d.flag("input-file"))
	}
	if flags := d.givenOf("hf-subset", "dataset-path", "dataset-filter"); name == "" && len(flags) > 0 {
		d.fault("", "%s can only be used with --public-dataset", strings.Join(flags, ", "))
	}
	if name != "" && d.given("hf-weka-dataset") {
		if d.given("input-file") {
			d.fault("", "%s and %s cannot be used together", d.flag("hf-weka-dataset"), d.flag("input-file"))
		}
		if repo := d.p.Text("hf-weka-dataset"); strings.Count(repo, "/") != 1 {
			d.fault("", "%s: want OWNER/NAME, got %q", d.flag("hf-weka-dataset"), repo)
		}
	}
	if name == wekaHub && !d.given("hf-weka-dataset") {
		d.fault("", "%s %s needs --hf-weka-dataset OWNER/NAME", d.flag("public-dataset"), name)
	}
	for _, text := range d.p.Texts("dataset-filter") {
		if column, _, ok := strings.Cut(text, "="); !ok || column == "" {
			d.fault("", "%s: want column=value, got %q", d.flag("dataset-filter"), text)
		}
	}
	agents := slices.Contains(agentSets(), name)
	if agents && d.agentLimit() == 0 {
		d.fault("", "%s %s needs a limit of its sessions: give --num-conversations, --num-dataset-entries or "+
			"--request-count", d.flag("public-dataset"), name)
	}
	switch {
	case !d.active("fixed-schedule") || agents:
	case name != "":
		d.fault("", "%s cannot be used with the data set %s, whose rows have no times", d.flag("fixed-schedule"), name)
	case !d.active("input-file"):
		d.fault("V2", "%s can only be used together with --input-file, or with --public-dataset %s",
			d.flag("fixed-schedule"), orList(agentSets()))
	}
}

func publicConfig(p Public) Object {
	out := Object{{Key: "dataset", Value: p.Name}}
	for _, x := range []struct{ key, value string }{{"hf_subset", p.Subset}, {"hf_weka_dataset", p.WekaRepo},
		{"path", p.Path}} {
		if x.value != "" {
			out = append(out, Member{Key: x.key, Value: x.value})
		}
	}
	var filters Object
	for _, f := range p.Filters {
		filters = append(filters, Member{Key: f.Column, Value: f.Value})
	}
	return setNonEmpty(out, "filters", filters)
}
