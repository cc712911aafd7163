package record

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// SpecDecode is what a server says of the speculative decoding of one request: a draft model proposes tokens, and each
// step of the target model accepts some of them and adds one of its own.
type SpecDecode struct {
	Engine string
	// MeanAcceptanceLength is tokens per step, DraftAcceptanceRate the share of drafted tokens that were accepted, as
	// the server has them; nil if it does not say.
	MeanAcceptanceLength, DraftAcceptanceRate *float64
	// Histogram is in how many steps so many drafted tokens were accepted, ascending.
	Histogram []AcceptedSteps
	// Accepted and Drafted are tokens.
	Accepted, Drafted, Steps int64
	// SpecTokens is how many tokens a step drafts, CompletionTokens the length of the reply; nil if the server does not
	// say.
	SpecTokens, CompletionTokens    *int64
	PerStepAccepted, PerStepDrafted []int64
}

// AcceptedSteps is a bucket of the histogram of a SpecDecode.
type AcceptedSteps struct{ Accepted, Steps int64 }

// ParseSpecDecode reads a server's record. Anything malformed is not a record: false.
func ParseSpecDecode(text []byte) (*SpecDecode, bool) {
	if len(text) == 0 {
		return nil, false // as almost always, without room for what is decoded
	}
	var w struct {
		Engine           string           `json:"engine"`
		Length           *float64         `json:"mean_acceptance_length"`
		Rate             *float64         `json:"draft_acceptance_rate"`
		Histogram        map[string]int64 `json:"acceptance_histogram"`
		Accepted         *int64           `json:"num_accepted_draft_tokens"`
		Drafted          *int64           `json:"num_draft_tokens"`
		Steps            *int64           `json:"num_spec_steps"`
		SpecTokens       *int64           `json:"num_spec_tokens"`
		CompletionTokens *int64           `json:"completion_tokens"`
		PerStepAccepted  []int64          `json:"per_step_accepted"`
		PerStepDrafted   []int64          `json:"per_step_drafted"`
	}
	if text = bytes.TrimSpace(text); len(text) == 0 || text[0] != '{' || json.Unmarshal(text, &w) != nil {
		return nil, false
	}
	for _, n := range [...]*int64{w.Accepted, w.Drafted, w.Steps} {
		if n == nil || *n < 0 || *n > math.MaxInt64/2 {
			return nil, false
		}
	}
	for _, v := range [...]*float64{w.Length, w.Rate} {
		if v != nil && *v < 0 {
			return nil, false
		}
	}
	s := &SpecDecode{
		Engine: w.Engine, MeanAcceptanceLength: w.Length, DraftAcceptanceRate: w.Rate,
		Accepted: *w.Accepted, Drafted: *w.Drafted, Steps: *w.Steps, SpecTokens: w.SpecTokens,
		CompletionTokens: w.CompletionTokens,
		PerStepAccepted:  w.PerStepAccepted, PerStepDrafted: w.PerStepDrafted,
	}
	for key, steps := range w.Histogram {
		accepted, err := strconv.ParseInt(key, 10, 64)
		if err != nil || accepted < 0 || steps < 0 || strconv.FormatInt(accepted, 10) != key {
			return nil, false
		}
		s.Histogram = append(s.Histogram, AcceptedSteps{accepted, steps})
	}
	slices.SortFunc(s.Histogram, func(a, b AcceptedSteps) int { return int(min(max(a.Accepted-b.Accepted, -1), 1)) })
	return s, true
}

// Fill lays down the facts of the record.
func (s *SpecDecode) Fill(f *Facts) {
	f[SpecAccepted], f[SpecDrafted], f[SpecSteps] = s.Accepted, s.Drafted, s.Steps
	if s.MeanAcceptanceLength != nil {
		f[SpecMeanLength] = int64(math.Float64bits(*s.MeanAcceptanceLength))
	}
}
