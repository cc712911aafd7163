package run

import (
	"os"

	"aiperf/internal/dataset/public"
	"aiperf/internal/hub"
)

// published says which public data set is read and from where.
func (e *execution) published() public.Options {
	p, env := &e.cfg.Dataset.Public, &e.cfg.Env.Dataset
	o := public.Options{
		Name: p.Name, Subset: p.Subset, WekaRepo: p.WekaRepo, Path: p.Path, Limit: p.Limit,
		CacheDir: env.PublicCacheDir, Timeout: env.PublicTimeout, Hub: hub.FromEnv(os.LookupEnv, hub.Datasets),
	}
	for _, f := range p.Filters {
		o.Filters = append(o.Filters, public.Filter(f))
	}
	return o
}
