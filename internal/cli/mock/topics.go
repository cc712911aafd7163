package mock

import "aiperf/internal/config/flags"

// topics are the groups of the flags of the server.
func topics() []flags.Topic {
	return []flags.Topic{{Name: "listen", Title: "Listening, TLS"}, {Name: "latency", Title: "Latencies"},
		{Name: "queue", Title: "Queue, scheduler, cache"}, {Name: "replies", Title: "Replies, tokens, models"},
		{Name: "faults", Title: "Errors, faults, readiness, keys"}, {Name: "record", Title: "Records, log"},
		{Name: "metrics", Title: "Metrics pages"}, {Name: "gpu", Title: "Pages of GPUs"}}
}

// beginnings are the flags with which a topic begins in the table.
func beginnings() map[string]string {
	return map[string]string{"port": "listen", "fast": "latency", "max-batch": "queue", "output-tokens": "replies",
		"models-ready-delay-seconds": "faults", "record-requests": "record", "sessions": "replies", "backend": "metrics",
		"dcgm-gpu-name": "gpu", "access-logs": "record"}
}

// inTopics gives each flag its topic.
func inTopics(list []flags.Flag) []flags.Flag {
	begins, topic := beginnings(), ""
	for i := range list {
		if t, ok := begins[list[i].Name]; ok {
			topic = t
		}
		list[i].Topic, list[i].Brief = topic, briefs()[list[i].Name]
	}
	return list
}

// briefs are the explanations in a line of usual flags whose own is longer.
func briefs() map[string]string {
	return map[string]string{"tls-make": "TLS with a certificate made for localhost",
		"scheduler-enabled":        "steps that all share: it can be saturated",
		"scheduler-max-batch-size": "replies that advance at once",
		"kv-cache-blocks":          "blocks of 16 tokens in the KV cache",
		"prefix-caching":           "known beginnings of prompts cost no work",
		"model":                    "models that /v1/models lists",
		"output-tokens":            "length of replies without a limit",
		"replies":                  "replies to prompts, as JSON Lines",
		"record-requests":          "write one JSON line per request"}
}

// usual are the flags of the first help text.
func usual() []flags.Section {
	return []flags.Section{
		{Title: "Listening", Names: []string{"port", "host", "tls-make"}},
		{Title: "Speed", Names: []string{"ttft", "itl", "ttft-jitter-cv", "itl-jitter-cv", "fast"}},
		{Title: "A server with limits", Names: []string{"max-batch", "max-queue", "scheduler-enabled",
			"scheduler-max-batch-size", "kv-cache-blocks", "prefix-caching"}},
		{Title: "Replies", Names: []string{"model", "output-tokens", "replies", "tokenizer", "random-seed"}},
		{Title: "Errors", Names: []string{"error-rate", "fault", "api-key", "models-ready-delay-seconds"}},
		{Title: "What it shows", Names: []string{"record-requests", "backend", "dcgm-num-gpus", "access-logs", "verbose"}},
	}
}
