package resolve

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"aiperf/internal/config"
	"aiperf/internal/config/env"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/config/pluginfile"
	"aiperf/internal/config/settings"
)

// plugins decides which outside programs a run uses.
type plugins struct {
	*asked
	found *pluginfile.Set
	// endpoint and loader are nil where the endpoint and the reader of the dataset are built in.
	endpoint, loader *pluginfile.Program
}

// PluginFolders returns where plug-ins are looked for.
func PluginFolders(named []string, path string, lookup env.Lookup) []pluginfile.Folder {
	home, _ := lookup("HOME")
	profile, _ := lookup("USERPROFILE")
	return pluginfile.Folders(named, path, cmp.Or(home, profile))
}

// Plugins finds the plug-ins that settings give access to.
func Plugins(p *settings.Settings) *pluginfile.Set {
	return pluginfile.Find(PluginFolders(p.PluginDir.Get(), p.Env.Plugin.Path, p.Environ))
}

// Loader returns the program that reads the input file, nil where a built-in reader does: the one that
// --custom-dataset-type names, or without that flag the one for the file's extension.
func Loader(p *settings.Settings, found *pluginfile.Set) *pluginfile.Program {
	file := p.InputFile.Get()
	switch {
	case file == "":
		return nil
	case p.CustomDatasetType.Given():
		return replacing(found.Lookup(pluginfile.Loader, p.CustomDatasetType.Get()), &p.CustomDatasetType)
	}
	return found.LoaderOf(file)
}

// replacing returns a program, nil where the built-in value of its name has the higher priority, which is 0.
func replacing(p *pluginfile.Program, named option.Field) *pluginfile.Program {
	if p != nil && p.Priority < 0 && slices.Contains(named.Row().Values, p.Name) {
		return nil
	}
	return p
}

// decide finds the plug-ins.
func (pl *plugins) decide() {
	pl.found = Plugins(pl.p)
	pl.endpoint = replacing(pl.found.Lookup(pluginfile.Endpoint, pl.p.EndpointType.Get()), &pl.p.EndpointType)
	pl.loader = Loader(pl.p, pl.found)
}

// check reports what is wrong with the plug-ins, and names that none of them has.
func (pl *plugins) check() {
	pl.faults = append(pl.faults, pl.found.Faults...)
	for _, category := range []string{pluginfile.Endpoint, pluginfile.Loader} {
		named := pl.optionOf(category)
		o, value := named.Row(), named.Get()
		if value == "" || slices.Contains(o.Values, value) || pl.found.Lookup(category, value) != nil {
			continue
		}
		others := ""
		if names := pl.found.Of(category); len(names) > 0 {
			others = ", or of plug-ins " + orList(namesOf(names))
		}
		pl.fault("", "%s %s: %v%s", named.Flag(), fault.Shorten(value), o.NoValue(value), others)
	}
	for _, m := range pl.found.Of(pluginfile.Metric) {
		if known, ok := pl.catalog.Metric(m.Name); ok {
			pl.fault("", "%s: the metric %s is built in: choose another name", m.Place, known.Tag)
		}
	}
}

func namesOf(programs []pluginfile.Program) (names []string) {
	for _, p := range programs {
		names = append(names, p.Name)
	}
	return names
}

// warn says which plug-ins are not what users may expect.
func (pl *plugins) warn() {
	for _, note := range pl.found.Notes {
		pl.asked.warn("%s", note)
	}
	for _, p := range []*pluginfile.Program{pl.endpoint, pl.loader} {
		if p == nil {
			continue
		}
		if slices.Contains(pl.optionOf(p.Category).Row().Values, p.Name) {
			pl.asked.warn("The plug-in %s replaces the built-in %s", p, p.Name)
		}
	}
	if _, err := os.Stat(filepath.FromSlash(pluginfile.Local)); err == nil && len(pl.unnamed()) > 0 {
		pl.info("The plug-ins in %s are not used, since a working directory may be anybody's; --plugin-dir %[1]s uses "+
			"them", pluginfile.Local)
	}
}

// optionOf is the option that names plug-ins of a category.
func (pl *plugins) optionOf(category string) *option.Opt[string] {
	if category == pluginfile.Loader {
		return &pl.p.CustomDatasetType
	}
	return &pl.p.EndpointType
}

// unnamed are the plug-ins of the working directory that are not among those that were found.
func (pl *plugins) unnamed() (list []*pluginfile.Plugin) {
	for _, p := range pluginfile.Find([]pluginfile.Folder{{Path: filepath.FromSlash(pluginfile.Local)}}).Plugins {
		same := func(q *pluginfile.Plugin) bool { return sameFile(p.Path, q.Path) }
		if !slices.ContainsFunc(pl.found.Plugins, same) {
			list = append(list, p)
		}
	}
	return list
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// build returns what follows the run.
func (pl *plugins) build(level string) config.Plugins {
	out := config.Plugins{Exporters: pl.found.Of(pluginfile.Exporter), Metrics: pl.found.Of(pluginfile.Metric)}
	if level == "summary" && len(out.Metrics) > 0 {
		pl.asked.warn("%s needs the records of the requests, which --export-level summary does not write: it is left "+
			"out",
			fmt.Sprintf("The metric %s of a plug-in", orList(namesOf(out.Metrics))))
		out.Metrics = nil
	}
	return out
}
