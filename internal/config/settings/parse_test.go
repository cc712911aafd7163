package settings_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/config/configtest"
	"aiperf/internal/config/env"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/config/settings"
)

func TestGrammar(t *testing.T) {
	for _, c := range []struct {
		line, option string
		want         any
	}{
		{"--concurrency 5", "concurrency", int64(5)},
		{"--concurrency=5", "concurrency", int64(5)},
		{"--num-requests 7", "request-count", int64(7)},
		{"--num_requests 7", "request-count", int64(7)},
		{"--endpoint_type=chat", "endpoint-type", "chat"},
		{"--streaming", "streaming", true},
		{"--streaming=true", "streaming", true},
		{"--streaming=FALSE", "streaming", false},
		{"--model a,b", "model-names", []string{"a", "b"}},
		{"--model a --model b -m c", "model-names", []string{"a", "b", "c"}},
		{"--model 'a, b'", "model-names", []string{"a", "b"}},
		{"--url a b c", "url", []string{"a", "b", "c"}},
		{"--url a,b c -u d", "url", []string{"a", "b", "c", "d"}},
		{"--url=a b", "url", []string{"a", "b"}},
		{"--server-metrics", "server-metrics", []string{}},
		{"--connection-reuse-strategy STICKY_USER_SESSIONS", "connection-reuse-strategy", "sticky-user-sessions"},
		{"--log-level debug", "log-level", "DEBUG"},
		{"--no-set-consistent-seed", "set-consistent-seed", false},
		{"--no-set-consistent-seed=false", "set-consistent-seed", true},
		{"--set-consistent-seed", "set-consistent-seed", true},
		{"-vv", "extra-verbose", true},
		{"-b 3", "prompt-batch-size", int64(3)},
		{"--audio-depths 8,16 --audio-depths 24.0", "audio-depths", []any{int64(8), int64(16), 24.0}},
		{"--request-rate 1e2", "request-rate", 100.0},
		{"--request-rate inf", "request-rate", math.Inf(1)},
		{"--benchmark-grace-period inf", "benchmark-grace-period", math.Inf(1)},
		{"--custom-endpoint ''", "endpoint", ""},
		{"--osl-stddev 2.5", "osl-stddev", 2.5},
	} {
		p := mustParse(t, c.line)
		o := field(t, p, c.option)
		got := o.Value()
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %#v, want %#v", c.line, got, c.want)
		}
		if !o.Given() {
			t.Errorf("%s: not given", c.line)
		}
	}
}

func TestGrammarFaults(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"--concurrency 5 --concurrency 6", "--concurrency is given twice"},
		{"--isl 5 --prompt-input-tokens-mean 6", "--isl and --prompt-input-tokens-mean are the same option"},
		{"--set-consistent-seed --no-set-consistent-seed", "the same option"},
		{"--concurrency", "--concurrency needs a value"},
		{"--model --streaming", "--model needs a value"},
		{"--concurrency 0", "--concurrency 0: is out of range; it must be from 1 to 100000000"},
		{"--isl 5000000000", "--isl 5000000000: is out of range; it must be from 0 to 100000000"},
		{"--osl 5000000000", "from 0 to 100000000"},
		{"--num-dataset-entries 2000000000", "from 1 to 100000000"},
		{"--num-prefix-prompts 2000000000", "from 0 to 100000000"},
		{"--conversation-turn-mean 2000000000", "from 1 to 1000000"},
		{"--batch-size 2000000000", "from 0 to 1000000"},
		{"--image-batch-size 2000000000", "from 0 to 1000000"},
		{"--num-users 2000000000", "from 1 to 100000000"},
		{"--num-requests 2000000000000", "from 1 to 1000000000000"},
		{"--random-seed -1", "--random-seed -1: is out of range; it must be at least 0"},
		{"--concurrency x", "is not a whole number"},
		{"--concurrency 1.5", "is not a whole number"},
		{"--concurrency 99999999999999999999", "too large"},
		{"--request-rate 0", "must be above 0"},
		{"--user-centric-rate inf", "out of range"},
		{"--request-rate nan", "not a number"},
		{"--request-rate 0x10", "not a number"},
		{"--request-cancellation-rate 101", "above 0 and at most 100"},
		{"--streaming=maybe", "is not a boolean"},
		{"--ui foo", "must be one of dashboard, simple, none"},
		{"--concurency 5", "unknown flag --concurency; did you mean --concurrency?"},
		{"-concurrency 5", "did you mean --concurrency?"},
		{"--conc 5", "unknown flag --conc; did you mean --concurrency?"},
		{"--no-streaming", "unknown flag --no-streaming"},
		{"-x", "unknown flag -x"},
		{"-c 10", "unknown flag -c; aiperf calls this --concurrency 10"},
		{"--target http://a:1", "unknown flag --target; aiperf calls this --url http://a:1"},
		{"http://a:1 --url http://b:1", "--url and a word both name servers"},
		{"--url http://b:1 --streaming http://a:1", `both name servers: give all of them with --url`},
		{"model-a", `unexpected argument "model-a": profile takes flags, and the URL of the server`},
		{"--model a b", "repeat the flag or separate them by commas"},
		{"-- x", "unexpected argument"},
		{"--streaming yes", `unexpected argument "yes"`},
		{"--model a,,b", "has an empty item"},
		{"--input-file /does/not/exist", "'/does/not/exist' is not a valid file or directory"},
		{"--extra-inputs foo", "each item must be in 'key:value' format"},
		{"--header foo", "each item must be in 'key:value' format"},
		{"--url-header 0=Content-Type:hunter2", "--url-header: item 1: the header Content-Type describes"},
		{"--url-header 0=A:b --url-header 'X-A: hunter2'", "--url-header: item 2: want URL=name:value"},
		{"--url-header '=X-A: hunter2'", "--url-header: item 1: want URL=name:value"},
		{"--url-header '0=X A: hunter2'", "--url-header: item 1: want URL=name:value"},
		{"--url-header '0=X-A: hunter2\nx'", "--url-header: item 1: the value of header X-A contains a line break"},
		{"--tokenizer ''", "the value is empty"},
		{"--server-metrics-formats json,xml", "xml must be one of json, csv, jsonl, parquet"},
	} {
		faults := parseError(t, c.line)
		configtest.WantText(t, c.line, faults.Error(), c.want)
		if len(faults) != 1 {
			t.Errorf("%s: %d faults: %v", c.line, len(faults), faults)
		}
		if strings.Contains(faults.Error(), "hunter2") {
			t.Errorf("%s: the value of a header is repeated: %v", c.line, faults)
		}
	}
}

func TestAllFlagFaultsAreReportedAtOnce(t *testing.T) {
	faults := parseError(t, "--concurrency 0 --foo bar baz --request-rate x extra", "AIPERF_HTTP_CONNECTION_LIMIT=0")
	if len(faults) != 5 {
		t.Fatalf("%d faults: %v", len(faults), faults)
	}
	configtest.WantText(t, "all", faults.Error(), "--concurrency 0", "--foo", "--request-rate x", `"extra"`,
		"AIPERF_HTTP_CONNECTION_LIMIT")
}

// field is the field of the option with a long name.
func field(t *testing.T, p *settings.Settings, name string) option.Field {
	t.Helper()
	o, ok := option.Find("--" + name)
	if !ok {
		t.Fatalf("no option %s", name)
	}
	return p.Field(o)
}

func TestOrigins(t *testing.T) {
	p := mustParse(t, "--isl 5 -m a --api-port 80", "AIPERF_UI_REALTIME_METRICS_INTERVAL=7",
		"AIPERF_API_SERVER_PORT=90")
	for name, want := range map[string]option.Origin{
		"prompt-input-tokens-mean": {Source: option.FromFlag, Name: "--isl"},
		"model-names":              {Source: option.FromFlag, Name: "-m"},
		"api-port":                 {Source: option.FromFlag, Name: "--api-port"},
		"stats-interval":           {Source: option.FromEnvironment, Name: "AIPERF_UI_REALTIME_METRICS_INTERVAL"},
		"concurrency":              {},
	} {
		if got := field(t, p, name).Origin(); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if p.StatsInterval.Get() != 7 || p.APIPort.Get() != 80 {
		t.Errorf("values %v, %v", p.StatsInterval.Get(), p.APIPort.Get())
	}
	if p.StatsInterval.Given() || !p.StatsInterval.IsSet() {
		t.Error("a variable sets an option but does not count as given")
	}
	if got := p.Concurrency.Origin().String(); got != "default" {
		t.Errorf("default origin is written %q", got)
	}
}

// TestNumbersAsPeopleWriteThem reads the same forms from flags and from the environment.
func TestNumbersAsPeopleWriteThem(t *testing.T) {
	p, err := settings.Parse([]string{"--osl", "100_000", "--request-rate", "1_0.5", "--isl", "1.5k", "--request-count", "2M",
		"--concurrency", "1_0,2k"},
		configtest.Environ("AIPERF_HTTP_CONNECTION_LIMIT=2_000", "AIPERF_HTTP_MAX_RESPONSE_BYTES=64M",
			"AIPERF_UI_MIN_UPDATE_PERCENT=1_0.5"))
	if err != nil {
		t.Fatal(err)
	}
	if p.OSL.Get() != 100000 || p.RequestRate.Get() != 10.5 || p.ISL.Get() != 1500 ||
		p.RequestCount.Get() != 2000000 {
		t.Errorf("osl %d, rate %v, isl %d, requests %d", p.OSL.Get(), p.RequestRate.Get(), p.ISL.Get(),
			p.RequestCount.Get())
	}
	if swept := p.Concurrency.Swept(); len(swept) != 2 || swept[0] != int64(10) || swept[1] != int64(2000) {
		t.Errorf("swept %v", swept)
	}
	if p.Env.HTTP.ConnectionLimit != 2000 || p.Env.HTTP.MaxResponseBytes != 64e6 || p.Env.UI.MinUpdatePercent != 10.5 {
		t.Errorf("environment %+v", p.Env.HTTP)
	}
	for _, bad := range []string{"_1", "1_", "1__0", "1m", "k", "1.5"} {
		if _, err := settings.Parse([]string{"--osl", bad}, configtest.Environ()); err == nil {
			t.Errorf("--osl %s is accepted", bad)
		}
	}
}

func TestTimesTakeUnits(t *testing.T) {
	p, err := settings.Parse([]string{"--benchmark-duration", "5m", "--benchmark-grace-period", "1h30m", "--slice-duration",
		"500ms", "--warmup-duration", "10",
		"--conversation-turn-delay-mean", "1.5s", "--conversation-turn-delay-stddev", "20",
		"--fixed-schedule-start-offset", "2s"},
		configtest.Environ("AIPERF_HTTP_TCP_KEEPIDLE=2m", "AIPERF_UI_REALTIME_METRICS_INTERVAL=500ms",
			"AIPERF_HTTP_TCP_USER_TIMEOUT=3s"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"benchmark-duration": 300, "benchmark-grace-period": 5400, "slice-duration": 0.5, "warmup-duration": 10,
		"conversation-turn-delay-mean": 1500, "conversation-turn-delay-stddev": 20, "stats-interval": 0.5,
	} {
		if got := field(t, p, name).Value(); got != want {
			t.Errorf("--%s is %v, want %v", name, got, want)
		}
	}
	if got := p.FixedScheduleStartOffset.Get(); got != 2000 {
		t.Errorf("start offset %d ms", got)
	}
	if p.Env.HTTP.TCPKeepIdle != 2*time.Minute || p.Env.HTTP.TCPUserTimeout != 3*time.Second {
		t.Errorf("environment %+v", p.Env.HTTP)
	}
	for _, bad := range [][]string{{"--benchmark-duration", "10x"}, {"--concurrency", "10s"},
		{"--fixed-schedule-start-offset", "500us"}} {
		if _, err := settings.Parse(bad, configtest.Environ()); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

func TestBooleansInAllSpellings(t *testing.T) {
	for text, want := range map[string]bool{"yes": true, "NO": false, "t": true, "F": false, "0": false, "1": true,
		"on": true, "Off": false, "y": true, "n": false} {
		p, err := settings.Parse([]string{"--streaming=" + text}, configtest.Environ("AIPERF_HTTP_TRUST_ENV="+text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if p.Streaming.Get() != want || p.Env.HTTP.TrustEnv != want {
			t.Errorf("%s: flag %v, environment %v, want %v", text, p.Streaming.Get(), p.Env.HTTP.TrustEnv, want)
		}
	}
}

// TestTableIsConsistent holds the option table to its own grammar.
func TestTableIsConsistent(t *testing.T) {
	seen := map[string]string{}
	groups := map[option.Group]bool{}
	for _, o := range option.All() {
		for _, spelling := range o.Spellings() {
			if other, twice := seen[spelling]; twice {
				t.Errorf("%s belongs to %s and %s", spelling, other, o.Name)
			}
			seen[spelling] = o.Name
			if strings.Contains(spelling, "_") {
				t.Errorf("%s: names are written with dashes", spelling)
			}
		}
		o.DefaultValue() // panics on a default that its own grammar refuses
		groups[o.Group] = true
		if o.Type == option.Enum && len(o.Values) == 0 {
			t.Errorf("--%s: no choices", o.Name)
		}
		for _, v := range o.BuiltValues {
			if !slices.Contains(o.Values, v) {
				t.Errorf("--%s: %s is built but no choice", o.Name, v)
			}
		}
		if o.Help == "" || !strings.HasSuffix(o.Help, ".") || o.Tier < 1 || o.Tier > 3 {
			t.Errorf("--%s: help %q, tier %d", o.Name, o.Help, o.Tier)
		}
		if o.Sweep && o.Type != option.Int && o.Type != option.Float {
			t.Errorf("--%s: only numbers are swept", o.Name)
		}
		if o.Env != "" && !slices.ContainsFunc(env.Variables(),
			func(v env.Variable) bool { return option.EnvPrefix+v.Name == o.Env }) {
			t.Errorf("--%s: no variable %s", o.Name, o.Env)
		}
	}
	for _, g := range option.Groups() {
		if !groups[g] {
			t.Errorf("group %s is empty", g)
		}
	}
	if len(groups) != len(option.Groups()) {
		t.Errorf("%d groups in the table, %d listed", len(groups), len(option.Groups()))
	}
	if len(seen) < 300 {
		t.Errorf("only %d spellings", len(seen))
	}
}

func mustParse(t *testing.T, line string, environment ...string) *settings.Settings {
	t.Helper()
	p, err := settings.Parse(configtest.Words(line), configtest.Environ(environment...))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return p
}

func parseError(t *testing.T, line string, environment ...string) fault.List {
	t.Helper()
	_, err := settings.Parse(configtest.Words(line), configtest.Environ(environment...))
	var faults fault.List
	if !errors.As(err, &faults) {
		t.Fatalf("%s: got %v, want faults", line, err)
	}
	return faults
}

// A value of a file is given like one of a flag, and messages name its place.
func TestSettingsOfAFile(t *testing.T) {
	p := mustParse(t, "--isl 5")
	place := option.Origin{Source: option.FromFile, Name: "bench.yaml:12"}
	if err := p.Concurrency.Set([]string{"7"}, place); err != nil {
		t.Fatal(err)
	}
	if got := p.Concurrency.Pointer(); got == nil || *got != 7 || !p.Concurrency.Given() ||
		p.Concurrency.Flag() != "bench.yaml:12" {
		t.Errorf("concurrency %v, given %v, named %s", got, p.Concurrency.Given(), p.Concurrency.Flag())
	}
	err := p.RequestCount.Set([]string{"x"}, place)
	if err == nil || !p.RequestCount.Given() || p.RequestCount.Pointer() != nil {
		t.Errorf("error %v, given %v, value %v", err, p.RequestCount.Given(), p.RequestCount.Pointer())
	}
}

// The server may be named by a word, as in other tools.
func TestAWordNamesTheServer(t *testing.T) {
	for line, want := range map[string]string{
		"http://a:1/v1 --streaming":                 "http://a:1/v1",
		"--streaming localhost:8000":                "localhost:8000",
		"localhost":                                 "localhost",
		"[::1]:80 --request-count 1 grpc://b:8001/": "[::1]:80 grpc://b:8001/",
	} {
		p := mustParse(t, line)
		if got := strings.Join(p.URL.Get(), " "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
