package pluginfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/config/fault"
)

// Local is the folder of plug-ins below the working directory and below the user's home. What is in the working
// directory may be anybody's: it is used only where the user names the folder.
const Local = ".aiperf/plugins"

// Folders returns where plug-ins are looked for, those of the user first: the folders that were named, those of the
// path, and the one below home, which need not exist.
func Folders(named []string, path, home string) []Folder {
	var list []Folder
	for _, dir := range named {
		list = append(list, Folder{Path: dir, Named: "--plugin-dir"})
	}
	for _, dir := range filepath.SplitList(path) {
		if dir != "" {
			list = append(list, Folder{Path: dir, Named: "AIPERF_PLUGIN_PATH"})
		}
	}
	if home != "" {
		list = append(list, Folder{Path: filepath.Join(home, filepath.FromSlash(Local))})
	}
	return list
}

// Folder is a folder with plug-ins: it has a manifest, or folders with one each.
type Folder struct {
	Path string
	// Named says who named the folder; it must exist then.
	Named string
}

// Set are the plug-ins that were found.
type Set struct {
	// Plugins are all of them, in the order of the folders and then of their names.
	Plugins []*Plugin
	// Programs are those that are used, by category and name.
	Programs []Program
	// Notes are what users should know: programs that are not used, and why.
	Notes []string
	// Faults are what is wrong in manifests, and folders that cannot be read.
	Faults fault.List
}

// Find reads the manifests in folders.
func Find(folders []Folder) *Set {
	s := &Set{}
	seen := map[string]bool{}
	for _, folder := range folders {
		for _, path := range s.manifests(folder) {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				if seen[real] {
					continue
				}
				seen[real] = true
			}
			p, err := Read(path)
			var list fault.List
			if errors.As(err, &list) {
				s.Faults = append(s.Faults, list...)
			}
			if p != nil {
				s.Plugins = append(s.Plugins, p)
			}
		}
	}
	for _, p := range s.Plugins {
		for i := range p.Provides {
			s.add(&p.Provides[i])
		}
	}
	slices.SortFunc(s.Programs, func(a, b Program) int {
		return cmp.Or(cmp.Compare(a.Category, b.Category), cmp.Compare(a.Name, b.Name))
	})
	return s
}

// manifests lists the manifests of a folder.
func (s *Set) manifests(folder Folder) []string {
	if own := filepath.Join(folder.Path, FileName); isFile(own) {
		return []string{own}
	}
	entries, err := os.ReadDir(folder.Path)
	if err != nil {
		if folder.Named != "" || !errors.Is(err, fs.ErrNotExist) {
			s.Faults.Add("", "%s: the folder of plug-ins cannot be read: %v", cmp.Or(folder.Named, "plug-ins"), err)
		}
		return nil
	}
	var paths []string
	for _, e := range entries {
		if path := filepath.Join(folder.Path, e.Name(), FileName); isFile(path) {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 && folder.Named != "" {
		s.Faults.Add("", "%s %s: the folder has no %s, and no folder in it has one", folder.Named, folder.Path,
			FileName)
	}
	return paths
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// add has a program used unless one of the same name is preferred: the higher priority wins, then the first one.
func (s *Set) add(p *Program) {
	for i := range s.Programs {
		other := &s.Programs[i]
		if other.Category != p.Category || !strings.EqualFold(other.Name, p.Name) {
			continue
		}
		used, left := *other, *p
		if p.Priority > other.Priority {
			used, left = left, used
		}
		s.Programs[i] = used
		s.Notes = append(s.Notes, fmt.Sprintf("Two plug-ins provide the %s %s: that of %s is used, that of %s is not",
			p.Category, p.Name, used.Place, left.Place))
		return
	}
	s.Programs = append(s.Programs, *p)
}

// Lookup returns the program of a category with a name, in any case; nil without one.
func (s *Set) Lookup(category, name string) *Program {
	for i := range s.Programs {
		if p := &s.Programs[i]; p.Category == category && name != "" && strings.EqualFold(p.Name, name) {
			return p
		}
	}
	return nil
}

// Of returns the programs of a category.
func (s *Set) Of(category string) (list []Program) {
	for _, p := range s.Programs {
		if p.Category == category {
			list = append(list, p)
		}
	}
	return list
}

// LoaderOf returns the loader that reads files with the extension of a path, nil without one.
func (s *Set) LoaderOf(path string) *Program {
	for i := range s.Programs {
		p := &s.Programs[i]
		if slices.ContainsFunc(p.Extensions, func(e string) bool { return strings.HasSuffix(path, e) }) {
			return p
		}
	}
	return nil
}
