package run

import (
	"fmt"
	"path/filepath"

	"aiperf/internal/config"
	"aiperf/internal/result/summary"
)

// maxFolders bounds the numbers behind the name of a default folder.
const maxFolders = 1000

// ChooseFolder gives the default folder of a run a number, -2 and so on, while it holds the results of another benchmark:
// of another configuration or another server. Results of the same one are replaced, and a folder that the user named is
// used as it is. The returned note says why the folder is another one; "" if it is not.
func ChooseFolder(cfg *config.Run) (note string, err error) {
	a := &cfg.Artifacts
	if !a.Derived {
		return "", nil
	}
	first, hash := a.Dir, configHash(config.InputConfig(cfg), config.FurtherConfig(cfg))
	for n := 1; n <= maxFolders; n++ {
		own := *a
		if n > 1 {
			own.Dir = fmt.Sprintf("%s-%d", first, n)
		}
		if holds, other := heldConfiguration(own); other && holds != hash {
			continue
		}
		a.Dir = own.Dir
		if n > 1 {
			note = fmt.Sprintf("The folder %s holds the results of another benchmark: this one writes to %s; --artifact-dir and --overwrite choose otherwise", first, a.Dir)
		}
		return note, nil
	}
	return "", fmt.Errorf("%s and %d folders named after it hold results of other benchmarks; choose a folder with --artifact-dir, or give --overwrite", first, maxFolders-1)
}

// heldConfiguration is the hash of the configuration whose results are in a folder, of a single run or of the first one of
// a series, even if it was killed; false if there are none. It is "" where the results do not say it: they are the original program's.
func heldConfiguration(a config.Artifacts) (hash string, holds bool) {
	for _, below := range []string{".", filepath.Join("profile_runs", "run_0001"), filepath.Join("profile_runs", "trial_0001")} {
		own := a
		own.Dir = filepath.Join(a.Dir, below)
		if figures, err := summary.ReadFigures(own.Path(config.SummaryJSON)); err == nil {
			return figures.Kinds["configuration"], true
		}
		if state, err := summary.ReadState(own.Path(config.RunState)); err == nil {
			return provenanceHash(state), true
		}
	}
	return "", false
}

func provenanceHash(s *summary.State) string {
	for _, m := range s.Run.Provenance {
		if text, ok := m.Value.(string); ok && m.Key == "config_sha256" {
			return text
		}
	}
	return ""
}
