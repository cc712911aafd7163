package config

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
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
		got := p.Value(c.option)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %#v, want %#v", c.line, got, c.want)
		}
		if !p.Given(c.option) {
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
		{"--concurrency 0", "--concurrency 0: is out of range; it must be at least 1"},
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
		{"--endpoint-type chta", "did you mean chat?"},
		{"--ui foo", "must be one of dashboard, simple, none"},
		{"--concurency 5", "unknown flag --concurency; did you mean --concurrency?"},
		{"-concurrency 5", "did you mean --concurrency?"},
		{"--conc 5", "unknown flag --conc; did you mean --concurrency?"},
		{"--no-streaming", "unknown flag --no-streaming"},
		{"-x", "unknown flag -x"},
		{"model-a", `unexpected argument "model-a": profile takes flags only`},
		{"--model a b", "repeat the flag or separate them by commas"},
		{"-- x", "unexpected argument"},
		{"--streaming yes", `unexpected argument "yes"`},
		{"--model a,,b", "has an empty item"},
		{"--input-file /does/not/exist", "'/does/not/exist' is not a valid file or directory"},
		{"--extra-inputs foo", "each item must be in 'key:value' format"},
		{"--header foo", "each item must be in 'key:value' format"},
		{"--tokenizer ''", "the value is empty"},
		{"--server-metrics-formats json,xml", "xml must be one of json, csv, jsonl, parquet"},
	} {
		faults := parseError(t, c.line)
		wantText(t, c.line, faults.Error(), c.want)
		if len(faults) != 1 {
			t.Errorf("%s: %d faults: %v", c.line, len(faults), faults)
		}
	}
}

func TestAllFlagFaultsAreReportedAtOnce(t *testing.T) {
	faults := parseError(t, "--concurrency 0 --foo bar baz --request-rate x extra", "AIPERF_HTTP_CONNECTION_LIMIT=0")
	if len(faults) != 5 {
		t.Fatalf("%d faults: %v", len(faults), faults)
	}
	wantText(t, "all", faults.Error(), "--concurrency 0", "--foo", "--request-rate x", `"extra"`,
		"AIPERF_HTTP_CONNECTION_LIMIT")
}

func TestSecretsAreNotEchoed(t *testing.T) {
	for _, line := range []string{
		"--header Bearer-hunter2", "--api-key= --concurrency hunter3 --api-key hunter2 --api-key hunter2",
		"--url http://u:hunter2@ -m m", "--header {hunter2",
	} {
		p, err := Parse(words(line), environ())
		if err == nil {
			_, _, err = Resolve(p, fakeCatalog{})
		}
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestOrigins(t *testing.T) {
	p := mustParse(t, "--isl 5 -m a --api-port 80", "AIPERF_UI_REALTIME_METRICS_INTERVAL=7",
		"AIPERF_API_SERVER_PORT=90")
	for name, want := range map[string]Origin{
		"prompt-input-tokens-mean": {FromFlag, "--isl"},
		"model-names":              {FromFlag, "-m"},
		"api-port":                 {FromFlag, "--api-port"},
		"stats-interval":           {FromEnvironment, "AIPERF_UI_REALTIME_METRICS_INTERVAL"},
		"concurrency":              {},
	} {
		if got := p.Origin(name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if *p.Float("stats-interval") != 7 || *p.Int("api-port") != 80 {
		t.Errorf("values %v, %v", *p.Float("stats-interval"), *p.Int("api-port"))
	}
	if p.Given("stats-interval") || !p.IsSet("stats-interval") {
		t.Error("a variable sets an option but does not count as given")
	}
	if got := p.Origin("concurrency").String(); got != "default" {
		t.Errorf("default origin is written %q", got)
	}
}

// TestTableIsConsistent holds the option table to its own grammar.
func TestTableIsConsistent(t *testing.T) {
	seen := map[string]string{}
	groups := map[Group]bool{}
	for _, o := range Options() {
		for _, spelling := range o.Spellings() {
			if other, twice := seen[spelling]; twice {
				t.Errorf("%s belongs to %s and %s", spelling, other, o.Name)
			}
			seen[spelling] = o.Name
			if strings.Contains(spelling, "_") {
				t.Errorf("%s: names are written with dashes", spelling)
			}
		}
		defaultValue(o) // panics on a default that its own grammar refuses
		groups[o.Group] = true
		if o.Type == Enum && len(o.Values) == 0 {
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
		if o.Sweep && o.Type != Int && o.Type != Float {
			t.Errorf("--%s: only numbers are swept", o.Name)
		}
		if o.Env != "" && !slices.ContainsFunc(Variables(),
			func(v Variable) bool { return EnvPrefix+v.Name == o.Env }) {
			t.Errorf("--%s: no variable %s", o.Name, o.Env)
		}
	}
	for _, g := range Groups() {
		if !groups[g] {
			t.Errorf("group %s is empty", g)
		}
	}
	if len(groups) != len(Groups()) {
		t.Errorf("%d groups in the table, %d listed", len(groups), len(Groups()))
	}
	if len(seen) < 300 {
		t.Errorf("only %d spellings", len(seen))
	}
}

// FuzzParse holds that no arguments make the parser or the resolution panic, that the recorded command
// line never holds the API key, and that parsing is a function of its input.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"--model\nm", "--url\na\nb\n--streaming", "--concurrency\n1,2,3", "--extra-inputs\n{\"a\":[1,{}]}",
		"-H\nA:1,B:2",
		"--seq-dist\n[(1,1):100]", "--goodput\na:1", "--\nx", "-vv\n-v", "--api-key\nzzsecretzz",
		"--benchmark-duration\n1e300\n--model\nm",
		"--request-count\n9223372036854775807\n-m\nm\n--concurrency\n9223372036854775807",
		"--fixed-schedule\n--input-file\n.\n-m\nm", "--prefix\nx", "--profile-export-prefix\n../..\n-m\nm",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "input-file") || strings.Contains(text, "input_file") ||
			strings.Contains(text, "system-prompt") {
			t.Skip("reads files of the machine")
		}
		args := strings.Split(text, "\n")
		p, err := Parse(args, environ())
		if err != nil {
			return
		}
		run, _, err := Resolve(p, fakeCatalog{})
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without text")
			}
			return
		}
		if key := run.Endpoint.APIKey; len(key) > 6 && strings.Contains(run.CLICommand, key) &&
			strings.Count(text, key) == 1 {
			t.Errorf("the command line holds the key: %s", run.CLICommand)
		}
		if len(InputConfig(run)) == 0 {
			t.Error("no exported configuration")
		}
	})
}
