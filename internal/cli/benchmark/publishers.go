package benchmark

import (
	"slices"

	"aiperf/internal/cli/command"
	"aiperf/internal/config"
	"aiperf/internal/publish/progress"
	"aiperf/internal/view/runlog"
)

// publishers are what gets the snapshots of runs beside the terminal: pages of this program, and services elsewhere.
type publishers []progress.Observer

// opener opens a publisher; nil where the configuration asks for none. It opens and reads all that it needs, so that
// what is wrong shows before anything is sent.
type opener func(*command.Env, *config.Run, *runlog.Log) (progress.Observer, error)

// openers are those of all publishers, in the order in which they get a snapshot.
func openers() []opener { return []opener{openOTel, openMetrics, openWeb, openMLflow, openWandB} }

// ender is a publisher that goes on after the last run, for those who still look at it.
type ender interface {
	// end ends it, at once where a signal says so.
	end(*interrupts)
}

// openPublishers opens the publishers that a configuration asks for. With an error it returns those before it, too.
func openPublishers(e *command.Env, cfg *config.Run, log *runlog.Log) (list publishers, err error) {
	for _, open := range openers() {
		p, err := open(e, cfg, log)
		if err != nil {
			return list, err
		}
		if p != nil {
			list = append(list, p)
		}
	}
	return list, nil
}

// end ends the publishers, the last one first.
func (l publishers) end(i *interrupts) {
	for _, p := range slices.Backward(l) {
		if p, ok := p.(ender); ok {
			p.end(i)
		}
	}
}

// waitForUploads waits until the observers that upload something have done so.
func waitForUploads(observers []progress.Observer, i *interrupts) {
	for _, o := range observers {
		if u, ok := o.(progress.Uploader); ok {
			u.Wait(i.Stop)
		}
	}
}
