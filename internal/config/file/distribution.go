package file

import (
	"fmt"

	"aiperf/internal/config/document"
	"aiperf/internal/config/parse"
	"aiperf/internal/workload/recipe"
)

// distribution reads a number, or a mapping of one.
func (r *reader) distribution(n *document.Node, path string) (recipe.Distribution, bool) {
	return parse.Distribution(n, path, r.fault)
}

// placeOf names the place of a node for messages, its path where it has none.
func (r *reader) placeOf(n *document.Node, path string) string {
	if n.Pos == (document.Pos{}) {
		return path
	}
	return fmt.Sprintf("%s:%d:%d", r.Name, n.Pos.Line, n.Pos.Column)
}
