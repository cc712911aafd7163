package twin

import "math"

// The measures, by which files name them.
const (
	Requests      = "requests"
	SessionStarts = "session_starts"
	Starts        = "request_starts"
	Lateness      = "session_lateness_p99"
	Inputs        = "prompt_lengths"
	Outputs       = "reply_lengths"
	Turns         = "turns"
	Thinks        = "think_times"
	Sharing       = "prefix_sharing"
	ServerCache   = "server_cache"
	InFlight      = "in_flight"
	Peak          = "in_flight_peak"
)

// titles and units of the measures, for people.
var titles = map[string][2]string{
	Requests: {"requests", ""}, SessionStarts: {"session starts", "s"}, Starts: {"request starts", "s"},
	Lateness: {"late session starts, p99", "ms"}, Inputs: {"prompt lengths", "tokens"},
	Outputs: {"reply lengths", "tokens"}, Turns: {"turns per session", ""}, Thinks: {"think times", "ms"},
	Sharing: {"prefix sharing", "%"}, ServerCache: {"server's prefix cache", "%"},
	InFlight: {"requests in flight", ""}, Peak: {"most in flight", ""},
}

// Title names the measure.
func (r *Row) Title() string { return titles[r.Measure][0] }

// Unit is that of the figures; "" for a number.
func (r *Row) Unit() string { return titles[r.Measure][1] }

// slackMS is how much times may differ that count as equal: a recorder sees a request some milliseconds before or after
// its server does. Starts may differ by a thousandth of the time between the first and the last, if that is more.
const slackMS, slackPart = 10, 0.001

// timeDistance is the distance of times, of which one may be off: a request that one pause of the machine delays says
// nothing of the replay.
func timeDistance(a, b *Sample, slack float64) float64 {
	return max(0, Distance(a, b, slack)-1/float64(min(len(a.Values), len(b.Values))))
}

// Row is a measure of both sides. The figures are means, the last start or a share in percent; NaN where one is not
// known. Distance is NaN where there is none to be had.
type Row struct {
	Measure            string
	Recorded, Replayed float64
	Distance           float64
	// KS is the distance of the distributions, Mean the relative difference of the means, where Distance is the larger
	// of both; NaN elsewhere.
	KS, Mean float64
}

// Compare returns the measures that are known of a recording. Lateness is that of session starts, p99 in milliseconds,
// NaN if it is not known.
func Compare(recorded, replayed *Facts, lateness float64) []Row {
	nan := math.NaN()
	var rows []Row
	add := func(measure string, a, b, distance float64) {
		rows = append(rows, Row{measure, a, b, rounded(distance), nan, nan})
	}
	starts := func(measure string, a, b *Sample) {
		if a != nil && b != nil {
			add(measure, a.Max/1000, b.Max/1000, timeDistance(a, b, max(slackMS, slackPart*a.Max)))
		}
	}
	lengths := func(measure string, a, b *Sample) {
		if a == nil || b == nil {
			return
		}
		r := Row{Measure: measure, Recorded: a.Mean, Replayed: b.Mean, KS: rounded(Distance(a, b, 0)),
			Mean: rounded(apart(a.Mean, b.Mean))}
		r.Distance = max(r.KS, r.Mean)
		rows = append(rows, r)
	}
	add(Requests, float64(recorded.Requests), float64(replayed.Requests),
		apart(float64(recorded.Requests), float64(replayed.Requests)))
	if recorded.Scheduled {
		starts(SessionStarts, recorded.SessionStarts, replayed.SessionStarts)
		starts(Starts, recorded.Starts, replayed.Starts)
		if !math.IsNaN(lateness) {
			add(Lateness, nan, lateness, nan)
		}
	}
	lengths(Inputs, recorded.Inputs, replayed.Inputs)
	lengths(Outputs, recorded.Outputs, replayed.Outputs)
	lengths(Turns, recorded.Turns, replayed.Turns)
	if a, b := recorded.Thinks, replayed.Thinks; a != nil && b != nil {
		add(Thinks, a.Mean, b.Mean, timeDistance(a, b, slackMS))
	}
	if a, b := recorded.Cache, replayed.Cache; a != nil && b != nil && a.Tokens > 0 && b.Tokens > 0 {
		add(Sharing, 100*a.Share(), 100*b.Share(), math.Abs(a.Share()-b.Share()))
	}
	switch a, b := recorded.Server, replayed.Server; {
	case a != nil && b != nil:
		add(ServerCache, 100**a, 100**b, math.Abs(*a-*b))
	case b != nil:
		add(ServerCache, nan, 100**b, nan)
	}
	if a, b := recorded.Flight, replayed.Flight; recorded.Scheduled && a != nil && b != nil {
		add(InFlight, a.Mean, b.Mean, Area(a, b))
		add(Peak, a.Peak, b.Peak, nan)
	}
	return rows
}

// rounded is a distance as it is shown and judged.
func rounded(distance float64) float64 { return math.Round(distance*1000) / 1000 }

// apart is the difference of two figures as a part of the larger one.
func apart(a, b float64) float64 {
	if a == b {
		return 0
	}
	return math.Abs(a-b) / max(a, b)
}
