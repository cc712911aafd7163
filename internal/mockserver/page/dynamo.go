package page

import (
	"aiperf/internal/mockserver/api"
	"strconv"
)

// dynamoFrontendFamilies are those of Dynamo's frontend.
func dynamoFrontendFamilies() []family {
	return []family{
		{name: "dynamo_frontend_requests", kind: kCounter, help: "Requests by how they ended.",
			dynamic: dynamoRequests},
		total("dynamo_frontend_requests_started", "Requests accepted.", sum(cStarted)),
		gauge("dynamo_frontend_active_requests", "Requests in the handler.", activeRequests),
		gauge("dynamo_frontend_inflight_requests", "Requests bound for an engine.", activeRequests),
		gauge("dynamo_frontend_queued_requests", "Requests before their first token.",
			func(t *totals) float64 { return float64(t.level[lFresh]) }),
		gauge("dynamo_frontend_disconnected_clients", "Clients that left before their reply was whole.",
			sum(cGone)).with(labels{}),
		hist("dynamo_frontend_request_duration_seconds", "Arrival to the end of the reply.", qFrontE2E, dynamoDuration),
		hist("dynamo_frontend_time_to_first_token_seconds", "Arrival to the first token.", qFrontTTFT, dynamoTTFT),
		{name: "dynamo_frontend_stage_duration_seconds", kind: kHistogram,
			help: "Time of a request in each stage before the engine.", layout: dynamoTTFT,
			series: []series{{labels: labels{{"stage", "preprocess"}}, of: qPreprocess}}},
		hist("dynamo_frontend_inter_token_latency_seconds", "Time between two tokens.", qITL, dynamoITL),
		total("dynamo_frontend_output_tokens", "Tokens generated.", sum(cGenerated)),
		hist("dynamo_frontend_input_sequence_tokens", "Prompt tokens of a request.", qPrompt, dynamoTokens),
		hist("dynamo_frontend_output_sequence_tokens", "Tokens generated for a request.", qOutput, dynamoTokens),
		gauge("dynamo_frontend_model_context_length", "Longest context of the model.", constant(modelLength)),
		gauge("dynamo_frontend_model_kv_cache_block_size", "Tokens of a block.", constant(BlockTokens)),
		gauge("dynamo_frontend_model_total_kv_blocks", "Blocks of a worker.", constant(dynamoBlocks)),
		gauge("dynamo_frontend_model_migration_limit", "How often a request may move.", constant(0)),
		split("dynamo_frontend_model_migration", kCounter, "Requests that moved to another worker.",
			where("migration_type", "new_request", constant(0)),
			where("migration_type", "ongoing_request", constant(0))),
		total("dynamo_frontend_model_cancellation", "Requests that were cancelled.", sum(cAbort)),
		hist("dynamo_frontend_event_loop_delay_seconds", "Delay of the runtime.", qLoop,
			[]float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1}).with(labels{}),
		total("dynamo_frontend_event_loop_stall", "Delays of the runtime above 5 ms.", sum(cStalled)).with(labels{}),
	}
}

// dynamoRequests emits the counter of requests by how they ended. The series of chat and completions exist from the
// start, as in the frontend, which keeps their rates defined; the others come with their first request.
func dynamoRequests(t *totals, emit func(labels, float64)) {
	type key struct{ endpoint, request, status, errorType string }
	name := func(a api.API) string {
		if a == api.Chat {
			return "chat_completions"
		}
		return a.Name()
	}
	kinds := map[bool]string{false: "unary", true: "stream"}
	sums := map[key]int64{}
	for a := range api.API(api.Count) {
		for stream, request := range kinds {
			if n := t.count[cDoneOf(a, stream)]; n > 0 || a <= api.Completions {
				sums[key{name(a), request, "success", ""}] += n
			}
		}
	}
	for f, n := range t.failures {
		what := "internal"
		switch {
		case f.gone:
			what = "cancelled"
		case f.status >= 400 && f.status < 500:
			what = "validation"
		}
		sums[key{name(f.api), kinds[f.stream], "error", what}] += n
	}
	for k, n := range sums {
		emit(labels{{"endpoint", k.endpoint}, {"request_type", k.request}, {"status", k.status},
			{"error_type", k.errorType}}, float64(n))
	}
}

func dynamoComponentLabels(component, worker string) labels {
	return labels{{"dynamo_namespace", "dynamo"}, {"dynamo_component", component}, {"dynamo_endpoint", "generate"},
		{"worker_id", worker}, {"model", "$model"}}
}

// dynamoComponentFamilies returns those of a worker for one half of the work: duration is its part of a
// request, inflight its share of those being worked on.
func dynamoComponentFamilies(duration quantity, inflight func(*totals) float64) []family {
	active := func(t *totals) float64 { return min(dynamoBlocksPerRequest*inflight(t), dynamoBlocks) }
	usage := func(t *totals) float64 { return active(t) / dynamoBlocks }
	return []family{
		total("dynamo_component_requests", "Requests done.",
			func(t *totals) float64 { return float64(t.hist[duration][len(t.hist[duration])-1]) }),
		split("dynamo_component_errors", kCounter, "Requests that failed.",
			where("error_type", "generate", sum(cError))),
		total("dynamo_component_cancellation", "Requests that were cancelled.", sum(cAbort)),
		gauge("dynamo_component_inflight_requests", "Requests being worked on.", inflight),
		hist("dynamo_component_request_duration_seconds", "Time spent on a request.", duration, dynamoWork),
		total("dynamo_component_request_bytes", "Bytes received.", sum(cBytesIn)),
		total("dynamo_component_response_bytes", "Bytes sent.", sum(cBytesOut)),
		gauge("dynamo_component_total_blocks", "Blocks of the worker.", constant(dynamoBlocks)),
		gauge("dynamo_component_gpu_cache_usage_percent", "Share of the blocks in use.", usage),
		gauge("dynamo_component_kvstats_active_blocks", "Blocks in use.", active),
		gauge("dynamo_component_kvstats_total_blocks", "Older name of total_blocks.", constant(dynamoBlocks)),
		gauge("dynamo_component_kvstats_gpu_cache_usage_percent", "Older name of gpu_cache_usage_percent.", usage),
		total("dynamo_component_embedding_cache_hits", "Embeddings found in the cache.", constant(0)),
		total("dynamo_component_embedding_cache_misses", "Embeddings that were computed.", constant(0)),
		split("dynamo_component_kv_publisher_zmq_events", kCounter, "Events of the KV cache that were published.",
			where("event_type", "stored", constant(0)), where("event_type", "removed", constant(0))),
		gauge("dynamo_component_uptime_seconds", "Time since the start.", func(t *totals) float64 { return t.uptime }),
		gauge("dynamo_tokio_global_queue_depth", "Tasks that wait for a thread.", constant(0)).with(
			labels{{"worker", strconv.Itoa(0)}}),
	}
}
