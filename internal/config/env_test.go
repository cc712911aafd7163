package config

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestEnvDefaults(t *testing.T) {
	env, warnings, err := ReadEnv(environ())
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	for _, c := range []struct{ got, want any }{
		{env.HTTP.ConnectionLimit, 2500}, {env.HTTP.KeepaliveTimeout, 300 * time.Second}, {env.HTTP.TCPUserTimeout, 30 * time.Second},
		{env.HTTP.SSLVerify, true}, {env.HTTP.IPVersion, "4"}, {env.HTTP.XSessionAffinity, true}, {env.HTTP.XSessionID, false},
		{env.Metrics.UsagePctDiffThreshold, 10.0}, {env.Metrics.OSLMismatchMaxTokenThreshold, 50}, {env.Metrics.ExportFlushInterval, time.Second},
		{env.UI.ConsoleExportWidth, 140}, {env.UI.MinUpdatePercent, 1.0}, {env.UI.RealtimeMetricsInterval, (*time.Duration)(nil)},
		{env.UI.ConsoleGroups, []string{"effective", "active", "cache", "prediction", "audio", "reasoning", "default"}},
		{env.Timing.MaxCatchup, 10 * time.Millisecond}, {env.Timing.CancelDrainTimeout, 10 * time.Second},
		{env.Service.ProfileCancelTimeout, 10 * time.Second}, {env.Worker.CPUUtilizationFactor, 0.75}, {env.Dev.Mode, false},
		{env.Endpoint.ForceContentParts, false},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

func TestEnvBooleans(t *testing.T) {
	for text, want := range map[string]bool{"1": true, "TRUE": true, "yes": true, "On": true, "0": false, "False": false, "no": false, "off": false} {
		env, _, err := ReadEnv(environ("AIPERF_HTTP_SSL_VERIFY=" + text))
		if err != nil || env.HTTP.SSLVerify != want {
			t.Errorf("%s: %v, %v", text, env.HTTP.SSLVerify, err)
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
		_, _, err := ReadEnv(environ(entry))
		if err == nil {
			t.Errorf("%s: accepted", entry)
			continue
		}
		name, _, _ := strings.Cut(entry, "=")
		wantText(t, entry, err.Error(), name, want)
	}
	if _, _, err := ReadEnv(environ("AIPERF_DATASET_CONFIGURATION_TIMEOUT=1000", "AIPERF_SERVICE_PROFILE_CONFIGURE_TIMEOUT=1000")); err != nil {
		t.Error(err)
	}
}

func TestEnvLists(t *testing.T) {
	for text, want := range map[string][]string{"usage, default": {"usage", "default"}, `["usage","a,b"]`: {"usage", "a,b"}, "": {}} {
		env, _, err := ReadEnv(environ("AIPERF_UI_CONSOLE_GROUPS=" + text))
		if err != nil || !reflect.DeepEqual(env.UI.ConsoleGroups, want) {
			t.Errorf("%q: %v, %v", text, env.UI.ConsoleGroups, err)
		}
	}
}

func TestDeveloperSwitchesNeedDeveloperMode(t *testing.T) {
	env, warnings, err := ReadEnv(environ("AIPERF_DEV_SHOW_INTERNAL_METRICS=1"))
	if err != nil || env.Dev.ShowInternalMetrics {
		t.Errorf("%v, %v", env.Dev, err)
	}
	wantText(t, "warning", texting(warnings), "AIPERF_DEV_SHOW_INTERNAL_METRICS", "AIPERF_DEV_MODE=1")
	env, warnings, _ = ReadEnv(environ("AIPERF_DEV_SHOW_INTERNAL_METRICS=1", "AIPERF_DEV_MODE=on"))
	if !env.Dev.ShowInternalMetrics || len(warnings) > 0 {
		t.Errorf("%v, %v", env.Dev, warnings)
	}
}

func TestUnknownVariables(t *testing.T) {
	if got := UnknownVariables([]string{"PATH=x", "AIPERF_DEV_MODE=1", "AIPERFX=1"}); got != nil {
		t.Errorf("got %v", got)
	}
	got := UnknownVariables([]string{"AIPERF_HTTP_CONECTION_LIMIT=5", "AIPERF_ZZZZZZZZZZZZZZZZZZZZZZZZZZ=1"})
	if len(got) != 1 {
		t.Fatalf("%d warnings, want one", len(got))
	}
	wantText(t, "warning", got[0].Text, "AIPERF_HTTP_CONECTION_LIMIT (did you mean AIPERF_HTTP_CONNECTION_LIMIT?)", "AIPERF_ZZZ")
	if strings.Contains(got[0].Text, "ZZ (did") {
		t.Errorf("a far-fetched suggestion: %s", got[0].Text)
	}
}

// TestVariableTableIsConsistent holds every default to its own range.
func TestVariableTableIsConsistent(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range Variables() {
		if seen[v.Name] {
			t.Errorf("%s stands twice", v.Name)
		}
		seen[v.Name] = true
		if v.Default != "" {
			if _, err := v.parse(v.Default); err != nil {
				t.Errorf("%s: default %q: %v", v.Name, v.Default, err)
			}
		}
		if v.Help == "" || v.Group == "" {
			t.Errorf("%s: help %q, group %q", v.Name, v.Help, v.Group)
		}
	}
}

func TestVariablesWithoutEffectAreNamed(t *testing.T) {
	lookup := func(set map[string]string) Lookup {
		return func(name string) (string, bool) { v, ok := set[name]; return v, ok }
	}
	_, warnings, err := ReadEnv(lookup(map[string]string{
		"AIPERF_GPU_COLLECTION_INTERVAL":          "0.5",  // read
		"AIPERF_WANDB_EXPORT_TIMEOUT_SECONDS":     "7",    // nothing is uploaded yet
		"AIPERF_HTTP_CONNECTION_LIMIT":            "7",    // read
		"AIPERF_GPU_REACHABILITY_TIMEOUT":         "10",   // the default
		"AIPERF_SERVICE_COMMS_REQUEST_TIMEOUT":    "50",   // describes the original's processes
		"AIPERF_SERVER_METRICS_PERCENTILE_BOUNDS": "true", // read
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) != 1 || !strings.HasSuffix(warnings[0].Text, ": AIPERF_WANDB_EXPORT_TIMEOUT_SECONDS") {
		t.Errorf("warnings %+v", warnings)
	}
}
