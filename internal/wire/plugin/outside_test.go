package plugin_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"

	"aiperf/internal/wire/plugin"
)

// answers is a plug-in that answers its calls, in order, with the results that the variable AIPERF_TEST_RESULTS lists;
// a method that it does not expect is a failure.
func answers(results string) {
	fmt.Println(`{"aiperf_plugin":1}`)
	in := json.NewDecoder(os.Stdin)
	var greeting any
	_ = in.Decode(&greeting)
	for _, line := range strings.Split(results, "\n") {
		var call struct {
			ID     uint64
			Method string
			Params json.RawMessage
		}
		if in.Decode(&call) != nil {
			return
		}
		method, result, _ := strings.Cut(line, " ")
		switch {
		case method != call.Method:
			fmt.Printf(`{"id":%d,"error":"%s instead of %s"}`+"\n", call.ID, call.Method, method)
		case result == "crash":
			fmt.Fprintln(os.Stderr, "first\nout of paper")
			os.Exit(7)
		default:
			result = strings.ReplaceAll(result, "PARAMS", string(call.Params))
			fmt.Printf(`{"id":%d,"result":%s}`+"\n", call.ID, result)
		}
	}
	_, _ = in.Token() // until aiperf closes the input
}

// startAnswers starts this binary as a plug-in that gives these results.
func startAnswers(t *testing.T, results ...string) *plugin.Host {
	t.Helper()
	t.Setenv("AIPERF_TEST_RESULTS", strings.Join(results, "\n"))
	h, err := start(t, "answers", func(o *plugin.Options) { o.Quote = true })
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestLoading(t *testing.T) {
	for _, c := range []struct {
		results     []string
		lines, fail string
	}{
		{[]string{`load {"lines":[{ "text": "a" }],"more":true}`, `load {"lines":[PARAMS]}`},
			`{"text":"a"}` + "\n" + `{"file":"f","format":"single_turn","part":1}` + "\n", ""},
		{[]string{`load {"lines":[]}`}, "", "found nothing"},
		{[]string{`load {"lines":[],"more":true}`}, "", "part 0 has no lines"},
		{[]string{`load {"lines":[{"text":"a"},"b"]}`}, "", `line 2 is not a JSON object: "b"`},
		{[]string{`load {"lines":7}`}, "", "not what the protocol asks for"},
		{[]string{`load crash`}, "", "the plugin ended; its standard error ends with: first\nout of paper"},
	} {
		var lines strings.Builder
		err := startAnswers(t, c.results...).Load(t.Context(), "f", "single_turn", func(line []byte) error {
			lines.Write(line)
			return nil
		})
		if c.fail == "" && (err != nil || lines.String() != c.lines) ||
			c.fail != "" && (err == nil || !strings.Contains(err.Error(), c.fail)) {
			t.Errorf("%s: %v\n%s", c.results, err, lines.String())
		}
	}
}

func TestTrapMetricsOfRequestsAndOfRuns(t *testing.T) {
	records := func(n int) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for i := range n {
				if !yield(fmt.Appendf(nil, `{"n":%d}`, i), nil) {
					return
				}
			}
		}
	}
	for _, c := range []struct {
		records int
		results []string
		values  string
		fail    string
	}{
		{3, []string{`measure {"values":[1.5,null,2]}`, `finish {}`}, "[1.5 2]", ""},
		{1001, []string{`measure {}`, `measure {}`, `finish {"value":4}`}, "4", ""},
		{0, []string{`finish {}`}, "[]", ""},
		{3, []string{`measure {"values":[1]}`}, "", "1 values for 3 records"},
		{1, []string{`measure {"values":[1]}`, `finish {"value":4}`}, "", "one of both"},
		{1, []string{`measure {"values":["a"]}`}, "", "not what the protocol asks for"},
		{1, []string{`measure {"values":[1]}`, `finish crash`}, "", "out of paper"},
	} {
		m, err := startAnswers(t, c.results...).Measure(records(c.records))
		text := fmt.Sprint(m.Values)
		if m.Value != nil {
			text = fmt.Sprint(*m.Value)
		}
		if c.fail == "" && (err != nil || text != c.values) ||
			c.fail != "" && (err == nil || !strings.Contains(err.Error(), c.fail)) {
			t.Errorf("%s: %v %s", c.results, err, text)
		}
	}
}

func TestExporting(t *testing.T) {
	h := startAnswers(t, `export {"message":"wrote a.md"}`)
	message, err := h.Export(&plugin.ExportParams{Folder: "/run", Summary: json.RawMessage(`{"a":1}`),
		SummaryFile: "s.json"})
	if err != nil || message != "wrote a.md" {
		t.Errorf("%q %v", message, err)
	}
	if _, err := h.Export(&plugin.ExportParams{}); err == nil {
		t.Error("a program that does not answer exports")
	}
}

func TestTrapProgramOfAnotherCategory(t *testing.T) {
	_, err := start(t, "exporter", func(o *plugin.Options) { o.Greeting.Category = "metric" })
	if err == nil || !strings.Contains(err.Error(), "category data_exporter, not metric") {
		t.Errorf("%v", err)
	}
}
