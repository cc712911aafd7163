package kube

import "aiperf/internal/config/flags"

// examples are those of the sub-commands, by name.
func examples(name string) []flags.Example {
	return map[string][]flags.Example{
		"generate":          {{For: "what would run, without a cluster", Command: "aiperf kube generate -n bench --image IMAGE -m MODEL --url http://SERVER:8000 --request-count 100"}},
		"profile":           {{For: "run it and follow it", Command: "aiperf kube profile -n bench --image IMAGE -m MODEL --url http://SERVER:8000 --concurrency 100 --request-count 1000"}, {For: "what a file describes", Command: "aiperf kube profile --config job.yaml -n bench --image IMAGE --detach"}},
		"sweep":             {{For: "the sweep of a file", Command: "aiperf kube sweep --config sweep.yaml -n bench --image IMAGE"}},
		"preflight":         {{For: "is the cluster ready", Command: "aiperf kube preflight -n bench"}},
		"list":              {{For: "all benchmarks of a namespace", Command: "aiperf kube list -n bench"}},
		"attach":            {{For: "follow one", Command: "aiperf kube attach JOB -n bench"}},
		"logs":              {{For: "of all its pods", Command: "aiperf kube logs JOB -n bench"}},
		"results":           {{For: "of the last benchmark", Command: "aiperf kube results -n bench"}},
		"results list-runs": {{For: "the runs of a sweep", Command: "aiperf kube results list-runs JOB -n bench"}},
		"cancel":            {{For: "end it early", Command: "aiperf kube cancel JOB -n bench"}},
		"shutdown":          {{For: "its controller pod", Command: "aiperf kube shutdown JOB -n bench"}},
		"delete":            {{For: "with all its objects", Command: "aiperf kube delete JOB -n bench"}},
		"cleanup":           {{For: "all that have finished", Command: "aiperf kube cleanup -n bench"}},
		"debug":             {{For: "why its pods do not run", Command: "aiperf kube debug JOB -n bench"}},
		"dashboard":         {{For: "the results in a browser", Command: "aiperf kube dashboard"}},
	}[name]
}
