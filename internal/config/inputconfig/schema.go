package inputconfig

import (
	"slices"
	"strings"
)

// exportKeys are the keys of each mapping in the schema of the "benchmark:" body, whose readers refuse others.
// What a key without a row of its own holds is not looked into. Datasets have a row for each type, phases one for all.
var exportKeys = map[string]string{
	"": `models endpoint datasets phases artifacts slos tokenizer gpu_telemetry server_metrics network_latency
		otel mlflow wandb runtime logging metrics accuracy scenario unsafe_override`,
	"models": "strategy items",
	"endpoint": `urls url_strategy type path api_key timeout streaming transport connection_reuse
		use_legacy_max_tokens use_server_token_count per_chunk_usage template headers extra
		download_video_content request_content_type session_header uuid_and_strip wait_for_model_timeout
		wait_for_model_interval wait_for_model_mode reset_kv_cache server_profiler`,
	"endpoint.template":        "body response_field",
	"endpoint.reset_kv_cache":  "timeout_seconds max_retry_seconds path",
	"endpoint.server_profiler": "timeout_seconds start_path stop_path",
	"datasets.synthetic": `name type entries random_seed system_prompt system_prompt_file sampling prompts
		prefix_prompts turns turn_delay turn_delay_ratio images audio video rankings`,
	"datasets.synthetic.prompts": `isl osl block_size batch_size cache_bust corpus sequence_distribution
		random_range_ratio random_corpus_style`,
	"datasets.synthetic.prefix_prompts": "pool_size length shared_system_length user_context_length",
	"datasets.synthetic.images":         "batch_size width height format source source_sampling",
	"datasets.synthetic.audio":          "batch_size length format sample_rates depths channels",
	"datasets.synthetic.video":          "batch_size duration fps width height format codec synth_type audio",
	"datasets.synthetic.video.audio":    "sample_rate channels codec depth",
	"datasets.synthetic.rankings":       "passages passage_tokens query_tokens",
	"datasets.file": `name type path records format random_seed system_prompt system_prompt_file sampling
		synthesis entries trace_session_sample_ratio inter_turn_delay_cap_seconds max_idle_gap_cap_seconds
		replay_speedup open_loop_replay open_loop_strict omit_kv_hints force_min_tokens osl prompt_batch_size
		image_batch_size audio_batch_size video_batch_size block_size trace_idle_gap_cap_seconds
		ignore_trace_delays use_think_time_only max_context_length cache_bust prompts`,
	"datasets.file.prompts":   "corpus",
	"datasets.file.synthesis": synthesisKeys,
	"datasets.public": `name type dataset entries random_seed system_prompt system_prompt_file sampling
		hf_subset filters hf_weka_dataset inter_turn_delay_cap_seconds trace_idle_gap_cap_seconds
		ignore_trace_delays use_think_time_only max_context_length cache_bust prompts synthesis osl`,
	"datasets.public.prompts":   "corpus",
	"datasets.public.synthesis": synthesisKeys,
	"phases": `name kind type exclude_from_results requests duration sessions concurrency concurrency_ramp
		prefill_concurrency prefill_ramp grace_period cancellation sla seamless timing_mode
		failed_request_threshold trajectory_start_min_ratio trajectory_start_max_ratio burst_phase_starts
		system_idle_gap_cap_seconds agentic_cache_warmup_duration agentic_warmup_grace_period adaptive_scale
		adaptive_sustain_duration adaptive_assessment_period adaptive_min_completed_requests
		adaptive_control_variable adaptive_control_min adaptive_control_max adaptive_scale_strategy_type
		adaptive_scale_step_policy adaptive_scale_base_step adaptive_scale_max_step_multiplier
		adaptive_scale_step_percent rate rate_ramp rate_series smoothness users auto_offset start_offset
		end_offset`,
	"phases.cancellation": "rate delay",
	"artifacts": `dir prefix summary records raw trace slice_duration show_trace_timing user_files auto_plot
		plot_required export_outputs_json`,
	"tokenizer":       "name revision trust_remote_code apply_chat_template resolved_names",
	"gpu_telemetry":   "enabled urls metrics_file collector mode",
	"server_metrics":  "enabled urls formats discovery",
	"network_latency": "enabled ping_interval mean_ms",
	"otel": "metrics_url stream_metrics_enabled stream_timing_enabled custom_resource_attributes " +
		"gen_ai_provider",
	"mlflow": "tracking_uri experiment run_name tags parent_run_id artifact_globs",
	"wandb":  "project entity run_name tags",
	"runtime": `ui workers record_processors service_run_type communication api_port api_host
		dataset_api_base_url workers_per_pod record_processors_per_pod workers_min stats_interval`,
	"logging": "level",
}

const synthesisKeys = `speedup_ratio prefix_len_multiplier prefix_root_multiplier prompt_len_multiplier
	output_len_multiplier max_isl max_osl allow_dataset_wrap`

// splitConfig separates the members that a row of exportKeys has from the others, at any depth. What is split off a
// list is kept under the names of its items. A mapping without remaining members is left out.
func splitConfig(o Object, row string) (known, further Object) {
	keys, ok := exportKeys[row]
	if !ok {
		return o, nil
	}
	names := strings.Fields(keys)
	for _, m := range o {
		inside := m.Key
		if row != "" {
			inside = row + "." + m.Key
		}
		if !slices.Contains(names, m.Key) {
			further = append(further, m)
			continue
		}
		switch v := m.Value.(type) {
		case Object:
			inner, others := splitConfig(v, inside)
			known, further = setNonEmpty(known, m.Key, inner), setNonEmpty(further, m.Key, others)
		case []any:
			list, others := splitList(v, inside)
			known, further = append(known, Member{Key: m.Key, Value: list}), setNonEmpty(further, m.Key, others)
		default:
			known = append(known, m)
		}
	}
	return known, further
}

// splitList splits each mapping of a list; its row is that of its type, if there is one.
func splitList(list []any, row string) (known []any, further Object) {
	known = make([]any, len(list))
	for i, item := range list {
		known[i] = item
		o, ok := item.(Object)
		if !ok {
			continue
		}
		itemRow := row + "." + textOf(o, "type")
		if _, ok := exportKeys[itemRow]; !ok {
			itemRow = row
		}
		inner, others := splitConfig(o, itemRow)
		known[i], further = inner, setNonEmpty(further, textOf(o, "name"), others)
	}
	return known, further
}

func textOf(o Object, key string) string {
	v, _ := o.Get(key)
	text, _ := v.(string)
	return text
}
