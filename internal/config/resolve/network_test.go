package resolve

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/config/configtest"
)

func TestWorkersForTheConnectionsOfTheConcurrency(t *testing.T) {
	tests := []struct {
		line string
		env  []string
		cpus int
		want int
	}{
		{"--concurrency 2500", nil, 2, 1},
		{"--concurrency 2501", nil, 2, 2},
		{"--concurrency 18000", nil, 2, 8},
		{"--concurrency 18000", nil, 16, 11}, // more than it takes
		{"--concurrency 18000 --workers-max 3", nil, 2, 3},
		{"--concurrency 18000", []string{"AIPERF_WORKER_MAX_WORKERS_CAP=1"}, 64, 8},
		{"--concurrency 10", []string{"AIPERF_HTTP_CONNECTION_LIMIT=3"}, 2, 4},
		{"--concurrency 1 --request-count 5 --warmup-request-count 9000 --warmup-concurrency 5001", nil, 2, 3},
		{"--user-centric-rate 100 --num-users 6000 --session-turns-mean 2 --benchmark-duration 9", nil, 2, 3},
		{"--request-rate 100000", nil, 2, 1}, // nothing bounds the requests in flight
		{"--concurrency 4 --workers-min 8", nil, 2, 8},
		{"--concurrency 100 --workers-min 3", nil, 2, 3},
		{"--concurrency 100 --workers-min 3", nil, 16, 11},
	}
	for _, test := range tests {
		run, _, err := Resolve(mustParse(t, "-m m "+test.line, test.env...), fakeCatalog{})
		if err != nil {
			t.Fatal(test.line, err)
		}
		if got := run.LogicalWorkers(test.cpus); got != test.want {
			t.Errorf("%s %v on %d CPUs: %d workers, want %d", test.line, test.env, test.cpus, got, test.want)
		}
	}
}

func TestSourceAddresses(t *testing.T) {
	run, _ := mustResolve(t, "-m m --url 10.0.0.1:8000 --source-address 127.0.0.2,127.0.0.3 ::ffff:127.0.0.4")
	if got := fmt.Sprint(run.Endpoint.SourceAddresses); got != "[127.0.0.2 127.0.0.3 127.0.0.4]" {
		t.Errorf("sources %s", got)
	}
	for line, want := range map[string]string{
		"--source-address":                          "at least one IP address",
		"--source-address localhost":                "localhost is not an IP address",
		"--source-address 0.0.0.0":                  "0.0.0.0 is not the address of a machine",
		"--source-address 224.0.0.1":                "224.0.0.1 is not the address of a machine",
		"--source-address 10.0.0.1 ::ffff:10.0.0.1": "10.0.0.1 is given twice",
		"--source-address ::1": "connections to http://localhost:8000 need an " +
			"address of IP version 4",
		"--source-address ::1 --url 127.0.0.1:1": "connections to 127.0.0.1:1 need an address of IP " +
			"version 4",
		"--source-address 10.0.0.1 --url 10.0.0.9 [::1]:8000": "connections to [::1]:8000 need an address of IP " +
			"version 6",
		"--source-address 127.0.0.1 --url http://u:secret@[::1]": "need an address of IP version 6",
	} {
		_, _, err := Resolve(mustParse(t, "-m m "+line), fakeCatalog{})
		if err == nil {
			t.Errorf("%s is accepted", line)
			continue
		}
		configtest.WantText(t, line, err.Error(), "--source-address", want)
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, env := range []string{"6", "auto"} {
		if _, _, err := Resolve(mustParse(t, "-m m --source-address ::1", "AIPERF_HTTP_IP_VERSION="+env),
			fakeCatalog{}); err != nil {
			t.Errorf("IP version %s: %v", env, err)
		}
	}
	if _, _, err := Resolve(mustParse(t, "-m m --source-address 10.0.0.1", "AIPERF_HTTP_IP_VERSION=6"),
		fakeCatalog{}); err == nil {
		t.Error("an IPv4 source is accepted although names have IPv6 addresses")
	}
}

func TestNetworkLatency(t *testing.T) {
	run, _ := mustResolve(t, "-m m")
	if run.Network != (config.Network{Interval: time.Second}) {
		t.Errorf("by default %+v", run.Network)
	}
	run, _ = mustResolve(t, "-m m --network-latency-automatic --network-latency-ping-interval 0.25")
	if run.Network != (config.Network{Automatic: true, Interval: 250 * time.Millisecond}) {
		t.Errorf("automatic: %+v", run.Network)
	}
	run, _ = mustResolve(t, "-m m --network-latency-mean 1.5")
	if run.Network.Automatic || *run.Network.Mean != 1500*time.Microsecond {
		t.Errorf("given: %+v", run.Network)
	}
	run, _ = mustResolve(t, "-m m --network-latency-mean 0")
	if run.Network.Mean == nil || *run.Network.Mean != 0 {
		t.Error("0 is a round trip")
	}
	_, warnings, err := Resolve(mustParse(t, "-m m --network-latency-ping-interval 2"), fakeCatalog{})
	if err != nil {
		t.Fatal(err)
	}
	configtest.WantText(t, "warning", fmt.Sprint(warnings), "--network-latency-ping-interval has no effect")
	_, _, err = Resolve(mustParse(t, "-m m --workers-min 5 --workers-max 4"), fakeCatalog{})
	if err == nil {
		t.Fatal("--workers-min above --workers-max is accepted")
	}
	configtest.WantText(t, "workers", err.Error(), "--workers-min 5", "--workers-max 4")
}
