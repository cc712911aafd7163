package browse

import (
	"bytes"
	"net/http"

	"aiperf/internal/base/artifact"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/library"
	"aiperf/internal/result/report/html"
)

// sweep is the page of a sweep or of a search.
func (s *Server) sweep(w http.ResponseWriter, r *http.Request, sh *shelf, it *item) {
	whole, err := library.ReadSweep(&it.folder)
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
	send(w, http.StatusOK, s.within(r, page.Bytes(), navigation(sh, it, "report")))
}

// link gives the cells of a sweep the addresses of their pages: a cell of one run is that run, one of several is the
// page of its repeats, which lists them.
func link(sh *shelf, it *item, whole *answer.Sweep) {
	repeats, runs := sh.below(it)
	for i := range whole.Cells {
		c := &whole.Cells[i]
		own, of := cellParts(runs, whole.Parameters, c), cellParts(repeats, whole.Parameters, c)
		switch {
		case len(own) > 1 && len(of) > 0:
			c.Page = of[0].id // relative to /r/, where the page of the sweep is
		case len(own) > 0:
			c.Page = own[0].id
		case len(of) > 0:
			c.Page = of[0].id
		}
	}
}

// cellParts returns the items that have the values of a cell.
func cellParts(items []*item, parameters []answer.Parameter, c *answer.Cell) []*item {
	var out []*item
	for _, p := range items {
		if matches(parameters, c, &p.facts) {
			out = append(out, p)
		}
	}
	return out
}

// below returns all parts of an item: repeats, and runs.
func (sh *shelf) below(of *item) (repeats, runs []*item) {
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
	return repeats, runs
}

// matches reports whether a run has the values of a cell.
func matches(parameters []answer.Parameter, c *answer.Cell, f *library.Facts) bool {
	if c.Label != "" && f.Label == c.Label { // of a scenario, which has no single values
		return true
	}
	if len(f.Values) == 0 {
		return false
	}
	for i, p := range parameters {
		if c.Values[i] == nil {
			continue
		}
		found := false
		for _, m := range f.Values {
			if (m.Key == p.Name || m.Key == p.Path || library.ParameterName(m.Key) == p.Name) &&
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
