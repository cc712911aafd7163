package option

import "aiperf/internal/config/flags"

// usualFlag is a flag of the first help text, and its explanation in a line.
type usualFlag struct{ name, brief string }

// usualByPurpose are the flags that most runs need, by purpose.
func usualByPurpose() []struct {
	title string
	flags []usualFlag
} {
	return []struct {
		title string
		flags []usualFlag
	}{
		{"Server", []usualFlag{
			{"url", "address [localhost:8000]; the word URL, too"},
			{"model", "model [the only one that the server lists]"},
			{"endpoint-type", "chat, completions, embeddings, … [chat]"},
			{"streaming", "stream replies: needed for TTFT and ITL"},
			{"api-key", "bearer token; @FILE reads it from a file"},
			{"header", "further headers, as 'X-Team: search'"},
			{"request-timeout-seconds", "limit on one request [6 hours]"},
		}},
		{"Load", []usualFlag{
			{"concurrency", "requests in flight (closed loop) [1]"},
			{"request-rate", "requests per second (open loop)"},
			{"arrival-pattern", "poisson, constant, gamma [poisson]"},
			{"request-count", "stop after so many requests"},
			{"benchmark-duration", "stop after this time, as 60, 90s or 5m"},
			{"warmup-request-count", "requests before that are not measured"},
		}},
		{"Prompts", []usualFlag{
			{"isl", "input length in tokens [550]"},
			{"osl", "output length in tokens [no limit]"},
			{"input-file", "your own prompts, chats, log or trace"},
			{"public-dataset", "a published data set, such as sharegpt"},
			{"extra-inputs", "members of requests, as temperature:0"},
			{"tokenizer", "hub name, path or builtin [model's]"},
		}},
		{"Judgement", []usualFlag{
			{"goodput", "service levels, as 'ttft:300ms e2e:2s'"},
			{"fail-if", "exit code 3 if so, as 'ttft:p99>500ms'"},
			{"num-profile-runs", "repeat the run, for confidence intervals"},
		}},
		{"Results", []usualFlag{
			{"artifact-dir", "folder of the results [artifacts/…]"},
			{"html-report", "also the report as a page with charts"},
			{"ui", "dashboard, simple or none"},
			{"web", "watch the run in a browser"},
			{"config", "read all of this from a YAML file"},
		}},
	}
}

// usualFlags are the sections of the first help text.
func usualFlags() (list []flags.Section) {
	for _, purpose := range usualByPurpose() {
		s := flags.Section{Title: purpose.title}
		for _, f := range purpose.flags {
			s.Names = append(s.Names, f.name)
		}
		list = append(list, s)
	}
	return list
}

// briefs are the explanations in a line, by any name of the flag.
func briefs() map[string]string {
	all := map[string]string{}
	for _, purpose := range usualByPurpose() {
		for _, f := range purpose.flags {
			all[f.name] = f.brief
		}
	}
	return all
}
