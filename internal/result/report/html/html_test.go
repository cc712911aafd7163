package html

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/timeline"
	"aiperf/internal/result/compare"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/gpu"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/trust"
)

const (
	origin = int64(1_700_000_000_000_000_000)
	second = int64(1e9)
	// hostile ends every context that it could be in.
	hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>'</script><!--]]>&amp;` +
		"\u2028`${alert(3)}`\x1b[31m\x7f\u0085"
)

// result computes the result of n requests, of which every tenth failed, and what the page shows of them.
func result(t *testing.T, n int) (*summary.Result, *Run) {
	t.Helper()
	c := metrics.DefaultConfig()
	c.Streaming, c.ProducesTokens, c.TokenizesInput, c.SliceNS = true, true, true, 10*second
	c.SLOs = []metrics.SLO{{Tag: "time_to_first_token", Value: 50}}
	set, err := metrics.NewSet(c)
	if err != nil {
		t.Fatal(err)
	}
	engine, requests := set.NewEngine(), timeline.New(origin)
	for i := range int64(n) {
		r := &record.Record{Facts: record.NewFacts(),
			Identity: record.Identity{RequestID: hostile, ConversationID: hostile, Phase: "profiling"}}
		f := &r.Facts
		f[record.StartWall] = origin + i*second/10
		f[record.InputTokens] = 100
		if i%10 == 9 {
			f[record.Failed], f[record.End] = 1, second/2
			r.Err = &record.Error{Code: 500, HasCode: true, Type: hostile,
				Message: hostile + strings.Repeat("x", int(i%3))}
		} else {
			ttft := (20 + i*i%61) * 1e6
			f[record.FirstContent], f[record.FirstOutput], f[record.LastContent] = ttft, ttft, second
			f[record.LastResponse], f[record.End] = second, second
			f[record.Contents], f[record.OutputTokens] = 10, 10+i%4
		}
		set.Judge(r)
		engine.Add(r)
		requests.Add(r)
	}
	run := summary.Run{
		AIPerfVersion: "0.1.0", BenchmarkID: "id", StartNS: origin, EndpointTitle: "LLM Metrics",
		RunInfo: summary.RunInfo{CLICommand: "aiperf profile --model '" + hostile + "'"},
		InputConfig: artifact.Object{
			{Key: "models", Value: []any{hostile}},
			{Key: "endpoint", Value: artifact.Object{{Key: "urls", Value: []string{"http://h/" + hostile}}}},
			{Key: "slos", Value: artifact.Object{{Key: "time_to_first_token", Value: 50.0}}},
		},
		Provenance: artifact.Object{{Key: "host", Value: artifact.Object{{Key: "system", Value: "linux"}}}},
	}
	r := summary.Build(run, engine, nil)
	r.ClientHealth = artifact.Object{{Key: "verdict", Value: "inconclusive"}, {Key: "reasons", Value: []any{
		artifact.Object{{Key: "message", Value: hostile}, {Key: "advice", Value: "look"}}}},
		{Key: "cpu", Value: artifact.Object{{Key: "share", Value: 0.25}}}}
	r.Reconcile(&summary.Ledger{Server: servermetrics.ServerTotals{Kind: "vLLM", Pages: 1,
		Totals: []servermetrics.Total{{Quantity: servermetrics.Requests, Metric: hostile, Value: 1e6}}}})
	at := []int64{origin, origin + second, origin + 2*second}
	return &r, &Run{
		Requests: requests,
		Phases: []summary.PhaseState{{Name: "warmup", Kind: "warmup", StartNS: origin - second,
			RequestsEndNS: origin}, {Name: "profiling", Kind: "profiling", StartNS: origin, SentEndNS: origin + second,
			RequestsEndNS: r.EndNS}},
		Servers: []timeline.Curve{{Source: hostile, Name: "vllm:num_requests_running", Labels: hostile, TimeNS: at,
			Values: []float64{1, 2, 3}}, {Name: hostile, TimeNS: at, Values: []float64{1, math.NaN(), 3}}},
		GPUs: []timeline.Curve{{Name: "GPU Power Usage", Unit: "W", Labels: hostile, TimeNS: at,
			Values: []float64{100, 200, 300}}},
		Looks: []trust.Interval{{AtNS: origin + second, CPUShare: 0.5, RSS: 1 << 20}},
		Thresholds: []compare.Judgement{{Text: "request_latency:p99>1ms",
			Failure: "request_latency:p99>1ms: it is 1000.00 ms"}, {Text: hostile}},
		ServerFigures: []servermetrics.Highlight{
			{Backend: "vLLM", Endpoint: hostile, Metric: "m", Stat: "avg", Value: 2.5},
		},
	}
}

func render(t *testing.T, r *summary.Result, run *Run) string {
	t.Helper()
	text, err := Render(r, run)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Page(t, "the report", string(text))
	return string(text)
}

// element is the content of the first element that begins so.
func element(t *testing.T, page, begin, end string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, begin)
	if !ok {
		t.Fatalf("no %s", begin)
	}
	content, _, _ := strings.Cut(rest, end)
	return content
}

// embedded is the JSON of a page.
func embedded(t *testing.T, page string) map[string]json.RawMessage {
	t.Helper()
	var d map[string]json.RawMessage
	if err := json.Unmarshal([]byte(element(t, page, `<script type="application/json" id="data">`, "</script>")),
		&d); err != nil {
		t.Fatal(err)
	}
	return d
}

// voids are the elements without an end tag.
var voids = []string{"meta", "input", "br", "img", "link", "hr"}

// tags are the start tags of a page; the page is an error unless elements are nested and closed, and names and ids
// are used once.
func tags(t *testing.T, page string) []xml.StartElement {
	t.Helper()
	for _, name := range []string{"script", "style"} { // whose content is not markup
		page = regexp.MustCompile(`(?s)(<`+name+`[^>]*>).*?(</`+name+`>)`).ReplaceAllString(page, "$1$2")
	}
	if !strings.HasPrefix(page, "<!DOCTYPE html>") {
		t.Error("no doctype")
	}
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.Entity = false, xml.HTMLEntity
	var open []string
	var out []xml.StartElement
	ids := map[string]bool{}
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			out = append(out, e.Copy())
			seen := map[string]bool{}
			for _, a := range e.Attr {
				if seen[a.Name.Local] {
					t.Errorf("<%s> has %s twice", e.Name.Local, a.Name.Local)
				}
				seen[a.Name.Local] = true
				if a.Name.Local == "id" {
					if ids[a.Value] || strings.ContainsAny(a.Value, " \t\n") {
						t.Errorf("id %q is used twice, or has blanks", a.Value)
					}
					ids[a.Value] = true
				}
			}
			if !slices.Contains(voids, e.Name.Local) {
				open = append(open, e.Name.Local)
			}
		case xml.EndElement:
			if slices.Contains(voids, e.Name.Local) {
				continue
			}
			if len(open) == 0 || open[len(open)-1] != e.Name.Local {
				t.Fatalf("</%s> closes %v", e.Name.Local, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("not closed: %v", open)
	}
	return out
}

func TestThePageIsWellFormed(t *testing.T) {
	r, run := result(t, 300)
	tags(t, render(t, r, run))
	tags(t, render(t, &summary.Result{Run: summary.Run{Incomplete: "killed"}}, &Run{}))
}

func TestNothingHostileGetsOutOfItsPlace(t *testing.T) {
	r, run := result(t, 300)
	page := render(t, r, run)
	scripts := 0
	for _, e := range tags(t, page) {
		switch e.Name.Local {
		case "script":
			scripts++
		case "img", "iframe", "object", "link", "base", "form":
			t.Errorf("<%s>", e.Name.Local)
		}
		for _, a := range e.Attr {
			name := a.Name.Local
			if strings.HasPrefix(name, "on") || name == "src" || name == "style" || name == "href" &&
				!strings.HasPrefix(a.Value, "#") {
				t.Errorf("<%s %s=%q>", e.Name.Local, name, a.Value)
			}
		}
	}
	if scripts != 3 {
		t.Errorf("%d scripts", scripts)
	}
	if strings.Contains(page, "alert(1)</script>") {
		t.Error("a text ends a script")
	}
	embedded(t, page)
	if !strings.Contains(page, "alert(2)") {
		t.Error("the test's texts are not on the page")
	}
}

// UnmarshalJSON lets the tests read what they write.
func (n *numbers) UnmarshalJSON(text []byte) error {
	var list []*float64
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for _, v := range list {
		if v == nil {
			*n = append(*n, math.NaN())
		} else {
			*n = append(*n, *v)
		}
	}
	return nil
}

func TestEmbeddedFiguresAreThoseOfTheSummary(t *testing.T) {
	r, run := result(t, 300)
	got := embedded(t, render(t, r, run))
	text, err := artifact.AppendJSON(nil, report.SummaryObject(r, nil))
	if err != nil {
		t.Fatal(err)
	}
	var want, figures map[string]json.RawMessage
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got["metrics"], &figures); err != nil {
		t.Fatal(err)
	}
	same := func(name string, a, b json.RawMessage) {
		var x, y bytes.Buffer
		if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil || x.String() != y.String() {
			t.Errorf("%s is %s, in the summary %s", name, a, b)
		}
	}
	blocks := 0
	for tag, block := range want {
		var has struct{ Unit *string }
		if json.Unmarshal(block, &has) == nil && has.Unit != nil {
			same(tag, figures[tag], block)
			blocks++
		}
	}
	if blocks != len(figures) || blocks < 20 {
		t.Errorf("%d metrics in the summary, %d on the page", blocks, len(figures))
	}
	same("percentile_bounds", got["percentile_bounds"], want["percentile_bounds"])
	if string(got["benchmark_id"]) != `"id"` {
		t.Errorf("benchmark_id %s", got["benchmark_id"])
	}
}

func TestPageSaysWhatIsToBeThoughtOfTheRun(t *testing.T) {
	r, run := result(t, 300)
	page := render(t, r, run)
	for _, want := range []string{
		"Run complete", "30 of 300 requests failed (10 %)", "Client inconclusive", "Thresholds failed",
		"1 of 2 conditions for a failure met", "What limited it", "How sure",
		"Goodput", "time_to_first_token ≤ 50 ms", "Too few requests for bounds: p99 needs 368",
		"time_to_first_token", "Time slices",
		"uPlot 1.6.32 (MIT licence)", "Permission is hereby granted", "host.system", "95 %",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	r.Incomplete, r.WasCancelled, run.Thresholds = "the run was killed", true, run.Thresholds[1:]
	page = render(t, r, run)
	for _, want := range []string{"Run incomplete", "the run was killed.", "must not be compared",
		"Thresholds passed"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of an incomplete run lacks %q", want)
		}
	}
}

// What stands at the top is not said again further down.
func TestFindingsAreSaidOnce(t *testing.T) {
	r, run := result(t, 300)
	whole := render(t, r, run)
	r.Incomplete, r.WasCancelled = "the run was killed", true
	stopped := render(t, r, run)
	title := regexp.MustCompile(`<h3><span class="icon" aria-hidden="true"></span>([^<]*)</h3><p>([^<]*)`)
	for name, page := range map[string]string{"whole": whole, "stopped": stopped} {
		seen := map[string]bool{}
		for _, found := range title.FindAllStringSubmatch(page, -1) {
			if seen[found[0]] {
				t.Errorf("%s: %q is said twice", name, found[1]+": "+found[2])
			}
			seen[found[0]] = true
		}
		if len(seen) < 3 {
			t.Errorf("%s: only %d findings", name, len(seen))
		}
	}
}

func TestPageSaysWhatToTryAgainstErrors(t *testing.T) {
	r, run := result(t, 300)
	r.Errors = []summary.ErrorCount{
		{Error: record.Error{Code: 503, HasCode: true, Type: "Service Unavailable", Message: "a"}, Count: 20},
		{Error: record.Error{Code: 401, HasCode: true, Type: "Unauthorized", Message: "b"}, Count: 10},
	}
	page := render(t, r, run)
	for _, want := range []string{">What to try</h3>", "The server rejects the credentials", "--api-key",
		"--wait-for-model-timeout"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	r.Errors = []summary.ErrorCount{{Error: record.Error{Type: "Odd", Message: "c"}, Count: 30}}
	if page := render(t, r, run); strings.Contains(page, "What to try") {
		t.Error("there is advice on an error that no row of the table knows")
	}
}

func TestWhatIsMissingIsLeftOut(t *testing.T) {
	r, run := result(t, 300)
	r.Errors, r.Slices, r.ClientHealth, r.Telemetry, r.Provenance, r.Reconciliation = nil, nil, nil, nil, nil, nil
	page := render(t, r, &Run{Requests: run.Requests})
	for _, not := range []string{">Errors</h2>", ">Servers</h2>", ">GPUs</h2>", ">Time slices</h2>", "Thresholds",
		">Provenance</h3>", "Client:", "client-cpu", ">Phases</h3>"} {
		if strings.Contains(page, not) {
			t.Errorf("the page has %s", not)
		}
	}
	if !strings.Contains(page, "Requests in flight") {
		t.Error("the page has no time lines")
	}
	page = render(t, r, &Run{})
	for _, not := range []string{">Over time</h2>", ">Distributions</h2>", "<figure"} {
		if strings.Contains(page, not) {
			t.Errorf("without requests the page has %s", not)
		}
	}
}

// A run shorter than the scrape interval has only the scrapes before and after it.
func TestFinalScrapeIsShown(t *testing.T) {
	r, run := result(t, 100)
	run.Servers = []timeline.Curve{{Name: "vllm:num_requests_running", Unit: "requests",
		TimeNS: []int64{r.StartNS - second*100, r.EndNS + second*100}, Values: []float64{1, 77}}}
	if page := render(t, r, run); !strings.Contains(page, `id="server-queue"`) ||
		!strings.Contains(page, "between 77 and 77 requests") {
		t.Error("the page lacks the final scrape")
	}
	r.Recomputed = artifact.Object{}
	if page := render(t, r, run); strings.Contains(page, `id="server-queue"`) {
		t.Error("the page of a part of a run shows the scrape after the whole")
	}
}

func TestServerTotalsHaveTheirPlace(t *testing.T) {
	r, _ := result(t, 100)
	if page := render(t, r, &Run{}); !strings.Contains(page,
		`Over the profiling phase the server counted 1,000,000 requests`) {
		t.Error("the page lacks the server's totals")
	}
}

func TestGPUsAndServersHaveTheirPlaces(t *testing.T) {
	r, run := result(t, 100)
	r.Telemetry = &gpu.Telemetry{Endpoints: []gpu.Endpoint{{Name: "h:9400",
		GPUs: []gpu.DeviceMetrics{{Device: gpu.Device{Index: 3, Model: hostile},
			Metrics: []gpu.Metric{{Field: gpu.Field{Display: "GPU Power Usage", Unit: "W"},
				Stats: metrics.Stats{Avg: 123.456, Count: 3}}}}}}}}
	page := render(t, r, run)
	for _, want := range []string{`id="server-queue"`, `id="servers-choice"`, `id="gpu-power"`, "123.46", "GPU 3 |",
		`id="client-cpu"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	var d struct {
		Axis   axis
		Phases []span
		Charts []chart
	}
	if err := json.Unmarshal([]byte(element(t, page, `id="data">`, "</script>")), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Phases) != 2 || d.Phases[0].From != -1 || d.Phases[0].To != 0 {
		t.Errorf("phases %+v", d.Phases)
	}
	for _, c := range d.Charts {
		for _, s := range c.Series {
			if len(s.Values) != d.Axis.Count {
				t.Errorf("%s %s has %d values on an axis of %d", c.ID, s.Label, len(s.Values), d.Axis.Count)
			}
		}
		for _, b := range c.Bands {
			if b[0] >= len(c.Series) || b[1] >= len(c.Series) {
				t.Errorf("%s has bands %v", c.ID, c.Bands)
			}
		}
	}
}

// A group that the page does not know would stand among the others.
func TestEveryGroupOfMetricsHasItsTitle(t *testing.T) {
	for _, d := range metrics.Table() {
		if d.Group != metrics.GroupNone &&
			!slices.ContainsFunc(groupTitles, func(g groupTitle) bool { return g.group == d.Group }) {
			t.Errorf("%s: the group %q has no title", d.Tag, d.Group)
		}
	}
}

func TestJobsHaveTheirPlace(t *testing.T) {
	r, run := result(t, 20)
	if page := render(t, r, run); strings.Contains(page, "h-jobs") {
		t.Error("a run without jobs has a section of them")
	}
	for tag, block := range map[string]string{
		"job_latency":       `{"unit":"ms","avg":1000,"p50":900,"p90":1800,"p99":1900,"min":100,"max":2000,"std":1,"count":7}`,
		"job_model_time":    `{"unit":"ms","avg":300,"p50":300,"min":1,"max":2,"std":1,"count":7}`,
		"job_tool_time":     `{"unit":"ms","avg":600,"p50":600,"min":1,"max":2,"std":1,"count":7}`,
		"job_waiting_time":  `{"unit":"ms","avg":100,"p50":100,"min":1,"max":2,"std":1,"count":7}`,
		"jobs_per_hour":     `{"unit":"jobs/hour","avg":1234}`,
		"job_window_steady": `{"unit":"count","avg":0}`,
		"job_goodput":       `{"unit":"jobs/hour","avg":1000}`,
		"good_job_fraction": `{"unit":"ratio","avg":0.75}`,
	} {
		m, err := metrics.RestoreResult(tag, []byte(block))
		if err != nil {
			t.Fatal(err)
		}
		r.Metrics = append(r.Metrics, m)
	}
	page := render(t, r, run)
	section := element(t, page, `<section aria-labelledby="h-jobs">`, "</section>")
	for _, want := range []string{"Critical path, mean 1,000 ms", "model 30 %", "tools 60 %", `x="90.00%" y="0" width="10.00%"`,
		`<td class="n">1,900</td>`, ">1234 <", "too short for a steady window"} {
		if !strings.Contains(section, want) {
			t.Errorf("the section lacks %s: %s", want, section)
		}
	}
	if !strings.Contains(page, "75 % of the jobs met every objective") {
		t.Error("the page does not say how many jobs were good")
	}
}

func TestSpeculativeDecodingHasItsPlace(t *testing.T) {
	r, run := result(t, 20)
	rate, err := metrics.RestoreResult("spec_decode_overall_draft_acceptance_rate", []byte(`{"unit":"%","avg":53.3}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Metrics = append(r.Metrics, rate)
	r.Acceptance = []metrics.AcceptedSteps{{Accepted: 0, Steps: 1000}, {Accepted: 1, Steps: 0},
		{Accepted: 3, Steps: 3000}}
	page := render(t, r, run)
	for _, want := range []string{"<summary>Speculative decoding</summary>", "Drafted tokens accepted per step",
		`<tr><th scope="row">0</th><td>1,000 steps, 25 %</td></tr>`,
		`<tr><th scope="row">3</th><td>3,000 steps, 75 %</td></tr>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "0 steps, 0 %") {
		t.Error("a bucket without steps is listed")
	}
}

func TestShadesLieOnTheAxis(t *testing.T) {
	r, run := result(t, 300)
	r.Recomputed = artifact.Object{{Key: "from_ns", Value: origin + 5*second}}
	r.StartNS = origin + 5*second
	for _, p := range newData(r, run).Phases {
		if p.Name == "warm-up" || p.To <= p.From || p.From < 5 {
			t.Errorf("%+v", p)
		}
	}
}

// Nothing grows with the requests, nor beyond a bound with what a server shows.
func TestThePageStaysSmall(t *testing.T) {
	r, run := result(t, 40_000)
	for i := range 50 {
		c := timeline.Curve{Name: "m", Labels: strings.Repeat("l", 100*i)}
		for k := range int64(4000) {
			c.TimeNS, c.Values = append(c.TimeNS, origin+k*second), append(c.Values, 1/float64(k+int64(i)+1))
		}
		run.Servers = append(run.Servers, c, c, c, c)
	}
	r.Errors = nil
	for i := range 10_000 {
		r.Errors = append(r.Errors, summary.ErrorCount{Error: record.Error{Type: "T", Code: i, HasCode: true,
			Message: strings.Repeat("m", 4096)}, Count: 1})
	}
	page := render(t, r, run)
	if len(page) > 3_000_000 {
		t.Errorf("%d bytes", len(page))
	}
	if !strings.Contains(page, "9,950 more kinds of errors, of 9,950 requests") ||
		!strings.Contains(page, "41 more are in the files") {
		t.Error("what is left out is not named")
	}
}

func TestSameNumbersWriteTheSamePage(t *testing.T) {
	r, run := result(t, 500)
	first := render(t, r, run)
	for range 5 {
		if render(t, r, run) != first {
			t.Fatal("the page changes")
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		v           float64
		short, five string
	}{
		{0, "0", "0"}, {8, "8", "8"}, {0.0779, "0.0779", "0.0779"}, {1.005, "1", "1.005"}, {123.456, "123.5", "123.46"},
		{1234567, "1,234,567", "1234600"},
		{math.NaN(), "", "null"}, {math.Inf(1), "", "null"}, {0.000012345, "1.23e-05", "0.000012345"},
		{-4321, "-4,321", "-4321"},
	} {
		if got := short(c.v); got != c.short {
			t.Errorf("short %g is %s, want %s", c.v, got, c.short)
		}
		if got := string(appendNumber(nil, c.v)); got != c.five {
			t.Errorf("JSON of %g is %s, want %s", c.v, got, c.five)
		}
	}
}
