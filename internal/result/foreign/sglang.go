package foreign

import "errors"

var sglangLatencies = []named{{"ttft", "time_to_first_token"}, {"tpot", "inter_token_latency"},
	{"itl", "inter_chunk_latency"}, {"e2e_latency", "request_latency"}}

// readSGLang reads what SGLang's bench_serving appends to its output file: a run on each line. --output-details adds the
// values of the requests.
func readSGLang(f *file) (runs []Run, err error) {
	for i, d := range f.lines() {
		duration, ok := d.at("duration").number()
		if !ok || !d.has("completed") {
			return nil, at(i, errors.New("it has no duration or no number of completed requests"))
		}
		r := Run{Tool: "SGLang bench_serving", Version: d.at("server_info", "version").text(),
			Label: d.at("tag").text(), Endpoint: endpointType(d.at("backend").text()), Streaming: true,
			Concurrency: d.at("max_concurrency").positive(), ISL: d.at("random_input_len").positive(),
			OSL: d.at("random_output_len").positive()}
		r.loadOf(d)
		if model := firstText(d.at("server_info"), "served_model_name", "model_path"); model != "" {
			r.Models = []string{model}
		}
		// The number of failures follows only from the errors of the requests.
		good := succeeded(d, len(d.at("output_lens").items()))
		failed := 0.0
		for _, ok := range good {
			if !ok {
				failed++
			}
		}
		r.totals(d, duration, "total_throughput", failed, good != nil)
		for _, of := range sglangLatencies {
			r.millis(d, "_"+of.name+"_ms", of.tag)
		}
		r.details(d, good != nil && failed == 0)
		r.errorRate()
		runs = append(runs, r)
	}
	return runs, nil
}
