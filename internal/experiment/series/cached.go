package series

import (
	"aiperf/internal/result/judge"
	"aiperf/internal/watch/servermetrics"
)

// WarmNote says that runs found their prompts in the server's prefix cache, where they had not put them themselves; ""
// where none did.
func WarmNote(runs []Run) string {
	var list []*servermetrics.Cached
	for i := range runs {
		list = append(list, runs[i].Cached)
	}
	of, found := judge.WarmRuns(list)
	if !found {
		return ""
	}
	return of.Words() + "; " + of.Advice
}
