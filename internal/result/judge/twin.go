package judge

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/twin"
)

// TwinVerdict is what is to be thought of a measure of a recording and its replay.
type TwinVerdict string

// The verdicts on measures; "" where there is no distance.
const (
	TwinSame    TwinVerdict = "same"
	TwinNear    TwinVerdict = "near"
	TwinDiffers TwinVerdict = "differs"
)

// sameDistance and nearDistance are up to which distance a replay is the same as its recording, and near it. Two samples
// of 4,000 values of one distribution are further apart than 0.02 in two of five cases, by chance.
const sameDistance, nearDistance = 0.02, 0.1

// TwinVerdictOf returns the verdict on a distance.
func TwinVerdictOf(distance float64) TwinVerdict {
	switch {
	case math.IsNaN(distance):
		return ""
	case distance <= sameDistance:
		return TwinSame
	case distance <= nearDistance:
		return TwinNear
	}
	return TwinDiffers
}

// TwinOf is the verdict on a replay: that on its worst measure.
func TwinOf(rows []twin.Row) TwinVerdict {
	worst := math.NaN()
	for i := range rows {
		if d := rows[i].Distance; !math.IsNaN(d) && !(d <= worst) {
			worst = d
		}
	}
	return TwinVerdictOf(worst)
}

// twin says how good a replay is as a twin of its recording.
func (f *view) twin() (Finding, bool) {
	verdict := TwinOf(f.Twin)
	if verdict == "" {
		return Finding{}, false
	}
	l := Finding{Code: CodeTwin}
	switch verdict {
	case TwinSame:
		l.Level, l.Title = Good, "The replay is a twin of the recording"
	case TwinNear:
		l.Level, l.Title = Plain, "The replay is near the recording"
	default:
		l.Level, l.Title = Warn, "The replay differs from the recording"
	}
	compared := 0
	by := map[TwinVerdict][]string{}
	for i := range f.Twin {
		r := &f.Twin[i]
		v := TwinVerdictOf(r.Distance)
		if v == "" {
			continue
		}
		compared++
		by[v] = append(by[v], r.Title()+" "+artifact.Short(r.Distance))
		if v != TwinSame {
			l.Evidence = append(l.Evidence, Evidence{Metric: r.Measure, Value: r.Distance})
		}
	}
	var parts []string
	for _, v := range []TwinVerdict{TwinDiffers, TwinNear} {
		if list := by[v]; len(list) > 0 {
			verb := "differ"
			if v == TwinNear {
				verb = "are near"
			}
			parts = append(parts, fmt.Sprintf("%s %s", strings.Join(list, ", "), verb))
		}
	}
	same := len(by[TwinSame])
	switch {
	case same == compared:
		l.Text = fmt.Sprintf("All %d measures are the same (distances up to %g).", compared, sameDistance)
	case same == 0:
		l.Text = upper(strings.Join(parts, "; ")) + "."
	default:
		l.Text = fmt.Sprintf("%s; %d of %d measures are the same.", upper(strings.Join(parts, "; ")), same, compared)
	}
	l.Advice = f.twinAdvice(by[TwinDiffers])
	return l, true
}

// twinAdvice is what to do about measures that differ; "" for nothing.
func (f *view) twinAdvice(differ []string) string {
	begins := func(measure string) bool {
		title := (&twin.Row{Measure: measure}).Title()
		for _, of := range differ {
			if strings.HasPrefix(of, title) {
				return true
			}
		}
		return false
	}
	switch {
	case begins(twin.Outputs):
		return "--extra-inputs ignore_eos:true asks for replies of the recorded lengths, where the server honours it"
	case begins(twin.Inputs):
		return "count tokens as the recording did: --tokenizer"
	case begins(twin.SessionStarts):
		return "start without --concurrency, which makes sessions wait"
	}
	return ""
}
