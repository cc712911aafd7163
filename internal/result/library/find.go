// Package library finds the folders of finished runs below paths, and says what each of them is: a run, repeats of one
// configuration, a sweep or a search, of this program or of the original, or a run of another tool. [Find] looks at
// names alone, except for results of other tools, which it knows by their content; [Read] reads of a folder what a list
// of runs shows, in about a millisecond.
//
// Vocabulary: the home of a folder is what a person would name: of repeats the folder above "aggregate", of a sweep the
// folder that was given as --artifact-dir. The parent of a folder is the repeats, the sweep or the search that it is a
// part of. A shadow is a folder whose figures another one has too, so that plots would show them twice.
//
// Invariants: a folder is found once, whatever links lead to it; no link leads out of the paths that were given; the
// order is that of the paths; nothing is written; a damaged file is named and never ends the search.
//
// It also finds single requests among the records of a run: by number, by id, by session, by error, the slowest
// by a metric. [Build] reads a per-request file once and keeps of each line its place and some ninety bytes; a query
// then reads only the lines that it answers with. An [Index] can be saved beside nothing of the run and loaded again.
//
// Vocabulary: the number of a request is that of its line, from 1; a kind of failure is an error's type and message.
//
// Invariants: memory is bounded by the number of lines, not by their length; a line that cannot be read is counted and
// left out; an index that was made of a file with another size or time is never used.
package library

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/result/foreign"
)

// Kind is what a folder holds.
type Kind string

// The kinds.
const (
	// Run is the folder of one run.
	Run Kind = "run"
	// Repeats is the aggregate of runs of one configuration.
	Repeats Kind = "repeats"
	// Sweep is the aggregate of runs of several configurations.
	Sweep Kind = "sweep"
	// Search is the history of a search; the search for a capacity is one.
	Search Kind = "search"
)

// Folder is a folder with results.
type Folder struct {
	Kind Kind
	// Path is where the files are, below the path that was given; Home is what a person would name.
	Path, Home string
	// Real is Path without symbolic links.
	Real string
	// Root is the index of the path that it is below.
	Root int
	// File is the summary of a run, the aggregate or the history; "" for a run that has none, as one that was killed.
	File string
	// Aggregate is the aggregate of the runs of a search, "" if there is none; for other kinds see File.
	Aggregate string
	// Files are the names of a run's files.
	Files config.Artifacts
	// HasRecords and HasState report of a run that it has a per-request file, and a state file.
	HasRecords, HasState bool
	// Foreign reports of a run that another tool measured it: File is its result, with the number of the part if the
	// file has several, such as results.jsonl#2.
	Foreign bool
	// Parent is the index of the folder that this one is a part of, -1 for none.
	Parent int
	// Shadow reports that plots leave the folder out, because another one stands for it.
	Shadow bool
	// Running reports that a process writes the folder now: it has no result yet. Killed reports of an experiment that
	// its process ended before it had a result.
	Running, Killed bool
	// Single reports of the repeats of a cell that they are one run, which is there too.
	Single bool
}

// Fault is a path that could not be searched.
type Fault struct {
	Path string
	Err  error
}

func (f Fault) Error() string { return f.Err.Error() }

// Found is what was found below paths.
type Found struct {
	// Roots are the paths that were given.
	Roots []string
	// Folders are sorted by path, numbers in it as numbers.
	Folders []Folder
	Faults  []Fault
}

// maxFolders bounds a search: a path such as / is a mistake.
const maxFolders = 200_000

// Check returns an error for the first of paths that is neither a folder nor a result of another tool.
func Check(paths ...string) error {
	for _, path := range paths {
		path = filepath.Clean(path)
		info, err := os.Stat(foreign.File(path))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("there is no folder %s", path)
		case err != nil:
			return err
		case !info.IsDir() && !foreign.Is(path):
			return fmt.Errorf("%s is not a folder; give the folder that holds it", path)
		}
	}
	return nil
}

// Find searches paths, which must be folders or results of other tools. It returns an error for one that is not; one without results is none,
// see [Found.Empty]. Links are followed to what is below one of the paths; others are left out.
func Find(paths ...string) (*Found, error) {
	if err := Check(paths...); err != nil {
		return nil, err
	}
	f := &Found{}
	w := walk{found: f, seen: map[string]bool{}}
	for _, path := range paths {
		f.Roots = append(f.Roots, filepath.Clean(path))
		real, err := filepath.EvalSymlinks(foreign.File(path))
		if err != nil {
			return nil, err
		}
		w.within = append(w.within, real)
	}
	for i, path := range f.Roots {
		w.root, w.outside, w.example = i, 0, ""
		if foreign.Is(path) {
			w.result(path, w.within[i])
			continue
		}
		w.folder(path, false)
		if w.outside > 0 {
			more := ""
			if w.outside > 1 {
				more = fmt.Sprintf(", as do %d others", w.outside-1)
			}
			w.fault(w.example, fmt.Errorf("the link leads out of the folders that are searched%s: give the folder "+
				"that it "+
				"leads to as well", more))
		}
	}
	slices.SortFunc(f.Folders, func(a, b Folder) int {
		return cmp.Or(artifact.CompareNatural(a.Home, b.Home), cmp.Compare(rank(a.Kind), rank(b.Kind)),
			cmp.Compare(a.File, b.File))
	})
	for i := range f.Folders {
		d := &f.Folders[i]
		d.Running = (d.File == "" || d.Kind == Search) && !d.Killed && slices.ContainsFunc(w.written, func(dir string) bool {
			return below(dir, d.Home)
		})
	}
	f.arrange()
	f.shadows()
	return f, nil
}

// rank sorts what contains others first.
func rank(k Kind) int { return slices.Index([]Kind{Search, Sweep, Repeats, Run}, k) }

// Empty returns the paths below which there is no folder with results.
func (f *Found) Empty() []string {
	var out []string
	for i, root := range f.Roots {
		if !slices.ContainsFunc(f.Folders, func(d Folder) bool { return d.Root == i || below(root, d.Path) }) {
			out = append(out, root)
		}
	}
	return out
}

// Plotted returns the folders that plots show as runs: runs with records, those of other tools, and repeats, without
// shadows.
func (f *Found) Plotted() []Folder {
	var out []Folder
	for _, d := range f.Folders {
		if !d.Shadow && (d.Kind == Repeats || d.Kind == Run && (d.HasRecords || d.Foreign) && d.File != "") {
			out = append(out, d)
		}
	}
	return out
}

// walk is one search.
type walk struct {
	found *Found
	root  int
	seen  map[string]bool // real paths
	full  bool
	// within are the real paths of the roots; outside links lead elsewhere, of which example is one.
	within  []string
	outside int
	example string
	// written are folders that a process writes to.
	written []string
}

// skipped are folders within results that hold none.
var skipped = map[string]bool{"logs": true, "plots": true, "phases": true, "node_modules": true}

// folder searches a folder. again reports that its summaries may be those of aiperf report.
func (w *walk) folder(path string, again bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || w.seen[real] || w.full {
		return // a link that leads nowhere, or where the search has been
	}
	if len(w.seen) >= maxFolders {
		w.full = true
		w.fault(path, fmt.Errorf("there are more than %d folders below %s: give the folder of the results", maxFolders,
			w.found.Roots[w.root]))
		return
	}
	w.seen[real] = true
	entries, err := os.ReadDir(path)
	if err != nil {
		w.fault(path, err)
		return
	}
	l := listing{path: path, files: map[string]bool{}}
	var folders, links []string
	for _, entry := range entries {
		name, mode := entry.Name(), entry.Type()
		into := &folders
		if mode&fs.ModeSymlink != 0 {
			var ok bool
			if mode, ok = w.follow(filepath.Join(path, name)); !ok {
				continue
			}
			into = &links
		}
		switch {
		case mode.IsRegular():
			l.files[name] = true
		case mode.IsDir() && !strings.HasPrefix(name, ".") && !skipped[name]:
			*into = append(*into, name)
		}
	}
	isRun := false
	for _, d := range l.folders(again) {
		d.Real, d.Root, d.Parent = real, w.root, -1
		w.found.Folders = append(w.found.Folders, d)
		isRun = isRun || d.Kind == Run
	}
	for _, fault := range l.faults {
		w.fault(path, fault)
	}
	before := len(w.found.Folders)
	if l.files[artifact.LockName] && artifact.Writing(path) {
		w.written = append(w.written, path)
	}
	for _, name := range append(folders, links...) { // a folder rather than a link to it
		w.folder(filepath.Join(path, name), isRun && name == reportFolder)
	}
	if l.files[artifact.LockName] && !isRun {
		w.unfinished(path, real, w.found.Folders[before:])
	}
}

// result adds the runs of a file of another tool that was named itself.
func (w *walk) result(path, real string) {
	runs, err := foreign.Read(path)
	if err != nil {
		w.fault(path, err)
		return
	}
	for i := range runs {
		d := Folder{Kind: Run, Path: path, Home: path, Real: real, Root: w.root, Parent: -1, File: runs[i].Path,
			Foreign: true, Files: config.Artifacts{Dir: filepath.Dir(path)}}
		if len(runs) > 1 {
			d.Files.Prefix = filepath.Base(runs[i].Path)
		}
		w.found.Folders = append(w.found.Folders, d)
	}
}

// unfinished adds the folder of an experiment that has runs and no result of its own: it is under way, or was killed.
func (w *walk) unfinished(path, real string, parts []Folder) {
	if len(parts) == 0 || slices.ContainsFunc(w.found.Folders, func(d Folder) bool {
		return d.Home == path
	}) {
		return
	}
	d := Folder{Kind: Sweep, Path: path, Home: path, Real: real, Root: w.root, Parent: -1}
	if !slices.ContainsFunc(parts, func(p Folder) bool { return !isRepeat(path, p.Path) }) {
		d.Kind = Repeats
	}
	d.Killed = !slices.Contains(w.written, path)
	w.found.Folders = append(w.found.Folders, d)
}

// isRepeat reports whether a folder is that of one of the repeats of an experiment.
func isRepeat(home, path string) bool { return filepath.Dir(path) == filepath.Join(home, trialsFolder) }

// follow returns what a link leads to, if that is below one of the roots.
func (w *walk) follow(link string) (fs.FileMode, bool) {
	real, err := filepath.EvalSymlinks(link)
	if err != nil {
		return 0, false // broken, or in a circle
	}
	if !slices.ContainsFunc(w.within, func(root string) bool { return below(root, real) }) {
		if w.outside++; w.outside == 1 {
			w.example = link
		}
		return 0, false
	}
	info, err := os.Lstat(real)
	if err != nil {
		return 0, false
	}
	return info.Mode().Type(), true
}

func (w *walk) fault(path string, err error) {
	w.found.Faults = append(w.found.Faults, Fault{path, err})
}

// arrange sets the parents.
func (f *Found) arrange() {
	byHome := map[string]int{}
	for i := len(f.Folders) - 1; i >= 0; i-- {
		if d := &f.Folders[i]; d.Kind != Run {
			byHome[d.Home] = i // the first one of a home contains the others
		}
	}
	for i := range f.Folders {
		d := &f.Folders[i]
		if k, ok := byHome[d.Home]; ok && k != i {
			d.Parent = k
			continue
		}
		for at := filepath.Dir(d.Home); ; at = filepath.Dir(at) {
			if k, ok := byHome[at]; ok {
				d.Parent = k
				break
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	f.merge()
	f.ofCells()
}

// ofCells makes the repeats of a cell of a sweep the parent of its runs, where there are several.
func (f *Found) ofCells() {
	runs := map[int][]int{} // of repeats
	for i := range f.Folders {
		of := &f.Folders[i]
		experiment, cell, ok := strings.Cut(filepath.ToSlash(of.Path), "/"+aggregateFolder+"/")
		if of.Kind != Repeats || !ok || of.Parent < 0 {
			continue
		}
		for k := range f.Folders {
			d := &f.Folders[k]
			if d.Kind != Run || d.Parent != of.Parent {
				continue
			}
			rel, ok := strings.CutPrefix(filepath.ToSlash(d.Path), experiment+"/")
			if ok && strings.Contains("/"+rel+"/", "/"+cell+"/") {
				runs[i] = append(runs[i], k)
			}
		}
	}
	for i, list := range runs {
		if len(list) < 2 {
			f.Folders[i].Single = true
			continue
		}
		for _, k := range list {
			f.Folders[k].Parent = i
		}
	}
}

// merge leaves the sweep of a search out: its file becomes the search's aggregate.
func (f *Found) merge() {
	keep, to := f.Folders[:0:0], make([]int, len(f.Folders))
	for i, d := range f.Folders {
		if p := d.Parent; d.Kind == Sweep && p >= 0 && f.Folders[p].Kind == Search && f.Folders[p].Home == d.Home {
			keep[to[p]].Aggregate = d.File
			to[i] = to[p]
			continue
		}
		to[i] = len(keep)
		keep = append(keep, d)
	}
	for i := range keep {
		if p := keep[i].Parent; p >= 0 {
			keep[i].Parent = to[p]
		}
	}
	f.Folders = keep
}

// below reports whether a path is a folder or below it.
func below(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
