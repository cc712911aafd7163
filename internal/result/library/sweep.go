package library

import (
	"fmt"

	"aiperf/internal/base/bounded"
	"aiperf/internal/result/answer"
)

// ReadSweep reads what the runs of a sweep or of a search say together.
func ReadSweep(d *Folder) (*answer.Sweep, error) {
	data, err := bounded.ReadFile(d.File)
	if err != nil {
		return nil, err
	}
	if d.Kind == Sweep {
		return answer.Read(data)
	}
	if d.Aggregate == "" {
		return answer.ReadSearch(data)
	}
	aggregate, err := bounded.ReadFile(d.Aggregate)
	if err != nil {
		return nil, err
	}
	whole, err := answer.Read(aggregate)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Aggregate, err)
	}
	if err := whole.AddSearch(data); err != nil {
		return answer.ReadSearch(data)
	}
	return whole, nil
}
