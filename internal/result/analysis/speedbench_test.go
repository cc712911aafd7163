package analysis

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// run is a folder of a run as its summary and server metrics have it.
type run struct{ dir, config, metrics, server string }

func written(t *testing.T, runs ...run) string {
	t.Helper()
	root := t.TempDir()
	for _, r := range runs {
		dir := filepath.Join(root, r.dir)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		files := map[string]string{"profile_export_aiperf.json": fmt.Sprintf(
			`{"input_config":%s,"request_count":{"unit":"requests","avg":1.0}%s}`, r.config, r.metrics)}
		if r.server != "" {
			files["server_metrics_export.json"] = `{"metrics":` + r.server + `}`
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

// of is the configuration of a model and a dataset.
func of(model, dataset string) string {
	return fmt.Sprintf(`{"models":[%q],"datasets":[{"name":"default","type":"public","dataset":%q}]}`, model, dataset)
}

func gauge(name, value string) string {
	return fmt.Sprintf(`{%q:{"series":[{"stats":{"avg":%s}},{"stats":{"avg":99.0}}]}}`, name, value)
}

// counters are those of vLLM: accepted, drafts, drafted tokens.
func counters(suffix string, accepted, drafts, tokens string) string {
	series := func(list string) string {
		var out []string
		for v := range strings.SplitSeq(list, "+") {
			out = append(out, `{"stats":{"total":`+v+`}}`)
		}
		return `{"series":[` + strings.Join(out, ",") + `]}`
	}
	return fmt.Sprintf(`{"vllm:spec_decode_num_accepted_tokens%s":%s,"vllm:spec_decode_num_drafts%s":%s,"vllm:spec_decode_num_draft_tokens%s":%s}`,
		suffix, series(accepted), suffix, series(drafts), suffix, series(tokens))
}

// matrix assembles what lies below a folder; each row is a line of cells.
func matrix(t *testing.T, root, metric string) (lines []string, warnings []string) {
	t.Helper()
	runs, err := FindRuns([]string{root})
	if err != nil {
		t.Fatal(err)
	}
	m := Assemble(runs, metric, func(w string) {
		warnings = append(warnings, strings.ReplaceAll(w, root+string(filepath.Separator), ""))
	})
	for _, row := range m.Table("-") {
		lines = append(lines, strings.Join(row, " "))
	}
	if len(m.Rows) == 0 {
		return nil, warnings
	}
	return lines, warnings
}

func TestValuesComeFromTheBestSource(t *testing.T) {
	for name, test := range map[string]struct {
		metric, server, summary, want string
	}{
		"length of SGLang": {AcceptLength, gauge("sglang:spec_accept_length", "3.126"), "", "3.13"},
		"length of vLLM": {AcceptLength, gauge("vllm:spec_decode_mean_accepted_length", "2.5"), "",
			"2.50"},
		"length of TensorRT-LLM":           {AcceptLength, gauge("trtllm:spec_accept_length", "3.5"), "", "3.50"},
		"length by counters":               {AcceptLength, counters("", "450.0", "200.0", "1000.0"), "", "3.25"},
		"length by counters with a suffix": {AcceptLength, counters("_total", "450.0", "200.0", "1000.0"), "", "3.25"},
		"length of several engines": {AcceptLength, counters("", "450.0+50.0", "200.0+300.0", "1000.0+1000.0"),
			"", "2.00"},
		"length without a draft":  {AcceptLength, counters("", "0.0", "0.0", "0.0"), "", ""},
		"length by any such name": {AcceptLength, gauge("engine_spec_mean_accept_length", "2.0"), "", "2.00"},
		"length is not a number":  {AcceptLength, gauge("sglang:spec_accept_length", "NaN"), "", ""},
		"length null":             {AcceptLength, gauge("sglang:spec_accept_length", "null"), "", ""},
		"length by requests": {AcceptLength, "",
			`,"spec_decode_token_weighted_acceptance_length":{"unit":"ratio","avg":3.083333}`, "3.08"},
		"rate of SGLang":   {AcceptRate, gauge("sglang:spec_accept_rate", "0.75"), "", "0.75"},
		"rate by counters": {AcceptRate, counters("", "450.0", "200.0", "1000.0"), "", "0.45"},
		"rate by requests": {AcceptRate, "",
			`,"spec_decode_overall_draft_acceptance_rate":{"unit":"%","avg":52.083333}`, "0.52"},
		"throughput":    {Throughput, "", `,"output_token_throughput":{"unit":"tokens/sec","avg":1234.5}`, "1234.50"},
		"no throughput": {Throughput, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			lines, _ := matrix(t, written(t, run{"a", of("M", "speed_bench_qa"), test.summary, test.server}),
				test.metric)
			if test.want == "" {
				if lines != nil {
					t.Errorf("got %q", lines)
				}
				return
			}
			if want := []string{"Model qa Overall", "M " + test.want + " " + test.want}; !slices.Equal(lines, want) {
				t.Errorf("got %q, want %q", lines, want)
			}
		})
	}
}

func TestColumnsAndRows(t *testing.T) {
	length := func(v string) string { return gauge("sglang:spec_accept_length", v) }
	for name, test := range map[string]struct {
		runs []run
		want []string
	}{
		"qualitative categories keep their order, models theirs": {
			[]run{{"1", of("B", "speed_bench_stem"), "", length("4.0")},
				{"2", of("A", "speed_bench_coding"), "", length("2.0")},
				{"3", of("A", "speed_bench_stem"), "", length("3.0")}},
			[]string{"Model coding stem Overall", "A 2.00 3.00 2.50", "B - 4.00 4.00"},
		},
		"tiers of each input length have a row": {
			[]run{
				{"1", of("A", "speed_bench_throughput_16k_mixed"), "", length("1.0")},
				{"2", of("A", "speed_bench_throughput_2k_high_entropy"), "", length("2.0")},
				{"3", of("A", "speed_bench_throughput_2k_low_entropy"), "", length("3.0")},
			},
			[]string{"Model low_entropy mixed high_entropy Overall", "A (2k) 3.00 - 2.00 2.50",
				"A (16k) - 1.00 - 1.00"},
		},
		"other categories are sorted": {
			[]run{{"1", of("A", "speed_bench_throughput_8k"), "", length("1.0")},
				{"2", of("A", "speed_bench_qualitative"), "", length("2.0")}},
			[]string{"Model qualitative throughput_8k Overall", "A 2.00 1.00 1.50"},
		},
		"a configuration by sections": {
			[]run{{"1", `{"endpoint":{"model_names":["A/b"]},"input":{"public_dataset":"speed_bench_math"}}`, "",
				length("2.0")}},
			[]string{"Model math Overall", "A/b 2.00 2.00"},
		},
		"a flat configuration": {
			[]run{{"1", `{"model":"A","public_dataset":"speed_bench_math"}`, "", length("2.0")}},
			[]string{"Model math Overall", "A 2.00 2.00"},
		},
		"several models": {
			[]run{{"1", `{"models":{"strategy":"random","items":[{"name":"A"},{"name":"B"}]},"datasets":[{"type":"public","dataset":"speed_bench_math"}]}`, "", length("2.0")}},
			[]string{"Model math Overall", "A 2.00 2.00"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if lines, _ := matrix(t, written(t, test.runs...), AcceptLength); !slices.Equal(lines, test.want) {
				t.Errorf("got %q, want %q", lines, test.want)
			}
		})
	}
}

func TestRunsThatDoNotCountAreReported(t *testing.T) {
	root := written(t,
		run{"1", `{"models":["A"],"datasets":[{"type":"synthetic"}]}`, "", gauge("sglang:spec_accept_length", "1.0")},
		run{"2", of("A", "speed_bench_qa"), "", ""},
		run{"3", of("A", "speed_bench_qa"), "", gauge("sglang:spec_accept_length", "1.0")},
		run{"4", of("A", "speed_bench_qa"), "", gauge("sglang:spec_accept_length", "2.0")},
		run{"5", of("A", "speed_bench_qa"), "", `{}`},
	)
	lines, warnings := matrix(t, root, AcceptLength)
	if want := []string{"Model qa Overall", "A 2.00 2.00"}; !slices.Equal(lines, want) {
		t.Errorf("got %q", lines)
	}
	want := []string{
		"cannot determine category from 1, skipping",
		"there is no " + filepath.Join("2", "server_metrics_export.json"),
		"5 has no accept length",
		"3 and 4 are both qa of A; the latter is used",
	}
	if !slices.Equal(warnings, want) {
		t.Errorf("got %q, want %q", warnings, want)
	}
}

func TestFindRuns(t *testing.T) {
	root := written(t, run{"a/b", of("A", "speed_bench_qa"), "", ""}, run{"a/a", of("A", "speed_bench_qa"), "", ""},
		run{"c/d/e", of("A", "speed_bench_qa"), "", ""})
	for path, want := range map[string][]string{"a": {"a/a", "a/b"}, "a/b": {"a/b"}, "c": nil, "c/d": {"c/d/e"}} {
		runs, err := FindRuns([]string{filepath.Join(root, path)})
		if err != nil {
			t.Fatal(err)
		}
		for i := range runs {
			runs[i], _ = filepath.Rel(root, runs[i])
			runs[i] = filepath.ToSlash(runs[i])
		}
		if !slices.Equal(runs, want) {
			t.Errorf("%s: got %q, want %q", path, runs, want)
		}
	}
	if _, err := FindRuns([]string{filepath.Join(root, "none")}); err == nil {
		t.Error("a path that is not there is accepted")
	}
}

func FuzzWithoutNaN(f *testing.F) {
	f.Add([]byte(`{"a":NaN,"b":"NaN \" Infinity","c":-Infinity,"d":[1,-2,Infinity]}`))
	f.Fuzz(func(t *testing.T, data []byte) { withoutNaN(data) })
}
