package series

import "fmt"

// WarmNote says that runs found their prompts in the server's prefix cache, where they had not put them themselves; ""
// where none did. Runs of one seed send each other's prompts again, and so does the next start of the same experiment.
func WarmNote(runs []Run) string {
	warm, most := 0, 0.0
	for i := range runs {
		if c := runs[i].Cached; c.Warm() {
			warm++
			most = max(most, c.Share)
		}
	}
	if warm == 0 {
		return ""
	}
	return fmt.Sprintf("in %d of %d runs more of the prompt tokens (up to %.0f %%) came from the server's prefix cache than "+
		"the run itself repeats: earlier runs sent the same prompts; --reset-kv-cache empties the cache before each run, "+
		"--vary-seed-per-trial or another --random-seed makes other prompts, --cache-bust first_turn_prefix marks them",
		warm, len(runs), 100*most)
}
