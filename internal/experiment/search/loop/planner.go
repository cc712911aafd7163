package loop

import (
	"fmt"

	"aiperf/internal/experiment/search"
)

// plannerOf makes the planner of a specification.
func plannerOf(s *Spec) (search.Planner, error) {
	return nil, fmt.Errorf("planner %s is not available", s.planner())
}
