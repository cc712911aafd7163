package config

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/wire/api"
)

// draft is a configuration on its way from what was given to a Run: the values that depend on one
// another, and what was found wrong so far.
type draft struct {
	p        *Parsed
	catalog  Catalog
	faults   Faults
	warnings []Warning

	models       []string
	endpointType string
	facts        api.Descriptor
	streaming    bool
	grpc         bool // the first URL is one of gRPC

	mode Mode
	// lines is the number of rows of a file whose recorded times are followed.
	lines int64

	// branching reports that sessions of the file branch, recorded that they are those of recorded agents, coders of
	// such at work on code; roots is the number of roots where that is the number of sessions, else 0.
	branching, recorded, coders, ofBaseten bool
	roots                                  int64

	// What a scenario has set: its submission, the seed that it drew, and values that were not given.
	submission *Submission
	seed       *uint64
	ignoreEOS  bool
	// scenarioBust is the target of marks against caches.
	scenarioBust string
	treeIdle     *float64
	// minStart and maxStart bound the start within a recording; systemIdle is the cap of a wait of all.
	minStart, maxStart, systemIdle float64

	concurrency, prefill          *int64
	rate, duration                *float64
	series                        []RatePoint
	requests, sessions            *int64
	requestsGiven                 bool
	pattern                       string
	smoothness                    float64
	requestsDefaulted, burstOfOne bool
	metricsListen                 string
	// apiKey is the key that is sent, wherever it comes from.
	apiKey string
}

// Resolve derives every default, checks the options against one another and makes the Run. It touches
// nothing but the files that the options name. Its error is a Faults with everything that is wrong. Options
// of capabilities that this release lacks are refused before all else, since what they need would not help;
// values that it lacks are looked for only when nothing else is wrong.
func Resolve(p *Parsed, catalog Catalog) (*Run, []Warning, error) {
	d := &draft{p: p, catalog: catalog, warnings: slices.Clone(p.Warnings)}
	d.decideEndpoint()
	d.findKey()
	d.decideMode()
	d.decideLoad()
	d.checkMissing()
	if len(d.faults) == 0 {
		for _, check := range rules() {
			check(d)
		}
	}
	if len(d.faults) == 0 {
		d.checkBuilt()
	}
	var run *Run
	if len(d.faults) == 0 {
		run = d.run()
	}
	if len(d.faults) > 0 {
		return nil, d.warnings, d.faults
	}
	return run, d.warnings, nil
}

func (d *draft) warn(format string, args ...any) {
	d.warnings = append(d.warnings, Warning{LevelWarning, fmt.Sprintf(format, args...)})
}

func (d *draft) info(format string, args ...any) {
	d.warnings = append(d.warnings, Warning{LevelInfo, fmt.Sprintf(format, args...)})
}

func (d *draft) fault(rule, format string, args ...any) { d.faults.add(rule, format, args...) }

func (d *draft) given(name string) bool  { return d.p.Given(name) }
func (d *draft) flag(name string) string { return d.p.Flag(name) }

// givenOf lists the flags, as typed, of those options that were given.
func (d *draft) givenOf(names ...string) []string {
	var flags []string
	for _, name := range names {
		if d.given(name) {
			flags = append(flags, d.flag(name))
		}
	}
	return flags
}

// PluginType is the endpoint type of a run whose endpoint is a program.
const PluginType = "plugin"

// decideEndpoint looks the endpoint type up and switches streaming off where it cannot be.
func (d *draft) decideEndpoint() {
	d.models = d.p.Texts("model-names")
	d.endpointType = d.p.Text("endpoint-type")
	facts, _ := api.Lookup(d.endpointType)
	if d.given("endpoint-plugin") {
		// What the program can do it says when it is started.
		d.endpointType = PluginType
		facts = api.Descriptor{Streams: true, ProducesTokens: true, TokenizesInput: true, TakesText: true,
			SupportsImage: true, SupportsAudio: true, SupportsVideo: true, SystemMessage: true}
	}
	d.facts = facts
	d.streaming = d.p.Bool("streaming")
	urls := d.p.Texts("url")
	d.grpc = len(urls) > 0 && isGRPC(urls[0])
	switch {
	case !d.streaming || d.canStream():
	case facts.GRPCStreams:
		d.streaming = false
		d.warn("Streaming is not supported for --endpoint-type %s over HTTP, setting streaming to False; it streams "+
			"over grpc://", d.endpointType)
	default:
		d.streaming = false
		d.warn("Streaming is not supported for --endpoint-type %s, setting streaming to False", d.endpointType)
	}
}

// canStream reports whether the endpoint type streams over the transport.
func (d *draft) canStream() bool {
	if d.grpc {
		return d.facts.GRPCStreams
	}
	return d.facts.Streams
}

// decideMode chooses the timing mode; the first rule that fits wins.
func (d *draft) decideMode() {
	d.treeIdle = d.p.Float("trace-idle-gap-cap-seconds")
	d.minStart, d.maxStart = *d.p.Float("trajectory-start-min-ratio"), *d.p.Float("trajectory-start-max-ratio")
	d.systemIdle = *d.p.Float("system-idle-gap-cap-seconds")
	d.duration = d.p.Float("benchmark-duration")
	d.decideScenario()
	switch {
	case d.mode == AgenticReplay:
	case d.p.Bool("fixed-schedule"):
		d.mode = FixedSchedule
		if file := d.p.Text("input-file"); file != "" {
			d.lines = d.readRows(file, d.datasetFormat(file)).rows
		}
	case d.followsTrace():
		d.mode = FixedSchedule
	case d.given("user-centric-rate"):
		d.mode = UserCentric
	case d.given("request-rate") || d.given("request-rate-series"):
		d.mode = Rate
	default:
		d.mode = Burst
	}
}

// decideLoad fills in what the timing mode leaves open.
func (d *draft) decideLoad() {
	p := d.p
	d.concurrency, d.prefill = p.Int("concurrency"), p.Int("prefill-concurrency")
	d.requests, d.sessions = p.Int("request-count"), p.Int("num-sessions")
	d.requestsGiven = d.requests != nil
	d.decideRoots()
	d.rate = p.Float("request-rate")
	if d.mode == FixedSchedule || d.mode == UserCentric || d.mode == AgenticReplay {
		d.rate = nil
	}
	if d.mode == Rate && d.given("request-rate-series") {
		d.readSeries()
	}
	if d.mode == AgenticReplay && d.concurrency == nil {
		one := int64(1)
		d.concurrency = &one
		d.warn("no --concurrency given: running with one lane")
	}
	if d.mode == Burst && d.concurrency == nil && d.prefill == nil {
		one := int64(1)
		d.concurrency, d.burstOfOne = &one, true
		d.warn("no --concurrency and no --request-rate given: running with --concurrency 1")
	}
	if d.requests == nil {
		d.requests = d.defaultRequests(d.concurrency)
		if d.requests != nil && d.mode != FixedSchedule {
			d.requestsDefaulted = true
			d.warn("no stop condition given: running with --request-count %d", *d.requests)
		}
	}
	d.decidePattern()
}

// defaultRequests is the request count of a run whose user gave no stop condition, for one concurrency.
func (d *draft) defaultRequests(concurrency *int64) *int64 {
	n := int64(10)
	switch {
	case d.sessions != nil:
		return nil
	case d.mode == FixedSchedule:
		if d.lines == 0 {
			return nil
		}
		n = d.lines
	case d.mode == UserCentric || d.mode == AgenticReplay || d.duration != nil:
		return nil
	case d.mode == Rate:
		if concurrency != nil {
			n = max(n, *concurrency)
		}
	case concurrency != nil:
		n = max(n, saturatingDouble(*concurrency))
	case d.prefill != nil:
		n = max(n, saturatingDouble(*d.prefill))
	}
	return &n
}

func saturatingDouble(n int64) int64 {
	if 2*n < n {
		return n
	}
	return 2 * n
}

// decidePattern resolves the arrival pattern of a rate and its smoothness.
func (d *draft) decidePattern() {
	p := d.p
	switch {
	case d.mode != Rate:
		d.pattern = string(Burst)
		if d.mode == Burst && d.given("arrival-pattern") {
			d.warn("%s has no effect without --request-rate", d.flag("arrival-pattern"))
		}
	case d.given("arrival-pattern"):
		d.pattern = p.Text("arrival-pattern")
	case d.given("arrival-smoothness"):
		d.pattern = PatternGamma
		d.info("%s is given, so arrivals follow the gamma pattern", d.flag("arrival-smoothness"))
	case d.given("request-rate-series"):
		d.pattern = PatternConstant
	default:
		d.pattern = p.Text("arrival-pattern")
	}
	d.smoothness = 1
	if s := p.Float("arrival-smoothness"); s != nil {
		d.smoothness = *s
	}
}

// isRankings reports whether the endpoint type ranks passages.
func (d *draft) isRankings() bool { return strings.Contains(d.endpointType, "rankings") }

// readSeries reads the rate series; a file that holds none is a fault.
func (d *draft) readSeries() {
	path := d.p.Text("request-rate-series")
	points, err := readRateSeries(path)
	if err != nil {
		d.fault("", "%s %s: %v", d.flag("request-rate-series"), shorten(path), err)
	}
	d.series = points
}
