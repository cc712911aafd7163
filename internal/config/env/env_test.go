package env_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/config/configtest"
	"aiperf/internal/config/env"
	"aiperf/internal/config/option"
)

func TestEnvDefaults(t *testing.T) {
	e, warnings, err := env.Read(configtest.Environ())
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	for _, c := range []struct{ got, want any }{
		{e.HTTP.ConnectionLimit, 2500}, {e.HTTP.KeepaliveTimeout, 300 * time.Second},
		{e.HTTP.TCPUserTimeout, 30 * time.Second},
		{e.HTTP.SSLVerify, true}, {e.HTTP.IPVersion, "4"}, {e.HTTP.XSessionAffinity, true},
		{e.HTTP.XSessionID, false},
		{e.Metrics.UsagePctDiffThreshold, 10.0}, {e.Metrics.OSLMismatchMaxTokenThreshold, 50},
		{e.Metrics.ExportFlushInterval, time.Second},
		{e.UI.ConsoleExportWidth, 140}, {e.UI.MinUpdatePercent, 1.0},
		{e.UI.RealtimeMetricsInterval, (*time.Duration)(nil)},
		{e.UI.ConsoleGroups, []string{"default", "effective", "active", "usage", "cache", "prediction", "audio",
			"reasoning"}},
		{e.Timing.MaxCatchup, 10 * time.Millisecond}, {e.Timing.CancelDrainTimeout, 10 * time.Second},
		{e.Service.ProfileCancelTimeout, 10 * time.Second}, {e.Worker.CPUUtilizationFactor, 0.75},
		{e.Dev.Mode, false},
		{e.Endpoint.ForceContentParts, false},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

func TestEnvBooleans(t *testing.T) {
	for text, want := range map[string]bool{"1": true, "TRUE": true, "yes": true, "On": true, "0": false,
		"False": false, "no": false, "off": false} {
		e, _, err := env.Read(configtest.Environ("AIPERF_HTTP_SSL_VERIFY=" + text))
		if err != nil || e.HTTP.SSLVerify != want {
			t.Errorf("%s: %v, %v", text, e.HTTP.SSLVerify, err)
		}
	}
}

func TestEnvFaultsNameVariableValueAndRange(t *testing.T) {
	for entry, want := range map[string]string{
		"AIPERF_HTTP_CONNECTION_LIMIT=0":            "from 1 to 65000",
		"AIPERF_HTTP_CONNECTION_LIMIT=":             "is not a number",
		"AIPERF_HTTP_CONNECTION_LIMIT=1.5":          "is not a whole number",
		"AIPERF_HTTP_SSL_VERIFY=":                   "is not a boolean",
		"AIPERF_HTTP_SSL_VERIFY=maybe":              "yes/no",
		"AIPERF_HTTP_IP_VERSION=5":                  "must be one of 4, 6, auto",
		"AIPERF_METRICS_EXPORT_FLUSH_INTERVAL=0.01": "from 0.05 to 60",
		"AIPERF_CHAT_READ_TIMEOUT=0":                "above 0",
		"AIPERF_UI_CONSOLE_GROUPS=[1]":              "JSON array",
		"AIPERF_ZMQ_PUSH_MAX_RETRIES=101":           "from 1 to 100",
		"AIPERF_SERVICE_PROFILE_CANCEL_TIMEOUT=inf": "is not a number",
		"AIPERF_DATASET_CONFIGURATION_TIMEOUT=1000": "AIPERF_SERVICE_PROFILE_CONFIGURE_TIMEOUT",
		"AIPERF_GPU_FINAL_SCRAPE_GRACE_NS=-1":       "from 0 to 60000000000",
	} {
		_, _, err := env.Read(configtest.Environ(entry))
		if err == nil {
			t.Errorf("%s: accepted", entry)
			continue
		}
		name, _, _ := strings.Cut(entry, "=")
		configtest.WantText(t, entry, err.Error(), name, want)
	}
	if _, _, err := env.Read(configtest.Environ("AIPERF_DATASET_CONFIGURATION_TIMEOUT=1000",
		"AIPERF_SERVICE_PROFILE_CONFIGURE_TIMEOUT=1000")); err != nil {
		t.Error(err)
	}
}

func TestTrapTheTimesOfTheDataAndOfTheRunGoTogether(t *testing.T) {
	const data, run = "AIPERF_DATASET_CONFIGURATION_TIMEOUT", "AIPERF_SERVICE_PROFILE_CONFIGURE_TIMEOUT"
	for second, valid := range map[string]bool{"": false, run + "=999": false, run + "=1000": true} {
		_, _, err := env.Read(configtest.Environ(append(strings.Fields(second), data+"=1000")...))
		if valid != (err == nil) || err != nil && (!strings.Contains(err.Error(), data) ||
			!strings.Contains(err.Error(), run)) {
			t.Errorf("%q: %v", second, err)
		}
	}
}

func TestTrapNoConnectionsAtAllIsOutOfRange(t *testing.T) {
	if _, _, err := env.Read(configtest.Environ("AIPERF_HTTP_CONNECTION_LIMIT=0")); err == nil ||
		!strings.Contains(err.Error(), "AIPERF_HTTP_CONNECTION_LIMIT") || !strings.Contains(err.Error(), "1 to 65000") {
		t.Errorf("%v", err)
	}
}

func TestEnvLists(t *testing.T) {
	for text, want := range map[string][]string{"usage, default": {"usage", "default"},
		`["usage","a,b"]`: {"usage", "a,b"}, "": {}} {
		e, _, err := env.Read(configtest.Environ("AIPERF_UI_CONSOLE_GROUPS=" + text))
		if err != nil || !reflect.DeepEqual(e.UI.ConsoleGroups, want) {
			t.Errorf("%q: %v, %v", text, e.UI.ConsoleGroups, err)
		}
	}
}

func TestDeveloperSwitchesNeedDeveloperMode(t *testing.T) {
	e, warnings, err := env.Read(configtest.Environ("AIPERF_DEV_SHOW_INTERNAL_METRICS=1"))
	if err != nil || e.Dev.ShowInternalMetrics {
		t.Errorf("%v, %v", e.Dev, err)
	}
	configtest.WantText(t, "warning", configtest.Texting(warnings), "AIPERF_DEV_SHOW_INTERNAL_METRICS",
		"AIPERF_DEV_MODE=1")
	e, warnings, _ = env.Read(configtest.Environ("AIPERF_DEV_SHOW_INTERNAL_METRICS=1", "AIPERF_DEV_MODE=on"))
	if !e.Dev.ShowInternalMetrics || len(warnings) > 0 {
		t.Errorf("%v, %v", e.Dev, warnings)
	}
}

func TestUnknownVariables(t *testing.T) {
	if got := env.Unknown([]string{"PATH=x", "AIPERF_DEV_MODE=1", "AIPERFX=1", env.SelfProfile + "=x"}); got != nil {
		t.Errorf("got %v", got)
	}
	got := env.Unknown([]string{"AIPERF_HTTP_CONECTION_LIMIT=5", "AIPERF_ZZZZZZZZZZZZZZZZZZZZZZZZZZ=1"})
	if len(got) != 1 {
		t.Fatalf("%d warnings, want one", len(got))
	}
	configtest.WantText(t, "warning", got[0].Text,
		"AIPERF_HTTP_CONECTION_LIMIT (did you mean AIPERF_HTTP_CONNECTION_LIMIT?)",
		"AIPERF_ZZZ")
	if strings.Contains(got[0].Text, "ZZ (did") {
		t.Errorf("a far-fetched suggestion: %s", got[0].Text)
	}
}

// TestVariableTableIsConsistent holds every default to its own range.
func TestVariableTableIsConsistent(t *testing.T) {
	if _, _, err := env.Read(configtest.Environ()); err != nil { // it names every bad default
		t.Errorf("defaults: %v", err)
	}
	seen := map[string]bool{}
	for _, v := range env.Variables() {
		if seen[v.Name] {
			t.Errorf("%s stands twice", v.Name)
		}
		seen[v.Name] = true
		if v.Help == "" || v.Group == "" {
			t.Errorf("%s: help %q, group %q", v.Name, v.Help, v.Group)
		}
	}
}

func TestVariablesWithoutEffectAreNamed(t *testing.T) {
	_, warnings, err := env.Read(configtest.Environ(
		"AIPERF_GPU_COLLECTION_INTERVAL=0.5",           // read
		"AIPERF_WANDB_EXPORT_TIMEOUT_SECONDS=7",        // read
		"AIPERF_HTTP_CONNECTION_LIMIT=7",               // read
		"AIPERF_GPU_REACHABILITY_TIMEOUT=10",           // the default
		"AIPERF_SERVICE_COMMS_REQUEST_TIMEOUT=50",      // describes several processes
		"AIPERF_WORKER_RETURN_PROBE_BUDGET=9",          // describes several machines
		"AIPERF_WORKER_MIN_ALIVE_FRACTION=0.0",         // the default, in other words
		"AIPERF_SERVER_METRICS_PERCENTILE_BOUNDS=true", // read
		"AIPERF_DEV_SHOW_INTERNAL_METRICS=0",           // the default
		"AIPERF_DEV_MODE=1",                            // read
	))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"AIPERF_SERVICE_COMMS_REQUEST_TIMEOUT", "AIPERF_WORKER_RETURN_PROBE_BUDGET"}
	_, list, _ := strings.Cut(configtest.Texting(warnings), "no effect in this program: ")
	got := strings.Split(list, ", ")
	slices.Sort(got)
	if len(warnings) != 1 || !slices.Equal(got, want) {
		t.Errorf("warnings %+v", warnings)
	}
}

// Variables of clusters are known and checked like all others.
func TestVariablesOfClusters(t *testing.T) {
	all := env.Variables()
	at := func(name string) int {
		i := slices.IndexFunc(all, func(v env.Variable) bool { return v.Name == name })
		if i < 0 {
			t.Fatalf("no variable %s", name)
		}
		return i
	}
	// They stand together, before those of the clocks of agents.
	for _, v := range all[at("API_SERVER_GET_POD_STATES_TIMEOUT"):at("WORKER_CLOCK_PROBE_COUNT")] {
		if v.HasEffect() || v.Group != env.VarInternal {
			t.Errorf("%s: group %q, effect %v", v.Name, v.Group, v.HasEffect())
		}
		if got := env.Unknown([]string{option.EnvPrefix + v.Name + "=1"}); got != nil {
			t.Errorf("%s: %v", v.Name, got)
		}
		if v.Type == env.VarInt || v.Type == env.VarFloat {
			if _, _, err := env.Read(configtest.Environ(option.EnvPrefix + v.Name + "=-1")); err == nil {
				t.Errorf("%s takes -1", v.Name)
			}
		}
	}
	for entry, want := range map[string]string{
		"AIPERF_POD_FAILURE_ABORT_THRESHOLD_PERCENT=101": "from 0 to 100",
		"AIPERF_DATASET_REBROADCAST_INTERVAL=0":          "above 0 and at most 60",
		"AIPERF_RECORD_COMPLETION_STALL_TIMEOUT=86401":   "from 0 to 86400",
		"AIPERF_DATASET_MMAP_PREFAULT=maybe":             "is not a boolean",
		"AIPERF_HTTP_METRICS_SCRAPE_READ_TIMEOUT=0.5":    "from 1 to 3600",
		"AIPERF_SERVER_METRICS_SCRAPE_TIMEOUT=601":       "from 0.1 to 600",
	} {
		_, _, err := env.Read(configtest.Environ(entry))
		if err == nil {
			t.Errorf("%s: accepted", entry)
			continue
		}
		configtest.WantText(t, entry, err.Error(), want)
	}
}

func TestBoundOfScrapes(t *testing.T) {
	for entry, want := range map[string]time.Duration{
		"AIPERF_SERVER_METRICS_SCRAPE_TIMEOUT=2.5": 2500 * time.Millisecond, "X=1": 0,
	} {
		e, warnings, err := env.Read(configtest.Environ(entry))
		if err != nil || len(warnings) > 0 || e.ServerMetrics.ScrapeTimeout != want {
			t.Errorf("%s: %s, %v, %v", entry, e.ServerMetrics.ScrapeTimeout, warnings, err)
		}
	}
}

// A variable of an option is no unknown one, in the table or not.
func TestVariablesOfOptionsAreKnown(t *testing.T) {
	for _, o := range option.All() {
		if o.Env != "" {
			if got := env.Unknown([]string{o.Env + "=1"}); got != nil {
				t.Errorf("%v", got)
			}
		}
	}
}

// TestTimesAreMarked keeps the help of options and variables that are times and their units together.
func TestTimesAreMarked(t *testing.T) {
	named := regexp.MustCompile(`(?i)\b(nano|micro|milli)?seconds\b`)
	for _, o := range option.All() {
		if (o.Type == option.Int || o.Type == option.Float) && named.MatchString(o.Help) && o.Unit == 0 {
			t.Errorf("--%s names seconds but has no unit", o.Name)
		}
	}
	for _, v := range env.Variables() {
		if (v.Type == env.VarInt || v.Type == env.VarFloat) && named.MatchString(v.Help) && v.Unit == 0 {
			t.Errorf("%s names seconds but has no unit", v.Name)
		}
	}
}
