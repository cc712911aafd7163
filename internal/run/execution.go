package run

import (
	"sync"

	"aiperf/internal/base/artifact"
	"aiperf/internal/run/dispatch"
	"aiperf/internal/run/remote"
	"aiperf/internal/wire/intake"
)

// execution is one run on its way: it connects its parts, has load run, and ends them.
type execution struct {
	*base
	target  *target
	content *content
	records *recorder
	ending  ending
	// parts are all that goes on alongside the load.
	parts  parts
	folder folder
	// origin is the provenance of the results.
	origin artifact.Object

	client transport
	intake *intake.Intake
	pool   recordMaker
	engine *engine
	// dispatcher is nil where the load is made elsewhere, remote where it is made here.
	dispatcher *dispatch.Dispatcher
	remote     *remote.Load
	// reach is nil when the run goes on whether or not its servers can be reached.
	reach *dispatch.Reachability
	// prompts counts how often prompts were sent.
	prompts promptTally

	// servers is nil when no server metrics are collected, gpus when no GPU telemetry is.
	servers *serverWatch
	gpus    *gpuWatch
	// marks are what was known at the ends of phases.
	marks phaseMarks
	// searches is nil when no phase searches its load.
	searches *searches
	// twin is nil where nothing recorded is played.
	twin *twinWatch
	// grading is nil when no answers are graded.
	grading *grading
	health  *clientHealth
	// stall is the watch over the making of records.
	stall *recordWatch
	early earlyEnds
	// network is nil in a share, which does not ask for the round trip.
	network   *networkWatch
	followers followers
	// news is the part through which they hear of finished requests.
	news news
	// page is nil where no HTML report is written.
	page *pageData
	// reporting keeps the numbers of phases in order that Options.Phases gets.
	reporting sync.Mutex
}

func newExecution(b *base) *execution {
	t := &target{base: b}
	e := &execution{base: b, target: t, content: &content{target: t}, folder: folder{base: b}, engine: &engine{}}
	e.early.base, e.early.engine, e.ending.engine = b, e.engine, e.engine
	e.records = &recorder{base: b, ending: &e.ending, parts: &e.parts}
	return e
}
