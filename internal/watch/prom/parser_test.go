package prom_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/watch/prom"
)

func TestFamilies(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"no TYPE line", "hello 5\n", "unknown hello{} 5\n"},
		{"counter declared with _total", lines("# TYPE a_total counter", "a_total 5"), "counter a{} 5\n"},
		{"counter declared without, sample without", lines("# TYPE a counter", "a 5"), "counter a{} 5\n"},
		{"counter declared without, sample with", lines("# TYPE a counter", "a_total 5"), "counter a{} 5\n"},
		{"gauge keeps _total", lines("# TYPE x_total gauge", "x_total 5"), "gauge x_total{} 5\n"},
		{"histogram keeps _total", lines("# TYPE v:i_total histogram", `v:i_total_bucket{le="+Inf"} 2`,
			"v:i_total_sum 3", "v:i_total_count 2"),
			"histogram v:i_total{} +Inf:2 count 2 sum 3\n"},
		{"untyped", lines("# TYPE a untyped", "a 1"), "unknown a{} 1\n"},
		{"unknown", lines("# TYPE a unknown", "a 1"), "unknown a{} 1\n"},
		{"words in any case", lines("# TYPE a GAUGE", "a 1", "# TYPE b Counter", "b_total 2"),
			"gauge a{} 1\ncounter b{} 2\n"},
		{"an unknown word", lines("# TYPE a speed", "a 1"), "unknown a{} 1\n"},
		{"TYPE after the samples", lines("a 1", "# TYPE a gauge"), "gauge a{} 1\n"},
		{"a family in two blocks", lines("# TYPE a gauge", `a{x="1"} 1`, "# TYPE b gauge", "b 2", "# TYPE a gauge",
			`a{x="2"} 3`),
			"gauge a{x=\"1\"} 1\ngauge b{} 2\ngauge a{x=\"2\"} 3\n"},
		{"untyped label sets are all kept", lines(`u{x="1"} 1`, `u{x="2"} 2`, "u 3"),
			"unknown u{x=\"1\"} 1\nunknown u{x=\"2\"} 2\nunknown u{} 3\n"},
		{"info", lines("# TYPE a info", `a_info{version="1"} 1`, `a_info{version="2"} 1`),
			"gauge a_info{version=\"1\"} 1\ngauge a_info{version=\"2\"} 1\n"},
		{"info declared with its suffix", lines("# TYPE a_info info", `a_info{version="1"} 1`),
			"gauge a_info{version=\"1\"} 1\n"},
		{"stateset", lines("# TYPE s stateset", `s{s="on"} 1`, `s{s="off"} 0`),
			"unknown s{s=\"on\"} 1\nunknown s{s=\"off\"} 0\n"},
		{"gaugehistogram", lines("# TYPE g gaugehistogram", `g_bucket{le="1"} 1`, "g_gsum 2", "g_gcount 3"),
			"unknown g{le=\"1\"} 1\nunknown g_gsum{} 2\nunknown g_gcount{} 3\n"},
		{"_created inside a family", lines("# TYPE a counter", "a_total 5", "a_created 1.7e9"), "counter a{} 5\n"},
		{"an untyped bucket keeps le", `h_bucket{le="1"} 2` + "\n", "unknown h_bucket{le=\"1\"} 2\n"},
		{"a name that is declared itself does not belong to another family",
			lines("# TYPE h histogram", `h_bucket{le="+Inf"} 4`, "# TYPE h_count gauge", "h_count 9"),
			"histogram h{} +Inf:4 count 4 sum 0\ngauge h_count{} 9\n"},
		{"the first of two TYPE lines counts", lines("# TYPE a gauge", "# TYPE a counter", "a 1"), "gauge a{} 1\n"},
		{"quoted names", lines(`# HELP "my.metric" dots`, `# TYPE "my.metric" gauge`, `{"my.metric",a="1"} 4`,
			`{a="2","my.metric"} 5`),
			"gauge my.metric{a=\"1\"} 4\ngauge my.metric{a=\"2\"} 5\n"},
		{"quoted label names", `{"m","a.b"="1"} 4` + "\n", "unknown m{a.b=\"1\"} 4\n"},
		{"nothing", "", ""},
		{"comments only", "# EOF\n#\n# HELP a b\n# TYPE\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.want, nil, c.body) })
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"CRLF", "# TYPE a gauge\r\na 1\r\nb{x=\"1\"} 2\r\n", "gauge a{} 1\nunknown b{x=\"1\"} 2\n"},
		{"no final newline", "a 1", "unknown a{} 1\n"},
		{"blanks around", "  a  1  \n\n\t\n b\t2\t\n", "unknown a{} 1\nunknown b{} 2\n"},
		{"blanks in the braces and a trailing comma", `a { x = "1" , y="2" , } 3` + "\n",
			"unknown a{x=\"1\",y=\"2\"} 3\n"},
		{"empty braces", "a{} 3\n", "unknown a{} 3\n"},
		{"no blank after the brace", `a{x="1"}3` + "\n", "unknown a{x=\"1\"} 3\n"},
		{"time stamps", "a 1 1763591215220\nb 2 1763591215.22\nc 3 -1\n",
			"unknown a{} 1\nunknown b{} 2\nunknown c{} 3\n"},
		{"exemplars", lines("# TYPE a counter", `a_total 5 # {trace_id="x # y}"} 0.3 1.5`, `b 1 12 # {} 1`),
			"counter a{} 5\nunknown b{} 1\n"},
		{"UNIT and EOF", lines("# TYPE a_seconds gauge", "# UNIT a_seconds seconds", "a_seconds 5", "# EOF"),
			"gauge a_seconds{} 5\n"},
		{"escapes in labels", `a{x="back\\slash \"quoted\" new\nline \t"} 1` + "\n",
			"unknown a{x=\"back\\\\slash \\\"quoted\\\" new\\nline \\\\t\"} 1\n"},
		{"braces and number signs in labels", `a{x="} # {"} 1` + "\n", "unknown a{x=\"} # {\"} 1\n"},
		{"labels are sorted", `a{b="1",a="2"} 1` + "\n", "unknown a{a=\"2\",b=\"1\"} 1\n"},
		{"the last of two labels of a name counts", `a{b="1",b="2"} 1` + "\n", "unknown a{b=\"2\"} 1\n"},
		{"an empty label is kept", `a{b=""} 1` + "\n", "unknown a{b=\"\"} 1\n"},
		{"the last of two lines with the same labels counts", lines(`a{x="1",y="2"} 1`, "b 1", `a{y="2",x="1"} 3`),
			"unknown a{x=\"1\",y=\"2\"} 3\nunknown b{} 1\n"},
		{"what is not UTF-8 is replaced", "a{x=\"\xff\"} 1\n", "unknown a{x=\"\uFFFD\"} 1\n"},
		{"a byte order mark", "\uFEFFa 1\n", "unknown a{} 1\n"},
		{"a comment without a blank is no TYPE line", "#TYPE a gauge\na 1\n", "unknown a{} 1\n"},
		{"blanks in a TYPE line", "#  TYPE\ta   gauge \na 1\n", "gauge a{} 1\n"},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.want, nil, c.body) })
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
	}{
		{"1", 1}, {"-1", -1}, {"+1", 1}, {"1e3", 1000}, {"1E+3", 1000}, {"1.5e-3", 0.0015}, {".5", 0.5}, {"5.", 5},
		{"0.1", 0.1}, {"9007199254740993", 9007199254740992}, {"123456789012345678901234567890", 1.2345678901234568e29},
		{"0.30000000000000004", 0.30000000000000004}, {"1.7e308", 1.7e308}, {"5e-324", 5e-324}, {"1e23", 1e23},
		{"1e0010", 1e10}, {"8.41e21", 8.41e21}, {"3.1747936256e+010", 31747936256},
	} {
		samples, err := prom.NewParser(prom.Options{}).Parse([]byte("a "+c.text+"\n"), false)
		if err != nil || len(samples) != 1 || samples[0].Value != c.want {
			t.Errorf("%s: got %v, %v", c.text, samples, err)
		}
	}
}

func TestNonFiniteValuesAreDropped(t *testing.T) {
	for _, text := range []string{"NaN", "nan", "Inf", "+Inf", "-Inf", "inf", "1e999"} {
		check(t, "unknown b{} 2\n", []string{"non-finite a"}, "a "+text+"\nb 2\n", "a "+text+"\nb 2\n")
	}
	check(t, "histogram h{x=\"2\"} 1:5 count 5 sum 2\n", []string{"non-finite h"},
		lines("# TYPE h histogram", `h_bucket{x="1",le="1"} 5`, `h_sum{x="1"} NaN`, `h_count{x="1"} 5`,
			`h_bucket{x="2",le="1"} 5`, `h_sum{x="2"} 2`, `h_count{x="2"} 5`))
}

func TestHistogramThatWasNotFiniteAtFirst(t *testing.T) {
	check(t, "histogram h{} 1:5 2:6 count 7 sum 2\n", []string{"non-finite h"},
		lines("# TYPE h histogram", `h_bucket{le="1"} 5`, `h_sum NaN`),
		lines("# TYPE h histogram", `h_bucket{le="2"} 6`, `h_bucket{le="1"} 5`, "h_sum 2", "h_count 7"))
}

func TestHistograms(t *testing.T) {
	head := "# TYPE h histogram\n"
	for _, c := range []struct{ name, body, want string }{
		{"buckets out of order", lines(`h_bucket{le="+Inf"} 4`, `h_bucket{le="10"} 3`, `h_bucket{le="2"} 1`, "h_sum 9",
			"h_count 4"),
			"histogram h{} 2:1 10:3 +Inf:4 count 4 sum 9\n"},
		{"bounds keep their text", lines(`h_bucket{le="1e-05"} 1`, `h_bucket{le="1.0"} 2`, `h_bucket{le="2"} 2`,
			"h_count 2"),
			"histogram h{} 1e-05:1 1.0:2 2:2 count 2 sum 0\n"},
		{"no le is +Inf", lines("h_bucket 4", "h_sum 9", "h_count 4"), "histogram h{} +Inf:4 count 4 sum 9\n"},
		{"no count is the +Inf bucket", lines(`h_bucket{le="1"} 1`, `h_bucket{le="+Inf"} 4`, "h_sum 9"),
			"histogram h{} 1:1 +Inf:4 count 4 sum 9\n"},
		{"no count and no +Inf is 0", lines(`h_bucket{le="1"} 1`), "histogram h{} 1:1 count 0 sum 0\n"},
		{"no bucket", lines("h_sum 9", "h_count 4"), "histogram h{} count 4 sum 9\n"},
		{"a bound below 0", lines(`h_bucket{le="-1"} 1`, `h_bucket{le="1"} 2`, "h_count 2"),
			"histogram h{} -1:1 1:2 count 2 sum 0\n"},
		{"one bound spelled twice", lines(`h_bucket{le="1"} 1`, `h_bucket{le="1.0"} 2`, "h_count 2"),
			"histogram h{} 1:2 count 2 sum 0\n"},
		{"label sets apart", lines(`h_bucket{a="1",le="1"} 1`, `h_bucket{le="1",a="2"} 2`, `h_count{a="2"} 2`,
			`h_count{a="1"} 1`),
			"histogram h{a=\"1\"} 1:1 count 1 sum 0\nhistogram h{a=\"2\"} 1:2 count 2 sum 0\n"},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.want, nil, head+c.body, head+c.body) })
	}
	for _, inf := range []string{"Inf", "inf", "+inf", "+Inf", "Infinity"} {
		check(t, "histogram h{} +Inf:4 count 4 sum 0\n", nil, head+`h_bucket{le="`+inf+`"} 4`+"\n")
	}
}

func TestBucketWithoutANumberIsIgnored(t *testing.T) {
	check(t, "histogram h{} 1:1 count 1 sum 0\n", []string{"buckets h"},
		lines("# TYPE h histogram", `h_bucket{le="1"} 1`, `h_bucket{le="many"} 2`, `h_bucket{le="NaN"} 2`, "h_count 1"))
}

func TestTrapMissingBucketReadsZero(t *testing.T) {
	check(t, "histogram h{} 1:0 2:7 count 7 sum 3\n", nil,
		lines("# TYPE h histogram", `h_bucket{le="1"} 5`, `h_bucket{le="2"} 6`, "h_sum 2", "h_count 6"),
		lines("# TYPE h histogram", `h_bucket{le="2"} 7`, "h_sum 3", "h_count 7"))
}

func TestExtraBucketIsIgnoredWithOneNoticePerSeries(t *testing.T) {
	first := lines("# TYPE h histogram", `h_bucket{a="1",le="1"} 5`, `h_bucket{a="2",le="1"} 5`)
	second := first + lines(`h_bucket{a="1",le="0.5"} 2`, `h_bucket{a="1",le="3"} 2`, `h_bucket{a="2",le="3"} 2`)
	check(t, "histogram h{a=\"1\"} 1:5 count 0 sum 0\nhistogram h{a=\"2\"} 1:5 count 0 sum 0\n",
		[]string{`buckets h{a="1"}`, `buckets h{a="2"}`}, first, second, second)
}

func TestTrapCounterLosesTotalUntypedKeepsIt(t *testing.T) {
	check(t, "counter vllm:request_success{finished_reason=\"stop\"} 4\nunknown foo_total{} 2\n", nil,
		lines("# TYPE vllm:request_success_total counter", `vllm:request_success_total{finished_reason="stop"} 4`,
			"foo_total 2"))
}

func TestTrapCreationTimesAndUptimesNeverAppear(t *testing.T) {
	check(t, "gauge process_start_time_seconds{} 5\nunknown uptime_seconds{} 6\n", nil,
		lines("# TYPE x_created gauge", "x_created 1", "process_uptime_seconds 2",
			"# TYPE dynamo_component_uptime_seconds gauge",
			"dynamo_component_uptime_seconds 3", "a_uptime 4", "# TYPE b_uptime_total counter", "b_uptime_total 4",
			"# TYPE process_start_time_seconds gauge", "process_start_time_seconds 5", "uptime_seconds 6"))
}

func TestSummariesAreSkippedWithOneNotice(t *testing.T) {
	body := lines("# TYPE s summary", `s{quantile="0.5"} NaN`, "s_sum 4", "s_count 2", "# TYPE g gauge", "g 1",
		"s_other 3")
	check(t, "gauge g{} 1\nunknown s_other{} 3\n", []string{"summary s"}, body, body)

	var message string
	p := prom.NewParser(prom.Options{Notice: func(_ prom.NoticeKind, _, m string) { message = m }})
	if _, err := p.Parse([]byte(body), false); err != nil || message != "Skipping unsupported summary metric: s" {
		t.Errorf("notice %q, error %v", message, err)
	}
}

func TestSummariesAreKeptApartWhereTheyAreAskedFor(t *testing.T) {
	var notices collected
	p := prom.NewParser(prom.Options{Summaries: true, Notice: notices.add})
	for _, c := range []struct{ body, samples, summaries string }{
		{lines("# TYPE s summary", `s{quantile="0.9",a="1"} 7`, `s{a="1",quantile="0.5"} NaN`, `s_sum{a="1"} 4`,
			`s_count{a="1"} 2`, "# TYPE g gauge", "g 1"),
			"gauge g{} 1\n", "summary s{a=\"1\"} 0.5:NaN 0.9:7 count 2 sum 4\n"},
		// A quantile of which nothing is said is not 0; what has no quantile is none.
		{lines("# TYPE s summary", `s{quantile="0.9",a="1"} 8`, `s{a="1"} 5`, `s{a="1",quantile="x"} 5`,
			`s_sum{a="1"} 5`, `s_count{a="1"} 3`, "# TYPE g gauge", "g 2"),
			"gauge g{} 2\n", "summary s{a=\"1\"} 0.5:NaN 0.9:8 count 3 sum 5\n"},
		// A sum that is not a number is of no use.
		{lines("# TYPE s summary", `s{quantile="0.9",a="1"} 8`, `s_sum{a="1"} NaN`, `s_count{a="1"} 3`,
			"# TYPE g gauge", "g 3"), "gauge g{} 3\n", ""},
		// Names of others stay as they are without summaries.
		{lines("# TYPE s_total counter", "s_total 1", "# TYPE g gauge", "g 4", "# TYPE s summary", `s_count{a="1"} 4`),
			"counter s{} 1\ngauge g{} 4\n", "summary s{a=\"1\"} 0.5:NaN 0.9:NaN count 4 sum 0\n"},
		{lines("# TYPE g gauge", "g 5"), "gauge g{} 5\n", ""},
	} {
		samples, err := p.Parse([]byte(c.body), false)
		if err != nil || dump(samples) != c.samples || dump(p.Summaries()) != c.summaries {
			t.Errorf("%s\ngave %q and %q, %v", c.body, dump(samples), dump(p.Summaries()), err)
		}
	}
	if len(notices) != 1 || notices[0] != "non-finite s" {
		t.Errorf("notices %q", notices)
	}
}

func TestTypeChange(t *testing.T) {
	gauge := lines("# TYPE a gauge", "a 1", "b 1")
	histogram := lines("# TYPE a histogram", `a_bucket{le="1"} 1`, "a_count 1", "b 1")
	check(t, "unknown b{} 1\n", []string{"incompatible a"}, gauge, histogram, histogram)
	check(t, "unknown b{} 1\n", []string{"incompatible a"}, histogram, gauge, gauge)
	check(t, "unknown b{} 1\n", []string{"incompatible a"}, gauge, lines("# TYPE a counter", "a 2", "b 1"))
	check(t, "gauge a{} 2\nunknown b{} 1\n", nil, gauge, lines("a 2", "b 1"))
	check(t, "gauge a{} 1\nunknown b{} 1\n", []string{"incompatible a"}, gauge, histogram, gauge)
	check(t, "histogram a{} 1:1 count 1 sum 0\n", []string{"incompatible a"},
		lines("# TYPE a histogram", `a_bucket{le="1"} 1`, "a_count 1", "a 7"))
}

func TestGaugeAndCounterOfOneName(t *testing.T) {
	gauge, counter := lines("# TYPE a gauge", "a 1"), lines("# TYPE a_total counter", "a_total 5")
	check(t, "gauge a{} 1\ncounter a_total{} 5\n", nil, gauge+counter)
	check(t, "counter a_total{} 5\ngauge a{} 1\n", nil, counter+gauge)
	check(t, "counter a{} 2\ncounter a_total{} 5\n", nil, lines("# TYPE a counter", "a 2")+counter)
	check(t, "histogram a{} +Inf:1 count 1 sum 0\ncounter a_total{} 5\n", nil,
		lines("# TYPE a histogram", "a_bucket 1", "a_count 1")+counter)
	check(t, "gauge a{} 1\ncounter a_total{} 5\n", nil, gauge+lines("# TYPE a_total counter", "a_total_total 5"))
	check(t, "gauge b_info{} 1\ncounter b_info_total{} 5\n", nil,
		lines("# TYPE b info", "b_info 1", "# TYPE b_info_total counter", "b_info_total 5"))
	// What is not kept takes no name.
	check(t, "counter a{} 5\n", []string{"summary a"}, lines("# TYPE a summary", "a_count 1")+counter)
	// The first body decides, whatever comes or goes later.
	check(t, "counter a_total{} 5\n", nil, gauge+counter, counter)
	check(t, "counter a{} 5\n", []string{"incompatible a"}, counter, gauge+counter)
	check(t, "gauge a{} 1\ncounter a_total{} 5\n", nil, gauge, gauge+counter)
}

func TestTheSameLinesGiveTheSameSeries(t *testing.T) {
	p := prom.NewParser(prom.Options{})
	find := func(body string) map[string]*prom.Series {
		samples, err := p.Parse([]byte(body), false)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]*prom.Series{}
		for _, s := range samples {
			found[s.Series.Family.Name+labelText(s.Series.Labels)] = s.Series
		}
		return found
	}
	first := find(lines("# TYPE a gauge", `a{x="1",y="2"} 1`, `a{x="2"} 1`, "b 1"))
	for name, body := range map[string]string{
		"other order":        lines("b 2", "# TYPE a gauge", `a{x="2"} 3`, `a{x="1",y="2"} 4`),
		"other label order":  lines("# TYPE a gauge", `a{y="2",x="1"} 1`, `a{x="2",} 1`, "b 1"),
		"new TYPE line":      lines("# TYPE a gauge", "# TYPE b gauge", `a{x="1",y="2"} 1`, `a{x="2"} 1`, "b 1"),
		"new series between": lines("# TYPE a gauge", `a{x="1",y="2"} 1`, `a{x="3"} 1`, `a{x="2"} 1`, "b 1"),
	} {
		for key, s := range find(body) {
			if first[key] != nil && first[key] != s {
				t.Errorf("%s: another series for %s", name, key)
			}
		}
	}
	families := p.Families()
	if got := fmt.Sprint(len(families), " ", families[0].Name, families[1].Name, p.Kept().Series); got != "2 ab4" {
		t.Errorf("families and series %s", got)
	}
}

func TestFamilyTellsFirstHelpAndType(t *testing.T) {
	p := prom.NewParser(prom.Options{})
	for _, body := range []string{
		lines(`# HELP a_total one \\ two\nthree \"four\"`, "# TYPE a_total counter", "a_total 1"),
		lines("# HELP a_total changed", "# TYPE a_total counter", "a_total 1"),
	} {
		if _, err := p.Parse([]byte(body), false); err != nil {
			t.Fatal(err)
		}
	}
	if f := p.Families()[0]; f.Help != "one \\ two\nthree \\\"four\\\"" || f.Type != prom.Counter || f.Name != "a" {
		t.Errorf("family %+v", f)
	}
	open := prom.NewParser(prom.Options{})
	_, err := open.Parse([]byte(lines(`# HELP a say \"hi\"`, "# TYPE a counter", "a_total 1")), true)
	if err != nil || open.Families()[0].Help != `say "hi"` {
		t.Errorf("OpenMetrics help %q, %v", open.Families()[0].Help, err)
	}
}

func TestMalformedBodies(t *testing.T) {
	for body, want := range map[string]string{
		"<html><body>no</body></html>": `line 1: expected a metric name and a value, got "<html><body>no</body></html>"`,
		`[{"a": 1}]`:                   `line 1: expected a metric name and a value, got "[{\"a\": 1}]"`,
		`{"a": 1}`:                     `line 1: expected , or } between labels, got ": 1}"`,
		"{}":                           `line 1: no metric name in "{}"`,
		"OK":                           `line 1: expected a metric name and a value, got "OK"`,
		"a\n":                          `line 1: expected a metric name and a value, got "a"`,
		"a 1\n\nb x\n":                 `line 3: expected a number after "b ", got "x"`,
		"a 1\nb \n":                    `line 2: expected a number after "b ", got the end of the line`,
		"a 1\n# c\na{x=\"1\" 2\n":      `line 3: labels are not closed by }`,
		"a{x=\"1} 2\n":                 `line 1: labels are not closed by }`,
		"a{x=\"1\\\n\"} 2\n":           `line 1: labels are not closed by }`,
		"a{x=1} 2":                     `line 1: expected a value in "quotes" for the label x, got "1} "`,
		`a{x="1"y="2"} 2`:              `line 1: expected , or } between labels, got "y=\"2\"} "`,
		`a{,x="1"} 2`:                  `line 1: expected a label name, got ",x=\"1\"} "`,
		`a{x="1",,} 2`:                 `line 1: two commas in "a{x=\"1\",,} "`,
		`a{x} 2`:                       `line 1: expected = after the label name x, got "} "`,
		`a{1x="2"} 2`:                  `line 1: expected a label name, got "1x=\"2\"} "`,
		`a{"b"} 2`:                     `line 1: second metric name "b" in "a{\"b\"} "`,
		`{x="1"} 2`:                    `line 1: no metric name in "{x=\"1\"} "`,
		`{""} 2`:                       `line 1: a quoted name is empty`,
		"a 0x1p3":                      `line 1: expected a number after "a ", got "0x1p3"`,
		"a 1_000":                      `line 1: expected a number after "a ", got "1_000"`,
		"a 1}":                         `line 1: expected a number after "a ", got "1}"`,
		"a 1 yesterday":                `line 1: expected a time stamp or the end of the line after the value, got "yesterday"`,
		"a 1 2 3":                      `line 1: expected the end of the line after the time stamp, got "3"`,
		"5xx 3":                        `line 1: expected a metric name and a value, got "5xx 3"`,
		"my.metric 3":                  `line 1: expected a metric name and a value, got "my.metric 3"`,
		"\x1f\x8b\x08\x00\x00":         `line 1: expected a metric name and a value, got "\x1f\x8b\b\x00\x00"`,
		"a 1\n" + strings.Repeat("z", 1000): `line 2: expected a metric name and a value, got "` +
			strings.Repeat("z", 60) + `…"`,
	} {
		_, err := prom.NewParser(prom.Options{}).Parse([]byte(body), false)
		var syntax *prom.SyntaxError
		if !errors.As(err, &syntax) || err.Error() != want {
			t.Errorf("%q: got  %v\nwant %s", body, err, want)
		}
	}
}

func TestMalformedBodyLeavesNothing(t *testing.T) {
	var notices collected
	p := prom.NewParser(prom.Options{Notice: notices.add})
	good := lines("# TYPE a gauge", "a 1")
	bad := lines("# TYPE a counter", "a 2", `a{new="1"} 2`, "b NaN", "# TYPE s summary", "s 1", "oops")
	for _, body := range []string{bad, good, bad, good} {
		samples, err := p.Parse([]byte(body), false)
		if (err != nil) != (body == bad) {
			t.Fatal(err)
		}
		if body == good && dump(samples) != "gauge a{} 1\n" {
			t.Errorf("got %s", dump(samples))
		}
	}
	if k, families := p.Kept(), p.Families(); len(families) != 1 || k.Series != 1 || len(notices) != 0 {
		t.Errorf("%d families, %d series, notices %q", len(families), k.Series, notices)
	}
}

func TestTooManySeries(t *testing.T) {
	var notices collected
	p := prom.NewParser(prom.Options{MaxSeries: 3, Notice: notices.add})
	for i := range 5 {
		body := lines(fmt.Sprintf(`a{i="%d"} 1`, i), fmt.Sprintf("b%d 1", i))
		if _, err := p.Parse([]byte(body), false); err != nil {
			t.Fatal(err)
		}
	}
	k, families := p.Kept(), p.Families()
	if k.Series != 3 || len(families) != 2 || len(notices) != 1 || notices[0] != "too-many-series " {
		t.Errorf("%d series, %d families, notices %q", k.Series, len(families), notices)
	}
}

func TestHistogramsWithoutEndAreLimited(t *testing.T) {
	var notices collected
	const boundSize = 48 // what a bucket counts
	p := prom.NewParser(prom.Options{MaxText: 3 * boundSize, Notice: notices.add})
	for i := range 5 {
		body := lines("# TYPE h histogram", fmt.Sprintf(`h_bucket{i="%d",le="1"} 1`, i),
			fmt.Sprintf(`h_bucket{i="%d",le="2"} 2`, i))
		if _, err := p.Parse([]byte(body), false); err != nil {
			t.Fatal(err)
		}
	}
	if k := p.Kept(); k.Series != 2 || len(notices) != 1 || notices[0] != "too-many-series " {
		t.Errorf("kept %+v, notices %q", k, notices)
	}
}

func TestLinesThatNeverComeBackAreForgotten(t *testing.T) {
	p := prom.NewParser(prom.Options{MaxSeries: 10})
	for i := range 100 {
		var b strings.Builder
		for j := range 100 {
			fmt.Fprintf(&b, "a{request=\"%d\"} 1\n", i*100+j)
		}
		if _, err := p.Parse([]byte(b.String()), false); err != nil {
			t.Fatal(err)
		}
	}
	const spareLines = 1024 // those of earlier bodies beyond twice the current ones
	if k := p.Kept(); k.Lines > 2*100+spareLines+100 || k.Lines < 100 || k.Series != 10 {
		t.Errorf("kept %+v", k)
	}
}

func TestManySkippedNamesAreNotRememberedForEver(t *testing.T) {
	const maxNotices = 10000 // what is remembered of notices
	given := 0
	p := prom.NewParser(prom.Options{Notice: func(prom.NoticeKind, string, string) { given++ }})
	var b strings.Builder
	for i := range maxNotices + 500 {
		fmt.Fprintf(&b, "# TYPE s%d summary\ns%d_count 1\n", i, i)
	}
	if _, err := p.Parse([]byte(b.String()), false); err != nil {
		t.Fatal(err)
	}
	if k := p.Kept(); given != maxNotices || k.Notices != maxNotices {
		t.Errorf("%d notices, kept %+v", given, k)
	}
}
