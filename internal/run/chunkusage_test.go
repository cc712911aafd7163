package run

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// chunkServer streams content chunks of several tokens each, with the usage so far; nil usage leaves it out.
func chunkServer(t *testing.T, usage []int, seen *string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body strings.Builder
		_, _ = fmt.Fprint(&body, r.Header.Get("X-Request-ID"))
		buf := make([]byte, 4096)
		n, _ := r.Body.Read(buf)
		*seen = string(buf[:n])
		w.Header().Set("Content-Type", "text/event-stream")
		for i, n := range usage {
			if i > 0 {
				time.Sleep(10 * time.Millisecond)
			}
			reported := ""
			if n > 0 {
				reported = fmt.Sprintf(`,"usage":{"prompt_tokens":3,"completion_tokens":%d,"total_tokens":%d}`, n, n+3)
			}
			fmt.Fprintf(w, "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a b c \"},\"finish_reason\":null}]%s}\n\n", reported)
			w.(http.Flusher).Flush()
		}
		fmt.Fprint(w, "data: {\"object\":\"chat.completion.chunk\",\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":12,\"total_tokens\":15}}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// The tokens of the first chunk are none of those that the time after it was spent on.
func TestPerChunkUsage(t *testing.T) {
	for name, c := range map[string]struct {
		usage   []int
		args    []string
		divisor float64
		warns   bool
	}{
		"the first chunk brings four tokens":           {[]int{4, 8, 12}, []string{"--per-chunk-usage"}, 8, false},
		"the second chunk is the first one that tells": {[]int{0, 8, 12}, []string{"--per-chunk-usage"}, 4, false},
		"the first chunk claims all tokens":            {[]int{12, 12, 12}, []string{"--per-chunk-usage"}, 11, true},
		"no chunk tells":                               {[]int{0, 0, 0}, []string{"--per-chunk-usage"}, 11, true},
		"nobody asked":                                 {[]int{4, 8, 12}, []string{"--use-server-token-count"}, 11, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir, seen := t.TempDir(), ""
			outcome, log, err := executeOn(t, conversation("", "a b c"), dir, chunkServer(t, c.usage, &seen), append([]string{"--request-count", "1", "--streaming"}, c.args...)...)
			if err != nil || outcome.Result.Counts.Successes != 1 {
				t.Fatalf("%v %s", err, log)
			}
			line := records(t, dir)[0]
			value := func(tag string) float64 {
				v, ok := metric(line, tag)
				if !ok {
					t.Fatalf("%s is missing", tag)
				}
				return v
			}
			if got := value("decode_duration") / value("inter_token_latency"); got < c.divisor-1e-6 || got > c.divisor+1e-6 {
				t.Errorf("divisor %v, want %v", got, c.divisor)
			}
			if value("output_sequence_length") != 12 {
				t.Errorf("length %v", value("output_sequence_length"))
			}
			if asked := strings.Contains(seen, `"stream_options":{"include_usage":true,"continuous_usage_stats":true}`); asked != (c.args[0] == "--per-chunk-usage") {
				t.Errorf("asked: %s", seen)
			}
			if warned := strings.Contains(log, "first content chunk"); warned != c.warns {
				t.Errorf("log: %s", log)
			}
		})
	}
}
