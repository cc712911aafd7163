package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/mockserver"
)

// probesOf reads the file of the probes.
func probesOf(t *testing.T, dir string) (list []map[string]any) {
	t.Helper()
	for line := range bytes.Lines(fileOf(t, dir, "profile_export_network_latency.jsonl")) {
		var probe map[string]any
		if err := json.Unmarshal(line, &probe); err != nil {
			t.Fatal(err)
		}
		list = append(list, probe)
	}
	return list
}

var networkMetrics = []string{"network_adjusted_request_latency", "network_adjusted_time_to_first_token",
	"network_adjusted_time_to_first_output_token"}

func TestNetworkIsMeasuredBesideTheLoad(t *testing.T) {
	t.Parallel()
	one, two := serve(t, mockserver.Options{TTFT: 2e6}), serve(t, mockserver.Options{TTFT: 2e6})
	dir := t.TempDir()
	cfg := resolve(t, dir, one, "--streaming", "--request-count", "8", "--warmup-request-count", "2", "--isl", "5",
		"--osl", "2", "--network-latency-automatic", "--network-latency-ping-interval", "0.001")
	cfg.Endpoint.URLs = []string{one, two, one + "/other"}
	if _, err := execute(t, cfg, Options{}); err != nil {
		t.Fatal(err)
	}
	doc := summaryOf(t, dir)
	rtt, _ := at(doc, "network_rtt", "avg").(float64)
	if rtt <= 0 || at(doc, "network_rtt", "unit") != "ms" || at(doc, "network_rtt", "p50") != rtt {
		t.Errorf("network_rtt %v", doc["network_rtt"])
	}
	var sums, counts [2]float64
	for _, probe := range probesOf(t, dir) {
		i := slices.Index([]string{one, two}, probe["target_url"].(string))
		if i < 0 || "http://"+probe["remote_address"].(string) != probe["target_url"] ||
			probe["timestamp_ns"].(float64) <= 0 {
			t.Fatalf("probe %v", probe)
		}
		server := fmt.Sprintf("http://%v:%v", probe["target_host"], probe["target_port"])
		if server != probe["target_url"] || probe["probe_type"] != "tcp_connect" || probe["success"] != true ||
			probe["error"] != nil {
			t.Fatalf("probe %v", probe)
		}
		sums[i] += probe["rtt_ns"].(float64)
		counts[i]++
	}
	if counts[0] < 5 || counts[1] < 5 {
		t.Errorf("%v probes", counts)
	}
	if mean := (sums[0]/counts[0] + sums[1]/counts[1]) / 2 * 1e-6; mean < rtt-1e-6 || mean > rtt+1e-6 {
		t.Errorf("network_rtt %v ms, the probes say %v", rtt, mean)
	}
	for _, tag := range networkMetrics {
		source := strings.TrimPrefix(tag, "network_adjusted_")
		for _, stat := range []string{"avg", "min", "p50", "max"} {
			whole, _ := at(doc, source, stat).(float64)
			less, ok := at(doc, tag, stat).(float64)
			if want := max(0, whole-rtt); !ok || less < want-1e-9 || less > want+1e-9 {
				t.Errorf("%s %s is %v, want %v − %v", tag, stat, less, whole, rtt)
			}
		}
		if at(doc, tag, "std") != at(doc, source, "std") {
			t.Errorf("%s has another std", tag)
		}
	}
	if at(doc, "network_adjusted_inter_token_latency") != nil ||
		at(doc, "warmup_metrics", "network_rtt", "avg") != rtt {
		t.Errorf("ITL is adjusted, or the warm-up's network is another: %v", at(doc, "warmup_metrics", "network_rtt"))
	}
	for _, file := range []string{"profile_export_aiperf.csv", "profile_export_console.txt"} {
		for _, header := range []string{"Network RTT (ms)", "Network RTT", "Network-Adjusted Time to First Token"} {
			if !strings.Contains(string(fileOf(t, dir, file)), strings.TrimSuffix(header, " (ms)")) {
				t.Errorf("%s does not have %s", file, header)
			}
		}
	}
	if strings.Contains(string(fileOf(t, dir, "profile_export.jsonl")), "network") {
		t.Error("a record has a network metric")
	}
}

func TestNetworkAsGiven(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{TTFT: 2e6})
	dir := profile(t, url, "--request-count", "3", "--isl", "5", "--osl", "2", "--network-latency-mean", "0.25")
	doc := summaryOf(t, dir)
	if got := at(doc, "network_rtt", "avg"); got != 0.25 {
		t.Errorf("network_rtt %v", got)
	}
	if at(doc, "network_adjusted_time_to_first_token") != nil ||
		at(doc, "network_adjusted_request_latency", "avg") == nil {
		t.Error("without streaming there is a request latency and no TTFT")
	}
	if got := at(doc, "input_config", "network_latency", "mean_ms"); got != 0.25 {
		t.Errorf("input_config.network_latency.mean_ms is %v", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "profile_export_network_latency.jsonl")); err == nil {
		t.Error("there is a file of probes that nobody made")
	}
}

// All statistics but std and count of a latency below the round trip are 0, and one warning says so.
func TestTrapRoundTripAboveTheLatency(t *testing.T) {
	t.Parallel()
	url := serve(t, mockserver.Options{})
	dir := profile(t, url, "--streaming", "--request-count", "3", "--isl", "5", "--osl", "2", "--network-latency-mean",
		"60000")
	doc := summaryOf(t, dir)
	for _, tag := range networkMetrics {
		if at(doc, tag, "max") != 0.0 || at(doc, strings.TrimPrefix(tag, "network_adjusted_"), "max") == 0.0 {
			t.Errorf("%s: %v", tag, doc[tag])
		}
	}
	if n := strings.Count(string(fileOf(t, dir, "logs/aiperf.log")), "cut off at 0"); n != 1 {
		t.Errorf("%d warnings, want 1", n)
	}
}

func TestUnreachableServerHasNoRoundTrip(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := resolve(t, dir, closedPort, "--request-count", "3", "--isl", "5", "--osl", "2",
		"--network-latency-automatic")
	outcome, err := execute(t, cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := outcome.Result.Find("network_rtt"); ok || outcome.Problem != nil {
		t.Errorf("network_rtt of a server that is not there; problem %v", outcome.Problem)
	}
	if log := string(fileOf(t, dir, "logs/aiperf.log")); !strings.Contains(log,
		"round trip to "+closedPort+" is not known: 0 of") {
		t.Errorf("no warning: %s", log)
	}
	probes := probesOf(t, dir)
	if len(probes) == 0 {
		t.Error("no line of a probe that failed")
	}
	for _, probe := range probes {
		if probe["error"] == nil || probe["rtt_ns"] != nil || probe["success"] != false ||
			probe["target_host"] != "127.0.0.1" {
			t.Errorf("probe %v", probe)
		}
	}
}

func TestHostAndPortOfAProbe(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]struct {
		host string
		port int64
	}{
		"http://h:8000": {"h", 8000}, "http://h": {"h", 80}, "https://h": {"h", 443}, "grpc://h:8001": {"h", 8001},
		"grpcs://h":     {"h", 443},
		"HTTPS://[::1]": {"::1", 443}, "http://[::1]:9": {"::1", 9},
	} {
		if host, port := hostPort(target); host != want.host || port != want.port {
			t.Errorf("%s: %s, %d", target, host, port)
		}
	}
	targets := servers([]string{"https://user:secret@h/v1?key=secret"})
	if len(targets) != 1 || targets[0] != "https://h" {
		t.Errorf("targets %q", targets)
	}
}
