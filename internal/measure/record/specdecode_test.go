package record_test

import (
	"reflect"
	"testing"

	"aiperf/internal/measure/record"
)

func TestSpecDecode(t *testing.T) {
	length, rate, tokens, completion := 3.5, 0.625, int64(4), int64(35)
	for name, test := range map[string]struct {
		text string
		want *record.SpecDecode
	}{
		"whole": {
			`{"engine":"vllm","mean_acceptance_length":3.5,"draft_acceptance_rate":0.625,"acceptance_histogram":{"10":1,"2":4,"0":5},"num_accepted_draft_tokens":25,
			"num_draft_tokens":40,"num_spec_steps":10,"num_spec_tokens":4,"completion_tokens":35,"per_step_accepted":[1,2],"per_step_drafted":[4,4],"later":true}`,
			&record.SpecDecode{
				Engine: "vllm", MeanAcceptanceLength: &length, DraftAcceptanceRate: &rate,
				Histogram: []record.AcceptedSteps{{0, 5}, {2, 4}, {10, 1}},
				Accepted:  25, Drafted: 40, Steps: 10, SpecTokens: &tokens, CompletionTokens: &completion,
				PerStepAccepted: []int64{1, 2}, PerStepDrafted: []int64{4, 4},
			},
		},
		"the least": {` {"num_accepted_draft_tokens":0,"num_draft_tokens":8,"num_spec_steps":2} `,
			&record.SpecDecode{Drafted: 8, Steps: 2}},
		"null":                      {`null`, nil},
		"nothing":                   {``, nil},
		"a list":                    {`[]`, nil},
		"no JSON":                   {`{"num_spec_steps":`, nil},
		"a count is missing":        {`{"num_accepted_draft_tokens":1,"num_draft_tokens":2}`, nil},
		"a count is negative":       {`{"num_accepted_draft_tokens":-1,"num_draft_tokens":8,"num_spec_steps":2}`, nil},
		"a count is no integer":     {`{"num_accepted_draft_tokens":1.5,"num_draft_tokens":8,"num_spec_steps":2}`, nil},
		"a bucket is no number":     {`{"num_accepted_draft_tokens":1,"num_draft_tokens":8,"num_spec_steps":2,"acceptance_histogram":{"x":1}}`, nil},
		"a bucket is negative":      {`{"num_accepted_draft_tokens":1,"num_draft_tokens":8,"num_spec_steps":2,"acceptance_histogram":{"1":-1}}`, nil},
		"a bucket is spelled twice": {`{"num_accepted_draft_tokens":1,"num_draft_tokens":8,"num_spec_steps":2,"acceptance_histogram":{"1":1,"01":1}}`, nil},
		"a length is a text":        {`{"num_accepted_draft_tokens":1,"num_draft_tokens":8,"num_spec_steps":2,"mean_acceptance_length":"3"}`, nil},
	} {
		got, ok := record.ParseSpecDecode([]byte(test.text))
		if ok != (test.want != nil) || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func FuzzParseSpecDecode(f *testing.F) {
	f.Add([]byte(`{"acceptance_histogram":{"1":2},"num_accepted_draft_tokens":1,"num_draft_tokens":8,"num_spec_steps":2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, ok := record.ParseSpecDecode(text); ok {
			facts := record.NewFacts()
			s.Fill(&facts)
			if facts[record.SpecSteps] != s.Steps || s.Steps < 0 || s.Accepted < 0 || s.Drafted < 0 {
				t.Errorf("%s: %+v", text, s)
			}
		}
	})
}
