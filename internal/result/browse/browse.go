// Package browse shows the folders of finished runs in the browser: a list with search, the report of one run, several
// runs side by side, charts over many runs, sweeps and searches, the requests of a run one by one, and all files for
// download. [Server.Search] searches the folders; [Server.Handler] answers.
//
// Vocabulary: a shelf is what was found at one time; an item of it has an id, which is the same whenever the same files
// are found. Pages name items by id alone, so that no address contains a path of this machine.
//
// Invariants: nothing is written below the folders that are shown; what is computed from records is kept in memory or
// in a folder of its own, both within bounds. All texts of runs are escaped, by the templates, as JSON, or as text
// nodes. A file that runs left is never executed: it is sent as a download, or in a sandbox without an origin.
package browse

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/webpage"
	"aiperf/internal/result/library"
)

//go:embed assets
var assets embed.FS

func asset(name string) string { return webpage.Text(assets, "assets/"+name) }

// Options configure a server.
type Options struct {
	// Paths are the folders that are searched.
	Paths []string
	// Version is that of this program.
	Version string
	// Theme is light, dark or "", what the browser prefers.
	Theme string
	// Cache is the folder for what is computed from records, "" for none.
	Cache string
}

// Server shows the folders of finished runs.
type Server struct {
	o           Options
	reports     *reports
	indexes     *indexes
	figuresRead figuresOf
	// searched is set after the first search.
	searched atomic.Bool

	mu      sync.Mutex
	shelf   *shelf
	scanned time.Time
	took    time.Duration
}

// New makes a server, which answers with a page that asks for patience until [Server.Search] is done. It is an error if
// a path is not a folder.
func New(o Options) (*Server, error) {
	if err := library.Check(o.Paths...); err != nil {
		return nil, err
	}
	return &Server{o: o, reports: newReports(o), indexes: newIndexes(o)}, nil
}

// Search searches the folders. Without anything to show the pages say so, and wait for the first run.
func (s *Server) Search() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.scan(); err != nil {
		return err
	}
	s.searched.Store(true)
	return nil
}

// Close ends what is being computed.
func (s *Server) Close() {
	s.reports.close()
	s.indexes.close()
}

// Runs returns the number of runs that were found.
func (s *Server) Runs() int {
	n := 0
	for _, it := range s.current().items {
		if it.folder.Kind == library.Run {
			n++
		}
	}
	return n
}

// Notes are sentences on what could not be read.
func (s *Server) Notes() []string {
	var out []string
	sh := s.current()
	for _, path := range sh.found.Empty() {
		out = append(out, fmt.Sprintf("there is no run below %s yet: the page shows it when there is one", path))
	}
	for _, f := range sh.found.Faults {
		out = append(out, fmt.Sprintf("%s is left out: %v", f.Path, f.Err))
	}
	return out
}

// shelf is what was found at one time.
type shelf struct {
	found *library.Found
	items []item
	byID  map[string]int
}

// item is a folder with results.
type item struct {
	id, name string
	folder   library.Folder
	facts    library.Facts
	// stamp changes when the files do.
	stamp string
}

// get returns the item of an id.
func (sh *shelf) get(id string) (*item, bool) {
	i, ok := sh.byID[id]
	if !ok {
		return nil, false
	}
	return &sh.items[i], true
}

// parts returns the items that are parts of one.
func (sh *shelf) parts(of *item) []*item {
	var out []*item
	for i := range sh.items {
		if p := sh.items[i].folder.Parent; p >= 0 && &sh.items[p] == of {
			out = append(out, &sh.items[i])
		}
	}
	return out
}

// scanEvery is the least time between two searches; a search that takes long is made less often.
const scanEvery = 2 * time.Second

// current returns what there is now.
func (s *Server) current() *shelf {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.scanned) > max(scanEvery, 20*s.took) {
		_ = s.scan() // a folder that is gone: what was there stays
	}
	return s.shelf
}

// scan searches again. What did not change is not read again.
func (s *Server) scan() error {
	begin := time.Now()
	found, err := library.Find(s.o.Paths...)
	s.scanned, s.took = time.Now(), time.Since(begin)
	if err != nil {
		return err
	}
	s.shelf = s.arrange(found)
	s.took = time.Since(begin)
	return nil
}

func (s *Server) arrange(found *library.Found) *shelf {
	sh := &shelf{found: found, byID: map[string]int{}}
	var fresh []library.Folder
	var at []int
	for i, d := range found.Folders {
		it := item{folder: d, id: identify(&d), name: nameOf(found, &d), stamp: stampOf(&d)}
		if known, ok := s.known(it.id); ok && known.stamp == it.stamp {
			it.facts = known.facts
		} else {
			d.Parent = -1
			fresh, at = append(fresh, d), append(at, i)
		}
		sh.byID[it.id] = i
		sh.items = append(sh.items, it)
	}
	for k, facts := range library.ReadAll(fresh) {
		sh.items[at[k]].facts = facts
	}
	facts := make([]library.Facts, len(sh.items))
	for i := range sh.items {
		facts[i] = sh.items[i].facts
	}
	library.Inherit(found.Folders, facts)
	for i := range sh.items {
		sh.items[i].facts = facts[i]
	}
	return sh
}

func (s *Server) known(id string) (*item, bool) {
	if s.shelf == nil {
		return nil, false
	}
	return s.shelf.get(id)
}

// identify returns the id of a folder.
func identify(d *library.Folder) string {
	sum := sha256.Sum256([]byte(d.Real + "\x00" + string(d.Kind) + "\x00" + d.Files.Prefix))
	return hex.EncodeToString(sum[:6])
}

// nameOf returns the name of a folder in lists: its path below the one that was given.
func nameOf(found *library.Found, d *library.Folder) string {
	root := found.Roots[d.Root]
	name, err := filepath.Rel(root, d.Home)
	if err != nil || name == "." || strings.HasPrefix(name, "..") {
		if absolute, err := filepath.Abs(d.Home); err == nil {
			name = filepath.Base(absolute)
		}
	} else if len(found.Roots) > 1 {
		name = filepath.Join(root, name)
	}
	if d.Files.Prefix != "" {
		name += " (" + d.Files.Prefix + ")"
	}
	return filepath.ToSlash(name)
}

// stampOf changes when the files that facts are read from, or the records, change.
func stampOf(d *library.Folder) string {
	var b strings.Builder
	for _, path := range watched(d) {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "%d.%d ", info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// Handler answers requests for pages, data and files.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.list)
	mux.HandleFunc("GET /compare", s.compare)
	mux.HandleFunc("GET /charts", s.charts)
	mux.HandleFunc("GET /api/charts", s.chartData)
	mux.HandleFunc("GET /api/r/{id}/configuration", s.with(s.configuration))
	mux.HandleFunc("GET /r/{id}", s.with(s.one))
	mux.HandleFunc("GET /r/{id}/figures", s.with(s.figures))
	mux.HandleFunc("GET /r/{id}/files", s.with(s.files))
	mux.HandleFunc("GET /r/{id}/files/{path...}", s.with(s.file))
	mux.HandleFunc("GET /r/{id}/saved", s.with(s.saved))
	mux.HandleFunc("GET /r/{id}/requests", s.with(s.requestsPage))
	mux.HandleFunc("GET /r/{id}/requests/{number}", s.with(s.requestPage))
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /api/runs", s.runs)
	mux.HandleFunc("GET /api/r/{id}/requests", s.with(s.findRequests))
	mux.HandleFunc("GET /api/r/{id}/requests/{number}", s.with(s.oneRequest))
	mux.HandleFunc("GET /api/r/{id}/timeline", s.with(s.timeline))
	mux.HandleFunc("GET /api/r/{id}/report", s.with(s.reportState))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.searched.Load():
			mux.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, "/api/"):
			s.fail(w, r, http.StatusServiceUnavailable, "Please wait", "The folders are being searched.")
		default:
			s.waiting(w, r, "The folders are being searched")
		}
	})
}

// with finds the item that an address names.
func (s *Server) with(h func(http.ResponseWriter, *http.Request, *shelf, *item)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		sh := s.current()
		it, ok := sh.get(r.PathValue("id"))
		if !ok {
			s.fail(w, r, http.StatusNotFound, "There is no such run",
				"Its folder may have been moved or removed since the list was made.")
			return
		}
		h(w, r, sh, it)
	}
}
