package run

import (
	"os"

	"aiperf/internal/config"
	"aiperf/internal/result/summary"
	"aiperf/internal/workload/hub"
	"aiperf/internal/workload/public"
)

// published says which public data set is read and from where.
func (e *execution) published() public.Options {
	p, env := &e.cfg.Dataset.Public, &e.cfg.Env.Dataset
	return public.Options{
		Name: p.Name, Subset: p.Subset, WekaRepo: p.WekaRepo, Filters: p.Filters, Path: p.Path, Limit: p.Limit,
		Scheduled: e.cfg.Profiling().Schedule != nil, CacheDir: env.PublicCacheDir, Timeout: env.PublicTimeout, Hub: hub.FromEnv(os.LookupEnv, hub.Datasets),
	}
}

// source says which public data set was sent; nil for other data.
func (e *execution) source() *summary.Source {
	d := &e.cfg.Dataset
	if d.Kind != config.PublicDataset {
		return nil
	}
	o := e.published()
	from := o.Source()
	return &summary.Source{
		Loader: d.Public.Name, HubDataset: from.Repo, HubSubset: from.Subset, HubSplit: from.Split, Entries: d.Public.Entries,
	}
}
