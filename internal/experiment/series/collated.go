package series

import (
	"fmt"
	"slices"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/result/answer"
)

// CollatedVersion is the version of the collated file's shape.
const CollatedVersion = "1.0.0"

const collatedText = "The values of all successful requests of all successful runs, taken as one population, and " +
	"what each run contributes. profile_export_aiperf_aggregate.json compares the runs' own statistics instead."

// CollatedDocument is profile_export_aiperf_collated.json.
type CollatedDocument struct {
	SchemaVersion string                     `json:"schema_version"`
	AIPerfVersion string                     `json:"aiperf_version"`
	Description   string                     `json:"description"`
	Metadata      CollatedMetadata           `json:"metadata"`
	Metrics       artifact.Map[PoolDocument] `json:"metrics"`
}

// CollatedMetadata says whose requests were taken together.
type CollatedMetadata struct {
	answer.RunsDocument
	Labels   []string `json:"run_labels"`
	Cooldown float64  `json:"cooldown_seconds"`
}

// PoolDocument is a metric over the requests of all runs, and what each run contributes.
type PoolDocument struct {
	Combined CombinedDocument `json:"combined"`
	PerRun   []ShareDocument  `json:"per_run"`
}

// CombinedDocument has the statistics over all requests.
type CombinedDocument struct {
	Mean        *float64        `json:"mean,omitempty"`
	Std         *float64        `json:"std,omitempty"`
	Percentiles artifact.Object `json:"-" artifact:"inline"`
	Count       int64           `json:"count"`
	Method      string          `json:"method,omitempty"`
}

// ShareDocument is what a run contributes.
type ShareDocument struct {
	Label string   `json:"label"`
	Mean  *float64 `json:"mean,omitempty"`
	Count int64    `json:"count"`
}

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
	d := CollatedDocument{SchemaVersion: CollatedVersion, AIPerfVersion: version, Description: collatedText,
		Metadata: CollatedMetadata{RunsDocument: RunsDocument("detailed", runs), Labels: labels(runs),
			Cooldown: cooldown.Seconds()}}
	for _, tag := range collatedOrder(good, pools) {
		d.Metrics.Add(tag, pools[tag].document())
	}
	return artifact.ObjectOf(d), warnings, nil
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

func (p *pool) document() PoolDocument {
	all := p.moments.Summary()
	d := PoolDocument{Combined: CombinedDocument{Mean: artifact.Known(all.Avg), Std: artifact.Known(p.std()),
		Count: all.Count}}
	for i, v := range p.percentiles() {
		d.Combined.Percentiles = append(d.Combined.Percentiles,
			artifact.Member{Key: fmt.Sprintf("p%g", poolRanks[i]), Value: v})
	}
	if p.coarse != nil {
		d.Combined.Method = "histogram"
	}
	for i := range p.runs {
		s := p.runs[i].moments.Summary()
		d.PerRun = append(d.PerRun, ShareDocument{p.runs[i].label, artifact.Known(s.Avg), s.Count})
	}
	return d
}
