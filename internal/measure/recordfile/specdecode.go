package recordfile

import (
	"strconv"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/record"
)

// AcceptanceBuckets returns the histogram of speculative decoding: in how many steps so many drafted tokens were
// accepted.
func AcceptanceBuckets(list []record.AcceptedSteps) artifact.Object {
	out := artifact.Object{}
	for _, b := range list {
		out = append(out, artifact.Member{Key: strconv.FormatInt(b.Accepted, 10), Value: b.Steps})
	}
	return out
}

// appendSpecDecode appends what the server says of a request's speculative decoding, in the server's own names.
func appendSpecDecode(m *artifact.Members, s *record.SpecDecode) {
	if s == nil {
		return
	}
	var o artifact.Object
	if s.Engine != "" {
		o = append(o, artifact.Member{Key: "engine", Value: s.Engine})
	}
	o = append(o, artifact.Member{Key: "mean_acceptance_length", Value: s.MeanAcceptanceLength},
		artifact.Member{Key: "draft_acceptance_rate", Value: s.DraftAcceptanceRate})
	if s.Histogram != nil {
		o = append(o, artifact.Member{Key: "acceptance_histogram", Value: AcceptanceBuckets(s.Histogram)})
	}
	o = append(o,
		artifact.Member{Key: "num_accepted_draft_tokens", Value: s.Accepted},
		artifact.Member{Key: "num_draft_tokens", Value: s.Drafted},
		artifact.Member{Key: "num_spec_steps", Value: s.Steps},
		artifact.Member{Key: "num_spec_tokens", Value: s.SpecTokens},
		artifact.Member{Key: "completion_tokens", Value: s.CompletionTokens},
	)
	for _, list := range [...]struct {
		key    string
		values []int64
	}{{"per_step_accepted", s.PerStepAccepted}, {"per_step_drafted", s.PerStepDrafted}} {
		if list.values != nil {
			o = append(o, artifact.Member{Key: list.key, Value: list.values})
		}
	}
	m.Key("spec_decode_acceptance")
	// The object holds nothing that cannot be written.
	m.Dst, _ = artifact.AppendJSON(m.Dst, o)
}
