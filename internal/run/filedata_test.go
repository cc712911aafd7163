package run

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/config/option"
	resolver "aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/mockserver"
	"aiperf/internal/workload/recipe"
)

// resolveFile makes a configuration of flags and of what only a file can say.
func resolveFile(t *testing.T, dir, url string, say func(*settings.Settings), args ...string) *config.Run {
	t.Helper()
	parsed, err := settings.Parse(append([]string{"--model", "mock-model", "--tokenizer", "builtin", "--url", url, "--ui",
		"none", "--artifact-dir", dir, "--no-server-metrics", "--random-seed", "7"}, args...), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	say(parsed)
	cfg, _, err := resolver.Resolve(parsed, Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// metricOf lists the values of a metric of all records, in order of size.
func metricOf(t *testing.T, dir, tag string) []float64 {
	t.Helper()
	var list []float64
	for _, r := range records(t, dir) {
		m := r["metrics"].(map[string]any)[tag].(map[string]any)
		list = append(list, m["value"].(float64))
	}
	slices.Sort(list)
	return list
}

// Prompts of a lognormal distribution reach the server with its mean, its median and its limits.
func TestLogNormalPromptsArriveWithTheirSpread(t *testing.T) {
	t.Parallel()
	const n = 800
	dir, least, most := t.TempDir(), 20.0, 900.0
	cfg := resolveFile(t, dir, serve(t, mockserver.Options{}), func(p *settings.Settings) {
		p.Dataset.ISL = recipe.Distribution{Kind: recipe.LogNormal, Mean: 200, Median: 150, Min: &least, Max: &most}
		p.Dataset.OSL = recipe.Distribution{Kind: recipe.Empirical, Points: []recipe.Point{{Value: 2, Weight: 1},
			{Value: 5, Weight: 3}}}
	}, "--request-count", "800", "--num-dataset-entries", "800", "--concurrency", "16", "--streaming",
		"--dataset-sampling-strategy", "sequential", "--extra-inputs", "ignore_eos:true")
	if outcome, err := execute(t, cfg, Options{}); err != nil || outcome.Problem != nil {
		t.Fatal(err, outcome)
	}
	isl := metricOf(t, dir, "input_sequence_length")
	if len(isl) != n || isl[0] < least || isl[n-1] > most || isl[n-1] < 600 {
		t.Fatalf("%d requests of %v to %v tokens", len(isl), isl[0], isl[n-1])
	}
	// σ of the logarithm is √(2·ln(200/150)) = 0.7585: quarters at 150·e^±0.5116, a standard error of the median of
	// 150·0.7585·1.2533/√800 = 5. Limits and rounding up move the mean by less than 2.
	for _, c := range []struct {
		name             string
		got, want, slack float64
	}{
		{"first quarter", isl[n/4], 90, 16}, {"median", isl[n/2], 150, 25}, {"third quarter", isl[3*n/4], 250, 45},
		{"mean", mean(isl), 200, 32},
	} {
		if math.Abs(c.got-c.want) > c.slack {
			t.Errorf("%s of the prompts %v, want %v ± %v", c.name, c.got, c.want, c.slack)
		}
	}
	osl := metricOf(t, dir, "output_sequence_length")
	twos := 0
	for _, v := range osl {
		if v == 2 {
			twos++
		} else if v != 5 {
			t.Fatalf("an output of %v tokens", v)
		}
	}
	if twos < 140 || twos > 260 { // 200 ± 5 standard errors
		t.Errorf("%d of %d outputs have 2 tokens", twos, n)
	}
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// Records in the configuration are sent as those of a file are, and the exported configuration holds them.
func TestRecordsInTheConfigurationAreSent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var place = "bench.yaml:4: records"
	cfg := resolveFile(t, dir, serve(t, mockserver.Options{}), func(p *settings.Settings) {
		p.Dataset.Records = []recipe.Records{{Lines: []recipe.Line{
			{Text: `{"text":"first of three","output_length":3}`, Place: "bench.yaml:5:7"},
			{Text: `{"text":"second","output_length":4}`, Place: "bench.yaml:6:7"},
			{Text: `{"text":"third, left out","output_length":4}`, Place: "bench.yaml:7:7"},
		}}}
		p.Dataset.Limit = 2
		p.InputFile.Put(place, option.Origin{Source: option.FromFile, Name: place})
	}, "--request-count", "4", "--concurrency", "1", "--custom-dataset-type", "single_turn", "--extra-inputs",
		"ignore_eos:true", "--export-level", "raw")
	if outcome, err := execute(t, cfg, Options{}); err != nil || outcome.Problem != nil {
		t.Fatal(err, outcome)
	}
	if got := metricOf(t, dir, "output_sequence_length"); !slices.Equal(got, []float64{3, 3, 4, 4}) {
		t.Errorf("output lengths %v", got)
	}
	data, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
	if err != nil {
		t.Fatal(err)
	}
	summary := string(data)
	if !strings.Contains(summary, `"text": "first of three"`) || strings.Contains(summary, "aiperf-records-") {
		t.Errorf("the exported configuration lacks the records: %s", summary)
	}
}
