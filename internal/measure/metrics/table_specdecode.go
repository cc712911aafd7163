package metrics

import (
	"math"

	"aiperf/internal/measure/record"
)

var (
	specAccepted = fact(record.SpecAccepted)
	specDrafted  = fact(record.SpecDrafted)
	specSteps    = fact(record.SpecSteps)
)

// specDecodeTable holds what servers say of speculative decoding, request by request.
func specDecodeTable() []Definition {
	const none = "not reported"
	steps := total("total_spec_decode_steps", "Total Spec Decode Steps", "Total Steps", "spec_decode_steps", 0)
	steps.Unit, steps.Display, steps.Order = Count, Count, 5140
	accepted := total("total_accepted_draft_tokens", "Total Accepted Draft Tokens", "Total Accepted",
		"spec_decode_accepted_draft_tokens", 0)
	accepted.Order = 5150
	drafted := total("total_draft_tokens", "Total Draft Tokens", "Total Drafted", "spec_decode_draft_tokens", 0)
	drafted.Order = 5160
	return []Definition{
		{
			Tag: "spec_decode_acceptance_length", Header: "Acceptance Length", Short: "Accept Length",
			Kind: KindRecord, Unit: Ratio, Display: Ratio, Order: 5000, Group: GroupSpecDecode,
			Flags:   LargerIsBetter,
			Doc:     "Tokens that a step of the target model yields in a request.",
			Formula: "mean_acceptance_length as the server has it, else 1 + accepted draft tokens / steps",
			Absent:  none + ", or no step",
			reads:   []record.Field{record.SpecMeanLength, record.SpecAccepted, record.SpecSteps},
			float:   acceptanceLength,
		},
		{
			Tag: "spec_decode_token_weighted_acceptance_length", Header: "Token-Weighted Acceptance Length",
			Short: "Weighted Accept Length",
			Kind:  KindDerived, Unit: Ratio, Display: Ratio, Order: 5010, Group: GroupSpecDecode,
			Flags:    LargerIsBetter,
			Doc:      "Tokens that a step of the target model yields, over the steps of all requests.",
			Formula:  "1 + total_accepted_draft_tokens / total_spec_decode_steps",
			Absent:   "no step",
			Requires: []string{"spec_decode_accepted_draft_tokens", "spec_decode_steps"},
			derive: func(s *scalars) (float64, bool) {
				q, ok := s.quotient("spec_decode_accepted_draft_tokens", "spec_decode_steps")
				return 1 + q, ok
			},
		},
		{
			Tag: "spec_decode_draft_acceptance_rate", Header: "Draft Acceptance Rate", Short: "Accept Rate",
			Kind: KindRecord, Unit: Percent, Display: Percent, Order: 5020, Group: GroupSpecDecode,
			Flags:    LargerIsBetter,
			Doc:      "Share of the drafted tokens of a request that the target model accepted.",
			Formula:  "accepted draft tokens / draft tokens × 100",
			Absent:   none + ", or no draft",
			Requires: []string{"spec_decode_accepted_draft_tokens", "spec_decode_draft_tokens"},
			reads:    []record.Field{record.SpecAccepted, record.SpecDrafted}, float: draftAcceptanceRate,
		},
		{
			Tag: "spec_decode_overall_draft_acceptance_rate", Header: "Overall Draft Acceptance Rate",
			Short: "Overall Accept Rate",
			Kind:  KindDerived, Unit: Percent, Display: Percent, Order: 5025, Group: GroupSpecDecode,
			Flags:    LargerIsBetter,
			Doc:      "Share of all drafted tokens that the target model accepted.",
			Formula:  "total_accepted_draft_tokens / total_draft_tokens × 100",
			Absent:   "no draft",
			Requires: []string{"spec_decode_accepted_draft_tokens", "spec_decode_draft_tokens"},
			derive: func(s *scalars) (float64, bool) {
				q, ok := s.quotient("spec_decode_accepted_draft_tokens", "spec_decode_draft_tokens")
				return 100 * q, ok
			},
		},
		{
			Tag: "spec_decode_accepted_per_verified", Header: "Accepted per Verified", Short: "Accepted/Verified",
			Kind: KindRecord, Unit: Ratio, Display: Ratio, Order: 5030, Group: GroupSpecDecode,
			Flags:    LargerIsBetter,
			Doc:      "Tokens of a request for each position that the target model verified.",
			Formula:  "(accepted draft tokens + steps) / (draft tokens + steps)",
			Absent:   none + ", or no position",
			Requires: []string{"spec_decode_accepted_draft_tokens", "spec_decode_draft_tokens", "spec_decode_steps"},
			reads:    []record.Field{record.SpecAccepted, record.SpecDrafted, record.SpecSteps},
			float:    acceptedPerVerified,
		},
		{
			Tag: "spec_decode_steps", Header: "Spec Decode Steps", Short: "Steps",
			Kind: KindRecord, Unit: Count, Display: Count, Order: 5040, Group: GroupSpecDecode,
			Doc:     "Steps of the target model in a request.",
			Formula: "num_spec_steps", Absent: none,
			reads: []record.Field{record.SpecSteps}, integer: specSteps,
		},
		{
			Tag: "spec_decode_accepted_draft_tokens", Header: "Accepted Draft Tokens", Short: "Accepted",
			Kind: KindRecord, Unit: Tokens, Display: Tokens, Order: 5050, Group: GroupNone,
			Doc:     "Drafted tokens of a request that the target model accepted.",
			Formula: "num_accepted_draft_tokens", Absent: none,
			reads: []record.Field{record.SpecAccepted}, integer: specAccepted,
		},
		{
			Tag: "spec_decode_draft_tokens", Header: "Draft Tokens", Short: "Drafted",
			Kind: KindRecord, Unit: Tokens, Display: Tokens, Order: 5060, Group: GroupNone,
			Doc:     "Tokens that were drafted for a request.",
			Formula: "num_draft_tokens", Absent: none,
			reads: []record.Field{record.SpecDrafted}, integer: specDrafted,
		},
		steps, accepted, drafted,
	}
}

func acceptanceLength(f *record.Facts) (float64, bool) {
	accepted, known := specAccepted(f)
	steps, ok := specSteps(f)
	if !known || !ok || steps == 0 {
		return 0, false
	}
	if bits, told := f.Get(record.SpecMeanLength); told {
		return math.Float64frombits(uint64(bits)), true
	}
	return 1 + float64(accepted)/float64(steps), true
}

func draftAcceptanceRate(f *record.Facts) (float64, bool) {
	accepted, known := specAccepted(f)
	drafted, ok := specDrafted(f)
	if !known || !ok || drafted == 0 {
		return 0, false
	}
	return 100 * float64(accepted) / float64(drafted), true
}

func acceptedPerVerified(f *record.Facts) (float64, bool) {
	accepted, known := specAccepted(f)
	drafted, ok := specDrafted(f)
	steps, counted := specSteps(f)
	if !known || !ok || !counted || drafted+steps == 0 {
		return 0, false
	}
	return float64(accepted+steps) / float64(drafted+steps), true
}
