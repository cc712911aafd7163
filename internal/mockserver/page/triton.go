package page

// tritonFamilies are those of Triton, whose durations are counters of microseconds.
func tritonFamilies() []family {
	gpu := labels{{"gpu_uuid", "GPU-00000000-0000-0000-0000-000000000000"}}
	micros := func(q quantity) func(*totals) float64 {
		return func(t *totals) float64 { return float64(t.sum[q] / 1000) }
	}
	device := func(name, help string, value func(*totals) float64) family { return gauge(name, help, value).with(gpu) }
	const memory = 80 << 30
	return []family{
		total("nv_inference_request_success", "Requests that succeeded.", (*totals).succeeded),
		split("nv_inference_request_failure", kCounter, "Requests that failed, by reason.",
			where("reason", "REJECTED", tritonRejected), where("reason", "CANCELED", sum(cAbort)),
			where("reason", "BACKEND", sum(cError)), where("reason", "OTHER", constant(0))),
		total("nv_inference_count", "Inferences, each request of a batch counted.", (*totals).succeeded),
		total("nv_inference_exec_count", "Executions of the model.", (*totals).succeeded),
		gauge("nv_inference_pending_request_count", "Requests that wait.", waitingRequests),
		total("nv_inference_request_duration_us", "Time of requests, in microseconds.", micros(qE2E)),
		total("nv_inference_queue_duration_us", "Time of requests in the queue, in microseconds.", micros(qQueue)),
		total("nv_inference_compute_input_duration_us", "Time spent on inputs, in microseconds.", constant(0)),
		total("nv_inference_compute_infer_duration_us", "Time spent on inference, in microseconds.",
			micros(qInference)),
		total("nv_inference_compute_output_duration_us", "Time spent on outputs, in microseconds.", constant(0)),
		{name: "nv_inference_first_response_histogram_ms", kind: kHistogram,
			help:   "Arrival to the first response, in milliseconds.",
			layout: tritonFirstMillis, unit: 1e6, series: []series{{of: qTTFT}}},
		split("nv_inference_request_summary_us", kSummary, "Time of a request.", series{of: qE2E}).in(1e3),
		total("nv_cache_num_hits_per_model", "Answers found in the response cache.", constant(0)),
		total("nv_cache_num_misses_per_model", "Answers not found in the response cache.", (*totals).succeeded),
		device("nv_gpu_utilization", "Load of the device.", func(t *totals) float64 { return min(t.running()/64, 1) }),
		device("nv_gpu_memory_total_bytes", "Memory of the device.", constant(memory)),
		device("nv_gpu_memory_used_bytes", "Memory in use.",
			func(t *totals) float64 { return memory/10 + kvUsage(t)*memory*3/4 }),
		device("nv_gpu_power_usage", "Power drawn, in watts.",
			func(t *totals) float64 { return 75 + 600*min(t.running()/64, 1) }),
		device("nv_gpu_power_limit", "Most power, in watts.", constant(700)),
		total("nv_energy_consumption", "Energy used, in joules.",
			func(t *totals) float64 { return 75 * t.uptime }).with(gpu),
		gauge("nv_cpu_utilization", "Load of the processors.",
			func(t *totals) float64 { return min(t.running()/256, 1) }).with(labels{}),
	}
}

// in sets what 1 on the page means.
func (f family) in(unit float64) family {
	f.unit = unit
	return f
}

// tritonRejected returns the requests that were answered with an error.
func tritonRejected(t *totals) float64 {
	n := int64(0)
	for f, times := range t.failures {
		if f.status >= 400 {
			n += times
		}
	}
	return float64(n)
}
