package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/fault"
)

// servePath begins the paths of the parameters of a server, which no configuration file has.
const servePath = "serve."

// Across repeats the variations of a plan for each parameter set of a server, which is the slowest axis: a server is
// restarted as seldom as possible. A nil plan stands for one configuration of flags. keepOrder says that the user chose
// the order of trials; else all trials of a variation are made in a row.
func Across(p *Plan, sets []artifact.Object, keepOrder bool) (*Plan, error) {
	if p == nil {
		p = &Plan{Type: None, Variations: []Variation{{given: []override{}}}}
	}
	if len(p.Variations) == 0 {
		return nil, errors.New("--serve-params with several values cannot be combined with a search: give one value " +
			"for each parameter")
	}
	if len(sets)*len(p.Variations) > MaxVariations {
		return nil, fmt.Errorf("--serve-params: a sweep has at most %d variations, not %d × %d", MaxVariations, len(sets),
			len(p.Variations))
	}
	out := *p
	out.Variations = nil
	if !keepOrder {
		out.Independent = true
	}
	taken := map[string]string{}
	for i, set := range sets {
		var values artifact.Object
		for _, m := range set {
			values = append(values, artifact.Member{Key: servePath + m.Key, Value: m.Value})
		}
		shown := artifact.HideSensitive(values).(artifact.Object)
		serverLabel, serverDir := label(shown), folder(shown, label(shown))
		if serverDir == "" {
			serverDir = fmt.Sprintf("server_%d", i)
		}
		for _, v := range p.Variations {
			v.Index, v.Serve, v.Values = len(out.Variations), set, slices.Concat(values, v.Values)
			if p.Type == None {
				v.Label, v.Dir = serverLabel, serverDir
			} else {
				v.Label, v.Dir = serverLabel+", "+v.Label, FolderName(serverDir+"__"+v.Dir)
			}
			if v.Dir == "" {
				v.Dir = fmt.Sprintf("variation_%d", v.Index)
			}
			if other, twice := taken[strings.ToLower(v.Dir)]; twice {
				return nil, fmt.Errorf("--serve-params: %s and %s would write to the same folder %s; give values that differ "+
					"in more than case and marks", fault.Shorten(other), fault.Shorten(v.Label), v.Dir)
			}
			taken[strings.ToLower(v.Dir)] = v.Label
			out.Variations = append(out.Variations, v)
		}
	}
	if out.Type == None {
		out.Type = Grid
	}
	return &out, nil
}
