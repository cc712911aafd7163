package metrics

import "slices"

// alias is another name of a metric, as people say it.
type alias struct{ Name, Tag string }

// aliases are the other names, in the order of the documentation.
var aliases = []alias{
	{"ttft", "time_to_first_token"},
	{"ttst", "time_to_second_token"},
	{"ttfo", "time_to_first_output_token"},
	{"itl", "inter_token_latency"},
	{"tpot", "inter_token_latency"},
	{"icl", "inter_chunk_latency"},
	{"e2e", "request_latency"},
	{"e2el", "request_latency"},
	{"latency", "request_latency"},
	{"rps", "request_throughput"},
	{"tps", "output_token_throughput"},
	{"throughput", "output_token_throughput"},
	{"tps_per_user", "output_token_throughput_per_user"},
	{"isl", "input_sequence_length"},
	{"osl", "output_sequence_length"},
	{"error_rate", "request_error_rate"},
	{"accuracy", AccuracyOverall},
}

// Aliases returns the other names of metrics.
func Aliases() []alias { return slices.Clone(aliases) }

// Names returns the aliases and the tags of all metrics, by which a metric may be named.
func Names() []string {
	var names []string
	for _, a := range aliases {
		names = append(names, a.Name)
	}
	for i := range table {
		names = append(names, table[i].Tag)
	}
	return names
}

// Canonical returns the tag that a name stands for: the name itself unless it is an alias.
func Canonical(name string) string {
	for _, a := range aliases {
		if a.Name == name {
			return a.Tag
		}
	}
	return name
}
