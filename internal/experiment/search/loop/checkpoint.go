package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
)

// checkpointDocument is search_checkpoint.json.
type checkpointDocument struct {
	Iterations *[]iterationDocument `json:"iterations"`
}

// iterationDocument is a visit to a point with its trials.
type iterationDocument struct {
	Values  artifact.Object  `json:"variation_values"`
	Results *[]trialDocument `json:"results"`
	Pooled  []*float64       `json:"pooled_objectives,omitzero"` // null where it is not known
	Extra   artifact.Object  `json:"extra,omitzero"`
}

// checkpoint returns search_checkpoint.json as it stands.
func (s *Search) checkpoint() artifact.Object {
	list := make([]iterationDocument, len(s.results))
	for i := range s.results {
		it := &s.results[i]
		results := make([]trialDocument, len(it.trials))
		for j := range it.trials {
			results[j] = it.trials[j].document(&it.proposal, j)
		}
		list[i] = iterationDocument{Values: it.proposal.Values, Results: &results, Extra: it.extra}
		if pooled := valuesOrNull(it.pooled); pooled != nil {
			list[i].Pooled = *pooled
		}
	}
	return artifact.ObjectOf(checkpointDocument{&list})
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
	var d checkpointDocument
	if err := json.Unmarshal(text, &d); err != nil {
		return 0, fmt.Errorf("the search cannot be resumed: %s: %w", path, err)
	}
	if d.Iterations == nil {
		return 0, fmt.Errorf("the search cannot be resumed: %s has no list \"iterations\"", path)
	}
	for i, e := range *d.Iterations {
		if err := s.replay(i, &e); err != nil {
			return 0, fmt.Errorf("the search cannot be resumed from %s: %w; start it anew in another --artifact-dir, or "+
				"without --resume", path, err)
		}
	}
	return len(*d.Iterations), nil
}

// replay tells one iteration of a checkpoint.
func (s *Search) replay(i int, e *iterationDocument) error {
	now, more := s.Ask()
	if !more {
		return fmt.Errorf("it has an iteration %d, before which this configuration ends (%s)", i, s.reason)
	}
	if !samePoint(now.Values, e.Values) {
		return fmt.Errorf("iteration %d was at %s, and this configuration begins with other points: %s", i,
			pointText(e.Values), pointText(now.Values))
	}
	if e.Results == nil {
		return fmt.Errorf("iteration %d has no list \"results\"", i)
	}
	var trials []Trial
	for _, r := range *e.Results {
		trials = append(trials, r.trial())
	}
	var pooled []float64
	for _, v := range e.Pooled {
		if v == nil {
			v = new(math.NaN())
		}
		pooled = append(pooled, *v)
	}
	if e.Pooled != nil && len(pooled) != len(s.spec.Objectives) {
		return fmt.Errorf("iteration %d has %d pooled objectives, and this configuration %d objectives", i,
			len(pooled), len(s.spec.Objectives))
	}
	s.tell(trials, pooled, e.Extra)
	return nil
}

// samePoint reports whether two points are the same: numbers by their value, however they are written.
func samePoint(a, b artifact.Object) bool {
	if len(a) != len(b) {
		return false
	}
	for _, m := range a {
		other, ok := b.Get(m.Key)
		x, isNumber := artifact.Number(m.Value)
		y, isToo := artifact.Number(other)
		if !ok || !isNumber || !isToo || x != y {
			return false
		}
	}
	return true
}
