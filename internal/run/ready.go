package run

import (
	"errors"
	"io/fs"
	"os"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
)

// markReady writes the mark that programs wait for: all files of the run are complete, those of a cancelled run too.
func (o *outcome) markReady() error {
	return writeReady(o.cfg.Artifacts, o.Result.WasCancelled, o.Result.Incomplete != "")
}

// readyDocument is the mark.
type readyDocument struct {
	Ready     bool `json:"ready"`
	Cancelled bool `json:"was_cancelled"`
	Partial   bool `json:"partial"`
}

func writeReady(to config.Artifacts, cancelled, partial bool) error {
	text, err := artifact.AppendJSON(nil, artifact.ObjectOf(readyDocument{true, cancelled, partial}))
	if err != nil {
		return err
	}
	return artifact.WriteFile(to.Path(config.ResultsReady), text)
}

// MarkComplete writes that mark for a complete run of an earlier start that lacks it: its process may have been killed
// right before, or be one of a version without it.
func MarkComplete(to config.Artifacts) error {
	if _, err := os.Lstat(to.Path(config.ResultsReady)); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := artifact.RemoveStale(to.Path(config.ResultsReady)); err != nil { // what writing it had begun
		return err
	}
	return writeReady(to, false, false)
}
