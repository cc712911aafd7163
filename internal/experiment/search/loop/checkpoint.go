package loop

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
)

// checkpoint returns search_checkpoint.json as it stands.
func (s *Search) checkpoint() artifact.Object {
	list := []any{}
	for i := range s.results {
		it := &s.results[i]
		results := []any{}
		for j := range it.trials {
			results = append(results, it.trials[j].document(&it.proposal, j))
		}
		o := artifact.Object{{Key: "variation_values", Value: it.proposal.Values}, {Key: "results", Value: results}}
		if it.pooled != nil {
			pooled := []any{}
			for _, v := range it.pooled {
				if math.IsNaN(v) {
					pooled = append(pooled, nil)
					continue
				}
				pooled = append(pooled, v)
			}
			o = append(o, artifact.Member{Key: "pooled_objectives", Value: pooled})
		}
		if it.extra != nil {
			o = append(o, artifact.Member{Key: "extra", Value: it.extra})
		}
		list = append(list, o)
	}
	return artifact.Object{{Key: "iterations", Value: list}}
}

// Restore tells the search what the checkpoint in its folder has, and returns the number of iterations: 0 without a
// checkpoint. Its error says which iteration the planner would now choose otherwise; the search is then not usable.
func (s *Search) Restore() (int, error) {
	path := filepath.Join(s.options.Dir, CheckpointFile)
	text, err := bounded.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("the search cannot be resumed: %w", err)
	}
	o, err := artifact.ParseObject(text)
	if err != nil {
		return 0, fmt.Errorf("the search cannot be resumed: %s: %w", path, err)
	}
	list, _ := o.Get("iterations")
	entries, ok := list.([]any)
	if !ok {
		return 0, fmt.Errorf("the search cannot be resumed: %s has no list \"iterations\"", path)
	}
	for i, entry := range entries {
		e, _ := entry.(artifact.Object)
		if err := s.replay(i, e); err != nil {
			return 0, fmt.Errorf("the search cannot be resumed from %s: %w; start it anew in another --artifact-dir, or "+
				"without --resume", path, err)
		}
	}
	return len(entries), nil
}

// replay tells one iteration of a checkpoint.
func (s *Search) replay(i int, e artifact.Object) error {
	values, _ := e.Get("variation_values")
	then, _ := values.(artifact.Object)
	now, more := s.Ask()
	if !more {
		return fmt.Errorf("it has an iteration %d, before which this configuration ends (%s)", i, s.reason)
	}
	if !samePoint(now.Values, then) {
		return fmt.Errorf("iteration %d was at %s, and this configuration begins with other points: %s", i,
			pointText(then), pointText(now.Values))
	}
	list, _ := e.Get("results")
	results, ok := list.([]any)
	if !ok {
		return fmt.Errorf("iteration %d has no list \"results\"", i)
	}
	var trials []Trial
	for _, r := range results {
		t, err := trialFrom(r)
		if err != nil {
			return fmt.Errorf("iteration %d: %w", i, err)
		}
		trials = append(trials, t)
	}
	var pooled []float64
	if v, ok := e.Get("pooled_objectives"); ok {
		list, _ := v.([]any)
		for _, item := range list {
			n, ok := number(item)
			if !ok {
				n = math.NaN()
			}
			pooled = append(pooled, n)
		}
		if len(pooled) != len(s.spec.Objectives) {
			return fmt.Errorf("iteration %d has %d pooled objectives, and this configuration %d objectives", i,
				len(pooled), len(s.spec.Objectives))
		}
	}
	extra, _ := e.Get("extra")
	kept, _ := extra.(artifact.Object)
	s.tell(trials, pooled, kept)
	return nil
}

// samePoint reports whether two points are the same: numbers by their value, however they are written.
func samePoint(a, b artifact.Object) bool {
	if len(a) != len(b) {
		return false
	}
	for _, m := range a {
		other, ok := b.Get(m.Key)
		x, isNumber := number(m.Value)
		y, isToo := number(other)
		if !ok || !isNumber || !isToo || x != y {
			return false
		}
	}
	return true
}
