package recompute

import (
	"strings"

	"aiperf/internal/watch/prom"
)

// Names of families of the known servers, as in exports. A family that is not listed and has no known suffix is of
// unknown type.
var (
	counterNames = words(`
vllm:prefix_cache_queries vllm:prefix_cache_hits vllm:external_prefix_cache_queries vllm:external_prefix_cache_hits
vllm:mm_cache_queries vllm:mm_cache_hits vllm:prompt_tokens_cached vllm:num_preemptions vllm:corrupted_requests
vllm:prompt_tokens vllm:generation_tokens vllm:prompt_tokens_by_source vllm:request_success
vllm:spec_decode_num_drafts vllm:spec_decode_num_draft_tokens vllm:spec_decode_num_accepted_tokens
vllm:spec_decode_num_accepted_tokens_per_pos vllm:kv_offload_total_bytes vllm:kv_offload_total_time
vllm:estimated_flops_per_gpu vllm:estimated_read_bytes_per_gpu vllm:estimated_write_bytes_per_gpu
sglang:prompt_tokens sglang:generation_tokens sglang:cached_tokens sglang:realtime_tokens sglang:num_requests
sglang:num_aborted_requests sglang:num_so_requests sglang:num_retracted_requests sglang:num_retracted_input_tokens
sglang:num_retracted_output_tokens sglang:spec_verify_calls sglang:cuda_graph_passes sglang:forward_execution_seconds
trtllm_request_success trtllm_prompt_tokens trtllm_generation_tokens trtllm_num_requests_completed
trtllm_kv_cache_reused_blocks trtllm_kv_cache_missed_blocks trtllm_kv_cache_gen_alloc_blocks
trtllm_kv_cache_onboard_bytes trtllm_kv_cache_offload_bytes trtllm_kv_cache_intra_device_copy_bytes
trtllm_spec_decode_num_draft_tokens trtllm_spec_decode_num_accepted_tokens trtllm_num_aborted_requests
trtllm_request_type_image trtllm_request_type_structured_output trtllm_kv_transfer_success
dynamo_frontend_requests dynamo_frontend_requests_started dynamo_frontend_output_tokens
dynamo_frontend_model_migration dynamo_frontend_model_cancellation dynamo_frontend_model_rejection
dynamo_component_requests dynamo_component_errors dynamo_component_cancellation dynamo_component_request_bytes
dynamo_component_response_bytes dynamo_component_embedding_cache_hits dynamo_component_embedding_cache_misses
dynamo_component_kv_publisher_zmq_events
kvbm_matched_tokens
nv_inference_request_success nv_inference_request_failure nv_inference_count nv_inference_exec_count
nv_inference_request_duration_us nv_inference_queue_duration_us nv_inference_compute_input_duration_us
nv_inference_compute_infer_duration_us nv_inference_compute_output_duration_us nv_energy_consumption
nv_cache_num_hits_per_model nv_cache_num_misses_per_model nv_cache_hit_duration_per_model
nv_cache_miss_duration_per_model
process_cpu_seconds node_cpu_seconds node_network_receive_bytes node_network_transmit_bytes
node_network_receive_packets node_network_transmit_packets node_disk_read_bytes node_disk_written_bytes
node_disk_reads_completed node_disk_writes_completed node_disk_io_time_seconds`)

	gaugePrefixes = words(`
vllm:kv_cache_usage_perc vllm:num_requests_ vllm:engine_sleep_state
sglang:num_running_reqs sglang:num_queue_reqs sglang:num_grammar_queue_reqs sglang:num_paused_reqs sglang:token_usage
sglang:cache_hit_rate sglang:gen_throughput sglang:num_used_tokens sglang:utilization sglang:new_token_ratio
trtllm_num_requests_running trtllm_num_requests_waiting trtllm_kv_cache_hit_rate trtllm_kv_cache_utilization
dynamo_frontend_active_requests dynamo_frontend_inflight_requests dynamo_frontend_queued_requests
dynamo_frontend_disconnected_clients dynamo_frontend_model_ dynamo_component_inflight_requests
dynamo_component_gpu_cache_usage_percent dynamo_component_total_blocks dynamo_tokio_global_queue_depth
nv_inference_pending_request_count nv_gpu_ nv_cpu_ nv_pinned_memory_pool_ nv_trt_llm_
process_resident_memory_bytes process_virtual_memory_bytes process_start_time_seconds process_open_fds process_max_fds
node_load node_procs_ node_memory_ node_filesystem_`)

	counterEnds = words("_total _sum _hits _misses _queries _preemptions _success _failures")
	gaugeEnds   = words("_info _perc _percent _ratio _usage _utilization _running _waiting _active _inflight _queued " +
		"_celsius _watts")
)

// typeByName guesses the type of a family that is not a histogram. Exports remove the suffix _total from the names of
// counters, so only recordings of other programs have it.
func typeByName(name string) prom.Type {
	for _, known := range counterNames {
		if name == known {
			return prom.Counter
		}
	}
	for _, prefix := range gaugePrefixes {
		if strings.HasPrefix(name, prefix) {
			return prom.Gauge
		}
	}
	for _, end := range counterEnds {
		if strings.HasSuffix(name, end) {
			return prom.Counter
		}
	}
	for _, end := range gaugeEnds {
		if strings.HasSuffix(name, end) {
			return prom.Gauge
		}
	}
	return prom.Unknown
}
