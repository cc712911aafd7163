package file_test

import (
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/config/document"
	"aiperf/internal/config/file"
	"aiperf/internal/config/parse"
	"aiperf/internal/config/settings"
	"aiperf/internal/workload/recipe"
)

// withDataset is the minimal file with another dataset, written as a mapping in one line.
func withDataset(dataset string) string {
	return strings.Replace(minimal, "{type: synthetic, isl: 512, osl: 128}", dataset, 1)
}

func settingsFrom(t *testing.T, text string) *settings.Settings {
	t.Helper()
	s, err := file.Open("bench.yaml", []byte(text), lookup)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := s.Settings(s.Raw, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What flags can say becomes their options; what they cannot is kept, with the mean in the option for checks.
func TestSizesOfADataset(t *testing.T) {
	p := settingsFrom(t, withDataset("{isl: {mean: 200, stddev: 9}, osl: {mean: 20, median: 15}, turn_delay: 12.5, "+
		"prompts: {sequence_distribution: [{isl: 5, isl_stddev: 2, osl: {points: [{value: 3}]}, probability: 100}]}}"))
	if n := p.ISL.Pointer(); n == nil || *n != 200 || p.ISLStddev.Get() != 9 || p.Dataset.ISL != nil {
		t.Errorf("isl %v, deviation %v, distribution %v", n, p.ISLStddev.Get(), p.Dataset.ISL)
	}
	if n := p.OSL.Pointer(); n == nil || *n != 20 ||
		!reflect.DeepEqual(p.Dataset.OSL, recipe.Distribution{Kind: recipe.LogNormal, Mean: 20, Median: 15}) {
		t.Errorf("osl %v, distribution %+v", n, p.Dataset.OSL)
	}
	// Flags cut a delay, a file's size is rounded up.
	if !reflect.DeepEqual(p.Dataset.TurnDelayMS, recipe.Distribution{Kind: recipe.Fixed, Value: 12.5}) {
		t.Errorf("delay %+v", p.Dataset.TurnDelayMS)
	}
	want := []recipe.LengthPair{{ISL: recipe.Distribution{Kind: recipe.Gaussian, Mean: 5, Stddev: 2},
		OSL: recipe.Distribution{Kind: recipe.Empirical, Points: []recipe.Point{{Value: 3, Weight: 1}}}, Percent: 100}}
	if !reflect.DeepEqual(p.Dataset.SequenceDistribution, want) {
		t.Errorf("pairs %+v", p.Dataset.SequenceDistribution)
	}
}

func TestRecordsOfADatasetKnowTheirPlaces(t *testing.T) {
	p := settingsFrom(t, withDataset("{type: file, records: [{text: a}, {text: b}], entries: 1, random_seed: 4}"))
	want := []recipe.Records{{Lines: []recipe.Line{{Text: `{"text":"a"}`, Place: "bench.yaml:4:35"},
		{Text: `{"text":"b"}`, Place: "bench.yaml:4:46"}}}}
	if !reflect.DeepEqual(p.Dataset.Records, want) {
		t.Errorf("%+v, want %+v", p.Dataset.Records, want)
	}
	if p.Dataset.Limit != 1 || p.Dataset.Seed == nil || *p.Dataset.Seed != 4 {
		t.Errorf("limit %d, seed %v", p.Dataset.Limit, p.Dataset.Seed)
	}
}

// The trap is that of the specification of configuration files.
func TestTrap27RecordsThatAreRefused(t *testing.T) {
	for dataset, want := range map[string]string{
		"{type: file, records: []}":                         "records: must be a list of at least one mapping",
		"{type: file, records: {a: [{text: x}]}}":           "is a mapping of pools, which only the format random_pool",
		"{type: file, path: x.jsonl, records: [{text: x}]}": "needs exactly one of path and records",
		"{type: file}": "needs exactly one of path and records",
		"{type: file, format: random_pool, records: {a: []}}": "records.a: must be a list of at least one mapping",
		"{type: file, records: [5]}":                          "records[0]: is a whole number; each record is a mapping",
		"{isl: 500000000}": "isl: has a mean or a deviation of 500000000; it " +
			"must be at most 100000000",
		"{isl: {type: exponential, mean: 500000000}}":      "isl: has a mean or a deviation of 500000000",
		"{isl: {mean: 5, stddev: 500000000}}":              "isl: has a mean or a deviation of 500000000",
		"{isl: {peaks: [{mean: 5}]}}":                      "isl.peaks: must be a list of at least two",
		"{isl: {type: gaus, mean: 1}}":                     "gaus is no kind of distribution",
		"{media_mix: []}":                                  "media_mix: must be a list of at least one mapping",
		"{media_mix: [{text: false}]}":                     "has neither text nor modalities",
		"{media_mix: [{name: a}, {name: a}]}":              "media_mix[1].name: a is the name of another entry",
		"{media_mix: [{wieght: 1}]}":                       "did you mean weight",
		"{media_mix: [{weight: 0}]}":                       "must have a weight above 0",
		"{media_mix: [{text: 5}]}":                         "text: must be true, false, or a mapping",
		"{media_mix: [{modalities: [{modality: smell}]}]}": "image, audio",
		"{media_mix: [{modalities: [{modality: image}]}]}": "profiles: must be a list of at least one mapping",
		"{media_mix: [{modalities: [{modality: image, profiles: [{width: {mean: -1}}]}]}]}": "width.mean: must be a number",
		"{media_mix: [{modalities: [{modality: image, profiles: [{length: 1}]}]}]}":         "profiles[0].length: unknown key",
	} {
		if got := faultsOf(t, withDataset(dataset)); !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("%s: %q, want %q", dataset, got, want)
		}
	}
}

func TestAMixOfAFile(t *testing.T) {
	p := settingsFrom(t, withDataset("{media_mix: [{weight: 3, text: {input_tokens: 5}}, {name: b, text: false, "+
		"modalities: "+
		"[{modality: image, batch_size: {min: 1, max: 3}, profiles: [{width: 8, source: assets}]}, {modality: audio, "+
		"profiles: [{length: 2, sample_rates: [8], channels: 2}]}]}]}"))
	fixed := func(v float64) recipe.Sizes { return recipe.Distribution{Kind: recipe.Fixed, Value: v} }
	want := []recipe.Archetype{
		{Name: "_archetype_0", Weight: 3, ISL: fixed(5)},
		{Name: "b", Weight: 1, NoText: true, Parts: []recipe.MediaPart{
			{Batch: recipe.Distribution{Kind: recipe.Uniform, Low: 1, High: 3},
				Profiles: []recipe.MediaProfile{{Weight: 1,
					Images: &recipe.Images{Width: fixed(8), Height: fixed(512), Format: "jpeg", Source: "assets"}}}},
			{Batch: fixed(1), Profiles: []recipe.MediaProfile{{Weight: 1, Audio: &recipe.Audio{Seconds: fixed(2),
				Format: "wav", Depths: []int{16}, RatesHz: []int{8000}, Channels: 2}}}},
		}},
	}
	if !reflect.DeepEqual(p.Dataset.MediaMix, want) {
		t.Errorf("%+v, want %+v", p.Dataset.MediaMix, want)
	}
}

// What the complete configuration says of a distribution is read again as the same one.
func TestCompleteDistributionsAreReadAgain(t *testing.T) {
	for _, text := range []string{"5", "{mean: 9}", "{value: 3, max: 2}", "{mean: 9, median: 4}",
		"{mean: 9, stddev: 2, min: 1}",
		"{type: lognormal, mean: 9, sigma: 0.5}", "{type: uniform, min: 2, max: 5}", "{type: exponential, mean: 5}",
		"{type: zipf, alpha: 2}", "{points: [{value: 4}, {value: 6, weight: 2}]}",
		"{peaks: [{type: uniform, min: 2, max: 5, weight: 2}, {distribution: {type: exponential, mean: 4}}], max: 9}",
		"{type: mixture, components: [1, {mean: 4, weight: 3}]}", "{type: clamped, distribution: {mean: 4}, max: 3}"} {
		f, err := document.Read("f.yaml",
			[]byte("benchmark: {datasets: [{type: synthetic, prompts: {isl: "+text+"}}]}\n"))
		if err != nil {
			t.Fatal(err)
		}
		isl := func(tree *document.Node) *document.Node {
			return file.Body(tree).Get("datasets").Items[0].Get("prompts").Get("isl")
		}
		read := func(n *document.Node) recipe.Distribution {
			d, ok := parse.Distribution(n, "isl", func(_ *document.Node, path, format string, args ...any) {
				t.Errorf("%s: %s "+format, append([]any{text, path}, args...)...)
			})
			if !ok {
				t.Fatal(text)
			}
			return d
		}
		want, got := read(isl(f.Root)), read(isl(file.Complete(f.Root, nil)))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}
