package main

// healthy returns runs without a cause: the server does what was asked, at the load that was asked for.
func healthy() []situation {
	set := []situation{
		{name: "plain", servers: []string{"--ttft 50 --itl 10"},
			client: "--concurrency 4 --request-count 60 --isl 60 --osl 30"},
		{name: "headroom", servers: []string{steps + "--scheduler-max-batch-size 64"},
			client: "--concurrency 8 --request-count 120 --isl 100 --osl 40"},
		{name: "open-rate", servers: []string{"--ttft 40 --itl 5"},
			client: "--request-rate 20 --request-count 100 --isl 60 --osl 30"},
		{name: "jitter", servers: []string{"--ttft 60 --itl 8 --ttft-jitter-cv 0.3 --itl-jitter-cv 0.2"},
			client: "--concurrency 6 --request-count 90 --isl 60 --osl 30"},
		{name: "prefix-cache-works", servers: []string{steps + "--prefix-caching --scheduler-prefill-us-per-token 5"},
			client:  "--concurrency 4 --request-count 80 --shared-system-prompt-length 1000 --isl 100 --osl 40",
			figures: vllmCache},
		{name: "good-acceptance", servers: []string{steps + "--spec-tokens 4 --spec-acceptance 0.85 --scheduler-draft-ms 1"},
			client: "--concurrency 6 --request-count 150 --isl 60 --osl 60"},
		{name: "even-replicas", servers: []string{"--ttft 40 --itl 6", "--ttft 40 --itl 6"},
			client: "--concurrency 8 --request-count 100 --isl 60 --osl 40"},
		{name: "gpu-in-order", servers: []string{"--ttft 40 --itl 6 --dcgm-num-gpus 1 --dcgm-load 0.7"}, gpus: true,
			client: "--concurrency 8 --request-count 100 --isl 60 --osl 40", figures: dcgm[:5]},
		{name: "sglang", servers: []string{"--backend sglang --ttft 40 --itl 6"},
			client: "--concurrency 6 --request-count 80 --isl 60 --osl 40"},
		{name: "chunked-prefill",
			servers: []string{steps + "--scheduler-prefill-us-per-token 3 --scheduler-max-prefill-chunks-per-step 1"},
			client:  "--concurrency 6 --request-count 80 --isl 800 --osl 60"},
	}
	for i := range set {
		set[i].healthy = true
		if set[i].figures == nil && set[i].name != "sglang" {
			set[i].figures = append(vllmQueue[:2:2], vllmTimes...)
		}
	}
	return set
}
