package library

import (
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/bounded"
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/config"
	"aiperf/internal/result/foreign"
)

// listing are the names of the regular files of a folder.
type listing struct {
	path  string
	files map[string]bool
	// faults are files of other tools that cannot be read.
	faults []error
}

// The names of files.
var (
	summaryName   = config.Artifacts{}.Name(config.SummaryJSON)
	recordsName   = config.Artifacts{}.Name(config.RecordsJSONL)
	stateName     = config.Artifacts{}.Name(config.RunState)
	aggregateName = filepath.Base(config.Artifacts{}.Name(config.AggregateJSON))
	sweepName     = filepath.Base(config.Artifacts{}.Name(config.SweepJSON))
	stateSuffix   = config.Artifacts{Prefix: "x"}.Name(config.RunState)[1:]
)

// The names of folders and files of experiments.
const (
	aggregateFolder = "aggregate"
	sweepFolder     = "sweep_aggregate"
	trialsFolder    = "profile_runs"
	historyName     = "search_history.json"
	reportFolder    = "report" // of aiperf report, in that of the run
)

// folders returns what a folder holds. again reports that a summary without records is one that was computed again.
func (l *listing) folders(again bool) []Folder {
	var out []Folder
	if l.files[historyName] {
		out = append(out, Folder{Kind: Search, Path: l.path, Home: l.path, File: filepath.Join(l.path, historyName)})
	}
	if l.files[sweepName] {
		out = append(out, Folder{Kind: Sweep, Path: l.path, Home: l.sweepHome(), File: filepath.Join(l.path, sweepName)})
	}
	if l.files[aggregateName] {
		home := l.path
		if filepath.Base(home) == aggregateFolder {
			home = filepath.Dir(home)
		}
		out = append(out, Folder{Kind: Repeats, Path: l.path, Home: home, File: filepath.Join(l.path, aggregateName)})
	}
	for _, prefix := range l.prefixes() {
		files := config.Artifacts{Dir: l.path, Prefix: prefix}
		d := Folder{Kind: Run, Path: l.path, Home: l.path, Files: files,
			HasRecords: l.has(filepath.Base(files.Name(config.RecordsJSONL))),
			HasState:   l.files[filepath.Base(files.Name(config.RunState))]}
		if summary := files.Path(config.SummaryJSON); l.files[filepath.Base(summary)] {
			d.File = summary
		}
		if d.HasRecords || !again {
			out = append(out, d)
		}
	}
	if len(out) == 0 && !again {
		out = l.foreign()
	}
	return out
}

// foreign returns the runs of other tools in the folder: those of a file with several are told apart by its name.
func (l *listing) foreign() (out []Folder) {
	candidates := false
	for name := range l.files {
		candidates = candidates || slices.Contains([]string{".json", ".jsonl", ".yaml", ".yml"}, filepath.Ext(name))
	}
	if !candidates {
		return nil
	}
	paths, faults := foreign.In(l.path)
	l.faults = faults
	for _, path := range paths {
		d := Folder{Kind: Run, Path: l.path, Home: l.path, File: path, Foreign: true,
			Files: config.Artifacts{Dir: l.path}}
		if len(paths) > 1 {
			d.Files.Prefix = filepath.Base(path)
		}
		out = append(out, d)
	}
	return out
}

// has reports whether a file of lines is in the folder, compressed or not.
func (l *listing) has(name string) bool {
	return l.files[name] || l.files[name+bounded.CompressedSuffix]
}

// sweepHome returns the folder of the experiment: sweep_aggregate is in it, or in its folder aggregate.
func (l *listing) sweepHome() string {
	home := l.path
	for _, name := range []string{sweepFolder, aggregateFolder} {
		if filepath.Base(home) == name {
			home = filepath.Dir(home)
		}
	}
	return home
}

// prefixes returns those of the runs in the folder, "" for the usual names. A run has a summary or a state file. With a
// prefix a summary can have any name: it is one if the records or the state of the same name are beside it.
func (l *listing) prefixes() []string {
	var out []string
	if l.files[summaryName] || l.files[stateName] || l.has(recordsName) {
		out = append(out, "")
	}
	for name := range l.files {
		if prefix, ok := strings.CutSuffix(name, stateSuffix); ok && prefix != "" {
			out = append(out, prefix)
			continue
		}
		prefix, ok := strings.CutSuffix(name, ".json")
		if !ok || usual[name] || !l.has(prefix+".jsonl") || l.files[prefix+stateSuffix] {
			continue
		}
		// The server metrics of a run with a prefix have both files too.
		if rest, isOther := strings.CutSuffix(prefix, "_server_metrics"); isOther && l.files[rest+".json"] {
			continue
		}
		if isSummary(filepath.Join(l.path, name)) {
			out = append(out, prefix)
		}
	}
	slices.Sort(out)
	return out
}

// usual are the names of all files without a prefix.
var usual = func() map[string]bool {
	names := map[string]bool{}
	for _, kind := range config.ArtifactKinds() {
		names[filepath.Base(config.Artifacts{}.Name(kind))] = true
	}
	return names
}()

// isSummary reports whether a file is the summary of a run: that has the configuration.
func isSummary(path string) bool {
	data, err := bounded.ReadFile(path)
	return err == nil && len(jsonscan.Find(data, "input_config")) > 0
}
