package progress

import "time"

// SeriesObserver also follows several runs of one command: repeats, a sweep, a search.
type SeriesObserver interface {
	Observer
	// SeriesChanged is called before the first run, and whenever a cell begins, ends or joins. It gets a state of its own,
	// between runs, on another goroutine than the calls for a run, and must return at once.
	SeriesChanged(*Series)
}

// The kinds of series.
const (
	RepeatsKind = "repeats"
	SweepKind   = "sweep"
	SearchKind  = "search"
)

// Series is where several runs of one command stand.
type Series struct {
	// Kind is [RepeatsKind], [SweepKind] or [SearchKind].
	Kind string
	// Cells are the runs in the order in which they run, those to come included where they are known.
	Cells []Cell
	// Planned is the number of runs that there will be at most; 0 is unknown.
	Planned int
	// Answer says in a line what is known so far, such as the interval of a search; "" as long as that is nothing.
	Answer string
}

// CellState is where one run of a series stands.
type CellState string

// The states of a cell.
const (
	CellWaiting CellState = "waiting"
	CellRunning CellState = "running"
	CellDone    CellState = "done"
	CellFailed  CellState = "failed"
	// CellSkipped was not run, such as one that an earlier command completed.
	CellSkipped CellState = "skipped"
)

// Cell is one run of a series.
type Cell struct {
	// Label names the values of the cell, such as concurrency=8; Trial counts its repeats from 1, Trials is how many
	// there are.
	Label         string
	Trial, Trials int
	State         CellState
	// Dir is the folder of its files.
	Dir string
	// Values are what the cell varies, as text, in the order of Label.
	Values []CellValue
	// Took is how long it ran; Metrics are its key figures once it is done: throughput, first token, latency.
	Took    time.Duration
	Metrics []CellMetric
	// Verdict of a search's cell: "met", "missed" or "undecided"; "" elsewhere.
	Verdict string
}

// CellValue is a value that a cell varies.
type CellValue struct {
	Name, Text string
	// Number is the value where it is a number, else NaN.
	Number float64
}

// CellMetric is a figure of a cell.
type CellMetric struct {
	Tag, Header, Unit, Stat string
	Value                   float64
}
