package selftest

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/trust"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestArrivalsAreJudgedByTheServer(t *testing.T) {
	every := func(n int, gapNS int64) []serverLine {
		lines := make([]serverLine, n)
		for i := range lines {
			lines[n-1-i].ArrivalNS = int64(i) * gapNS // in any order
		}
		return lines
	}
	test := arrivalTest{rate: 1000, delivered: 0.999, lagP50MS: 0.1, lagP99MS: 1}
	good := trust.LagDocument{P50: 0.05, P99: 0.9, Max: 20}
	for _, c := range []struct {
		name         string
		sent, failed int64
		truth        []serverLine
		lag          trust.LagDocument
		want         Grade
	}{
		{"as planned", 500, 0, every(500, 1e6), good, Good},
		{"too slow", 500, 0, every(500, 1.01e6), good, Limited},
		{"late in the middle", 500, 0, every(500, 1e6), trust.LagDocument{P50: 0.11, P99: 0.9}, Limited},
		{"late at times", 500, 0, every(500, 1e6), trust.LagDocument{P50: 0.05, P99: 1.1}, Limited},
		{"failures", 500, 20, every(480, 1e6), good, Limited},
		{"lost without a failure", 500, 0, every(499, 1e6), good, Fail},
		{"twice", 500, 0, every(501, 1e6), good, Fail},
		{"nothing", 0, 0, nil, trust.LagDocument{}, Limited},
	} {
		line := arrivalLine(test, c.sent, c.failed, c.truth, c.lag)
		if line.Grade != c.want || (line.Note == "") != (c.want == Good) {
			t.Errorf("%s: %s (%s), want %s", c.name, line.Grade, line.Note, c.want)
		}
	}
}

func TestSearch(t *testing.T) {
	never := func() bool { return false }
	for _, test := range []struct {
		name           string
		limit          int // streams that go
		best, attempts int
	}{
		{"limit within the doubling", 3000, 2896, 9},
		{"limit below the first", 100, 98, 9},
		{"far more than most", 1 << 20, 1 << 16, 8},
		{"nothing goes", 0, 0, 6},
	} {
		tried := map[int]int{}
		f, err := search(256, 1<<16, never, func(n int) (attempt, error) {
			tried[n]++
			if tried[n] > 2 {
				t.Fatalf("%s: %d was tried %d times", test.name, n, tried[n])
			}
			return attempt{accurate: n <= test.limit, reason: "too many", cpu: float64(n) / 6000}, nil
		})
		if err != nil || f.best > test.limit || f.reason == "" {
			t.Errorf("%s: %+v, %v", test.name, f, err)
		}
		if f.best != test.best || f.attempts != test.attempts {
			t.Errorf("%s: best %d after %d attempts, want %d after %d", test.name, f.best, f.attempts, test.best,
				test.attempts)
		}
	}
}

func TestSearchForgivesOneFailure(t *testing.T) {
	failed := false
	f, _ := search(256, 1024, func() bool { return false }, func(int) (attempt, error) {
		if !failed {
			failed = true
			return attempt{reason: "noise"}, nil
		}
		return attempt{accurate: true}, nil
	})
	if f.best != 1024 || f.failed != 0 {
		t.Errorf("%+v", f)
	}
}

func TestSearchEndsInTime(t *testing.T) {
	left := 3
	f, err := search(256, 1<<16, func() bool { return left == 0 }, func(int) (attempt, error) {
		left--
		return attempt{accurate: true, cpu: 0.5}, nil
	})
	if err != nil || f.best != 1024 || f.attempts != 3 || !strings.Contains(f.reason, "time") {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := search(256, 512, func() bool { return false },
		func(int) (attempt, error) { return attempt{}, errStopped }); !errors.Is(err, errStopped) {
		t.Errorf("%v", err)
	}
}

func TestStreamsAreAccurateOrTheReasonIsGiven(t *testing.T) {
	for _, test := range []struct {
		name, reason string // "" = accurate
		spoil        func(h *trust.Document, x *exchangeOf)
	}{
		{"as it is", "", func(*trust.Document, *exchangeOf) {}},
		{"verdict", "the client used 97 %", func(h *trust.Document, _ *exchangeOf) { h.Verdict = "client_limited" }},
		{"lost tokens", "output_sequence_length 1, expected 2",
			func(_ *trust.Document, x *exchangeOf) { x.alter(1, "output_sequence_length", "1") }},
		{"slow server", "did not keep the pace: 22.0 ms", func(_ *trust.Document, x *exchangeOf) { x.slow(2 * 1.1) }},
		{"wrong figure", "off by", func(_ *trust.Document, x *exchangeOf) { x.alter(1, "inter_token_latency", "20.3") }},
	} {
		x := faultless(t)
		x.slow(2)
		h := decode[trust.Document](t, `{"verdict":"valid","reasons":[{"leads_to":"valid","message":"pressure"},{"leads_to":"client_limited","message":"the client used 97 %"}],"cpu":{"share":0.5}}`)
		test.spoil(&h, x)
		a := judge(&h, x.records, x.truth)
		if a.accurate != (test.reason == "") || !strings.Contains(a.reason, test.reason) || a.cpu != 0.5 {
			t.Errorf("%s: %+v", test.name, a)
		}
	}
}

// slow stretches the server's 10 ms between tokens, and what the client reports of them.
func (x *exchangeOf) slow(factor float64) {
	for i := range x.truth {
		s := &x.truth[i]
		first := s.EventNS[0]
		for k := range s.EventNS {
			s.EventNS[k] = first + int64(float64(k)*10e6*factor)
		}
		text, _ := json.Marshal(10 * factor)
		x.alter(i, "inter_token_latency", string(text))
	}
}

func sample() *Report {
	return &Report{
		Version: "1.0", Machine: trust.Machine{CPUs: 4, Model: "Processor X", System: "linux/amd64", Kernel: "6.1"},
		Started: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), Duration: 50 * time.Second,
		Capacity: &trust.Capacity{Streams: 1400, Pace: 50, UnaryRate: 9000.5},
		Sections: []Section{
			{ID: "token_counts", Title: "Token counts", Meaning: "no tolerance", Columns: []string{"requests", "input"},
				Lines: []Line{
					{ID: "chat", Title: "chat", Grade: Pass, Cells: []string{"60", "7,056"},
						Figures: []Figure{{"requests", int64(60)}}},
					{ID: "turns", Title: "several turns", Grade: Pass, Cells: []string{"8", "9"}},
				}},
			{ID: "arrivals", Title: "Arrivals", Meaning: "rates", Columns: []string{"lag"}, Lines: []Line{
				{ID: "rate_100", Title: "100/s", Grade: Limited, Cells: []string{"9.00"}, Note: "good is at most 1 ms"},
			}},
			{ID: "capacity", Title: "Capacity", Meaning: "both",
				Lines: []Line{{ID: "streams", Title: "streams", Grade: Good, Cells: []string{"1,400 streams"}}}},
		},
	}
}

const sampleText = `aiperf 1.0 self-test: the client against its own mock server, whose responses are known
Machine: 4 × Processor X, linux/amd64, kernel 6.1

Token counts
  no tolerance
                          requests  input
  pass     chat                 60  7,056
  pass     several turns         8      9

Arrivals
  rates
                   lag
  limited  100/s  9.00
           good is at most 1 ms

Capacity
  both
  good     streams  1,400 streams

Result: PASS — 2 correctness checks passed, none failed; 1 check limited on this machine under its present load (50 s)
`

func TestReportAsText(t *testing.T) {
	var b bytes.Buffer
	if err := sample().Render(&b); err != nil || b.String() != sampleText {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestReportAsJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.json")
	if err := artifact.WriteObject(path, sample().JSON()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		t.Fatal(err)
	}
	const want = `{"schema_version":"1.0","aiperf_version":"1.0","result":"pass","quick":false,"started":"2026-05-04T03:02:01Z","duration_seconds":50.0,` +
		`"machine":{"cpus":4,"model":"Processor X","system":"linux/amd64","kernel":"6.1"},"sections":[` +
		`{"id":"token_counts","title":"Token counts","meaning":"no tolerance","lines":[{"id":"chat","title":"chat","grade":"pass","figures":{"requests":60}},` +
		`{"id":"turns","title":"several turns","grade":"pass","figures":{}}]},` +
		`{"id":"arrivals","title":"Arrivals","meaning":"rates","lines":[{"id":"rate_100","title":"100/s","grade":"limited","note":"good is at most 1 ms","figures":{}}]},` +
		`{"id":"capacity","title":"Capacity","meaning":"both","lines":[{"id":"streams","title":"streams","grade":"good","figures":{}}]}],` +
		`"capacity":{"streams":1400,"tokens_per_second_each":50.0,"unary_requests_per_second":9000.5}}`
	if compact.String() != want {
		t.Errorf("%s", compact.String())
	}
}

func TestResult(t *testing.T) {
	r := sample()
	if got := r.Result(); got != "pass" {
		t.Errorf("a limited line makes it %s", got)
	}
	r.Interrupted = true
	if got := r.Result(); got != "interrupted" || !strings.Contains(r.verdict(), "others were not run") {
		t.Errorf("%s, %s", got, r.verdict())
	}
	r.Sections[0].Lines[1].Grade = Fail
	if got := r.Result(); got != "fail" || !strings.HasPrefix(r.verdict(), "FAIL — 1 correctness check failed") {
		t.Errorf("%s, %s", got, r.verdict())
	}
}

func TestSpoiltFilesAreNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "requests.jsonl")
	if err := os.WriteFile(path, []byte("{\"request_id\":\"a\"}\n{\"request_id\":"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readLines[serverLine](path); err == nil || !strings.Contains(err.Error(), "requests.jsonl, line 2") {
		t.Errorf("%v", err)
	}
}

func TestPercentile(t *testing.T) {
	values := []float64{1, 2, 4, 8}
	for rank, want := range map[float64]float64{0: 1, 50: 3, 90: 6.8, 100: 8} {
		if got := percentile(values, rank); !near(got, want) {
			t.Errorf("p%v = %v, want %v", rank, got, want)
		}
	}
}

func TestNumbersHaveTheDigitsThatMatter(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.0042: "0.004", 1.234: "1.23", 12.34: "12.3", 123.4: "123",
		1234567: "1,234,567", -1234: "-1,234"} {
		if got := number(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
