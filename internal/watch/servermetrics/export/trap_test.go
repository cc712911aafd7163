package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/servermetrics/export"
)

func wants(t *testing.T, where, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", where, part, text)
		}
	}
}

func lacks(t *testing.T, where, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%s has %q:\n%s", where, part, text)
		}
	}
}

func TestTrap17CounterLosesTotalAndUntypedKeepsIt(t *testing.T) {
	c := vllm(t)
	c.page(url, 2*time.Second, "foo_total 1\n")
	out := c.json()
	wants(t, "JSON", out, "\"vllm:request_success\": {\n      \"type\": \"counter\"", "\"unit\": \"requests\"",
		"\"foo_total\": {\n      \"type\": \"unknown\",\n      \"description\": \"\",\n      \"unit\": \"count\"")
	lacks(t, "JSON", out, "request_success_total")
}

func TestTrap18ConstantServer(t *testing.T) {
	c := newCollection(t)
	path := filepath.Join(t.TempDir(), "server_metrics_export.jsonl")
	var err error
	c.recorder, err = export.NewRecorder(path, export.SidecarPath(path), c.info, export.RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 60 {
		c.page(url, time.Duration(n)*100*time.Millisecond, "# TYPE g gauge\ng 1\n")
	}
	wants(t, "JSON", c.json(), "\"total_fetches\": 60,", "\"unique_updates\": 1,", "\"duration_seconds\": 0.0,",
		"\"avg_update_interval_ms\": 0.0\n")
	if err := c.recorder.Finish(c.info, c.store); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte{'\n'}); n != 60 {
		t.Errorf("%d lines, want 60", n)
	}
	if rows := parquetRows(t, c.run()); len(rows) != 60 {
		t.Errorf("%d rows, want 60", len(rows))
	}
}

func TestTrap21CumulativeBucketsAsTheyAre(t *testing.T) {
	c := newCollection(t)
	page := func(counts ...string) string {
		b := "# TYPE h histogram\n"
		for i, le := range []string{"2.5", "5", "10", "15", "20", "30", "+Inf"} {
			b += `h_bucket{le="` + le + `"} ` + counts[i] + "\n"
		}
		return b + "h_sum 100\nh_count " + counts[6] + "\n"
	}
	c.page(url, -time.Second, page("1", "1", "1", "1", "1", "1", "1"))
	c.page(url, time.Second, page("2", "2", "4", "12", "19", "19", "20"))
	wants(t, "JSON", strings.Join(strings.Fields(c.json()), ""),
		`"buckets":{"2.5":1,"5":1,"10":3,"15":11,"20":18,"30":18,"+Inf":19}`)
	var got []string
	for _, row := range parquetRows(t, c.run()) {
		got = append(got, row["bucket_le"].(string)+"="+text(row["bucket_count"]))
	}
	if want := "2.5=1 5=1 10=3 15=11 20=18 30=18 +Inf=19"; strings.Join(got, " ") != want {
		t.Errorf("Parquet has %v, want %s", got, want)
	}
}

func TestTrap22ReservedLabelsGetNoColumn(t *testing.T) {
	c := newCollection(t)
	c.page(url, time.Second, "# TYPE g gauge\ng{count=\"3\",value=\"x\",metric_name=\"y\",z=\"\"} 1\n")
	wants(t, "JSON", c.json(), `"count": "3"`, `"value": "x"`)
	wants(t, "CSV", c.csv(), "count,metric_name,value,z,Description")
	rows := parquetRows(t, c.run())
	if got := rows[0]; got["count"] != nil || got["value"] != 1.0 || got["metric_name"] != "g" || got["z"] != "" {
		t.Errorf("Parquet row is %v", got)
	}
	m := footerOf(t, c.run())
	if m("aiperf.label_columns") != `["z"]` || m("aiperf.label_count") != "1" {
		t.Errorf("label columns %s, count %s", m("aiperf.label_columns"), m("aiperf.label_count"))
	}
}

func TestTrap23IntegralFloatsKeepPointZero(t *testing.T) {
	c := newCollection(t)
	c.page(url, 0, "# TYPE g gauge\ng 1024\n# TYPE h histogram\nh_bucket{le=\"+Inf\"} 0\nh_count 0\nh_sum 0\n")
	c.page(url, time.Second, "# TYPE g gauge\ng 1024\n# TYPE h histogram\nh_bucket{le=\"+Inf\"} 50\nh_count "+
		"50\nh_sum 50\n")
	wants(t, "JSON", c.json(), `"avg": 1024.0,`, `"count": 50,`, `"sum": 50.0,`)
	wants(t, "CSV", c.csv(), ",1024.0000,", "histogram,h,,50,50.0000,50.0000,")
}

func TestTrap24NothingOfSlicesWithoutSlices(t *testing.T) {
	c := vllm(t)
	lacks(t, "JSON", c.json(), "timeslices", "rate_avg", "rate_std")
	wants(t, "CSV", c.csv(), "rate,rate_avg,rate_min,rate_max,rate_std,", "4.0000,0.3999,,,,,0,")
	c.info.SliceNS = 4 * second
	wants(t, "JSON", c.json(), "timeslices", "rate_avg", "is_complete\": false")
}

func TestTrap25TimesAreLocalWithoutZone(t *testing.T) {
	whole := int64(1765382833000000000)
	for _, c := range []struct {
		ns   int64
		zone *time.Location
		want string
	}{
		{start, time.UTC, "2025-12-10T16:07:13.596361"},
		{start + 999, time.UTC, "2025-12-10T16:07:13.596361"},
		{whole, time.UTC, "2025-12-10T16:07:13"},
		{whole + 999, time.UTC, "2025-12-10T16:07:13"},
		{whole + 1000, time.FixedZone("", -3600), "2025-12-10T15:07:13.000001"},
	} {
		run := newCollection(t)
		run.info.Window, run.info.Location = servermetrics.Window{StartNS: c.ns, EndNS: c.ns}, c.zone
		wants(t, "JSON", run.json(), `"start_time": "`+c.want+`",`, `"end_time": "`+c.want+`",`)
	}
}

func TestTrap26SkippedFamiliesNeverAppear(t *testing.T) {
	c := vllm(t)
	all := c.json() + c.csv()
	lacks(t, "the exports", all, "x_created", "process_uptime_seconds")
	wants(t, "the exports", all, "process_start_time_seconds")
}

func TestTrap27NegativeBucketsVanishAlone(t *testing.T) {
	c := newCollection(t)
	c.page(url, 0, "# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 2\nh_sum 1\nh_count 2\n")
	c.page(url, time.Second, "# TYPE h histogram\nh_bucket{le=\"+Inf\"} 5\nh_sum 4\nh_count 5\n")
	out := c.json()
	wants(t, "JSON", out, "\"count\": 3,", "\"sum\": 3.0,", "\"avg\": 1.0,")
	lacks(t, "JSON", out, "buckets", "_estimate")
	wants(t, "CSV", c.csv(), "histogram,h,,3,3.0000,3.0000,3.0000,1.0000,,,,,,,,,,,\r\n")
}

func TestTrap28MetricCountIsOfNames(t *testing.T) {
	c := newCollection(t)
	body := ""
	for _, g := range []string{"a", "b", "c"} {
		body += "# TYPE " + g + " gauge\n" + g + "{x=\"1\"} 1\n" + g + "{x=\"2\"} 2\n"
	}
	body += "# TYPE d counter\nd_total{x=\"1\"} 1\nd_total{x=\"2\"} 2\n"
	c.page(url, time.Second, body)
	c.page("http://b/metrics", time.Second, body)
	m := footerOf(t, c.run())
	if m("aiperf.metric_count") != "4" ||
		m("aiperf.metric_type_counts") != `{"gauge":3,"counter":1,"histogram":0,"unknown":0}` {
		t.Errorf("count %s, types %s", m("aiperf.metric_count"), m("aiperf.metric_type_counts"))
	}
	var out struct {
		Metrics map[string]struct{ Series []any }
	}
	if err := json.Unmarshal([]byte(c.json()), &out); err != nil {
		t.Fatal(err)
	}
	for name, f := range out.Metrics {
		if len(f.Series) != 4 {
			t.Errorf("%s has %d series", name, len(f.Series))
		}
	}
	if len(out.Metrics) != 4 {
		t.Errorf("%d metrics", len(out.Metrics))
	}
}

func TestNothingIsWrittenWithoutASample(t *testing.T) {
	c := newCollection(t)
	c.store.Endpoint(url)
	dir := t.TempDir()
	if err := export.All(t.Context(), exporters(dir, c.run()),
		func(e export.Exporter) { t.Errorf("%s written", e.Name()) }, func(m string) { t.Error(m) }); err != nil {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("directory holds %v", files)
	}
}

func exporters(dir string, r *export.Collection) []export.Exporter {
	base := filepath.Join(dir, "server_metrics_export")
	return []export.Exporter{
		export.JSON{Path: base + ".json", Run: r}, export.CSV{Path: base + ".csv", Run: r},
		export.Parquet{Path: base + ".parquet", Run: r},
		export.LegacyJSON{Path: base + "_legacy.json", Run: r},
	}
}

func TestParquetWithoutRowsIsAWarning(t *testing.T) {
	c := newCollection(t)
	c.page(url, -time.Second, "# TYPE g gauge\ng 1\n")
	dir := t.TempDir()
	var warnings []string
	if err := export.All(t.Context(), exporters(dir, c.run()), func(export.Exporter) {},
		func(m string) { warnings = append(warnings, m) }); err != nil {
		t.Fatal(err)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "Parquet") {
		t.Errorf("warnings %q", warnings)
	}
	if _, err := os.Stat(filepath.Join(dir, "server_metrics_export.parquet")); err == nil {
		t.Error("a file without rows is there")
	}
}

func TestLabelColumnOrder(t *testing.T) {
	for _, c := range []struct{ series, want string }{
		{"a,b b,c z x,y", "a c b x y z"},
		{"engine,model_name engine,finished_reason,model_name method", "finished_reason engine model_name method"},
		{"b,c a,b", "a c b"},
		{"a c a,c b", "a c b"},
		{"", ""},
	} {
		page := "# TYPE g gauge\ng 1\n"
		for i, set := range strings.Fields(c.series) {
			page += fmt.Sprintf("# TYPE g%d gauge\ng%d{%s=\"v\"} 1\n", i, i, strings.ReplaceAll(set, ",", `="v",`))
		}
		run := newCollection(t)
		run.page(url, time.Second, page)
		header, _, _ := strings.Cut(run.csv(), ",Description\r\n")
		_, labels, found := strings.Cut(header, ",p99")
		if got := strings.TrimPrefix(strings.ReplaceAll(labels, ",", " "), " "); !found || got != c.want {
			t.Errorf("%s: %s, want %s", c.series, got, c.want)
		}
	}
}

// The documented way to read the file: split it at empty lines, read each block as CSV.
func TestCSVIsReadAsDocumented(t *testing.T) {
	blocks := strings.Split(vllm(t).csv(), "\r\n\r\n")
	var kinds []string
	for _, block := range blocks {
		rows, err := csv.NewReader(strings.NewReader(block)).ReadAll() // wants equally many cells in all rows
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, rows[1][1])
	}
	if want := []string{"gauge", "counter", "histogram", "unknown", "vllm:cache_config_info"}; !slices.Equal(kinds,
		want) {
		t.Errorf("sections %v, want %v", kinds, want)
	}
}

func TestInfoFamilyWithoutLabelsLeavesNoRow(t *testing.T) {
	c := newCollection(t)
	c.page(url, time.Second, "# TYPE a_info gauge\na_info 1\n# TYPE b_info counter\nb_info_total{k=\"v\"} 1\n")
	wants(t, "CSV", c.csv(), "counter,b_info,,0.0000,0.0000,,,,,v,\r\n")
	lacks(t, "CSV", c.csv(), "a_info", "Key")
}

func TestShortEndpoint(t *testing.T) {
	for url, want := range map[string]string{
		"http://localhost:8000/metrics": "localhost:8000", "https://h:8000/v1/metrics": "h:8000/v1",
		"http://h:8000/prometheus/metrics": "h:8000/prometheus", "http://<redacted>@h/metrics": "<redacted>@h",
	} {
		c := newCollection(t)
		c.page(url, time.Second, "# TYPE g gauge\ng 1\n")
		wants(t, "CSV of "+url, c.csv(), "Description\r\n"+want+",gauge,g,")
	}
}

func TestSidecarPath(t *testing.T) {
	for recording, want := range map[string]string{
		"d/server_metrics_export.jsonl": "d/server_metrics_recording.json",
		"P_server_metrics.jsonl":        "P_server_metrics_recording.json",
		"x.jsonl":                       "x_recording.json",
	} {
		if got := export.SidecarPath(recording); got != want {
			t.Errorf("%s: %s, want %s", recording, got, want)
		}
	}
}

func TestHistogramWithoutBucketsKeepsAnEmptyMap(t *testing.T) {
	c := newCollection(t)
	for n := range 4 {
		c.page(url, time.Duration(n)*time.Second,
			fmt.Sprintf("# TYPE h histogram\nh_sum %d\nh_count %d\n# TYPE g histogram\ng_bucket{le=\"+Inf\"} "+
				"1\ng_count 1\n", n, n))
	}
	c.info.SliceNS = int64(time.Second)
	var out struct {
		Metrics map[string]struct {
			Series []struct {
				Buckets    *map[string]int
				Timeslices []struct{ Buckets *map[string]int }
			}
		}
	}
	if err := json.Unmarshal([]byte(c.json()), &out); err != nil {
		t.Fatal(err)
	}
	h, g := out.Metrics["h"].Series[0], out.Metrics["g"].Series[0]
	if h.Buckets == nil || len(*h.Buckets) != 0 || len(h.Timeslices) == 0 {
		t.Errorf("no buckets: %+v", h)
	}
	for _, s := range h.Timeslices {
		if s.Buckets != nil {
			t.Errorf("a slice of no buckets lists them: %v", *s.Buckets)
		}
	}
	if g.Buckets == nil || len(*g.Buckets) != 1 {
		t.Errorf("a bucket: %v", g.Buckets)
	}
}
