package config

import (
	"regexp"
	"testing"
	"time"
)

// TestNumbersAsPeopleWriteThem reads the same forms from flags and from the environment.
func TestNumbersAsPeopleWriteThem(t *testing.T) {
	p, err := Parse([]string{"--osl", "100_000", "--request-rate", "1_0.5", "--isl", "1.5k", "--request-count", "2M",
		"--concurrency", "1_0,2k"},
		environ("AIPERF_HTTP_CONNECTION_LIMIT=2_000", "AIPERF_HTTP_MAX_RESPONSE_BYTES=64M",
			"AIPERF_UI_MIN_UPDATE_PERCENT=1_0.5"))
	if err != nil {
		t.Fatal(err)
	}
	if *p.Int("osl") != 100000 || *p.Float("request-rate") != 10.5 || *p.Int("isl") != 1500 ||
		*p.Int("request-count") != 2000000 {
		t.Errorf("osl %d, rate %v, isl %d, requests %d", *p.Int("osl"), *p.Float("request-rate"), *p.Int("isl"),
			*p.Int("request-count"))
	}
	if swept := p.Swept("concurrency"); len(swept) != 2 || swept[0] != int64(10) || swept[1] != int64(2000) {
		t.Errorf("swept %v", swept)
	}
	if p.Env.HTTP.ConnectionLimit != 2000 || p.Env.HTTP.MaxResponseBytes != 64e6 || p.Env.UI.MinUpdatePercent != 10.5 {
		t.Errorf("environment %+v", p.Env.HTTP)
	}
	for _, bad := range []string{"_1", "1_", "1__0", "1m", "k", "1.5"} {
		if _, err := Parse([]string{"--osl", bad}, environ()); err == nil {
			t.Errorf("--osl %s is accepted", bad)
		}
	}
}

func TestTimesTakeUnits(t *testing.T) {
	p, err := Parse([]string{"--benchmark-duration", "5m", "--benchmark-grace-period", "1h30m", "--slice-duration",
		"500ms", "--warmup-duration", "10",
		"--conversation-turn-delay-mean", "1.5s", "--conversation-turn-delay-stddev", "20",
		"--fixed-schedule-start-offset", "2s"},
		environ("AIPERF_HTTP_TCP_KEEPIDLE=2m", "AIPERF_UI_REALTIME_METRICS_INTERVAL=500ms",
			"AIPERF_HTTP_TCP_USER_TIMEOUT=3s"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"benchmark-duration": 300, "benchmark-grace-period": 5400, "slice-duration": 0.5, "warmup-duration": 10,
		"conversation-turn-delay-mean": 1500, "conversation-turn-delay-stddev": 20, "stats-interval": 0.5,
	} {
		if got := *p.Float(name); got != want {
			t.Errorf("--%s is %v, want %v", name, got, want)
		}
	}
	if got := *p.Int("fixed-schedule-start-offset"); got != 2000 {
		t.Errorf("start offset %d ms", got)
	}
	if p.Env.HTTP.TCPKeepIdle != 2*time.Minute || p.Env.HTTP.TCPUserTimeout != 3*time.Second {
		t.Errorf("environment %+v", p.Env.HTTP)
	}
	for _, bad := range [][]string{{"--benchmark-duration", "10x"}, {"--concurrency", "10s"},
		{"--fixed-schedule-start-offset", "500us"}} {
		if _, err := Parse(bad, environ()); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

func TestBooleansInAllSpellings(t *testing.T) {
	for text, want := range map[string]bool{"yes": true, "NO": false, "t": true, "F": false, "0": false, "1": true,
		"on": true, "Off": false, "y": true, "n": false} {
		p, err := Parse([]string{"--streaming=" + text}, environ("AIPERF_HTTP_TRUST_ENV="+text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if p.Bool("streaming") != want || p.Env.HTTP.TrustEnv != want {
			t.Errorf("%s: flag %v, environment %v, want %v", text, p.Bool("streaming"), p.Env.HTTP.TrustEnv, want)
		}
	}
}

// TestTimesAreMarked keeps the help of options and variables that are times and their units together.
func TestTimesAreMarked(t *testing.T) {
	named := regexp.MustCompile(`(?i)\b(nano|micro|milli)?seconds\b`)
	for _, o := range Options() {
		if (o.Type == Int || o.Type == Float) && named.MatchString(o.Help) && o.Unit == 0 {
			t.Errorf("--%s names seconds but has no unit", o.Name)
		}
	}
	for _, v := range Variables() {
		if (v.Type == VarInt || v.Type == VarFloat) && named.MatchString(v.Help) && v.Unit == 0 {
			t.Errorf("%s names seconds but has no unit", v.Name)
		}
	}
}

func TestGoodputTakesAliasesAndUnits(t *testing.T) {
	slos, err := ParseSLOs("ttft:0.5s inter_token_latency:1_0 time_to_first_token:300ms unknown:5",
		fakeCatalog{}.Metric)
	if err != nil || len(slos) != 3 || slos[0] != (SLO{"time_to_first_token", 300}) ||
		slos[1] != (SLO{"inter_token_latency", 10}) || slos[2] != (SLO{"unknown", 5}) {
		t.Errorf("%v, %v", slos, err)
	}
}
