package parse_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/config/configtest"
	"aiperf/internal/config/option"
	"aiperf/internal/config/parse"
	"aiperf/internal/workload/recipe"
)

func TestFindKey(t *testing.T) {
	const maxKeyFile = 64 << 10 // bytes
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "@" + path
	}
	both := map[string]string{"AIPERF_API_KEY": "own", "OPENAI_API_KEY": "other"}
	other := map[string]string{"AIPERF_API_KEY": " ", "OPENAI_API_KEY": " other\n"}
	for _, c := range []struct {
		name, flag, url string
		environment     map[string]string
		want            parse.Key
		fault           string
	}{
		{"the flag wins", "flag", "http://h", both, parse.Key{Value: "flag"}, ""},
		{"then the program's own variable", "", "http://h", both,
			parse.Key{Value: "own", Variable: "AIPERF_API_KEY"}, ""},
		{"then the common one over TLS", "", "https://api.example.com/v1", other,
			parse.Key{Value: "other", Variable: "OPENAI_API_KEY"}, ""},
		{"on this machine", "", "127.0.0.1:8000", other, parse.Key{Value: "other", Variable: "OPENAI_API_KEY"}, ""},
		{"on this machine by name", "", "http://localhost:8000", other,
			parse.Key{Value: "other", Variable: "OPENAI_API_KEY"}, ""},
		{"but not in clear text elsewhere", "", "http://10.0.0.1:8000", other,
			parse.Key{Variable: "OPENAI_API_KEY", Withheld: true}, ""},
		{"none", "", "http://h", nil, parse.Key{}, ""},
		{"a file", file("key", "\uFEFF sk-1 \r\n"), "http://h", both, parse.Key{Value: "sk-1"}, ""},
		{"a key that begins with @", "@@key", "http://h", nil, parse.Key{Value: "@key"}, ""},
		{"no file", "@", "http://h", nil, parse.Key{}, "needs the name of a file"},
		{"a missing file", "@" + filepath.Join(dir, "none"), "http://h", nil, parse.Key{}, "the key cannot be read"},
		{"a folder", "@" + dir, "http://h", nil, parse.Key{}, "the key cannot be read"},
		{"an empty file", file("empty", " \n"), "http://h", nil, parse.Key{}, "is empty"},
		{"two lines", file("two", "sk-1\nsk-2"), "http://h", nil, parse.Key{}, "several lines"},
		{"the largest file", file("largest", strings.Repeat("x", maxKeyFile)), "http://h", nil,
			parse.Key{Value: strings.Repeat("x", maxKeyFile)}, ""},
		{"a large file", file("large", strings.Repeat("x", maxKeyFile+1)), "http://h", nil, parse.Key{}, "too large"},
	} {
		key, err := parse.FindKey(c.flag, []string{c.url}, configtest.Environ(pairs(c.environment)...))
		switch {
		case c.fault != "":
			if err == nil || !strings.Contains(err.Error(), c.fault) || strings.Contains(err.Error(), "sk-") {
				t.Errorf("%s: %v", c.name, err)
			}
		case err != nil || key != c.want:
			t.Errorf("%s: %+v, %v", c.name, key, err)
		}
	}
}

func FuzzParseRange(f *testing.F) {
	for _, s := range []string{"0.3", `{"input":0.3,"output":0}`, "{", "1e9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parse.LengthRange(text)
		if err == nil && r.Mode != "" {
			t.Errorf("%q sets the mode %q", text, r.Mode)
		}
		if err != nil && r != (config.LengthRange{}) {
			t.Errorf("%q is %+v and %v", text, r, err)
		}
	})
}

func FuzzParseListen(f *testing.F) {
	for _, text := range []string{"9464", ":9464", "[::1]:9", "a:b:c", "[", "]:1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		address, err := parse.Listen(text)
		if err != nil {
			return
		}
		if _, _, err := net.SplitHostPort(address); err != nil {
			t.Errorf("%q gave %q: %v", text, address, err)
		}
	})
}

func FuzzOTelURL(f *testing.F) {
	for _, seed := range []string{"c", "c:4318", "http://u:p@[::1]:1/x", "grpc://c", "://", "http://%zz", ":", "a b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := parse.OTelURL(text)
		if err == nil && u.Hostname() == "" {
			t.Errorf("%q has no host: %v", text, u)
		}
		if err != nil && strings.Contains(text, "s3cret") && strings.Contains(fmt.Sprint(err), "s3cret") {
			t.Errorf("%q: the error repeats it: %v", text, err)
		}
	})
}

func FuzzRateSeries(f *testing.F) {
	f.Add([]byte(`[{"time_s":0,"qps":5},{"time_s":1.5,"qps":10}]`))
	f.Add([]byte(`{"points":[{"time_s":0,"qps":5}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		points, err := parse.RatePoints(text)
		if err == nil && len(points) < 2 {
			t.Errorf("%d points", len(points))
		}
		for i, p := range points {
			if !(p.Rate > 0) || p.Seconds < 0 || i > 0 &&
				option.Seconds(p.Seconds) <= option.Seconds(points[i-1].Seconds) {
				t.Errorf("point %d: %+v", i, p)
			}
		}
	})
}

func TestSequenceDistribution(t *testing.T) {
	pair := func(isl int, islStddev float64, osl int, oslStddev, percent float64) recipe.LengthPair {
		return recipe.LengthPair{ISL: recipe.Normal{Mean: float64(isl), Stddev: islStddev},
			OSL: recipe.Normal{Mean: float64(osl), Stddev: oslStddev}, Percent: percent}
	}
	for text, want := range map[string][]recipe.LengthPair{
		"128,64:25;512,128:75":            {pair(128, 0, 64, 0, 25), pair(512, 0, 128, 0, 75)},
		"256,128:40;512,256:60;":          {pair(256, 0, 128, 0, 40), pair(512, 0, 256, 0, 60)},
		"256|10,128|5.5:40; 512 , 256:60": {pair(256, 10, 128, 5.5, 40), pair(512, 0, 256, 0, 60)},
		"[(256,128):40,(512|.5,256):60]":  {pair(256, 0, 128, 0, 40), pair(512, .5, 256, 0, 60)},
		"[ (256,128):40 (512,256):60 ]":   {pair(256, 0, 128, 0, 40), pair(512, 0, 256, 0, 60)},
		`{"pairs":[{"isl":256,"osl":128,"prob":40,"isl_stddev":3},{"isl":512,"osl":256,"prob":60}]}`: {pair(256, 3, 128,
			0, 40), pair(512, 0, 256, 0, 60)},
		"1,1:33.3333;2,2:33.3333;3,3:33.3334": {pair(1, 0, 1, 0, 33.3333), pair(2, 0, 2, 0, 33.3333),
			pair(3, 0, 3, 0, 33.3334)},
	} {
		got, err := parse.SequenceDistribution(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, part := range map[string]string{
		"128,64:0.25;512,128:0.75":                "not 1.0",
		"256,128:33.33;512,256:33.33;64,32:33.33": "not 99.99",
		"256.5,128:100":                           "256.5,128:100",
		"256|x,128:100":                           "256|x,128:100",
		"256 |1,128:100":                          "not a pair",
		"0,5:100":                                 "at least 1",
		"":                                        "not a pair",
		"[]":                                      "no pair",
		"[(1,1):50,foo,(2,2):50]":                 "foo",
		"[(1,1):50,(2,2:50)]":                     "(2,2:50)",
		`{"pairs":[{"isl":1,"prob":100}]}`:        "lacks",
		`{"pears":[]}`:                            "not a list of pairs",
	} {
		if _, err := parse.SequenceDistribution(text); err == nil {
			t.Errorf("%s: accepted", text)
		} else {
			configtest.WantText(t, text, err.Error(), part)
		}
	}
}

func TestGPUItems(t *testing.T) {
	csv := configtest.WriteFile(t, "m.csv", "x")
	got, err := parse.GPU([]string{csv, "dashboard", "n1:9400", "http://n2/metrics"})
	if err != nil || got.MetricsFile != csv || !got.Dashboard ||
		!reflect.DeepEqual(got.Exporters, []config.GPUExporter{{URL: "http://n1:9400"}, {URL: "http://n2/metrics"}}) {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = parse.GPU([]string{"dcgm:n1:9400", "amd_dme:https://n2/metrics", "dcgm:9400", "amd_dme:9400/x"})
	want := []config.GPUExporter{{URL: "http://n1:9400", Collector: "dcgm"}, {URL: "https://n2/metrics",
		Collector: "amd_dme"}, {URL: "http://dcgm:9400", Collector: ""},
		{URL: "http://amd_dme:9400/x", Collector: ""}}
	if err != nil || !reflect.DeepEqual(got.Exporters, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := parse.GPU([]string{"adm_dme:http://n1:9400"}); err == nil ||
		!strings.Contains(err.Error(), "Unknown GPU telemetry collector 'adm_dme'") ||
		!strings.Contains(err.Error(), "amd_dme") {
		t.Errorf("got %v", err)
	}
	for _, items := range [][]string{{"missing.csv"}, {"foo"}, {"pynvml", "n1:9400"}, {"pynvml", "amdsmi"},
		{t.TempDir() + "/"}, {"amdsmi", "http://n1"}, {"ftp://n1:9400"}, {"grpc://n1"}} {
		if _, err := parse.GPU(items); err == nil {
			t.Errorf("%v: accepted", items)
		}
	}
}

func pairs(m map[string]string) (list []string) {
	for name, value := range m {
		list = append(list, name+"="+value)
	}
	return list
}
