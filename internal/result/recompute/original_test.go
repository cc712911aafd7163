package recompute_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/result/recompute"
	"aiperf/internal/result/summary"
)

// theirStart is the start of the phase in [theirRun]: its summary has it in a local time two hours ahead.
var theirStart = time.Date(2026, 3, 1, 10, 0, 0, 123456000, time.UTC)

func theirSummary(more string) string {
	return `{"schema_version": "1.4", "aiperf_version": "0.13.0", "benchmark_id": "b1", "request_count": {"unit": "requests", "avg": 3.0},
 "error_request_count": {"unit": "requests", "avg": 1.0},
 "input_config": {"models": {"items": [{"name": "m"}]}, "endpoint": {"urls": ["http://h"], "type": "chat", "streaming": true},
  "phases": [{"name": "profiling", "kind": "profiling", "type": "concurrency", "concurrency": 2}],
  "artifacts": {"dir": "d", "slice_duration": 1.0}, "slos": {"request_latency": 250.0}},
 "run_info": {"benchmark_id": "b1", "random_seed": 3, "trial": 0, "cli_command": "aiperf profile"}, "was_cancelled": false, "is_complete": true,
 "start_time": "2026-03-01T12:00:00.123456", "end_time": "2026-03-01T12:00:02.123456"` + more + "}\n"
}

// theirLine is a line of the per-request file, in the order of members that the original has.
func theirLine(phase string, startMS, endMS int64, rest string) string {
	at := func(ms int64) int64 { return theirStart.UnixNano() + ms*1e6 }
	return fmt.Sprintf(`{"metadata":{"session_num":0,"x_request_id":"r%d","x_correlation_id":"c","conversation_id":"s","turn_index":0,`+
		`"credit_issued_ns":%d,"request_start_ns":%d,"request_ack_ns":%d,"request_end_ns":%d,"worker_id":"w","record_processor_id":"p",`+
		`"benchmark_phase":%q,"phase_index":0,"phase_kind":%q,"was_cancelled":false,"agent_depth":0},%s}`+"\n",
		startMS, at(startMS-1), at(startMS), at(startMS+1), at(endMS), phase, phase, rest)
}

func theirRun(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// theirRecords are two streamed requests, one whose reply came at once, and a failed one, behind one of the warm-up.
func theirRecords() string {
	streamed := func(ttft, second, latency float64) string {
		return fmt.Sprintf(`"metrics":{"input_sequence_length":{"value":20,"unit":"tokens"},"time_to_first_token":{"value":%v,"unit":"ms"},`+
			`"time_to_second_token":{"value":%v,"unit":"ms"},"request_latency":{"value":%v,"unit":"ms"},"output_sequence_length":{"value":5,"unit":"tokens"},`+
			`"reasoning_token_count":{"value":1,"unit":"tokens"},"inter_chunk_latency":{"value":[%v,%v],"unit":"ms"},"osl_mismatch_diff_pct":{"value":25.0,"unit":"%%"},`+
			`"http_req_data_sent":{"value":0.25,"unit":"KB"},"later_metric":{"value":"?","unit":"x"}}`, ttft, second,
			latency, second, latency-ttft-second)
	}
	return theirLine("warmup", -500, -400, streamed(50, 20, 90)) +
		theirLine("profiling", 10, 215, streamed(100, 40, 200)) +
		theirLine("profiling", 900, 1205, streamed(150.5, 49.5, 300)) +
		theirLine("profiling", 1200, 1310,
			`"metrics":{"input_sequence_length":{"value":20,"unit":"tokens"},"request_latency":{"value":100.0,"unit":"ms"},`+
				`"time_to_first_token":{"value":100.0,"unit":"ms"},"output_token_count":{"value":1,"unit":"tokens"},"output_sequence_length":{"value":1,"unit":"tokens"}}`) +
		theirLine("profiling", 1500, 1500,
			`"metrics":{"error_isl":{"value":20,"unit":"tokens"}},"error":{"code":503,"type":"Service Unavailable","message":"busy"}`)
}

func theirReport(t *testing.T, files map[string]string, o recompute.ReportOptions) (*summary.Result, []string) {
	t.Helper()
	o.Dir = theirRun(t, files)
	result, shown, err := recompute.Report(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return result, shown.Notes
}

func TestRunOfTheOriginalIsComputedAgain(t *testing.T) {
	result, notes := theirReport(t,
		map[string]string{"profile_export_aiperf.json": theirSummary(""), "profile_export.jsonl": theirRecords()},
		recompute.ReportOptions{})
	for tag, want := range map[string]float64{
		"request_latency": 200, "time_to_first_token": 116.83333333333333, "time_to_second_token": 44.75,
		"inter_token_latency": (100./4 + 149.5/4) / 2,
		"inter_chunk_latency": 249.5 / 4, "output_sequence_length": 11. / 3, "output_token_count": 3,
		"reasoning_token_count": 1, "input_sequence_length": 20,
		"osl_mismatch_diff_pct": 25, "request_count": 3, "error_request_count": 1, "error_isl": 20,
		"request_error_rate": 25, "benchmark_duration": 1.29,
		"good_request_count": 2, "credit_to_start_latency": 1, "http_req_data_sent": 256,
		// The window is that of the phase: 205, 305 and 110 ms in flight out of 2 s.
		"effective_concurrency": 0.31, "adj_request_latency": 0,
	} {
		r, ok := result.Find(tag)
		if got := r.Stats.Avg; !ok || tag != "adj_request_latency" && (got-want > 1e-9 || want-got > 1e-9) {
			t.Errorf("%s = %v, want %v", tag, got, want)
		}
	}
	for _, tag := range []string{"full_decode_duration", "stream_setup_latency"} {
		if r, ok := result.Find(tag); ok {
			t.Errorf("%s = %v, which no record of the original tells", tag, r.Stats.Avg)
		}
	}
	if result.StartNS != theirStart.UnixNano() || result.AIPerfVersion != "0.13.0" || result.BenchmarkID != "b1" ||
		*result.RunInfo.RandomSeed != 3 || result.Incomplete != "" {
		t.Errorf("start %d, version %s, id %s, incomplete %q", result.StartNS, result.AIPerfVersion, result.BenchmarkID,
			result.Incomplete)
	}
	if len(result.Slices) != 2 || result.Slices[0].StartNS != theirStart.UnixNano()+10e6 {
		t.Errorf("slices: %+v", result.Slices)
	}
	if len(result.Warmup) == 0 || len(result.Errors) != 1 || result.Errors[0].Count != 1 {
		t.Errorf("warm-up %d, errors %v", len(result.Warmup), result.Errors)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "AIPerf 0.13.0") {
		t.Errorf("notes %q", notes)
	}
}

// The file of the phases has their instants to the nanosecond, and a prefix does not hide the run.
func TestPhasesOfTheOriginal(t *testing.T) {
	start := theirStart.UnixNano() - 321
	result, _ := theirReport(t, map[string]string{
		"P.json": theirSummary(""), "P.jsonl": theirRecords(),
		"phase_manifest.json": fmt.Sprintf(`{"schema_version": 1, "phases": [
 {"phase_name": "warmup", "phase_kind": "warmup", "start_ns": %d, "end_ns": %d, "total_request_count": 1},
 {"phase_name": "profiling", "phase_kind": "profiling", "start_ns": %d, "end_ns": %d, "total_request_count": 4}]}`, start-1e9, start-1e8, start, start+4e9),
	}, recompute.ReportOptions{})
	if c, _ := result.Find("effective_concurrency"); result.StartNS != start || c.Stats.Avg > 0.1551 ||
		c.Stats.Avg < 0.1549 {
		t.Errorf("start %d, concurrency %v", result.StartNS, c.Stats.Avg)
	}
}

// GPU telemetry is computed from its recording.
func TestGPUsOfTheOriginal(t *testing.T) {
	var lines strings.Builder
	for i := range int64(4) {
		fmt.Fprintf(&lines, `{"timestamp_ns":%d,"telemetry_source_url":"http://g/metrics","gpu_index":0,"gpu_uuid":"u","gpu_model_name":"H","platform":"nvidia",`+
			`"telemetry_data":{"nvidia_power_usage":%d.0,"nvidia_energy_consumption":%d.0}}`+"\n",
			theirStart.UnixNano()+(i-1)*1e9, 100+i, i)
	}
	files := map[string]string{"profile_export_aiperf.json": theirSummary(""), "profile_export.jsonl": theirRecords(),
		"gpu_telemetry_export.jsonl": lines.String()}
	result, _ := theirReport(t, files, recompute.ReportOptions{})
	if result.Telemetry == nil || len(result.Telemetry.Endpoints) != 1 {
		t.Fatalf("telemetry %+v", result.Telemetry)
	}
	if power, ok := result.Find("total_gpu_power"); !ok || power.Stats.Avg < 100 || power.Stats.Avg > 103 {
		t.Errorf("total_gpu_power = %+v", power.Stats)
	}
	window := 100 * time.Millisecond
	if part, _ := theirReport(t, files, recompute.ReportOptions{To: &window}); part.Telemetry != nil {
		t.Error("a part of the run has the telemetry of the whole")
	}
}

// Lost lines are said, lines of another run refused.
func TestRecordsOfTheOriginalMustBeThoseOfItsSummary(t *testing.T) {
	lines := strings.SplitAfter(theirRecords(), "\n")
	result, _ := theirReport(t, map[string]string{"profile_export_aiperf.json": theirSummary(""),
		"profile_export.jsonl": strings.Join(lines[:4], "")}, recompute.ReportOptions{})
	if !strings.Contains(result.Incomplete, "a record is missing") {
		t.Errorf("incomplete: %q", result.Incomplete)
	}
	dir := theirRun(t, map[string]string{"profile_export_aiperf.json": theirSummary(""),
		"profile_export.jsonl": theirRecords() + lines[1]})
	if _, _, err := recompute.Report(context.Background(), recompute.ReportOptions{Dir: dir}); err == nil ||
		!strings.Contains(err.Error(), "another run") {
		t.Errorf("five records of four: %v", err)
	}
}

func TestFoldersThatHoldNoRunOfTheOriginal(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no records": {map[string]string{"profile_export_aiperf.json": theirSummary("")},
			"holds no profile_export.jsonl"},
		"no summary": {map[string]string{"profile_export.jsonl": theirRecords()}, "holds no run_state.json"},
		"a strange unit": {map[string]string{"profile_export_aiperf.json": theirSummary(""),
			"profile_export.jsonl": strings.Replace(theirRecords(), `"value":100,"unit":"ms"`,
				`"value":100,"unit":"miles"`, 1)}, "profile_export.jsonl:2: "},
		"a huge value": {map[string]string{"profile_export_aiperf.json": theirSummary(""),
			"profile_export.jsonl": strings.Replace(theirRecords(), `"value":100,"unit":"ms"`,
				`"value":1e300,"unit":"ms"`, 1)}, "profile_export.jsonl:2: "},
		"another type": {map[string]string{"profile_export_aiperf.json": strings.Replace(theirSummary(""), `"chat"`,
			`"future"`, 1), "profile_export.jsonl": theirRecords()}, `the endpoint type "future"`},
		"a broken config": {map[string]string{"profile_export_aiperf.json": strings.Replace(theirSummary(""),
			`"phases": [`, `"phases": ["x", `, 1), "profile_export.jsonl": theirRecords()}, "input_config"},
		"no time": {map[string]string{"profile_export_aiperf.json": strings.Replace(theirSummary(""),
			"2026-03-01T12:00:00", "noon", 1), "profile_export.jsonl": theirRecords()}, "start_time"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := recompute.Report(context.Background(), recompute.ReportOptions{Dir: theirRun(t, c.files)})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// What was computed again can be read like any other run.
func TestReportOfTheOriginalIsASummary(t *testing.T) {
	dir := theirRun(t, map[string]string{"profile_export_aiperf.json": theirSummary(
		`, "network_rtt": {"unit": "ms", "avg": 5.0}`), "profile_export.jsonl": theirRecords()})
	if _, _, err := recompute.Report(context.Background(), recompute.ReportOptions{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	figures, err := summary.ReadFigures(filepath.Join(dir, "report"))
	if err != nil {
		t.Fatal(err)
	}
	var rtt, adjusted bool
	for _, b := range figures.Blocks {
		rtt = rtt || b.Tag == "network_rtt" && b.Stats["avg"] == 5
		adjusted = adjusted || b.Tag == "network_adjusted_request_latency" && b.Stats["avg"] == 195
	}
	data, err := os.ReadFile(filepath.Join(dir, "report", "profile_export_aiperf_timeslices.json"))
	var slices struct{ Timeslices []map[string]any }
	if err != nil || json.Unmarshal(data, &slices) != nil || len(slices.Timeslices) != 2 {
		t.Errorf("time slices: %v, %d", err, len(slices.Timeslices))
	}
	if !rtt || !adjusted {
		t.Errorf("network_rtt %v, network_adjusted_request_latency %v", rtt, adjusted)
	}
}

func TestSeveralPhasesOfTheOriginalAreComputedAgain(t *testing.T) {
	phase := func(index int, name, kind string, startMS, endMS int64) string {
		at := theirStart.UnixNano()
		return fmt.Sprintf(`{"phase_index":%d,"phase_name":%q,"phase_kind":%q,"start_ns":%d,"end_ns":%d,"total_request_count":2}`,
			index, name, kind, at+startMS*1e6, at+endMS*1e6)
	}
	line := func(index int, startMS, endMS int64) string {
		latency := fmt.Sprintf(`"metrics":{"request_latency":{"value":%d.0,"unit":"ms"}}`, endMS-startMS)
		return strings.Replace(theirLine("profiling", startMS, endMS, latency), `"phase_index":0`,
			fmt.Sprintf(`"phase_index":%d`, index), 1)
	}
	summaryText := strings.Replace(theirSummary(""),
		`{"name": "profiling", "kind": "profiling", "type": "concurrency", "concurrency": 2}`,
		`{"name": "steady", "kind": "profiling", "type": "poisson", "rate": 2},`+
			`{"name": "pause", "kind": "warmup", "type": "concurrency", "concurrency": 2},`+
			`{"name": "peak", "kind": "profiling", "type": "concurrency", "concurrency": 2}`, 1)
	result, _ := theirReport(t, map[string]string{
		"profile_export_aiperf.json": summaryText,
		"profile_export.jsonl":       line(0, 0, 100) + line(0, 500, 700) + line(2, 1500, 1600) + line(2, 1600, 1900),
		"phase_manifest.json": `{"schema_version":1,"phases":[` + phase(0, "steady", "profiling", 0, 800) + "," +
			phase(1, "pause", "warmup", 900, 1400) + "," + phase(2, "peak", "profiling", 1500, 2000) + "]}",
	}, recompute.ReportOptions{})
	if len(result.Parts) != 2 || result.Parts[1].Name != "peak" {
		t.Fatalf("%+v", result.Parts)
	}
	for i, want := range []map[string]float64{
		{"request_latency": 150, "benchmark_duration": 0.7, "effective_concurrency": 0.3 / 0.8},
		{"request_latency": 200, "benchmark_duration": 0.4, "effective_concurrency": 0.4 / 0.5},
		// The whole of it lasts from the start of the first to the end of the last.
		{"request_latency": 175, "benchmark_duration": 1.9, "effective_concurrency": 0.7 / 2, "request_count": 4},
	} {
		r := result
		if i < 2 {
			r = &result.Parts[i].Result
		}
		for tag, value := range want {
			if got, _ := r.Value(tag); got-value > 1e-9 || value-got > 1e-9 {
				t.Errorf("phase %d: %s = %v, want %v", i, tag, got, value)
			}
		}
	}
}
