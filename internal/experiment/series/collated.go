package series

import (
	"fmt"
	"slices"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
)

// CollatedVersion is the version of the collated file's shape.
const CollatedVersion = "1.0.0"

const collatedText = "The values of all successful requests of all successful runs, taken as one population, and " +
	"what each run contributes. profile_export_aiperf_aggregate.json compares the runs' own statistics instead."

// Collated returns profile_export_aiperf_collated.json: the requests of the successful runs as one population. The
// warnings name what is not in it.
func Collated(version string, runs []Run, cooldown time.Duration) (document artifact.Object, warnings []string,
	err error) {
	pools := map[string]*pool{}
	good := Successes(runs)
	var lists []string
	for _, r := range good {
		path := r.Artifacts.Path(config.RecordsJSONL)
		left, err := readRequests(path, func(tag string, v float64) {
			if pools[tag] == nil {
				pools[tag] = new(pool)
			}
			pools[tag].add(r.Info.RunLabel, v)
		})
		if err != nil {
			return nil, nil, err
		}
		if left.Lines > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: %d lines are not records and are not in the collated file",
				path, left.Lines))
		}
		lists = append(lists, left.Tags...)
	}
	slices.Sort(lists)
	for _, tag := range slices.Compact(lists) {
		warnings = append(warnings, fmt.Sprintf("%s has a list of values for each request and is not in the "+
			"collated file", tag))
	}
	metrics := artifact.Object{}
	for _, tag := range collatedOrder(good, pools) {
		metrics = append(metrics, artifact.Member{Key: tag, Value: pools[tag].object()})
	}
	meta := append(counts("detailed", runs),
		artifact.Member{Key: "run_labels", Value: labels(runs)},
		artifact.Member{Key: "cooldown_seconds", Value: cooldown.Seconds()})
	return artifact.Object{
		{Key: "schema_version", Value: CollatedVersion},
		{Key: "aiperf_version", Value: version},
		{Key: "description", Value: collatedText},
		{Key: "metadata", Value: meta},
		{Key: "metrics", Value: metrics},
	}, warnings, nil
}

// collatedOrder returns the tags in the order of the runs' summaries; further ones follow in alphabetical order.
func collatedOrder(good []Run, pools map[string]*pool) (tags []string) {
	for _, tag := range tagsOf(good) {
		if pools[tag] != nil {
			tags = append(tags, tag)
		}
	}
	known := len(tags)
	for tag := range pools {
		if !slices.Contains(tags[:known], tag) {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags[known:])
	return tags
}

func (p *pool) object() artifact.Object {
	all := p.moments.Summary()
	combined := artifact.Object{{Key: "mean", Value: all.Avg}, {Key: "std", Value: p.std()}}
	for i, v := range p.percentiles() {
		combined = append(combined, artifact.Member{Key: fmt.Sprintf("p%g", poolRanks[i]), Value: v})
	}
	combined = append(combined, artifact.Member{Key: "count", Value: all.Count})
	if p.coarse != nil {
		combined = append(combined, artifact.Member{Key: "method", Value: "histogram"})
	}
	shares := []any{}
	for i := range p.runs {
		s := p.runs[i].moments.Summary()
		shares = append(shares, artifact.Object{
			{Key: "label", Value: p.runs[i].label}, {Key: "mean", Value: s.Avg}, {Key: "count", Value: s.Count}})
	}
	return artifact.Object{{Key: "combined", Value: combined}, {Key: "per_run", Value: shares}}
}
