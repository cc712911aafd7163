"""Small configuration files, all of them written for this check: (name, text, flags) each.

A case is the smallest file with some of its sections replaced. The text of a section is YAML in one line.
"""

BASE = {
    "model": "my/model",
    "endpoint": "{url: 'http://127.0.0.1:1'}",
    "dataset": "{isl: 32, osl: 8}",
    "phases": "{type: concurrency, concurrency: 2, requests: 4}",
}
SYNTHETIC = "{isl: 32, osl: 8, %s}"
TURNS = "{isl: 32, osl: 8, turns: 2}"
MOONCAKE = "{type: file, format: mooncake_trace, records: [{timestamp: 0, input_length: 8, output_length: 2}, {timestamp: 5, input_length: 8, output_length: 2}]}"
SINGLE = "{type: file, records: [{text: a}]}"
STREAMING = "{url: 'http://127.0.0.1:1', streaming: true}"
TWO = "[{name: warmup, type: concurrency, requests: 2}, {name: profiling, type: concurrency, concurrency: 2, requests: 4}]"
CASES = []


def add(name, *flags, top="", text=None, **sections):
    """A file with sections replaced (None: left out) and lines of the envelope before it."""
    if text is None:
        body = {**BASE, **sections}
        text = top + ("\n" if top else "") + "benchmark:\n" + "".join(f"  {k}: {v}\n" for k, v in body.items() if v is not None)
    CASES.append((name, text, list(flags)))


def each(name, section, *texts, shape="%s", **more):
    for text in texts:
        add(f"{name} {text}", **{section: shape % text}, **more)


def endpoint(*texts, **more):
    each("endpoint", "endpoint", *texts, shape="{url: 'http://127.0.0.1:1', %s}", **more)


def phase(*texts, of="concurrency", **more):
    each(f"phase {of}", "phases", *texts, shape="{type: " + of + ", %s}", **more)


def synthetic(*texts, **more):
    each("synthetic", "dataset", *texts, shape=SYNTHETIC, **more)


def dist(*texts):
    each("distribution", "dataset", *texts, shape="{isl: %s}")


def section(name, *texts, **more):
    each(name, name, *texts, **more)


def envelope(*texts, **more):
    for text in texts:
        add(f"envelope {text}", top=text.replace(" / ", "\n"), **more)


def sweep(*texts, **more):
    for text in texts:
        add(f"sweep {text}", top=f"sweep: {text}", **more)


def flags(*lines, file="minimal", **more):
    for line in lines:
        add(f"flags over {file}: {line}", *line.split(" "), **more)


# Envelope and shorthands.
add("minimal")
envelope("schema_version: '2.0'", "schemaVersion: '2.0'", "schema_version: 2.0", "schemaVersion: '3.0'", "random_seed: 7", "randomSeed: 7",
         "random_seed: -1", "random_seed: x", "variables: {a: 1}", "no_sweep_table: true", "sweeps: {}", "benchmarks: {}", "made_up: 1",
         "random_seed: 1 / randomSeed: 1", "random_seed: 1 / randomSeed: 2", "random_seed: 1 / random_seed: 1", "1: 2", "multi_run: {num_runs: 3}",
         "multiRun: {numRuns: 3}", "multi_run: {num_runs: 0}", "multi_run: {num_runs: 11}", "multi_run: {num_runs: 2, cooldown_seconds: 86401}",
         "multi_run: {num_runs: 4, convergence: {metric: request_latency, stat: avg, mode: ci_width, threshold: 0.1, min_runs: 2}}",
         "multi_run: {num_runs: 4, convergence: {metric: request_latency}}", "multi_run: {num_runs: 4, convergence: {metric: request_latency, min_runs: 1}}",
         "multi_run: {num_runs: 2, confidence_level: 0.9}", "multi_run: {num_runs: 2, confidence_level: 1}", "multi_run: {num_runs: 2, made_up: 1}",
         "multi_run: {num_runs: 2, set_consistent_seed: false}", "multi_run: {num_runs: 2, disable_warmup_after_first: false}", "apiVersion: v1", "kind: x")
for name, text in {
    "empty": "", "a list": "- a\n", "a scalar": "a\n", "no benchmark": "random_seed: 1\n", "benchmark of nothing": "benchmark:\n",
    "two documents": "benchmark: {}\n---\nbenchmark: {}\n", "not YAML": "benchmark: {a\n", "a tab": "benchmark:\n\tmodel: a\n",
    "an anchor": "variables: {a: &p {type: concurrency, requests: 4}}\nbenchmark: {model: m, endpoint: {url: 'http://h:1'}, dataset: {isl: 3}, phases: *p}\n",
    "a merge key": "variables: {a: &p {type: concurrency, requests: 4}}\nbenchmark: {model: m, endpoint: {url: 'http://h:1'}, dataset: {isl: 3}, phases: {<<: *p, concurrency: 3}}\n",
    "JSON": '{"benchmark": {"model": "m", "endpoint": {"url": "http://h:1"}, "dataset": {"isl": 3}, "phases": {"type": "concurrency", "requests": 4}}}',
    "flat": "model: m\nendpoint: {url: 'http://h:1'}\ndataset: {isl: 3}\nphases: {type: concurrency, requests: 4}\n",
    "flat with datasets": "models: [m]\nendpoint: {urls: ['http://h:1']}\ndatasets: [{name: a, type: synthetic, prompts: {isl: 3}}]\nphases: [{name: profiling, type: concurrency, requests: 4}]\n",
    "flat, partly": "model: m\nbenchmark: {endpoint: {url: 'http://h:1'}, dataset: {isl: 3}, phases: {type: concurrency, requests: 4}}\n",
    "flat in camelCase": "model: m\nendpoint: {url: 'http://h:1'}\ndataset: {isl: 3}\nphases: {type: concurrency, requests: 4}\nserverMetrics: {enabled: false}\ngpuTelemetry: {enabled: false}\n",
    "flat with warm-up": "model: m\nendpoint: {url: 'http://h:1'}\ndataset: {isl: 3}\nwarmup: {type: concurrency, requests: 4}\nprofiling: {type: concurrency, requests: 4}\n",
    "flat twice": "model: m\nbenchmark: {model: n, endpoint: {url: 'http://h:1'}, dataset: {isl: 3}, phases: {type: concurrency, requests: 4}}\n",
    "a byte order mark": "\ufeffbenchmark: {model: m, endpoint: {url: 'http://h:1'}, dataset: {isl: 3}, phases: {type: concurrency, requests: 4}}\n",
}.items():
    add(name, text=text)
add("unknown section", made_up="1")
add("unknown key", endpoint="{url: 'http://h:1', made_up: 1}")
add("section of null", tokenizer="null")
add("model missing", model=None)
add("endpoint missing", endpoint=None)
add("dataset missing", dataset=None)
add("phases missing", phases=None)

# Models.
section("model", "{items: [{name: a}]}", "[]", "''", "5", "null", "[a, 5]")
section("models", "a", "[a, b]", "{items: [{name: a}, {name: b}]}", "{strategy: random, items: [{name: a}, {name: b}]}",
        "{strategy: weighted, items: [{name: a, weight: 0.5}, {name: b, weight: 0.5}]}", "{strategy: weighted, items: [{name: a, weight: 0.5}, {name: b, weight: 0.6}]}",
        "{strategy: weighted, items: [{name: a}, {name: b}]}", "{strategy: weighted, items: [{name: a, weight: 0.333}, {name: b, weight: 0.333}, {name: c, weight: 0.333}]}",
        "{strategy: modality_aware, items: [{name: a}]}", "{strategy: Random, items: [{name: a}]}", "{items: []}", "{items: [{name: ''}]}", "{items: [{name: a, weight: 2}]}",
        "{items: [{name: a, lora: x, modalities: [text], tokenizer: {name: t}}]}", "[{name: a}]", "{strategy: random}", model=None)
add("model and models", models="[a]")

# Endpoint.
endpoint("type: completions", "type: embeddings", "type: made_up", "type: CHAT", "path: /v2/chat", "path: v2/chat", "api_key: abc", "apiKey: abc", "timeout: 5",
         "timeout: 0", "timeout: -1", "timeout: 1m", "timeout: '5'", "streaming: true", "streaming: 'yes'", "streaming: 1", "streaming: 2", "transport: http",
         "transport: made_up", "connection_reuse: never", "connection_reuse: sticky-user-sessions", "connectionReuse: pooled", "use_legacy_max_tokens: true",
         "use_server_token_count: true", "per_chunk_usage: true", "per_chunk_usage: true, use_server_token_count: true, streaming: true",
         "url_strategy: round_robin", "url_strategy: random", "headers: {A: b}", "headers: {A: 1}", "headers: [a]", "extra: {a: {b: [1]}}", "extra: [a]",
         "template: {body: '{}'}", "template: {}", "type: template", "type: template, template: {body: '{}', response_field: a.b}",
         "type: completions, template: {body: '{}'}",
         "download_video_content: true", "request_content_type: application/json", "type: video_generation, request_content_type: application/json",
         "request_content_type: multipart/form-data", "session_header: X-A", "uuid_and_strip: true", "type: completions, uuid_and_strip: true",
         "wait_for_model_timeout: 5", "wait_for_model_interval: 5", "wait_for_model_interval: 4", "wait_for_model_mode: models", "wait_for_model_timeout: 5, wait_for_model_interval: 0",
         "reset_kv_cache: true", "reset_kv_cache: false", "reset_kv_cache: {}", "reset_kv_cache: {path: /x}", "reset_kv_cache: {path: 'http://x/y'}",
         "reset_kv_cache: {timeout_seconds: 0}", "server_profiler: true", "server_profiler: {start_path: /a, stop_path: /b}", "server_profiler: {start_path: a}",
         "type: embeddings, streaming: true", "type: embeddings, useServerTokenCount: true", "extra: {store: true}", "type: responses, extra: {store: true}",
         "type: responses, extra: {store: true}, use_server_token_count: true", "connection_limit: 5")
each("urls", "endpoint", "{urls: ['http://h:1', 'https://h:2']}", "{urls: 'http://h:1'}", "{url: ['http://h:1']}", "{urls: []}", "{url: 'localhost:8000'}", "{url: ''}", "{url: 'ftp://h'}",
     "{url: 'http://h:99999'}", "{url: 'http:// h'}", "{url: 'http://'}", "{url: 'http://h:1', urls: ['http://h:2']}", "{url: 'http://u:p@h:1/v1?a=b'}", "{}", "null", "'http://h:1'")

# Datasets.
each("dataset", "dataset", "{}", "{type: synthetic}", "{type: made_up}", "{name: a, isl: 3}", "{type: synthetic, prompts: {isl: 3, osl: 4}}", "{isl: 3, prompts: {isl: 4}}",
     "{isl: 3, prompts: {osl: 4}}", "{isl: 3, osl: 4, entries: 0}", "{isl: 3, entries: 5.0}", "{isl: 3, entries: 5.5}", "{isl: 3, entries: '5'}", "{isl: 3, count: 5}", "{isl: 0}", "{isl: -1}",
     "{isl: 3, osl: 0}", "{prompts: {batch_size: 0}}", "{prompts: {isl: 3, corpus: coding}}", "{prompts: {isl: 3, corpus: random}}", "{prompts: {isl: 3, corpus: made_up}}",
     "{prompts: {isl: 3, block_size: 0}}", "{prompts: {isl: 3, cache_bust: {target: system_prefix}}}", "{prompts: {isl: 3, cache_bust: {target: made_up}}}",
     "{prompts: {isl: 3, osl: 4, random_range_ratio: 0.5}}", "{prompts: {isl: 3, osl: 4, random_range_ratio: {input: 0.5, output: 0.2}}}", "{prompts: {isl: 3, random_range_ratio: 0.5}}",
     "{prompts: {isl: 3, osl: 4, random_range_ratio: 2}}", "{prompts: {isl: 3, osl: 4, random_range_ratio: '0.5'}}",
     "{prompts: {sequence_distribution: [{isl: 3, osl: 4, probability: 100}]}}", "{prompts: {sequence_distribution: [{isl: 3, osl: 4, probability: 60}, {isl: 5, osl: 6, probability: 40}]}}",
     "{prompts: {sequence_distribution: [{isl: 3, osl: 4, probability: 60}]}}", "{prompts: {sequence_distribution: []}}",
     "{prompts: {isl: 3, osl: 4, random_range_ratio: 0.5, sequence_distribution: [{isl: 3, osl: 4, probability: 100}]}}",
     "{prompts: {sequence_distribution: [{isl: {mean: 3, stddev: 1}, osl: 4, probability: 100}]}}", "{prompts: {sequence_distribution: [{isl: 3, isl_stddev: 1, osl: 4, probability: 100}]}}")
synthetic("sampling: random", "sampling: shuffle", "sampling: made_up", "random_seed: 3", "random_seed: -3", "system_prompt: hi", "system_prompt: ' '",
          "system_prompt: hi, system_prompt_file: x", "turns: 3", "turns: 0", "turns: {mean: 3, stddev: 1}", "turns: 2, turn_delay: 100", "turns: 2, turn_delay: {mean: 5, stddev: 2}",
          "turn_delay: -1", "turn_delay_ratio: -1", "turn_delay_ratio: 0", "prefix_prompts: {pool_size: 2, length: 3}", "prefix_prompts: {pool_size: 0}", "prefix_prompts: {pool_size: 2}",
          "prefix_prompts: {length: 2}", "prefix_prompts: {shared_system_length: 5, user_context_length: 6}", "prefix_prompts: {pool_size: 2, length: 3, shared_system_length: 5}",
          "prefix_prompts: {}", "images: {batch_size: 1}", "images: {batch_size: 1, width: 64, height: {mean: 64, stddev: 5}, format: png}", "images: {format: made_up}",
          "images: {batch_size: -1}", "images: {source: assets, batch_size: 1}", "audio: {batch_size: 1, length: 2, format: mp3}", "audio: {batch_size: 1, channels: 3}",
          "audio: {batch_size: 1, sample_rates: []}", "audio: {batch_size: 1, sample_rates: [16, 44.1], depths: [8, 16]}", "audio: {depths: [7]}",
          "video: {batch_size: 1, width: 64, height: 64, fps: 2, duration: 1}", "video: {batch_size: 1, width: 64}", "video: {batch_size: 1, audio: {codec: aac}}",
          "video: {batch_size: 1, audio: {channels: 1, codec: aac}, format: mp4}", "video: {duration: 0}", "video: {synth_type: made_up}", "video: {fps: 0}",
          "made_up: 1", "path: x", "rankings: {passages: 3}", "rankings: {passages: {mean: 3, stddev: 1}}", "format: single_turn")
each("file", "dataset", "{type: file, path: x.jsonl}", "{type: file}", SINGLE, "{type: file, path: x, records: [{text: a}]}", "{type: file, records: []}", "{type: file, records: {a: [{text: a}]}}",
     "{type: file, format: random_pool, records: {a: [{text: a}], b: [{text: b}]}}", "{type: file, format: random_pool, records: {}}", "{type: file, format: random_pool, records: {a: []}}",
     "{type: file, format: random_pool, records: [{text: a}]}", "{type: file, format: made_up, path: x}", "{type: file, format: multi_turn, records: [{session_id: a, turns: [{text: b}]}]}",
     MOONCAKE, "{type: file, path: x, format: mooncake_trace, osl: 5}", "{type: file, path: x, isl: 5}", "{type: file, path: x, format: mooncake_trace, synthesis: {speedup_ratio: 2}}",
     "{type: file, path: x, format: mooncake_trace, synthesis: {speedup_ratio: 0}}", "{type: file, path: x, synthesis: {speedup_ratio: 2}}", "{type: file, path: x, format: mooncake_trace, synthesis: {made_up: 0}}",
     "{type: file, path: x, prompt_batch_size: 2}", "{type: file, path: x, format: random_pool, prompt_batch_size: 2}", "{type: file, path: x, replay_speedup: 2}", "{type: file, path: x, replay_speedup: 0}",
     "{type: file, path: x, format: dag_jsonl}", "{type: file, path: x, format: weka_trace, ignore_trace_delays: true, use_think_time_only: true}", "{type: file, path: x, format: weka_trace, max_context_length: 5}",
     "{type: file, path: x, max_context_length: 5}", "{type: file, path: x, open_loop_replay: false, open_loop_strict: true}", "{type: file, path: x, block_size: 4}", "{type: file, path: x, prompts: {corpus: random}, format: mooncake_trace}",
     "{type: file, path: x, prompts: {corpus: coding}, format: mooncake_trace}", "{type: file, path: x, trace_session_sample_ratio: 0}", "{type: file, path: x, trace_session_sample_ratio: 1}", "{path: x}", "{records: [{text: a}]}")
each("public", "dataset", "{type: public, dataset: sharegpt}", "{type: public}", "{type: public, dataset: made_up}", "{type: public, dataset: sharegpt, entries: 5, sampling: shuffle}",
     "{type: public, dataset: sharegpt, hf_subset: x}", "{type: public, dataset: sharegpt, filters: {a: b}}", "{type: public, dataset: weka_hf}", "{type: public, dataset: weka_hf, hf_weka_dataset: a/b}",
     "{type: public, dataset: sharegpt, hf_weka_dataset: a/b}", "{type: public, dataset: sharegpt, max_context_length: 5}", "{dataset: sharegpt}")
add("datasets as a list", dataset=None, datasets="[{name: a, isl: 3}]")
add("datasets with type", dataset=None, datasets="[{name: a, type: synthetic, isl: 3}]")
add("datasets without name", dataset=None, datasets="[{type: synthetic, isl: 3}]")
add("two datasets", dataset=None, datasets="[{name: a, isl: 3}, {name: b, isl: 3}]")
add("datasets no list", dataset=None, datasets="{name: a, isl: 3}")
add("datasets empty", dataset=None, datasets="[]")
add("dataset and datasets", datasets="[{name: a, isl: 3}]")

# Distributions.
dist("5", "5.5", "{value: 5}", "{type: fixed, value: 5}", "{mean: 5}", "{mean: 5, stddev: 2}", "{type: normal, mean: 5, stddev: 2}", "{mean: 5, median: 4}", "{mean: 5, median: 6}",
     "{type: lognormal, mean: 5, median: 4}", "{type: lognormal, mean: 5}", "{mean: 5, stddev: -1}", "{mean: -5}", "{stddev: 5}", "{mean: 512, min: 100, max: 900}", "{value: 5, min: 10}",
     "{value: 5, min: 10, max: 6}", "{peaks: [{value: 5}]}", "{peaks: [{value: 5}, {mean: 9, stddev: 1, weight: 2}]}", "{peaks: [{distribution: {value: 5}, weight: 1}, {distribution: {mean: 9}, weight: 3}]}",
     "{type: multimodal, peaks: [{type: fixed, value: 5}, {value: 6}]}", "{peaks: [5, 6]}", "{peaks: [{value: 5, weight: 0}, {value: 6, weight: 0}]}", "{peaks: [{value: 5, weight: -1}, {value: 6}]}",
     "{points: [{value: 5}]}", "{points: [{value: 5, weight: 2}, {value: 6}]}", "{points: [5, 6]}", "{points: []}", "{points: [{value: 5, weight: 0}]}", "{type: empirical, points: [{value: 5}]}",
     "{type: zipf, alpha: 2}", "{type: uniform, min: 1, max: 5}", "{type: exponential, mean: 5}", "{}", "a", "'5'", "true", "[5]", "null", ".inf", ".nan", "{value: 5, mean: 3}", "{mean: 5, made_up: 1}", "'512,50'")

# Phases.
phase("requests: 5", "requests: 0", "requests: 5.0", "requests: 5.5", "requests: '5'", "sessions: 5", "duration: 5", "duration: 5s", "duration: 1.5m", "duration: '2 h'", "duration: '90'", "duration: inf", "duration: 0",
      "duration: 5ms", "duration: 1h30m", "duration: -5", "concurrency: 5", "requests: 5, concurrency: 0", "requests: 5, concurrency: [8, 16]", "requests: 5, rate: 5", "requests: 5, grace_period: 5",
      "duration: 5, grace_period: 5", "duration: 5, grace_period: inf", "duration: 5, grace_period: -1", "requests: 5, prefill_concurrency: 1", "requests: 5, made_up: 1", "requests: 5, seamless: true",
      "requests: 5, concurrency: 4, concurrency_ramp: 5", "requests: 5, concurrency: 4, concurrency_ramp: 5s", "requests: 5, concurrency: 4, concurrencyRamp: {duration: 5, strategy: linear}",
      "requests: 5, concurrency: 4, concurrency_ramp: {duration: 5, strategy: exponential}", "requests: 5, concurrency: 4, concurrency_ramp: {duration: 5, strategy: poisson}",
      "requests: 5, concurrency: 4, concurrency_ramp: {duration: 5, strategy: made_up}", "requests: 5, concurrency: 4, concurrency_ramp: {duration: 0}", "requests: 5, concurrency: 4, concurrency_ramp: 0",
      "requests: 5, cancellation: {rate: 5}", "requests: 5, cancellation: {rate: 5, delay: 1}", "requests: 5, cancellation: {delay: 1}", "requests: 5, cancellation: {rate: 101}", "requests: 5, cancellation: 5",
      "requests: 5, failed_request_threshold: 0.5", "requests: 5, failed_request_threshold: 2", "requests: 5, exclude_from_results: true", "requests: 5, exclude_from_results: false", "requests: 5, kind: warmup",
      "requests: 5, name: main", "requests: 5, name: main, kind: profiling", "requests: 5, timing_mode: request_rate", "requests: 5, timing_mode: fixed_schedule", "requests: 5, trajectory_start_min_ratio: 0.9", "requests: 5, users: 2",
      "requests: 5, auto_offset: true", "requests: 5, rate_ramp: 5", "requests: 5, smoothness: 2")
phase("requests: 5, concurrency: 4, prefill_concurrency: 2", "requests: 5, concurrency: 4, prefill_concurrency: 5", "requests: 5, concurrency: 4, prefill_concurrency: 2, prefill_ramp: 5", of="concurrency ", endpoint=STREAMING)
for kind in "constant", "poisson", "gamma":
    phase("rate: 5, requests: 5", "requests: 5", "rate: 0, requests: 5", "rate: 5, requests: 5, concurrency: 3", "rate: 5, requests: 5, smoothness: 2", "rate: 5, requests: 5, rate_ramp: 5", of=kind)
phase("rate: inf, requests: 5", "rate: '5', requests: 5", "rate: 5, requests: 5, arrival_pattern: poisson", "rate: 5, requests: 5, rate_series: [{time_s: 0, qps: 1}, {time_s: 2, qps: 3}]",
      "duration: 5, rate_series: [{time_s: 0, qps: 1}, {time_s: 2, qps: 3}]", "duration: 5, rate_series: {points: [{time_s: 0, qps: 1}, {time_s: 2, qps: 3}]}", "duration: 5, rate_series: [{time_s: 0, qps: 1}]",
      "duration: 5, rate_series: [{time_s: 2, qps: 1}, {time_s: 1, qps: 3}]", "duration: 5, rate_series: [{time_s: 0, qps: 0}, {time_s: 1, qps: 3}]", "duration: 5, rate_series: missing.json",
      "duration: 5, rate_series: {path: missing.json, points: [{time_s: 0, qps: 1}, {time_s: 2, qps: 3}]}", "duration: 5, rate_series: {}", of="poisson")
phase("rate: 5, users: 2, requests: 5", "rate: 5, requests: 5", "users: 2, requests: 5", "rate: 5, users: 6, requests: 5", "rate: 5, users: 6, sessions: 5", "rate: 5, users: 0, requests: 5", of="user_centric", dataset=TURNS)
phase("rate: 5, users: 2, requests: 5", of="user_centric ", )
phase("auto_offset: true", "auto_offset: false", "start_offset: 1000", "auto_offset: false, start_offset: 1000", "auto_offset: false, start_offset: 1000, end_offset: 500", "end_offset: 500", "requests: 5", "rate: 5", "concurrency: 5",
      of="fixed_schedule", dataset=MOONCAKE)
phase("auto_offset: true", of="fixed_schedule ")
each("phases", "phases", TWO, "[]", "null", "{requests: 5}", "[{name: profiling, type: concurrency}]", "[{type: concurrency, requests: 5}]", "[{name: load, type: concurrency, requests: 5}]",
     "[{name: load, kind: profiling, type: concurrency, requests: 5}]", "[{name: warmup, type: concurrency, requests: 5}]", "[{name: warmup, kind: profiling, type: concurrency, requests: 5}]",
     "[{name: Load, kind: profiling, type: concurrency, requests: 5}, {name: load, kind: profiling, type: concurrency, requests: 5}]", "[{name: 5a, kind: profiling, type: concurrency, requests: 5}]",
     "[{name: con, kind: profiling, type: concurrency, requests: 5}]", "[{name: profiling, type: made_up, requests: 5}]", "[{name: profiling, requests: 5}]", "[{name: profiling, type: concurrency, requests: 5, concurrncy: 4}]",
     "[{name: warmup, type: concurrency, requests: 5, exclude_from_results: false}, {name: profiling, type: concurrency, requests: 5}]",
     "[{name: profiling, type: concurrency, requests: 5}, {name: after, kind: profiling, type: poisson, rate: 5, duration: 5, seamless: true}]",
     "[{name: profiling, type: concurrency, requests: 5}, {name: warmup, type: concurrency, requests: 5}]", "[5]")
add("warmup and profiling", phases=None, warmup="{type: concurrency, requests: 2}", profiling="{type: concurrency, requests: 2}")
add("warmup alone", phases=None, warmup="{type: concurrency, requests: 2}")
add("profiling alone", phases=None, profiling="{type: concurrency, requests: 2}")
add("profiling and phases", profiling="{type: concurrency, requests: 2}")
ADAPTIVE = "concurrency: 8, duration: 60, sla: [{metric_tag: request_latency, op: lt, threshold: 100}], "
phase(ADAPTIVE + "adaptive_scale: {sustain_duration: 5, control_max: 20}", ADAPTIVE + "adaptive_scale: {sustain_duration: 5}", ADAPTIVE + "adaptive_scale: true", ADAPTIVE + "adaptive_scale: 'yes', adaptive_sustain_duration: 5",
      ADAPTIVE + "adaptive_scale: true, adaptive_sustain_duration: 5", ADAPTIVE + "adaptive_scale: {enabled: false}", ADAPTIVE + "adaptive_scale: {sustain_duration: 5, made_up: 1}",
      ADAPTIVE + "adaptive_scale: {sustain_duration: 5, control: {variable: concurrency, min: 2, max: 16}}", ADAPTIVE + "adaptive_scale: {sustain_duration: 5, control: {made_up: 1}}",
      ADAPTIVE + "adaptive_scale: {sustain_duration: 5, strategy: {type: ramp_until_fail, step_policy: fixed_percent_step, step_percent: 10}}", ADAPTIVE + "adaptive_scale: {sustain_duration: 5, window: 2}",
      ADAPTIVE + "adaptive_scale: {sustain_duration: 5, window: 0.5}", ADAPTIVE + "adaptive_scale: {sustain_duration: 5, control_max: 1}", ADAPTIVE + "adaptive_scale: {sustain_duration: 5, control_max: 4.5}",
      ADAPTIVE + "adaptive_scale: {sustain_duration: 5, min_concurrency: 2, max_concurrency: 5}", ADAPTIVE + "adaptive_scale: {sustainDuration: 5, controlMax: 9}",
      ADAPTIVE + "concurrency_ramp: 5, adaptive_scale: {sustain_duration: 5, control_max: 20}", "concurrency: 8, duration: 60, adaptive_scale: {sustain_duration: 5, control_max: 20}",
      "concurrency: 8, duration: 60, adaptive_scale: {sustain_duration: 5, control_max: 20, sla: {request_latency: {p95: {le: 100}}}}", "concurrency: 8, requests: 60, sla: [{metric_tag: request_latency, op: lt, threshold: 100}], adaptive_scale: {sustain_duration: 5}",
      "concurrency: 8, duration: 60, adaptive_scale: {sustain_duration: 5, control_max: 20, sla: {time_to_first_token: {p95: {le: 100}}}}", "concurrency: 8, duration: 60, adaptive_scale: {sustain_duration: 5, control_max: 20, sla: {made_up: {p95: {le: 100}}}}",
      "concurrency: 8, duration: 60, adaptive_scale: {sustain_duration: 5, control_max: 20, sla: {request_latency: {p42: {le: 100}}}}", "concurrency: 8, duration: 60, adaptive_scale: {sustain_duration: 5, control_max: 20, sla: {request_latency: {p95: {eq: 100}}}}",
      "requests: 5, sla: [{metric_tag: request_latency, op: lt, threshold: 100}]")

# Other sections.
section("artifacts", "{dir: out}", "{dir: ''}", "{prefix: x}", "{prefix: outputs}", "{summary: false}", "{summary: []}", "{summary: [json]}", "{summary: [csv]}", "{summary: true}", "{records: false}", "{records: [jsonl]}", "{records: []}",
        "{raw: true}", "{raw: [jsonl]}", "{trace: true}", "{slice_duration: 5}", "{slice_duration: 5s}", "{slice_duration: 0}", "{show_trace_timing: true}", "{auto_plot: true}", "{plot_required: true}", "{export_outputs_json: true}", "{prefix: outputs.json, export_outputs_json: true}",
        "{user_files: [{path: a, content: b}]}", "{user_files: [{path: ../x, content: a}]}", "{user_files: [{path: /x, content: a}]}", "{user_files: [{path: x, format: json, content: str}]}", "{user_files: [{path: x, format: yaml, content: {a: 1}}]}",
        "{user_files: [{path: x, format: text, content: {a: 1}}]}", "{user_files: [{path: '', content: a}]}", "{user_files: [{path: a/b/c.txt, content: a}]}", "{user_files: [{path: \"a\\nb\", content: a}]}", "{user_files: [{path: x}]}",
        "{user_files: [{path: x, content: '{{ undefined_name }}'}]}", "{user_files: [{path: x, content: '{{ broken'}]}", "{user_files: [{path: x, content: a}, {path: x, content: b}]}", "{user_files: ['a']}", "{userFiles: [{path: x, content: a}]}",
        "{user_files: [{path: x, content: 5}]}", "{user_files: [{path: x, content: null}]}", "{user_files: [{path: x, format: yaml, content: str}]}", "{user_files: [{path: x, format: made_up, content: str}]}", "{user_files: [{path: './x', content: a}]}",
        "{user_files: [{path: 'C:/x', content: a}]}", "{user_files: [{path: 'a\\\\b', content: a}]}", "{user_files: [{path: '.', content: a}]}", "{user_files: [{path: 'a/../b', content: a}]}", "{user_files: [{path: 'x/', content: a}]}",
        "{user_files: [{path: profile_export_aiperf.json, content: a}]}", "{user_files: [{path: con, content: a}]}", "{user_files: [{path: '~/x', content: a}]}", "{user_files: [{path: ' ', content: a}]}", "{made_up: 1}")
section("slos", "{request_latency: 5}", "{time_to_first_token: 5}", "{made_up: 5}", "{request_latency: a}", "{request_latency: -1}", "{request_latency: 0}", "{}", "[a]", "{requestLatency: 5}")
section("tokenizer", "{name: builtin}", "builtin", "{revision: main}", "{trust_remote_code: true}", "{apply_chat_template: true}", "{resolved_names: {a: b}}", "{trustRemoteCode: true}", "{made_up: 1}")
section("gpu_telemetry", "{enabled: false}", "false", "true", "'http://127.0.0.1:1/metrics'", "{url: 'http://127.0.0.1:1/metrics'}", "{urls: ['http://127.0.0.1:1/metrics']}", "{collector: pynvml}", "{collector: pynvml, urls: ['http://127.0.0.1:1/metrics']}", "{collector: made_up}",
        "{mode: realtime_dashboard}", "{metrics_file: x.csv}", "['http://127.0.0.1:1/metrics']")
section("server_metrics", "{enabled: false}", "false", "'http://127.0.0.1:1/metrics'", "{url: 'http://127.0.0.1:1/metrics'}", "{urls: ['http://127.0.0.1:1/metrics'], formats: [json, csv, jsonl, parquet]}", "{formats: [made_up]}", "{formats: []}", "{discovery: {mode: disabled}}", "{discovery: {mode: made_up}}",
        "{discovery: {mode: kubernetes, label_selector: a=b, namespace: n, timeout_seconds: 5}}", "{discovery: {timeout_seconds: 0}}")
section("network_latency", "{enabled: true}", "{mean_ms: 5}", "{mean_ms: -5}", "{ping_interval: 0}", "{enabled: true, ping_interval: 2}", "true")
section("runtime", "{ui: none}", "{ui: simple}", "{ui: made_up}", "{workers: 2}", "{workers: 0}", "{workers: 2, workers_min: 3}", "{record_processors: 2}", "{api_port: 8080}", "{api_host: 127.0.0.1}", "{api_port: 70000}", "{communication: {type: ipc}}", "{communication: {type: tcp, host: 127.0.0.1}}",
        "{communication: {type: made_up}}", "{service_run_type: kubernetes}", "{stats_interval: 5}", "{workers_per_pod: 200}")
section("logging", "{level: DEBUG}", "{level: debug}", "{level: made_up}", "DEBUG")
section("metrics", "{}", "{a: 1}")
section("accuracy", "{benchmark: mmlu}", "{benchmark: made_up}", "{n_shots: 5}", "{benchmark: mmlu, n_shots: 33}", "{}")
section("otel", "{metrics_url: 'http://127.0.0.1:4318'}", "{custom_resource_attributes: {a: b}}", "{made_up: 1}", "{gen_ai_provider: openai}", "{stream_metrics_enabled: false}")
section("mlflow", "{tracking_uri: 'http://127.0.0.1:1'}", "{experiment: a, tags: {a: b}}", "{tracking_uri: 'http://127.0.0.1:1', experiment: a, run_name: b, parent_run_id: c, artifact_globs: ['*.json']}")
section("wandb", "{project: a}", "{entity: a}", "{project: a, run_name: b, tags: [c]}")
section("scenario", "made_up", "inferencex-agentx-mvp")
section("unsafe_override", "true")
section("serverMetrics", "{enabled: false}")
section("gpuTelemetry", "{enabled: false, metricsFile: x.csv}")
add("both spellings", server_metrics="{enabled: true}", serverMetrics="{enabled: false}")
add("both spellings of a key", endpoint="{url: 'http://h:1', api_key: a, apiKey: b}")

# Substitution. T is in the environment, U is not.
endpoint("timeout: '${T:5}'", "timeout: '${U:600.0}'", "timeout: '${U}'", "path: '/v${U:1}'", "path: '/v${U:}'", "streaming: '${U:true}'", "api_key: '${X'", "api_key: '$${T}'", "api_key: '$T'", "api_key: '${}'", "api_key: '${1A:x}'",
         "headers: {'${T}': a}", "headers: {A: '${U:http://h:1/v1}'}", "headers: {A: '${T}${U:b}'}", "headers: {A: '{{ models.items[0].name }}'}", "headers: {A: '{{ endpoint.type }}'}", "headers: {A: '{{ missing }}'}", "headers: {A: '{{ a'}",
         "headers: {A: 'a }}'}", "headers: {A: '{% if true %}x{% endif %}'}", "headers: {A: '{% if'}", "headers: {A: '{# note #}x'}", "headers: {A: '{{ 1 / 0 }}'}")
for name, top, texts in [
    ("variables", "variables: {a: 512, b: '{{ a // 10 }}', c: '{{ a / 2 }}', s: text}", ["{isl: '{{ a }}'}", "{isl: '{{ b }}'}", "{isl: '{{ c }}'}", "{isl: 3, entries: '{{ c }}'}", "{isl: 3, entries: '{{ a / 3 }}'}", "{isl: '{{ s }}'}",
     "{isl: '{{ variables.a }}'}", "{isl: 3, entries: \"{{ 16 * '${U:10}' | int }}\"}", "{isl: '{{ a }}', entries: '{{ 2 if a > 500 else 3 }}'}", "{isl: 3, system_prompt: '{{ a }}'}", "{isl: '{{ [a, 5] | min }}'}"]),
    ("cycle", "variables: {a: '{{ b }}', b: '{{ a }}'}", ["{isl: 3}"]),
    ("shadowing", "variables: {random_seed: 5, model: x}", ["{isl: '{{ random_seed }}'}"]),
    ("variables of kinds", "variables: {m: {x: 5}, l: [1, 2]}", ["{isl: '{{ m.x }}'}", "{isl: '{{ l[1] }}'}", "{isl: '{{ l | sum }}'}", "{isl: '{{ m }}'}"]),
    ("computed", "", ["{isl: 3, entries: '{{ phases.profiling.requests * 2 }}'}", "{isl: 3, entries: '{{ phases[0].requests }}'}", "{isl: 3, entries: '{{ phases.requests }}'}"])]:
    each(name, "dataset", *texts, top=top)
add("a sum of names", top="variables: {r: 5}", phases="[{name: profiling, type: poisson, rate: '{{ r }}', duration: '{{ r * 2 }}'}]")
add("an endpoint template stays", endpoint="{url: 'http://h:1', template: {body: '{\"text\": {{ text|tojson }}}'}}")
add("a variable of the environment", top="variables: {a: '${T}'}", dataset="{isl: '{{ a }}'}")

# Sweeps.
sweep("{type: grid, parameters: {concurrency: [1, 2]}}", "{parameters: {concurrency: [1, 2]}}", "{type: grid, parameters: {phases.profiling.concurrency: [1, 2], datasets.default.prompts.isl: [3, 4]}}",
      "{type: zip, parameters: {phases.profiling.concurrency: [1, 2], datasets.default.prompts.isl: [3, 4]}}", "{type: zip, parameters: {phases.profiling.concurrency: [1, 2], datasets.default.prompts.isl: [3]}}",
      "{type: scenarios, runs: [{name: a, benchmark: {phases: [{name: profiling, concurrency: 3}]}}, {name: b}]}", "{type: scenarios, runs: [{name: a, benchmark: {phases: [{name: made_up, concurrency: 3}]}}]}",
      "{type: grid, parameters: {made_up: [1]}}", "{type: grid, parameters: {benchmark.phases.profiling.concurrency: [1]}}", "{type: grid, parameters: {}}", "{type: grid, parameters: {concurrency: []}}", "{type: made_up}",
      "{type: grid, parameters: {concurrency: [1, 2], phases.profiling.concurrency: [4]}}", "{type: grid, parameters: {concurrency: 5}}", "{type: grid, parameters: {concurrency: [1, a]}}", "{type: grid, parameters: {concurrency: [0]}}",
      "{type: grid, variables: {concurrency: [1, 2]}}", "{type: sobol, samples: 4, parameters: {concurrency: {min: 1, max: 8}}}", "{type: grid, parameters: {concurrency: [1, 2]}, same_seed: true}",
      phases="[{name: profiling, type: concurrency, concurrency: 2, requests: 4}]", dataset=None, datasets="[{name: default, type: synthetic, prompts: {isl: 32, osl: 8}}]")
add("sweep of a shorthand file", top="sweep: {type: grid, parameters: {concurrency: [1, 2]}}")
add("sweep of variables", top="variables: {n: 3}\nsweep: {type: grid, parameters: {variables.n: [1, 2]}}", dataset=None, datasets="[{name: default, type: synthetic, prompts: {isl: '{{ n * 2 }}'}}]")
add("sweep and dashboard", top="sweep: {type: grid, parameters: {phases.profiling.concurrency: [1, 2]}}", runtime="{ui: dashboard}")
add("adaptive search", top="sweep: {type: adaptive_search, search_space: [{path: phases.profiling.concurrency, lo: 1, hi: 8}], objectives: [{metric: output_token_throughput, direction: maximize}]}")

# Flags over a file.
flags("--concurrency 8", "--concurrency 0", "--concurrency 8,16", "--request-count 5", "--request-rate 5", "--request-rate 5 --arrival-pattern constant", "--request-rate 5 --arrival-smoothness 2", "--arrival-pattern constant",
      "--request-rate-ramp-duration 5", "--benchmark-duration 5", "--benchmark-duration 5 --benchmark-grace-period 2", "--num-sessions 5", "--isl 64", "--isl 64 --isl-stddev 5", "--osl 5", "--model other", "--url localhost:8000",
      "--endpoint-type completions", "--streaming", "--random-seed 5", "--public-dataset sharegpt", "--sweep-type grid", "--variant a", "--convergence-mode ci_width", "--num-profile-runs 3", "--no-fixed-schedule", "--fixed-schedule",
      "--fixed-schedule-start-offset 5", "--user-centric-rate 5 --num-users 2", "--request-rate 5 --user-centric-rate 5", "--warmup-request-count 5", "--warmup-concurrency 5", "--warmup-request-count 5 --warmup-request-rate 5",
      "--warmup-request-count 5 --warmup-request-rate 5 --warmup-arrival-pattern constant", "--warmup-request-count 5 --warmup-arrival-pattern constant", "--goodput request_latency:5", "--request-cancellation-rate 5",
      "--request-cancellation-delay 5", "--tokenizer builtin", "--extra-inputs a:1", "--header A:b", "--image-width-mean 64", "--dataset-sampling-strategy shuffle", "--custom-dataset-type single_turn", "--input-file x.jsonl", "--num-prompts 5", "--num-dataset-entries 5",
      "--search-recipe max-throughput-ttft-sla", "--prefill-concurrency 1", "--concurrency-ramp-duration 5", "--no-gpu-telemetry", "--no-server-metrics", "--ui none", "--export-level raw", "--slice-duration 5", "--num-prefix-prompts 0", "--num-prefix-prompts 2 --prefix-prompt-length 3",
      "--session-turns-mean 3", "--session-turn-delay-mean 5", "--request-timeout-seconds 5", "--sequence-distribution 128,64:100", "--conversation-num 5", "--api-key abc", "--profile-export-prefix x", "--replay-speedup 2", "--seq-dist 16,4:100 --isl 5")
flags("--warmup-concurrency 5", "--warmup-request-rate 5", "--warmup-request-rate 5 --warmup-arrival-pattern constant", "--warmup-duration 5", "--concurrency 4", "--warmup-request-count 7", file="a file with a warm-up", phases=TWO)
flags("--concurrency 4", "--warmup-request-count 7", file="two profiling phases", phases="[{name: a, kind: profiling, type: concurrency, requests: 5}, {name: b, kind: profiling, type: concurrency, requests: 5}]")
flags("--isl 128", "--osl 128", "--num-prompts 5", "--dataset-sampling-strategy shuffle", "--image-width-mean 64", file="inline records", dataset=SINGLE)
flags("--request-rate 9", "--request-rate 9 --arrival-pattern constant", "--arrival-pattern gamma", "--arrival-smoothness 2", "--concurrency 5", "--fixed-schedule", "--user-centric-rate 5 --num-users 2", "--request-rate-ramp-duration 5", file="a rate", phases="{type: poisson, rate: 5, requests: 4}")
flags("--fixed-schedule-start-offset 0", "--fixed-schedule-end-offset 10", "--request-rate 5", "--concurrency 5", "--fixed-schedule-auto-offset", file="a schedule", phases="{type: fixed_schedule}", dataset=MOONCAKE)
flags("--request-rate 9", "--arrival-pattern constant", "--num-users 3", file="users", phases="{type: user_centric, rate: 5, users: 2, requests: 4}", dataset=TURNS)
