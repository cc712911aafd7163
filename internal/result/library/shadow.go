package library

import (
	"path/filepath"
	"slices"
	"strings"
)

// shadows marks the folders that plots leave out: the trials below a profile_runs beside an aggregate, unless a path
// leads there, and aggregates of what is listed anyway.
func (f *Found) shadows() {
	withAggregate := map[string]bool{} // folders with results in their folder aggregate
	for _, d := range f.Folders {
		for at := d.Path; at != filepath.Dir(at); at = filepath.Dir(at) {
			if filepath.Base(at) == aggregateFolder {
				withAggregate[filepath.Dir(at)] = true
			}
		}
	}
	for i := range f.Folders {
		d := &f.Folders[i]
		d.Shadow = !slices.ContainsFunc(f.Roots, func(root string) bool { return shows(root, d.Path, withAggregate) })
	}
	for i := range f.Folders {
		if d := &f.Folders[i]; d.Kind == Repeats && !d.Shadow {
			d.Shadow = f.standsForListed(d)
		}
	}
}

// shows reports whether a path leads to a folder without going through the trials of an aggregate.
func shows(root, path string, withAggregate map[string]bool) bool {
	if !below(root, path) {
		return false
	}
	for at := path; at != root && at != filepath.Dir(at); at = filepath.Dir(at) {
		if filepath.Base(at) == trialsFolder && withAggregate[filepath.Dir(at)] {
			return false
		}
	}
	return true
}

// standsForListed reports whether the runs of an aggregate are listed themselves.
func (f *Found) standsForListed(d *Folder) bool {
	if d.Path != d.Home { // D/aggregate stands for D
		return slices.ContainsFunc(f.Folders, func(o Folder) bool {
			return o.Kind == Run && !o.Shadow && o.Path == d.Home
		})
	}
	experiment, cell, ok := strings.Cut(filepath.ToSlash(d.Path), "/"+aggregateFolder+"/")
	if !ok {
		return false
	}
	return slices.ContainsFunc(f.Folders, func(o Folder) bool {
		if o.Shadow || o.Path == d.Path || o.Kind != Run && (o.Kind != Repeats || o.Path == o.Home) {
			return false
		}
		rel, ok := strings.CutPrefix(filepath.ToSlash(o.Path), experiment+"/")
		return ok && strings.Contains("/"+rel+"/", "/"+cell+"/")
	})
}
