package trust

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var here = Machine{CPUs: 4, Model: "Processor X", System: "linux/amd64", Kernel: "6.1", Version: "1.0"}

func measured() *Capacity {
	return &Capacity{Machine: here, Measured: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), Streams: 1400, Pace: 50,
		UnaryRate: 9000}
}

func TestExceeded(t *testing.T) {
	for _, test := range []struct {
		name   string
		demand Demand
		want   []string // a part of each sentence
	}{
		{"nothing known of the run", Demand{}, nil},
		{"as much as was measured", Demand{Streams: 1400, Rate: 9000}, nil},
		{"too many streams", Demand{Streams: 1401},
			[]string{"asks for 1,401 concurrent streams; this machine was measured on 2026-05-04 to carry 1,400 " +
				"streams of 50 tokens/s each"}},
		{"too high a rate", Demand{Rate: 9001},
			[]string{"asks for 9,001 requests/s; this machine was measured on 2026-05-04 to carry 9,000 requests/s"}},
		{"few requests with many tokens", Demand{Rate: 100, OutputTokens: 700}, nil},
		{"too many tokens", Demand{Rate: 100, OutputTokens: 701},
			[]string{"100 requests/s with 701 tokens each, 70,100 tokens/s; this machine was measured on 2026-05-04 " +
				"to carry 1,400 streams of 50 tokens/s each, 70,000 tokens/s"}},
		{"everything", Demand{Streams: 5000, Rate: 10000, OutputTokens: 10},
			[]string{"5,000 concurrent streams", "10,000 requests/s;", "100,000 tokens/s"}},
	} {
		test.demand.Phase = "profiling"
		got := measured().Exceeded(test.demand)
		if len(got) != len(test.want) {
			t.Errorf("%s: %q", test.name, got)
			continue
		}
		for i, part := range test.want {
			if !strings.Contains(got[i], part) || !strings.Contains(got[i], "the profiling phase") ||
				!strings.Contains(got[i], "aiperf selftest") {
				t.Errorf("%s: %q lacks %q", test.name, got[i], part)
			}
		}
	}
	if got := (&Capacity{}).Exceeded(Demand{Streams: 1e6, Rate: 1e6, OutputTokens: 1e6}); got != nil {
		t.Errorf("what was not measured is compared: %q", got)
	}
}

func TestSavedMeasurementIsLoaded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "directory", "selftest.json")
	load := func() (*Capacity, error) { return LoadCapacity(path, func() Machine { return here }) }
	if c, err := load(); c != nil || err != nil {
		t.Fatalf("without a file: %v, %v", c, err)
	}
	if err := SaveCapacity(path, measured()); err != nil {
		t.Fatal(err)
	}
	c, err := load()
	if err != nil || *c != *measured() {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestMeasurementOfAnotherMachineIsNotUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "selftest.json")
	if err := SaveCapacity(path, measured()); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Machine){
		"number of processors": func(m *Machine) { m.CPUs++ },
		"processor":            func(m *Machine) { m.Model = "Processor Y" },
		"kernel":               func(m *Machine) { m.Kernel = "6.2" },
		"version of aiperf":    func(m *Machine) { m.Version = "1.1" },
	} {
		other := here
		change(&other)
		if c, err := LoadCapacity(path, func() Machine { return other }); c != nil || err == nil ||
			!strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, %v", want, c, err)
		}
	}
}

func TestSpoiltFileIsNotUsed(t *testing.T) {
	good, err := json.Marshal(content{Schema: schema, Machine: here, Streams: 10, Pace: 50, UnaryRate: 100})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parse(good); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty":            "",
		"half":             string(good[:len(good)/2]),
		"other schema":     strings.Replace(string(good), `"schema":1`, `"schema":2`, 1),
		"negative streams": strings.Replace(string(good), `"streams":10`, `"streams":-10`, 1),
		"no pace":          strings.Replace(string(good), `each":50`, `each":0`, 1),
		"huge rate":        strings.Replace(string(good), `second":100`, `second":1e300`, 1),
		"too large":        string(good) + strings.Repeat(" ", maxFile),
	} {
		path := filepath.Join(t.TempDir(), "selftest.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if c, err := LoadCapacity(path, func() Machine { return here }); c != nil || err == nil {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

func TestThisMachineHasFacts(t *testing.T) {
	m := ThisMachine("1.2.3")
	if m.CPUs < 1 || m.Version != "1.2.3" || !strings.Contains(m.System, "/") {
		t.Errorf("%+v", m)
	}
	if other := m.differs(ThisMachine("1.2.3")); other != "" {
		t.Errorf("the same machine differs in %s", other)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"schema":1,"streams":10,"tokens_per_second_each":50,"unary_requests_per_second":1}`))
	f.Add([]byte(`{"schema":1,"machine":{"cpus":"2"}}`))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parse(data)
		if (c == nil) == (err == nil) {
			t.Fatalf("%v, %v", c, err)
		}
		if c != nil && (c.Streams < 0 || c.tokens() < 0 || c.UnaryRate < 0) {
			t.Fatalf("%+v", c)
		}
	})
}
