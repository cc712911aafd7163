package browse

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aiperf/internal/base/webpage"
	"aiperf/internal/base/webserver"
	"aiperf/internal/config"
	"aiperf/internal/result/library"
)

// fileRow is a file of an item.
type fileRow struct {
	Path, Name, About string
	Size              int64
	Changed           time.Time
}

// maxFiles bounds the list of files, and maxDepth the folders below that are searched.
const (
	maxFiles = 500
	maxDepth = 4
)

// files is the page of the files of an item.
func (s *Server) files(w http.ResponseWriter, r *http.Request, sh *shelf, it *item) {
	v := struct {
		webpage.Frame
		Folder      string
		Rows        []fileRow
		More, Saved bool
	}{Folder: it.folder.Home, Saved: hasSaved(it)}
	v.Title, v.Skip = "Files of "+it.name, "files"
	v.Nav = navigation(sh, it, "files")
	v.Rows, v.More = filesOf(it)
	s.show(w, r, "files", 0, &v.Frame, nil, &v)
}

// filesOf lists the files of an item; more reports that there are too many.
func filesOf(it *item) (rows []fileRow, more bool) {
	home := it.folder.Home
	own := it.folder.Kind == library.Run
	abouts := abouts(it.folder.Files)
	_ = filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be read is left out
		}
		rel, err := filepath.Rel(home, path)
		if err != nil || rel == "." {
			return nil
		}
		rel = filepath.ToSlash(rel)
		if entry.IsDir() {
			if strings.Count(rel, "/") >= maxDepth || !own && !strings.Contains(rel, "aggregate") ||
				strings.HasPrefix(entry.Name(), ".") {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		if len(rows) == maxFiles {
			more = true
			return filepath.SkipAll
		}
		rows = append(rows, fileRow{Path: "/r/" + it.id + "/files/" + escapePath(rel), Name: rel, About: abouts[rel],
			Size: info.Size(), Changed: info.ModTime()})
		return nil
	})
	return rows, more
}

// abouts are sentences on the files by their names.
func abouts(files config.Artifacts) map[string]string {
	out := map[string]string{}
	for _, kind := range config.ArtifactKinds() {
		out[filepath.ToSlash(files.Name(kind))] = kind.About()
	}
	return out
}

// file sends a file as a download.
func (s *Server) file(w http.ResponseWriter, r *http.Request, _ *shelf, it *item) {
	webserver.ServeFile(w, r, it.folder.Home, r.PathValue("path"), webserver.Presentation{})
}

// savedName returns the name of the page that the run left.
func savedName(it *item) string {
	if it.folder.Kind != library.Run {
		return ""
	}
	return filepath.ToSlash(it.folder.Files.Name(config.HTMLReport))
}

func hasSaved(it *item) bool {
	name := savedName(it)
	if name == "" {
		return false
	}
	info, err := os.Stat(filepath.Join(it.folder.Path, filepath.FromSlash(filepath.Base(name))))
	return err == nil && info.Mode().IsRegular()
}

// saved shows the page that the run left, in a sandbox.
func (s *Server) saved(w http.ResponseWriter, r *http.Request, _ *shelf, it *item) {
	name := savedName(it)
	if name == "" {
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	}
	webserver.ServeFile(w, r, it.folder.Path, filepath.Base(name), webserver.Presentation{Report: true})
}
