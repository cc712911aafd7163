package metrics

import (
	"reflect"
	"testing"

	"aiperf/internal/measure/record"
)

// speculated returns a valid record with what the server said of its speculative decoding.
func speculated(s record.SpecDecode) *record.Record {
	r := worked()[0]
	r.SpecDecode = &s
	s.Fill(&r.Facts)
	return r
}

// The example of the specification: (steps, accepted, drafted) = (10, 25, 40) and (2, 0, 8).
func TestWorkedExampleOfSpeculativeDecoding(t *testing.T) {
	results := engineOf(t, chatConfig(),
		speculated(record.SpecDecode{Steps: 10, Accepted: 25, Drafted: 40,
			Histogram: []record.AcceptedSteps{{Accepted: 1, Steps: 2}, {Accepted: 2, Steps: 4}, {Accepted: 3, Steps: 3},
				{Accepted: 12, Steps: 1}}}),
		speculated(record.SpecDecode{Steps: 2, Drafted: 8, Histogram: []record.AcceptedSteps{{Accepted: 0, Steps: 2}}}),
		worked()[1],
	).Results()
	for tag, want := range map[string][3]float64{ // avg, min, max
		"spec_decode_acceptance_length":     {2.25, 1, 3.5},
		"spec_decode_draft_acceptance_rate": {31.25, 0, 62.5},
		"spec_decode_accepted_per_verified": {0.45, 0.2, 0.7},
		"spec_decode_steps":                 {6, 2, 10},
		"spec_decode_accepted_draft_tokens": {12.5, 0, 25},
		"spec_decode_draft_tokens":          {24, 8, 40},
	} {
		got := found(t, results, tag)
		if s := got.Stats; !near(s.Avg, want[0]) || !near(s.Min, want[1]) || !near(s.Max, want[2]) || s.Count != 2 {
			t.Errorf("%s: got %+v, want %v", tag, s, want)
		}
	}
	for tag, want := range map[string]float64{
		"spec_decode_token_weighted_acceptance_length": 1 + 25./12,
		"spec_decode_overall_draft_acceptance_rate":    100 * 25. / 48,
		"total_spec_decode_steps":                      12, "total_accepted_draft_tokens": 25, "total_draft_tokens": 48,
	} {
		if got := found(t, results, tag); got.Distribution || !near(got.Stats.Avg, want) {
			t.Errorf("%s: got %v, want %v", tag, got.Stats.Avg, want)
		}
	}
}

func TestServerAcceptanceLengthIsTakenAsItIs(t *testing.T) {
	length := 3.4
	got := found(t, engineOf(t, chatConfig(),
		speculated(record.SpecDecode{MeanAcceptanceLength: &length, Steps: 10, Accepted: 25, Drafted: 40})).Results(),
		"spec_decode_acceptance_length")
	if got.Stats.Avg != length {
		t.Errorf("got %v", got.Stats.Avg)
	}
}

// A denominator of 0 costs the metrics that divide by it and no other.
func TestZeroDenominatorsOfSpeculativeDecoding(t *testing.T) {
	for _, c := range []struct {
		record  record.SpecDecode
		present []string
		absent  []string
	}{
		{
			record.SpecDecode{Steps: 3},
			[]string{"spec_decode_acceptance_length", "spec_decode_token_weighted_acceptance_length",
				"spec_decode_accepted_per_verified", "spec_decode_steps", "spec_decode_draft_tokens"},
			[]string{"spec_decode_draft_acceptance_rate", "spec_decode_overall_draft_acceptance_rate"},
		},
		{
			record.SpecDecode{Drafted: 4},
			[]string{"spec_decode_draft_acceptance_rate", "spec_decode_overall_draft_acceptance_rate",
				"spec_decode_accepted_per_verified", "spec_decode_steps"},
			[]string{"spec_decode_acceptance_length", "spec_decode_token_weighted_acceptance_length"},
		},
		{
			record.SpecDecode{},
			[]string{"spec_decode_steps"},
			[]string{"spec_decode_acceptance_length", "spec_decode_accepted_per_verified",
				"spec_decode_draft_acceptance_rate"},
		},
	} {
		results := engineOf(t, chatConfig(), speculated(c.record)).Results()
		for _, tag := range c.present {
			found(t, results, tag)
		}
		for _, tag := range c.absent {
			for _, r := range results {
				if r.Tag == tag {
					t.Errorf("%+v: %s is %v", c.record, tag, r.Stats.Avg)
				}
			}
		}
	}
}

func TestWithoutSpeculationThereIsNoMetricOfIt(t *testing.T) {
	e := engineOf(t, chatConfig(), worked()...)
	for _, r := range e.Results() {
		if r.Group == GroupSpecDecode {
			t.Errorf("%s is there", r.Tag)
		}
	}
	if e.Acceptance() != nil {
		t.Error("there is a histogram")
	}
}

// Keys ascend, buckets add up over requests and engines, failures do not count.
func TestPooledAcceptanceHistogram(t *testing.T) {
	one := speculated(record.SpecDecode{Steps: 5,
		Histogram: []record.AcceptedSteps{{Accepted: 0, Steps: 2}, {Accepted: 10, Steps: 3}}})
	two := speculated(record.SpecDecode{Steps: 5,
		Histogram: []record.AcceptedSteps{{Accepted: 0, Steps: 1}, {Accepted: 2, Steps: 4}}})
	bad := speculated(record.SpecDecode{Steps: 5, Histogram: []record.AcceptedSteps{{Accepted: 0, Steps: 5}}})
	bad.Facts[record.Failed] = 1
	want := []AcceptedSteps{{Accepted: 0, Steps: 3}, {Accepted: 2, Steps: 4}, {Accepted: 10, Steps: 3}}
	whole := engineOf(t, chatConfig(), one, two, bad)
	if got := whole.Acceptance(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	a, b := engineOf(t, chatConfig(), one), engineOf(t, chatConfig(), two, bad)
	a.Merge(b)
	if got := a.Acceptance(); !reflect.DeepEqual(got, want) {
		t.Errorf("merged: got %v", got)
	}
}
