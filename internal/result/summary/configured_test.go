package summary_test

import (
	"reflect"
	"testing"

	"aiperf/internal/result/summary"
)

func TestConfiguredOfEveryShape(t *testing.T) {
	want := summary.Configured{Models: []string{"a", "b"}, Dataset: "speed_bench_qa", Concurrency: 8, RampSeconds: 2.5,
		Load: "concurrency 8"}
	for name, text := range map[string]string{
		"as the YAML file": `{"models":["a","b"],"datasets":[{"name":"default","type":"public","dataset":"speed_bench_qa"}],
			"phases":[{"name":"warmup","concurrency":1},{"name":"profiling","concurrency":8,"concurrency_ramp":2.5}]}`,
		"with items and kinds": `{"models":{"strategy":"random","items":[{"name":"a"},{"name":"b"}]},"datasets":[{"dataset":"speed_bench_qa"}],
			"phases":[{"kind":"warmup","name":"x","concurrency":1},{"kind":"profiling","concurrency":8,"concurrency_ramp":{"duration":2.5,"strategy":"linear"}}]}`,
		"in an envelope": `{"benchmark":{"models":["a","b"],"dataset":{"dataset":"speed_bench_qa"},"phases":{"concurrency":8,"concurrency_ramp":2.5}}}`,
		"by sections":    `{"endpoint":{"model_names":["a","b"]},"input":{"public_dataset":"speed_bench_qa"},"loadgen":{"concurrency":8,"concurrency_ramp_duration":2.5}}`,
		"flat":           `{"model":["a","b"],"custom_dataset_type":"speed_bench_qa","concurrency":8,"concurrency_ramp_duration":2.5}`,
	} {
		if got := summary.ParseConfigured([]byte(text)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	for text, concurrency := range map[string]float64{
		`{"phases":[{"kind":"profiling","name":"warmup of sorts","concurrency":8},{"kind":"profiling","concurrency":8}]}`: 8,
		`{"phases":[{"kind":"profiling","concurrency":8},{"kind":"profiling","concurrency":9}]}`:                          0,
		`{"phases":[{"kind":"profiling","concurrency":8},{"kind":"profiling","rate":9}]}`:                                 0,
	} {
		if got := summary.ParseConfigured([]byte(text)).Concurrency; got != concurrency {
			t.Errorf("%s: concurrency %v, want %v", text, got, concurrency)
		}
	}
	for _, text := range []string{``, `null`, `[]`, `{}`, `{"models":5,"datasets":"x","phases":[1]}`} {
		if got := summary.ParseConfigured([]byte(text)); len(got.Models) > 0 || got.Concurrency != 0 {
			t.Errorf("%s: got %+v", text, got)
		}
	}
}

func TestConfiguredLoad(t *testing.T) {
	for text, want := range map[string]string{
		`{"phases":[{"kind":"warmup","concurrency":2},{"kind":"profiling","type":"concurrency","concurrency":8}]}`: "concurrency 8",
		`{"phases":[{"kind":"profiling","type":"poisson","rate":12.5,"concurrency":64}]}`:                          "12.5 req/s poisson, concurrency 64",
		`{"phases":[{"kind":"profiling","type":"user_centric","users":20,"rate":2}]}`:                              "20 users, 2 req/s",
		`{"phases":[{"kind":"profiling","type":"fixed_schedule","requests":3}]}`:                                   "the times of the recording",
		`{"phases":[{"kind":"profiling","rate_series":[],"rate":null}]}`:                                           "a series of rates",
		`{"phases":[{"kind":"profiling","type":"concurrency","adaptive_scale":false,"concurrency":9}]}`:            "concurrency 9",
		`{"phases":[{"kind":"profiling","type":"concurrency","adaptive_scale":true,"concurrency":9}]}`:             "a load that is searched",
		`{"phases":[{"kind":"profiling","concurrency":4},{"kind":"profiling","type":"constant","rate":3}]}`:        "concurrency 4, then 3 req/s constant",
		`{"phases":[{"concurrency":4},{"concurrency":4},{"concurrency":8}]}`:                                       "3 phases",
		`{"loadgen":{"request_rate":7}}`: "7 req/s",
		`{}`:                             "",
	} {
		if got := summary.ParseConfigured([]byte(text)).Load; got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	c := summary.ParseConfigured([]byte(`{"endpoint":{"type":"chat","streaming":true}}`))
	if c.EndpointType != "chat" || !c.Streaming {
		t.Errorf("got %+v", c)
	}
}

func FuzzParseConfigured(f *testing.F) {
	f.Add([]byte(`{"models":{"items":[{"name":"a"}]},"datasets":[{"dataset":"x"},3],"phases":[{"kind":"warmup"},null]}`))
	f.Fuzz(func(t *testing.T, text []byte) { summary.ParseConfigured(text) })
}
