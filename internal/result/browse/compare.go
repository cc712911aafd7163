package browse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"aiperf/internal/base/webpage"
	"aiperf/internal/config"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/library"
	"aiperf/internal/result/report/html"
)

// maxCompared is the number of runs side by side.
const maxCompared = 12

// chosen returns the items that an address names, in its order.
func chosen(sh *shelf, list string) ([]*item, error) {
	var out []*item
	for id := range strings.SplitSeq(list, ",") {
		if id = strings.TrimSpace(id); id == "" {
			continue
		}
		it, ok := sh.get(id)
		if !ok {
			return nil, errors.New("one of the runs is not there any more; choose again in the list")
		}
		if !slices.Contains(out, it) {
			out = append(out, it)
		}
	}
	return out, nil
}

// compare is the page of several runs side by side: those after the first one compared with it.
func (s *Server) compare(w http.ResponseWriter, r *http.Request) {
	const title = "These cannot be shown side by side"
	sh := s.current()
	items, err := chosen(sh, r.URL.Query().Get("runs"))
	if err != nil {
		s.fail(w, r, http.StatusNotFound, title, err.Error())
		return
	}
	if n := len(items); n < 2 || n > maxCompared {
		s.fail(w, r, http.StatusBadRequest, title, fmt.Sprintf("choose 2 to %d runs in the list", maxCompared))
		return
	}
	key := "compare"
	for _, it := range items {
		key += it.id + it.stamp
	}
	m := s.reports.of(key, func(ctx context.Context) ([]byte, error) { return s.makeComparison(ctx, items) })
	if !m.done.wait(r.Context(), 2*soon) {
		s.waiting(w, r, "The comparison is being computed from the records of the requests")
		return
	}
	if m.err != nil {
		s.fail(w, r, http.StatusUnprocessableEntity, title, m.err.Error())
		return
	}
	send(w, http.StatusOK, s.within(r, m.page, compareNavigation(items)))
}

// compareNavigation is the bar of a comparison: each of the runs can be the base.
func compareNavigation(items []*item) *webpage.Navigation {
	v := &webpage.Navigation{Here: "Side by side", Key: items[0].id, Lead: "Base:"}
	for i, it := range items {
		ids := []string{it.id}
		for k, other := range items {
			if k != i {
				ids = append(ids, other.id)
			}
		}
		v.Tabs = append(v.Tabs, webpage.Tab{Path: "/compare?runs=" + strings.Join(ids, ","), Name: it.name, Key: it.id})
	}
	return v
}

// makeComparison compares the items after the first one with it.
func (s *Server) makeComparison(ctx context.Context, items []*item) ([]byte, error) {
	c := &html.Comparison{Version: s.o.Version, Pages: map[string]string{}}
	sweeps := 0
	for _, it := range items {
		c.Pages[it.name] = "/r/" + it.id
		if it.folder.Kind == library.Sweep || it.folder.Kind == library.Search {
			sweeps++
		}
	}
	var err error
	switch sweeps {
	case 0:
		err = s.compareRuns(ctx, c, items)
	case len(items):
		err = compareSweeps(c, items)
	default:
		err = compare.ErrMixed
	}
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	if err := html.Compare(&page, c); err != nil {
		return nil, err
	}
	return page.Bytes(), nil
}

func (s *Server) compareRuns(ctx context.Context, c *html.Comparison, items []*item) error {
	systems := make([]compare.System, len(items))
	for i, it := range items {
		path := it.folder.File
		if path == "" {
			return fmt.Errorf("%s has no summary: %s", it.name, it.facts.Fault)
		}
		var err error
		if systems[i], err = compare.Load(path); err != nil {
			return err
		}
		systems[i].Name = it.name
	}
	for i := range systems[1:] {
		of, err := compare.Compare(&systems[0], &systems[i+1], compare.Options{})
		if err != nil {
			return err
		}
		c.Runs = append(c.Runs, of)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for _, it := range items {
		if !it.folder.HasRecords {
			continue
		}
		m := s.indexes.of(it, config.RecordsJSONL)
		select {
		case <-m.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if m.err != nil {
			continue // the figures do not depend on it
		}
		if t := m.x.Timeline(timelineBins); t != nil {
			c.Lines = append(c.Lines, html.TimeLines{Name: it.name, Timeline: t})
		}
	}
	return nil
}

func compareSweeps(c *html.Comparison, items []*item) error {
	sweeps := make([]*compare.Sweep, len(items))
	for i, it := range items {
		var err error
		if sweeps[i], err = compare.LoadSweep(it.folder.File); err != nil {
			return err
		}
		if sweeps[i] == nil {
			return fmt.Errorf("%s cannot be read as a sweep", it.name)
		}
		sweeps[i].Name = it.name
	}
	for _, next := range sweeps[1:] {
		of, err := compare.CompareSweeps(sweeps[0], next, compare.Options{})
		if err != nil {
			return err
		}
		c.Sweeps = append(c.Sweeps, of)
	}
	return nil
}
