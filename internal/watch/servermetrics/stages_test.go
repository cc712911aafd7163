package servermetrics_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"aiperf/internal/measure/timesplit"
	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
)

// stagesOf returns the times by scrapes of pages before and after a phase. In the text of a page "NAME S/N" is a
// histogram that grows by N observations of S in all, "NAME V" a counter that grows by V; there was one request before.
func stagesOf(t *testing.T, models []string, pages ...string) *servermetrics.Stages {
	t.Helper()
	store := servermetrics.NewStore(servermetrics.Options{})
	for i, text := range pages {
		parser := prom.NewParser(prom.Options{})
		for k, factor := range []float64{0, 1} {
			samples, err := parser.Parse([]byte(exposition(text, factor)), false)
			if err != nil {
				t.Fatal(err)
			}
			store.Endpoint(fmt.Sprint("http://s", i)).Add(servermetrics.Scrape{TimestampNS: int64(1+8*k) * 1e9,
				Samples: samples})
		}
	}
	phase := servermetrics.Window{StartNS: 2e9, EndNS: 8e9}
	return servermetrics.StagesOf(servermetrics.Compute(store, servermetrics.Settings{Phase: phase}), models)
}

func exposition(text string, factor float64) string {
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, labels, _ := strings.Cut(strings.TrimSuffix(key, "}"), "{")
		var sum, count float64
		if n, _ := fmt.Sscanf(value, "%g/%g", &sum, &count); n == 2 {
			comma := ""
			if labels != "" {
				comma = ","
			}
			fmt.Fprintf(&b, "# TYPE %s histogram\n%s_bucket{%s%sle=\"+Inf\"} %g\n%s_sum{%s} %g\n%s_count{%s} %g\n", name, name,
				labels, comma, 1+factor*count, name, labels, 3+factor*sum, name, labels, 1+factor*count)
		} else {
			fmt.Fprintf(&b, "# TYPE %s counter\n%s{%s} %g\n", name, name, labels, 5+factor*sum)
		}
	}
	return b.String()
}

const vllm = `
	vllm:time_to_first_token_seconds{model_name="m"} 20/100
	vllm:e2e_request_latency_seconds{model_name="m"} 70/100
	vllm:request_queue_time_seconds{model_name="m"} 12/100
	vllm:request_prefill_time_seconds{model_name="m"} 5/100
	vllm:request_decode_time_seconds{model_name="m"} 50/100`

func TestStagesOfEachServer(t *testing.T) {
	for _, c := range []struct{ name, page, ttft, latency string }{
		{"vLLM", vllm, "queue 120 prefill 50 frontend 30 of 200", "queue 120 prefill 50 decode 500 frontend 30 of 700"},
		{"TensorRT-LLM", strings.ReplaceAll(vllm, "vllm:", "trtllm_"), "queue 120 prefill 50 frontend 30 of 200",
			"queue 120 prefill 50 decode 500 frontend 30 of 700"},
		{"SGLang", `
			sglang:time_to_first_token_seconds 20/100
			sglang:e2e_request_latency_seconds 70/100
			sglang:queue_time_seconds 12/100
			sglang:per_stage_req_latency_seconds{stage="prefill_forward"} 3/100
			sglang:per_stage_req_latency_seconds{stage="chunked_prefill"} 2/250`,
			"queue 120 prefill 50 frontend 30 of 200", "queue 120 prefill 50 decode 500 frontend 30 of 700"},
		{"SGLang without its stages", `
			sglang:time_to_first_token_seconds 20/100
			sglang:queue_time_seconds 12/100`, "queue 120 server 80 of 200", "queue 120"},
		{"Triton", `
			nv_inference_request_success{model="m"} 100
			nv_inference_request_duration_us{model="m"} 7e7
			nv_inference_queue_duration_us{model="m"} 1.2e7
			nv_inference_compute_input_duration_us{model="m"} 1e6
			nv_inference_compute_infer_duration_us{model="m"} 5e7
			nv_inference_compute_output_duration_us{model="m"} 2e6`,
			"queue 120", "queue 120 compute 530 frontend 50 of 700"},
		{"TGI", `
			tgi_request_duration 70/100
			tgi_request_queue_duration 12/100
			tgi_request_inference_duration 55/100`, "queue 120", "queue 120 compute 550 frontend 30 of 700"},
		{"a frontend of Dynamo alone", `
			dynamo_frontend_time_to_first_token_seconds{model="m"} 20/100
			dynamo_frontend_request_duration_seconds{model="m"} 70/100
			dynamo_frontend_stage_duration_seconds{stage="preprocess"} 2/100
			dynamo_frontend_stage_duration_seconds{stage="route"} 1/100
			dynamo_frontend_stage_duration_seconds{stage="transport_roundtrip"} 16/100`,
			"frontend 30 server 170 of 200", "decode 500 frontend 30 server 170 of 700"},
		{"a router of SGLang alone", `
			smg_router_ttft_seconds{router_type="grpc",model="m",endpoint="chat"} 20/100
			smg_router_request_duration_seconds{router_type="grpc",model="m",endpoint="chat"} 70/100`,
			"server 200 of 200", "decode 500 server 200 of 700"},
		{"its predecessor", `
			sgl_router_ttft_seconds{model_id="m"} 20/100
			sgl_router_request_duration_seconds{model_id="m"} 70/100`, "server 200 of 200", "decode 500 server 200 of 700"},
		{"llm-d's picker alone, with the old names beside the new ones", `
			llm_d_epp_request_ttft_seconds{model_name="m"} 20/100
			llm_d_epp_request_duration_seconds{model_name="m"} 70/100
			llm_d_epp_flow_control_request_queue_duration_seconds{outcome="Dispatched"} 3/100
			llm_d_epp_scheduler_e2e_duration_seconds 1/100
			inference_objective_request_duration_seconds{model_name="m"} 70/100
			inference_extension_scheduler_e2e_duration_seconds 1/100`,
			"frontend 40 server 160 of 200", "decode 500 frontend 40 server 160 of 700"},
		{"the picker of the inference extension", `
			inference_objective_request_duration_seconds{model_name="m",target_model_name="m"} 70/100`, "", "server 700 of 700"},
		{"LiteLLM alone", `
			litellm_request_total_latency_metric{model="m"} 70/100
			litellm_llm_api_latency_metric{model="m"} 68/100
			litellm_overhead_latency_metric{model_group="m"} 2/100`, "", "frontend 20 server 680 of 700"},
		{"the router of vLLM's production stack, which has gauges of means", `
			vllm:avg_latency{server="http://a"} 3`, "none", ""},
		{"none", "other_requests 5", "none", ""},
	} {
		s := stagesOf(t, nil, c.page)
		if c.ttft == "none" {
			if s != nil {
				t.Errorf("%s: %+v", c.name, s)
			}
			continue
		}
		if got := written(s.TTFT()); got != c.ttft {
			t.Errorf("%s: first token %q, want %q", c.name, got, c.ttft)
		}
		if got := written(s.Latency()); got != c.latency {
			t.Errorf("%s: latency %q, want %q", c.name, got, c.latency)
		}
	}
}

func written(parts []timesplit.Part, whole *timesplit.ServerTime) string {
	var words []string
	for _, p := range parts {
		words = append(words, fmt.Sprintf("%s %g", p.Stage, math.Round(p.Milliseconds*1e6)/1e6))
	}
	if whole != nil {
		words = append(words, fmt.Sprintf("of %g", math.Round(whole.Milliseconds*1e6)/1e6))
	}
	return strings.Join(words, " ")
}

// What a gateway takes is its time less that of the engines behind it. One that stops its clock before the engines do takes
// none that is known.
func TestStagesOfGatewaysAroundTheirEngines(t *testing.T) {
	for name, c := range map[string]struct{ front, ttft, latency string }{
		"SGLang router": {"smg_router_ttft_seconds 25/100\nsmg_router_request_duration_seconds 80/100",
			"queue 120 prefill 50 frontend 80 of 250", "queue 120 prefill 50 decode 500 frontend 130 of 800"},
		"at the head of the reply": {"sgl_router_request_duration_seconds 21/100", "queue 120 prefill 50 frontend 30 of 200",
			"queue 120 prefill 50 decode 500 frontend 30 of 700"},
		"LiteLLM": {"litellm_request_total_latency_metric 90/100\nlitellm_overhead_latency_metric 15/100",
			"queue 120 prefill 50 frontend 30 of 200", "queue 120 prefill 50 decode 500 frontend 230 of 900"},
	} {
		s := stagesOf(t, nil, c.front, vllm)
		if got := written(s.TTFT()); got != c.ttft {
			t.Errorf("%s: first token %q, want %q", name, got, c.ttft)
		}
		if got := written(s.Latency()); got != c.latency {
			t.Errorf("%s: latency %q, want %q", name, got, c.latency)
		}
	}
}

// A frontend has the engine's time in its own; without it, its transport to the engine and back is known.
func TestStagesOfAFrontendAroundItsEngines(t *testing.T) {
	front := `
		dynamo_frontend_time_to_first_token_seconds 30/100
		dynamo_frontend_request_duration_seconds 90/100
		dynamo_frontend_stage_duration_seconds{stage="preprocess"} 2/100
		dynamo_frontend_stage_duration_seconds{stage="transport_roundtrip"} 26/100`
	s := stagesOf(t, nil, front, vllm)
	parts, whole := s.TTFT()
	if got := written(parts, whole); got != "queue 120 prefill 50 frontend 130 of 300" {
		t.Error(got)
	}
	details := parts[2].Details
	if len(details) != 2 || details[0].Name != "preprocess" || details[1].Name != "transport" ||
		math.Abs(details[1].Milliseconds-60) > 1e-6 {
		t.Errorf("%+v", details)
	}
	if got := written(s.Latency()); got != "queue 120 prefill 50 decode 500 frontend 230 of 900" {
		t.Error(got)
	}
	// Each request comes through two engines, of which one generates a single token.
	prefill := strings.ReplaceAll(strings.ReplaceAll(vllm, "50/100", "0/100"), "70/100", "20/100")
	s = stagesOf(t, nil, strings.ReplaceAll(front, "30/100", "45/100"), vllm, prefill)
	if got := written(s.TTFT()); s.Visits() != 2 || got != "queue 240 prefill 100 frontend 110 of 450" {
		t.Error(s.Visits(), got)
	}
}

func TestStagesAreOfTheBenchmarkedModel(t *testing.T) {
	other := strings.ReplaceAll(strings.ReplaceAll(vllm, `"m"`, `"other"`), "12/100", "900/100")
	if got := written(stagesOf(t, []string{"m"}, vllm+other).TTFT()); got != "queue 120 prefill 50 frontend 30 of 200" {
		t.Error(got)
	}
	if got := stagesOf(t, nil, vllm, vllm).Engines; got.Queue.Seconds != 0.12 || got.Observed() != 200 {
		t.Errorf("two engines: %+v", got)
	}
}
