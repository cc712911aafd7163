package mockserver

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
)

// said returns the record in a reply, and whether it stands once.
func said(t *testing.T, body, member string) *record.SpecDecode {
	t.Helper()
	before, rest, found := strings.Cut(body, `"`+member+`":`)
	if !found {
		return nil
	}
	if strings.Contains(before, "speculative") || strings.Contains(rest, "speculative") {
		t.Errorf("it stands elsewhere too: %s", body)
	}
	end := strings.Index(rest, "}") // of the histogram
	end += strings.Index(rest[end+1:], "}") + 2
	s, ok := record.ParseSpecDecode([]byte(rest[:end]))
	if !ok {
		t.Fatalf("no record: %s", rest[:end])
	}
	return s
}

func TestRepliesReportSpeculation(t *testing.T) {
	for _, place := range []struct{ option, member string }{{"choice", "speculative_decoding_stats"},
		{"root", "speculative_decoding"}, {"", "speculative_decoding_stats"}} {
		s := serve(t, Options{Fast: true, SpecTokens: 3, SpecAcceptance: 0.5, SpecStats: place.option})
		var first *record.SpecDecode
		for _, path := range []string{"/v1/chat/completions", "/v1/completions"} {
			for _, stream := range []bool{false, true} {
				body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"hello"}],"prompt":"hello","max_tokens":40,"ignore_eos":true,"stream":%v}`, stream)
				resp, err := s.client.Post(s.url+path, "application/json", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				text, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					t.Fatalf("%s", text)
				}
				got := said(t, string(text), place.member)
				if got == nil {
					t.Fatalf("%s stream %v %s: nothing said in %s", path, stream, place.option, text)
				}
				if got.Accepted+got.Steps != 40 || *got.CompletionTokens != 40 || got.Drafted != 3*got.Steps ||
					*got.SpecTokens != 3 {
					t.Errorf("%s stream %v: %+v", path, stream, got)
				}
				if first == nil {
					first = got
				} else if first.Steps != got.Steps {
					t.Errorf("%s stream %v: %d steps, before %d", path, stream, got.Steps, first.Steps)
				}
			}
		}
		page, err := s.client.Get(s.url + "/vllm/metrics")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(page.Body)
		page.Body.Close()
		for name, want := range map[string]int64{
			"vllm:spec_decode_num_drafts_total":          4 * first.Steps,
			"vllm:spec_decode_num_draft_tokens_total":    4 * first.Drafted,
			"vllm:spec_decode_num_accepted_tokens_total": 4 * first.Accepted,
		} {
			if line := grepLines(string(text), name+"{"); !strings.HasSuffix(line, fmt.Sprintf("} %d.0\n", want)) {
				t.Errorf("%s is not %d: %s", name, want, line)
			}
		}
		if n := strings.Count(string(text), "vllm:spec_decode_num_accepted_tokens_per_pos_total{"); n != 3 {
			t.Errorf("%d places of drafts", n)
		}
	}
}

func grepLines(text, with string) string {
	var out []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, with) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

func TestRepliesWithoutDraftsReportNone(t *testing.T) {
	for _, o := range []Options{{Fast: true}, {Fast: true, SpecTokens: 2, SpecStats: "none"}} {
		s := serve(t, o)
		resp, err := s.client.Post(s.url+"/v1/chat/completions", "application/json",
			strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hello"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if strings.Contains(string(text), "speculative") {
			t.Errorf("got %s", text)
		}
		if o.SpecTokens > 0 {
			continue
		}
		page, err := s.client.Get(s.url + "/vllm/metrics")
		if err != nil {
			t.Fatal(err)
		}
		text, _ = io.ReadAll(page.Body)
		page.Body.Close()
		if strings.Contains(string(text), "spec_decode") {
			t.Error("the page tells of drafts")
		}
	}
}
