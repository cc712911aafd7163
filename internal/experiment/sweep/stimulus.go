package sweep

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// longestStimulus is the length from which the name of a folder has only the first and the last of the values.
const longestStimulus = 60

// Stimulus names what the plan varies, for the default folder of its results, as "concurrency_sweep_1_2_4": the range
// instead of the load of its first variation. Values that are no words, such as lists, are counted.
func (p *Plan) Stimulus() string {
	if p.Type == Scenarios || len(p.Variations) == 0 {
		return p.counted()
	}
	var paths []string
	values := map[string][]string{}
	for i := range p.Variations {
		for _, m := range p.Variations[i].Values {
			if _, known := values[m.Key]; !known {
				paths = append(paths, m.Key)
			}
			text := ValueText(m.Value)
			if strings.ContainsFunc(text, func(r rune) bool { return !inName(r) }) {
				return p.counted()
			}
			if !slices.Contains(values[m.Key], text) {
				values[m.Key] = append(values[m.Key], text)
			}
		}
	}
	if len(paths) == 0 {
		return p.counted()
	}
	var parts []string
	for i, name := range DisplayNames(paths) {
		name = strings.ReplaceAll(name, ".", "_")
		list := values[paths[i]]
		part := name + "_sweep_" + strings.Join(list, "_")
		if len(part) > longestStimulus {
			least, most := ends(list)
			part = fmt.Sprintf("%s_sweep_%s_to_%s", name, least, most)
		}
		parts = append(parts, part)
	}
	if text := strings.Join(parts, "-"); len(text) <= 2*longestStimulus {
		return text
	}
	return p.counted()
}

// ends returns the smallest and the largest of values that are numbers, else the first and the last.
func ends(list []string) (least, most string) {
	least, most = list[0], list[len(list)-1]
	low, high := math.Inf(1), math.Inf(-1)
	from, to := least, most
	for _, text := range list {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return least, most
		}
		if v < low {
			low, from = v, text
		}
		if v > high {
			high, to = v, text
		}
	}
	return from, to
}

// counted names a plan by its number of variations; a search has none yet.
func (p *Plan) counted() string {
	if len(p.Variations) > 0 {
		return fmt.Sprintf("sweep_%d", len(p.Variations))
	}
	var names []string
	for _, where := range p.space {
		names = append(names, where.path)
	}
	if len(names) == 0 {
		return "search"
	}
	for i, name := range DisplayNames(names) {
		names[i] = strings.ReplaceAll(name, ".", "_")
	}
	return strings.Join(names, "-") + "_search"
}

// inName reports whether a rune of a value may stand in the name of a folder as it is.
func inName(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '.' || r == '-' || r == '_'
}
