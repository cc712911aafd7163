package main

import (
	"context"
	"errors"
)

// dynamo is Dynamo's frontend with workers that are its mocker.
type dynamo struct {
	// workers are the options of each worker.
	workers []string
	// frontend are those of the frontend.
	frontend string
}

var dynamoFigures = []figure{{"running", "vllm:num_requests_running", largest}, {"waiting", "vllm:num_requests_waiting", largest},
	{"KV use", "vllm:kv_cache_usage_perc", largest}, {"preemptions", "vllm:num_preemptions_total", grown},
	{"frontend TTFT ms", "dynamo_frontend_time_to_first_token_seconds", mean}}

func (b *bench) startDynamo(context.Context, *dynamo) (arranged, error) {
	return arranged{}, errors.New("not yet")
}
