package metrics

import "strings"

// markdownTimes is the section on time_split: the table of each kind of server is in watch/servermetrics (stages.go).
func markdownTimes() string {
	return strings.ReplaceAll(`
## Where the time went

§time_split§ of the JSON summary, of the cells in the file of a sweep, and of the CSV summary
([results.md](results.md#where-the-time-went)) splits the means of §time_to_first_token§ and §request_latency§. The parts add
up to the client's mean. Servers' means are sum / count of what a histogram gained in the profiling phase.

| Part | Formula | No value when |
|---|---|---|
| §client§ | §client_health.send_time§ + §client_health.connection_wait§, averages | the client was not observed |
| §network§ | §network_rtt§ + §http_req_dns_lookup§ + §http_req_connecting§, averages | none of them was measured |
| §frontend§ | the outermost server's time − the engine's queue, prefill and decode; of a front end whose engines have no page the sum of its own stages | no server has the whole as well as the stages |
| §queue§, §prefill§, §decode§, §compute§ | the means of the table below; §decode§ = latency − time to first token where it has no histogram, by the client's clock where no server has both | the page has no such metric |
| §server§ | the server's time − its known stages, where one of them is not known | all stages are known, or no server has the whole |
| §unknown§ | the client's mean − all other parts | it is 0 |

A part is never larger than what the ones before it leave, in the order queue, prefill, decode, compute, frontend, server,
client, network: what servers measured is surer than what the client infers. Where an engine observed 1.5 times as many requests
as the front end, a request comes through several (disaggregated serving), and the engine's means are multiplied by that ratio.

| Server | Whole: first token; latency | Queue | Prefill | Decode | Not known |
|---|---|---|---|---|---|
| vLLM §vllm:§ | §time_to_first_token_seconds§; §e2e_request_latency_seconds§ | §request_queue_time_seconds§ | §request_prefill_time_seconds§ | §request_decode_time_seconds§ | |
| SGLang §sglang:§ | the same | §queue_time_seconds§ | §per_stage_req_latency_seconds{stage="prefill_forward"}§ + §chunked_prefill§ | latency − first token | prefill in versions without §per_stage_…§ |
| TensorRT-LLM §trtllm_§ | as vLLM | as vLLM | as vLLM | as vLLM | all without §return_perf_metrics§ |
| llama.cpp §llamacpp:§ | none | | §prompt_seconds_total§ / requests | §tokens_predicted_seconds_total§ / requests | queue, whole |
| TGI §tgi_§ | latency §request_duration§ | §request_queue_duration§ | in §compute§: §request_inference_duration§ | in §compute§ | first token |
| Triton §nv_§ | §inference_first_response_histogram_ms§; §inference_request_duration_us§ / requests | §inference_queue_duration_us§ / requests | in §compute§: §inference_compute_{input,infer,output}_duration_us§ / requests | in §compute§ | |
| Dynamo §dynamo_frontend_§ | §time_to_first_token_seconds§; §request_duration_seconds§ | of its workers | of its workers | of its workers, else latency − first token | without the pages of the workers: its stages §stage_duration_seconds{stage}§ alone |
| SGLang router §smg_router_§, earlier §sgl_router_§ | §ttft_seconds§ (where it streams over gRPC); §request_duration_seconds§ | of its workers | of its workers | of its workers, else latency − first token | its own stages; versions that stop the clock at the head of a reply add nothing |
| llm-d §llm_d_epp_§, earlier §inference_objective_§ and §inference_extension_§ | §request_ttft_seconds§; §request_duration_seconds§ | of its workers | of its workers | of its workers, else latency − first token | beside §flow_control_request_queue_duration_seconds§ and §scheduler_e2e_duration_seconds§, its own stages |
| LiteLLM §litellm_§ | latency §request_total_latency_metric§ | of the servers behind it | of the servers behind it | of the servers behind it | first token; without other pages §overhead_latency_metric§ alone |
| router of vLLM's production stack | none: it has gauges of means | | | | all: name the pages of its engines |
`, "§", "`")
}
