package look

import "runtime/debug"

// reportMemory is from how many bytes on a report collects as often as it must to stay there, unless GOMEMLIMIT says
// otherwise. Nothing waits for a report, and what it keeps of a million requests is less.
const reportMemory = 320 << 20

// browseMemory is the same for the server of finished runs, which keeps indexes while it makes a report.
const browseMemory = 250 << 20

func limitMemory(env func(string) (string, bool), bytes int64) {
	if _, given := env("GOMEMLIMIT"); !given {
		debug.SetMemoryLimit(bytes)
	}
}
