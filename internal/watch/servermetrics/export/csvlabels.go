package export

import (
	"cmp"
	"slices"
)

// labelColumns orders the labels of a section. Labels that occur together, directly or through others, stand
// together: groups come by their smallest label, and within a group the labels of a single series come before
// those that several series share.
func labelColumns(series []csvSeries) []string {
	used := map[string]int{}     // by how many series
	group := map[string]string{} // a label of the same group, itself for the group's root
	root := func(label string) string {
		for group[label] != label {
			group[label] = group[group[label]]
			label = group[label]
		}
		return label
	}
	for _, s := range series {
		for i, l := range s.stats.Labels {
			used[l.Name]++
			if _, known := group[l.Name]; !known {
				group[l.Name] = l.Name
			}
			if i > 0 {
				a, b := root(s.stats.Labels[0].Name), root(l.Name)
				group[max(a, b)] = min(a, b) // the root is the smallest label
			}
		}
	}
	columns := make([]string, 0, len(used))
	for label := range used {
		columns = append(columns, label)
	}
	slices.SortFunc(columns, func(a, b string) int {
		return cmp.Or(cmp.Compare(root(a), root(b)), cmp.Compare(min(used[a], 2), min(used[b], 2)), cmp.Compare(a, b))
	})
	return columns
}
