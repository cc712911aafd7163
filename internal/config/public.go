package config

import "strings"

// Public says which published data set is sent.
type Public struct {
	// Name is empty where none is.
	Name string
	// Subset replaces the data set's own, WekaRepo its repository; empty: neither.
	Subset, WekaRepo string
	// Path is the user's copy; empty: it is looked for.
	Path string
	// Filters are columns and the values that rows must have.
	Filters []ColumnFilter
	// Limit is the number of conversations after which a data set ends that is read as a stream.
	Limit int
}

// ColumnFilter is a column and the value that it must have.
type ColumnFilter struct{ Column, Value string }

// publicName is the data set that is asked for, openly or by a weka repository.
func (d *draft) publicName() string {
	if name := d.p.Text("public-dataset"); name != "" || !d.given("hf-weka-dataset") {
		return name
	}
	return wekaHub
}

func (d *draft) public() Public {
	p := d.p
	out := Public{Name: d.publicName(), Subset: p.Text("hf-subset"), WekaRepo: p.Text("hf-weka-dataset"), Path: p.Text("dataset-path")}
	out.Limit = int(*p.Int("num-dataset-entries"))
	if n := p.Int("request-count"); n != nil {
		out.Limit = int(*n)
	}
	for _, text := range p.Texts("dataset-filter") {
		column, value, _ := strings.Cut(text, "=")
		out.Filters = append(out.Filters, ColumnFilter{column, value})
	}
	return out
}

// checkPublic refuses what only public data sets know, and what they do not.
func (d *draft) checkPublic() {
	name := d.publicName()
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
	if d.given("fixed-schedule") && name != "" {
		d.fault("", "%s cannot be used with %s, whose rows have no times", d.flag("fixed-schedule"), d.flag("public-dataset"))
	}
}

func publicConfig(p Public) Object {
	out := Object{{Key: "dataset", Value: p.Name}}
	for _, x := range []struct{ key, value string }{{"hf_subset", p.Subset}, {"hf_weka_dataset", p.WekaRepo}, {"path", p.Path}} {
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
