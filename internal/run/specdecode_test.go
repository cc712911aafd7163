package run

import (
	"encoding/json"
	"testing"

	"aiperf/internal/mockserver"
)

// What the server says of its speculative decoding reaches every file, and agrees with the server's own counters.
func TestSpeculativeDecodingFromEndToEnd(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--streaming"}, {}, {"--endpoint-type", "completions", "--streaming"}} {
		for _, place := range []string{"choice", "root"} {
			url := serve(t, mockserver.Options{Fast: true, SpecTokens: 4, SpecAcceptance: 0.6, SpecStats: place})
			dir := profile(t, url, append([]string{"--isl", "20", "--osl", "30", "--request-count", "12",
				"--extra-inputs", "ignore_eos:true"}, args...)...)
			var doc map[string]any
			if err := json.Unmarshal(fileOf(t, dir, "profile_export_aiperf.json"), &doc); err != nil {
				t.Fatal(err)
			}
			steps, _ := at(doc, "total_spec_decode_steps", "avg").(float64)
			accepted, _ := at(doc, "total_accepted_draft_tokens", "avg").(float64)
			tokens, _ := at(doc, "total_osl", "avg").(float64)
			if steps == 0 || steps+accepted != tokens || tokens != 12*30 {
				t.Errorf("%v %s: %v steps, %v accepted, %v tokens", args, place, steps, accepted, tokens)
			}
			if got, _ := at(doc, "spec_decode_token_weighted_acceptance_length",
				"avg").(float64); got != 1+accepted/steps {
				t.Errorf("%v %s: weighted length %v", args, place, got)
			}
			pooled, _ := doc["pooled_spec_decode_acceptance_histogram"].(map[string]any)
			sum, weighted := 0., 0.
			for key, n := range pooled {
				sum += n.(float64)
				weighted += float64(key[0]-'0') * n.(float64)
			}
			if sum != steps || weighted != accepted {
				t.Errorf("%v %s: histogram %v of %v steps, %v accepted", args, place, pooled, steps, accepted)
			}
			for _, line := range records(t, dir) {
				s, _ := at(line, "spec_decode_acceptance").(map[string]any)
				if s["num_spec_tokens"] != 4. || s["completion_tokens"] != 30. || s["engine"] != "vllm" ||
					s["acceptance_histogram"] == nil {
					t.Fatalf("%v %s: %v", args, place, s)
				}
			}
		}
	}
}

// A malformed record is none, and never an error.
func TestMalformedSpeculativeDecodingIsPassedOver(t *testing.T) {
	t.Parallel()
	for _, members := range []string{
		`"metrics":{"speculative_decoding":{"num_spec_steps":"many"}}`, `"metrics":{"speculative_decoding":[1]}`,
		`"metrics":null`, `"metrics":7`,
		`"metrics":{"speculative_decoding":{"num_spec_steps":2,"num_draft_tokens":4,"num_accepted_draft_tokens":-1}}`,
	} {
		dir := t.TempDir()
		outcome, log, err := executeOn(t, conversation("", "a b c"), dir, usageServer(t, members), "--request-count",
			"1")
		if err != nil || outcome.Result.Counts.Successes != 1 || outcome.Result.Acceptance != nil {
			t.Errorf("%s: %v %v %s", members, err, outcome, log)
			continue
		}
		if s := at(records(t, dir)[0], "spec_decode_acceptance"); s != nil {
			t.Errorf("%s: %v", members, s)
		}
	}
}
