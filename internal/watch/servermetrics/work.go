package servermetrics

// workGauges are the requests that a server has, running and waiting, by the names of the servers that say so.
var workGauges = []string{
	"vllm:num_requests_running", "vllm:num_requests_waiting",
	"sglang:num_running_reqs", "sglang:num_queue_reqs",
	"trtllm_num_requests_running", "trtllm_num_requests_waiting",
	"trtllm:num_requests_running", "trtllm:num_requests_waiting",
	"dynamo_frontend_inflight_requests", "dynamo_frontend_queued_requests",
	"nv_inference_pending_request_count",
	"llamacpp:requests_processing", "llamacpp:requests_deferred",
	"tgi_batch_current_size", "tgi_queue_size",
}

// Work returns how many requests the servers have by their newest scrapes, running and waiting, and the instant of the
// last of these; 0 where none of them says so. It may be called during the collection.
func (s *Store) Work() (requests float64, atNS int64) {
	s.newest(workGauges, func(_ *Series, timestampNS int64, v float64) {
		requests, atNS = requests+v, max(atNS, timestampNS)
	})
	return requests, atNS
}
