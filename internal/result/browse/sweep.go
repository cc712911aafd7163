package browse

import (
	"bytes"
	"fmt"
	"net/http"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/library"
	"aiperf/internal/result/report/html"
)

// sweep is the page of a sweep or of a search.
func (s *Server) sweep(w http.ResponseWriter, r *http.Request, sh *shelf, it *item) {
	whole, err := readSweep(it)
	if err != nil {
		s.fail(w, r, http.StatusUnprocessableEntity, "The sweep cannot be shown", err.Error())
		return
	}
	f := &it.facts
	whole.Title, whole.Version = f.Model, f.Version
	if whole.Title == "" {
		whole.Title = it.name
	}
	if len(f.URLs) > 0 {
		whole.Target = artifact.RedactURLs(f.URLs[0])
	}
	if kindName(it) == "capacity" {
		whole.Kind = "Capacity"
	}
	link(sh, it, whole)
	var page bytes.Buffer
	if err := html.Sweep(&page, whole); err != nil {
		s.fail(w, r, http.StatusInternalServerError, "The page cannot be made", err.Error())
		return
	}
	s.send(w, s.within(r, page.Bytes(), navigation(sh, it, "report")))
}

// readSweep reads the files of a sweep or of a search.
func readSweep(it *item) (*answer.Sweep, error) {
	data, err := bounded.ReadFile(it.folder.File)
	if err != nil {
		return nil, err
	}
	if it.folder.Kind == library.Sweep {
		return answer.Read(data)
	}
	if it.folder.Aggregate == "" {
		return answer.ReadSearch(data)
	}
	aggregate, err := bounded.ReadFile(it.folder.Aggregate)
	if err != nil {
		return nil, err
	}
	whole, err := answer.Read(aggregate)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", it.folder.Aggregate, err)
	}
	if err := whole.AddSearch(data); err != nil {
		return answer.ReadSearch(data)
	}
	return whole, nil
}

// link gives the cells of a sweep the addresses of their pages.
func link(sh *shelf, it *item, whole *answer.Sweep) {
	taken := map[int]bool{}
	for _, p := range sh.below(it) {
		for i := range whole.Cells {
			c := &whole.Cells[i]
			if taken[i] || c.Page != "" || !matches(whole.Parameters, c, &p.facts) {
				continue
			}
			c.Page = p.id // relative to /r/, where the page of the sweep is
			taken[i] = true
			break
		}
	}
}

// below returns all parts of an item: repeats before their runs, which stand for them.
func (sh *shelf) below(of *item) []*item {
	var repeats, runs []*item
	for i := range sh.items {
		for p := sh.items[i].folder.Parent; p >= 0; p = sh.items[p].folder.Parent {
			if &sh.items[p] != of {
				continue
			}
			if sh.items[i].folder.Kind == library.Repeats {
				repeats = append(repeats, &sh.items[i])
			} else {
				runs = append(runs, &sh.items[i])
			}
			break
		}
	}
	return append(repeats, runs...)
}

// matches reports whether a run has the values of a cell.
func matches(parameters []answer.Parameter, c *answer.Cell, f *library.Facts) bool {
	if len(f.Values) == 0 {
		return false
	}
	for i, p := range parameters {
		if c.Values[i] == nil {
			continue
		}
		found := false
		for _, m := range f.Values {
			if (m.Key == p.Name || m.Key == p.Path || lastPart(m.Key) == lastPart(p.Name)) &&
				answer.Label(m.Value) == answer.Label(c.Values[i]) {
				found = true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}
