package sweep

import (
	"aiperf/internal/config/document"
)

// DisplayNames returns the names of paths in tables and aggregates: what the path leads to, such as concurrency or isl,
// or the full path where two of them lead to the same.
func DisplayNames(paths []string) []string {
	leaves := map[string]int{}
	for _, p := range paths {
		leaves[leaf(p)]++
	}
	names := make([]string, len(paths))
	for i, p := range paths {
		if names[i] = leaf(p); leaves[names[i]] > 1 {
			names[i] = p
		}
	}
	return names
}

// ValueText writes a value of a variation as labels do: in Python's words, without what addresses hold of secrets.
func ValueText(value any) string { return pythonText(document.Of(value)) }
