package metrics

import (
	"aiperf/internal/measure/record"
)

// Kind is what a metric is computed from.
type Kind string

// The kinds.
const (
	// KindRecord has one value (or list) per request and is reported as a distribution.
	KindRecord Kind = "record"
	// KindJob has one value per job, which is a session with all that grow out of it, and is reported as a distribution.
	KindJob Kind = "job"
	// KindAggregate folds one increment or candidate per request into a scalar.
	KindAggregate Kind = "aggregate"
	// KindDerived is a scalar computed from the results of other metrics.
	KindDerived Kind = "derived"
	// KindTimeline is a curve over the run's window, described by how long it had which value.
	KindTimeline Kind = "timeline"
	// KindAdjusted is the distribution of a record metric after a correction.
	KindAdjusted Kind = "adjusted"
)

// HasRows reports whether a metric of the kind has one value, or list of values, per request or job.
func (k Kind) HasRows() bool { return k == KindRecord || k == KindJob }

// Flags say when a metric applies and where it is shown.
type Flags uint32

// The flags.
const (
	StreamingOnly Flags = 1 << iota
	ErrorOnly
	ProducesTokensOnly
	TokenizesInputOnly
	SupportsAudioOnly
	SupportsImageOnly
	SupportsVideoOnly
	ProducesVideoOnly
	SupportsReasoning
	LargerIsBetter
	Internal
	Experimental
	GoodputOnly
	NoIndividualRecords
	UsageDiffOnly
	HTTPTraceOnly
	PercentileIncludesFailedRequests
	FixedScheduleOnly
	OpenLoopOnly
	// DisableOnAccuracy leaves the metric out where the answers are what is measured.
	DisableOnAccuracy
	// OrProducesMedia has ProducesTokensOnly hold for endpoints that produce images or sound too: their servers
	// may count tokens, which the client cannot.
	OrProducesMedia
	// PricedOnly needs the price of a GPU.
	PricedOnly
	ProducesAudioOnly
	// JobsOnly needs requests that belong to jobs; JobGoodputOnly needs objectives for jobs.
	JobsOnly
	JobGoodputOnly

	StreamingTokensOnly = StreamingOnly | ProducesTokensOnly
)

// Has reports whether all of want are set.
func (f Flags) Has(want Flags) bool { return f&want == want }

// Definition is one row of the metric table.
type Definition struct {
	Tag    string
	Header string
	// Short is the header of narrow tables. ShortHidesUnit says that it already implies the unit.
	Short          string
	ShortHidesUnit bool
	Kind           Kind
	// Unit is the unit of computing, Display the one of every output.
	Unit, Display Unit
	// Order sorts the rows of a table; 0 = none, which sorts last.
	Order int
	Group Group
	Flags Flags
	// Doc is one sentence, Formula and Absent (when there is no value) are phrases.
	Doc, Formula, Absent string
	// Requires are the metrics without which this one has no value; Uses are read where present.
	Requires, Uses []string

	// A record or job metric has one of integer, float and list; reads are the facts that it uses.
	reads   []record.Field
	integer func(*record.Facts) (int64, bool)
	float   func(*record.Facts) (float64, bool)
	list    bool
	// ofSkipped has an aggregate take requests that are left out too, see [Config.SkipContextOverflow].
	ofSkipped bool
	// An aggregate yields one increment or candidate per request, folded by fold.
	fold      fold
	increment func(*occurrence) (int64, bool)
	// A derived metric reads results.
	derive func(*scalars) (float64, bool)
	// flat has a single value shown as a distribution of it, as the original does.
	flat bool
	// parts are what a share shows of itself; nil: nothing.
	parts *parts
	// A timeline metric reads the curves; where during is set, only as long as that one is above 0.
	curve, during curve
	// An adjusted metric corrects the statistics of the only one that it requires.
	adjust adjustment
}

// parts are the metrics whose values are the sum and the count of another one.
type parts struct{ sum, count string }

// occurrence is what an aggregate sees of one request.
type occurrence struct {
	*record.Facts
	err *record.Error
	set *Set
}

// fold is how an aggregate combines its numbers.
type fold uint8

const (
	foldSum fold = iota
	foldMin
	foldMax
)

func (f fold) apply(a, b int64) int64 {
	switch f {
	case foldMin:
		return min(a, b)
	case foldMax:
		return max(a, b)
	default:
		return a + b
	}
}

// LargerIsBetter reports whether a larger value is the better one.
func (d *Definition) LargerIsBetter() bool { return d.Flags.Has(LargerIsBetter) }

// PercentileNote says which percentiles are those of the slow requests where a larger value is the better one; "" for
// a metric without percentiles, or whose large values are the bad ones.
func (d *Definition) PercentileNote() string {
	if !d.Kind.HasRows() || !d.LargerIsBetter() {
		return ""
	}
	if d.Kind == KindJob {
		return "Larger is better: p99 is what the best percent of the jobs reach, p1 and p10 are the slow ones."
	}
	return "Larger is better: p99 is what the best percent of the requests reach, p1 and p10 are the slow ones."
}

// IsList reports that a request yields a list of values.
func (d *Definition) IsList() bool { return d.list }

// toDisplay returns the factor from Unit to Display. The table's test holds that it exists.
func (d *Definition) toDisplay() float64 {
	ratio, err := RatioOf(d.Unit, d.Display)
	if err != nil {
		panic("metric " + d.Tag + ": " + err.Error())
	}
	return ratio
}

// value returns a record metric's number in its unit.
func (d *Definition) value(f *record.Facts) (float64, bool) {
	if d.integer != nil {
		v, ok := d.integer(f)
		return float64(v), ok
	}
	return d.float(f)
}

// ValueOf returns the number of a request in Unit; false for what is not a record metric of one number, and for a
// request that does not have it.
func (d *Definition) ValueOf(f *record.Facts) (float64, bool) {
	if d.integer == nil && d.float == nil {
		return 0, false
	}
	return d.value(f)
}

// toInternal returns the factor from Display to Unit.
func (d *Definition) toInternal() float64 {
	ratio, err := RatioOf(d.Display, d.Unit)
	if err != nil {
		panic("metric " + d.Tag + ": " + err.Error())
	}
	return ratio
}
