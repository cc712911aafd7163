package export_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/testkit"
	"aiperf/internal/watch/servermetrics/export"
)

func TestGoldenFiles(t *testing.T) {
	c := newCollection(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "server_metrics_export.jsonl")
	var err error
	c.recorder, err = export.NewRecorder(path, export.SidecarPath(path), c.info, export.RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.pages()
	testkit.Golden(t, "testdata/plain.json", []byte(c.json()))
	testkit.Golden(t, "testdata/plain.csv", []byte(c.csv()))
	if err := c.recorder.Finish(c.info, c.store); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"server_metrics_export.jsonl", "server_metrics_recording.json"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		testkit.Golden(t, "testdata/"+name, data)
	}
	var legacy bytes.Buffer
	if err := (export.LegacyJSON{Run: c.run()}).Write(context.Background(), &legacy); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/legacy.json", legacy.Bytes())
	c.info.SliceNS, c.info.Bounds = 4*second, true
	testkit.Golden(t, "testdata/slices.json", []byte(c.json()))
	testkit.Golden(t, "testdata/slices.csv", []byte(c.csv()))
}

func TestCSVCommentsComeOnlyWhenAskedFor(t *testing.T) {
	c := vllm(t)
	if strings.Contains(c.csv(), "#") {
		t.Error("comments without being asked for")
	}
	var out bytes.Buffer
	if err := (export.CSV{Run: c.run(), Comments: true}).Write(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(out.String(), "\n")
	want := []string{
		"# AIPerf Server Metrics Export (CSV)\n", "# aiperf_version: 1.0.0\n", "# schema_version: 1.0\n",
		"# benchmark_id: 2900a136-3c1a-4520-adaa-5719822b729b\n", "# Note: ", "#\n", "Endpoint,Type,",
	}
	for i, w := range want {
		if !strings.HasPrefix(lines[i], w) {
			t.Errorf("line %d is %q, want %q", i+1, lines[i], w)
		}
	}
	if got := strings.Join(lines[6:], ""); got != c.csv() {
		t.Errorf("after the comments:\n%s", got)
	}
}

// The block that the specification works out: gauge samples 1,3 and 2,2, and an unlabelled one 10,12.
func TestWorkedCSVBlock(t *testing.T) {
	c := newCollection(t)
	head := "# HELP process_open_fds fds\n# TYPE process_open_fds gauge\n# HELP vllm:num_requests_running Running, " +
		"now\n# TYPE vllm:num_requests_running gauge\n"
	row := "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} "
	c.page(url, 0, head+"process_open_fds 10\n"+row+"1\n")
	c.page(url, time.Second, head+"process_open_fds 12\n"+row+"3\n")
	want := "Endpoint,Type,Metric,Unit,avg,min,max,std,p1,p5,p10,p25,p50,p75,p90,p95,p99,engine,model_name," +
		"Description\r\n" +
		"localhost:8000,gauge,process_open_fds,,11.0000,10.0000,12.0000,1.4142,10.0200,10.1000,10.2000,10.5000," +
		"11.0000,11.5000,11.8000,11.9000,11.9800,,,fds\r\n" +
		"localhost:8000,gauge,vllm:num_requests_running,requests,2.0000,1.0000,3.0000,1.4142,1.0200,1.1000,1.2000," +
		"1.5000,2.0000,2.5000,2.8000,2.9000,2.9800,0,m,\"Running, now\"\r\n"
	if got := c.csv(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The example of the specification: two scrapes one second apart.
func TestWorkedJSONExample(t *testing.T) {
	c := newCollection(t)
	histogram := func(buckets [3]string, sum, count string) string {
		b := "# HELP vllm:e2e_request_latency_seconds lat\n# TYPE vllm:e2e_request_latency_seconds histogram\n"
		for i, le := range []string{"0.1", "1.0", "+Inf"} {
			b += `vllm:e2e_request_latency_seconds_bucket{engine="0",le="` + le + `"} ` + buckets[i] + "\n"
		}
		return b + `vllm:e2e_request_latency_seconds_sum{engine="0"} ` + sum + "\n" +
			`vllm:e2e_request_latency_seconds_count{engine="0"} ` + count + "\n"
	}
	c.page(url, 0, histogram([3]string{"0", "0", "0"}, "0", "0"))
	c.page(url, time.Second, histogram([3]string{"2", "3", "4"}, "3", "4"))
	want := `
    "vllm:e2e_request_latency_seconds": {
      "type": "histogram",
      "description": "lat",
      "unit": "seconds",
      "series": [
        {
          "endpoint_url": "http://localhost:8000/metrics",
          "labels": {
            "engine": "0"
          },
          "stats": {
            "count": 4,
            "sum": 3.0,
            "avg": 0.75,
            "count_rate": 4.0,
            "sum_rate": 3.0,
            "p1_estimate": 0.026500000000000003,
            "p5_estimate": 0.0325,
            "p10_estimate": 0.04000000000000001,
            "p25_estimate": 0.06250000000000001,
            "p50_estimate": 0.3125,
            "p75_estimate": 1.0,
            "p90_estimate": 1.8100000000000005,
            "p95_estimate": 2.0799999999999996,
            "p99_estimate": 2.296
          },
          "buckets": {
            "0.1": 2,
            "1.0": 3,
            "+Inf": 4
          }
        }
      ]
    }
`
	if got := c.json(); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
}
