package series

import (
	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
)

// Cell is one configuration of an experiment that has several.
type Cell struct {
	Index int
	// Dir is the name of the cell's folder, Label that for people and files.
	Dir, Label string
	// Values are the paths of the configuration with the values that the cell sets, or what stands for them.
	Values artifact.Object
	Config *config.Run
}

// Runs returns the runs of a cell.
func (c *Cell) Runs(all []Run) (own []Run) {
	for _, r := range all {
		if r.Info.VariationIndex == c.Index && r.Info.VariationLabel == c.Label {
			own = append(own, r)
		}
	}
	return own
}
