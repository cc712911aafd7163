package judge

import "aiperf/internal/measure/timesplit"

// Unseen is what the facts of a run did not show, and how the next run shows it.
type Unseen struct {
	What string `json:"what"`
	How  string `json:"how"`
}

// unseen returns what would have said more of a run.
func (f *view) unseen() []Unseen {
	var out []Unseen
	add := func(missing bool, what, how string) {
		if missing {
			out = append(out, Unseen{what, how})
		}
	}
	if f.FileOnly {
		add(true, "the server, its GPUs and where the time went: the summary was written without a judgement and says nothing of "+
			"them", "aiperf report DIR judges the run anew where its records and the metrics of its servers are there")
		add(f.Client.Verdict == "", "what the client itself added to the figures", "measure with this program")
		return out
	}
	signs := f.signs()
	pages := f.Servers != nil
	add(!pages, "the server's queue, batch, KV cache and times: no metrics page of it was read",
		"name its page: --server-metrics http://HOST:PORT/metrics")
	add(pages && signs.Kind == signs.FrontEnd && signs.FrontEnd != "", "the engines behind "+signs.FrontEnd+
		": only the front end's page was read", "name the pages of the workers, too: --server-metrics http://WORKER:PORT/metrics")
	add(pages && signs.Kind == "llama.cpp" && f.Servers.Waiting == nil, "the queue of llama-server",
		"start it with --metrics")
	split := f.ttft()
	add(pages && split.Find(timesplit.Queue) == nil && split.Find(timesplit.Prefill) == nil,
		"how long requests waited and were computed: the page has no histograms of it",
		"of vLLM and Dynamo they are there by default; SGLang needs --enable-metrics, TensorRT-LLM return_perf_metrics")
	add(len(f.Devices) == 0, "power, heat, clocks and memory of the GPUs",
		"run a DCGM exporter beside the server, and name it: --gpu-telemetry http://HOST:9400/metrics")
	add(!f.Streamed, "when the first token came, and the gaps between tokens", "--streaming")
	add(split.Find(timesplit.Network) == nil, "the way to the server and back", "--network-latency-automatic")
	add(f.Client.Verdict == "", "what the client itself added to the figures", "measure with this program: other files do not say it")
	add(f.Cached == nil && pages, "how much of the prompts came from the prefix cache",
		"the page has no counters of it; of vLLM --enable-prompt-tokens-details says it in replies")
	return out
}
