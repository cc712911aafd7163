"""A chat server whose metrics pages depend only on how many requests have arrived, so that two programs that
scrape it at different instants must come to the same statistics.

/metrics shows what every exporter has, /odd/metrics what few have. One request takes 0.7 s: with a scrape every
0.333 s no state of the pages is missed.
"""

import bisect
import http.server
import itertools
import json
import math
import threading
import time

arrived = 0
lock = threading.Lock()
LATENCY = "0.3 0.5 0.8 1.0 1.5 2.0 2.5 5.0 10.0 15.0 20.0 30.0 40.0 50.0 60.0 120.0".split()
TTFT = "0.001 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.25 0.5 0.75 1.0 2.5 5.0 7.5 10.0".split()
LENGTH = "1 2 5 10 20 50 100 200 500 1000 2000".split()


def draws(seed, n):
    """n numbers between 0 and 1 that look random and are the same everywhere."""
    state = seed
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield (state >> 11) / 2**53


def normal(u):
    """About the quantile function of the normal distribution."""
    u = min(max(u, 1e-6), 1 - 1e-6)
    return 4.91 * (u**0.14 - (1 - u) ** 0.14)


def lognormal(seed, n, median, sigma):
    return [median * math.exp(sigma * normal(u)) for u in draws(seed, n)]


def histogram(name, values, bounds, labels="", infinite=True, total=True):
    counts = [0] * (len(bounds) + 1)
    for v in values:
        counts[bisect.bisect_left([float(b) for b in bounds], v)] += 1
    keys = list(bounds) + (["+Inf"] if infinite else [])
    lines = [f'{name}_bucket{{{labels}{"," if labels else ""}le="{le}"}} {float(n)}' for le, n in zip(keys, itertools.accumulate(counts))]
    braces = f"{{{labels}}}" if labels else ""
    lines.append(f"{name}_sum{braces} {math.fsum(values)!r}")
    if total:
        lines.append(f"{name}_count{braces} {float(len(values))}")
    return lines


def family(name, kind, text, *lines):
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}", *lines]


def uptime():
    """What is in no file but makes each page another one: the original's recording leaves repeated pages out."""
    return family("process_uptime_seconds", "gauge", "Skipped.", f"process_uptime_seconds {time.time()}")


def usual(k):
    """The page after k requests; gauges that move show the same before and with the first one."""
    g = max(k, 1)
    m = 'engine="0",model_name="m"'
    rows = [
        family("vllm:num_requests_running", "gauge", "Number of requests in model execution batches.", f"vllm:num_requests_running{{{m}}} {float([3, 1, 4, 1, 5, 9, 2][g % 7])}"),
        family("vllm:kv_cache_usage_perc", "gauge", "KV-cache usage. 1 means 100 percent usage.", f"vllm:kv_cache_usage_perc{{{m}}} 0.123456789012345"),
        family("constants", "gauge", "Numbers as they are written.", 'constants{of="a"} 1e-07', 'constants{of="b"} 1e+22', 'constants{of="c"} -0.1', 'constants{of="d"} 123456789.125', 'constants{of="e"} 0'),
        family("vllm:request_success_total", "counter", "Count of successfully processed requests.", f'vllm:request_success_total{{{m},finished_reason="stop"}} {float(100 + 3 * k)}', f'vllm:request_success_total{{{m},finished_reason="length"}} {float(7 * k)}', f'vllm:request_success_total{{{m},finished_reason="abort"}} 5.0'),
        family("vllm:request_success_created", "gauge", "When the counter was created.", f'vllm:request_success_created{{{m},finished_reason="stop"}} 1.7e+09'),
        family("vllm:generation_tokens_total", "counter", "Number of generation tokens processed.", f"vllm:generation_tokens_total{{{m}}} {float(1000 + 333 * k)}"),
        family("plain_counter", "counter", "A counter without the suffix (in bytes)", f"plain_counter {1.5 * k}"),
        family("restarted_total", "counter", "Starts again after three requests.", f"restarted_total {float(50 + 10 * k if k < 3 else 10 * k - 20)}"),
        family("x_total", "gauge", "A gauge that keeps its suffix", "x_total 7"),
        family("lora_requests_info", "gauge", "Running stats on LoRA requests.", 'lora_requests_info{max_lora="4",running_lora_adapters="",waiting_lora_adapters="a,b"} 1.0'),
        uptime(),
        family("process_start_time_seconds", "gauge", "Start time of the process since unix epoch in seconds.", "process_start_time_seconds 1.76e+09"),
        family("quantiles", "summary", "Skipped.", 'quantiles{quantile="0.5"} 1', "quantiles_sum 1", "quantiles_count 1"),
        family("escapes", "gauge", r"Back\\slash and\nnew line, \"quotes\".", r'escapes{path="C:\\tmp\n\"q\"",empty=""} 1', 'escapes{path="äöü 漢字"} 2'),
        family("of_nothing_total", "counter", "Does not move.", "of_nothing_total 12"),
        ["# TYPE untyped_thing untyped", "untyped_thing 11", "no_type_at_all 4", "# TYPE not_described gauge", "not_described 3"],
        family("power", "gauge", "Power draw (in W)", 'power{gpu="0"} 300.25'),
        family("hit_percent", "gauge", "Hit rate (0.0-1.0)", "hit_percent 0.25"),
        family("use_percent", "gauge", "Usage (0-100)", "use_percent 25"),
        family("sglang:gen_throughput", "gauge", "The generation throughput (token/s).", "sglang:gen_throughput 12.5"),
    ]
    e2e = [v for i in range(k) for v in lognormal(i + 1, 400 + 37 * i, 1.2, 0.9)]
    rows += [
        family("vllm:e2e_request_latency_seconds", "histogram", "Histogram of e2e request latency in seconds.", *histogram("vllm:e2e_request_latency_seconds", [0.2] * 10 + e2e, LATENCY, m)),
        # Each request brings observations of one bucket only: means and variances are learned.
        family("vllm:time_to_first_token_seconds", "histogram", "Histogram of time to first token in seconds.",
               *histogram("vllm:time_to_first_token_seconds", [v for i in range(k) for v in [0.011 + 0.0013 * i] * 4], TTFT, m)),
        family("bimodal_seconds", "histogram", "Two kinds of requests.", *histogram("bimodal_seconds", [v for i in range(k) for v in lognormal(50 + i, 90, 0.02, 0.3) + lognormal(80 + i, 30, 4, 0.2)], TTFT)),
        family("tail_seconds", "histogram", "Much beyond the last bound.", *histogram("tail_seconds", [v for i in range(k) for v in lognormal(20 + i, 200, 3, 1.5)], TTFT)),
        family("vllm:iteration_tokens_total", "histogram", "Histogram of number of tokens per engine_step.", *histogram("vllm:iteration_tokens_total", [v for i in range(k) for v in lognormal(9 + i, 50, 40, 1)], LENGTH)),
        family("many_seconds", "histogram", "More than are placed one by one.",
               *[f'many_seconds_bucket{{le="{le}"}} {n * k}' for le, n in zip(["0.1", "1", "10", "+Inf"], [40_003, 170_001, 200_017, 200_020])], f"many_seconds_sum {91_234.5 * k}", f"many_seconds_count {200_020 * k}"),
        family("zero_seconds", "histogram", "All observations are 0.", *histogram("zero_seconds", [0] * 5 * k, ["0.1", "1.0"])),
        family("idle_seconds", "histogram", "Nothing happens.", *histogram("idle_seconds", [0.5, 2], ["0.1", "1.0", "5.0"])),
        family("one_seconds", "histogram", "One observation in all.", *histogram("one_seconds", [0.7] * min(k, 1), ["0.1", "1.0", "5.0"])),
        family("unbucketed_seconds", "histogram", "Sum and count only.", f"unbucketed_seconds_sum {0.5 * k}", f"unbucketed_seconds_count {k}"),
    ]
    return "\n".join(line for row in rows for line in row) + "\n"


def odd(k):
    """What exporters do seldom, and what the original loses or reads in another way."""
    rows = [
        family("steady", "gauge", "So that there is something to compare.", "steady 1"),
        uptime(),
        ["# TYPE apart gauge", "# TYPE between counter", f"between_total {k}", "apart 5"],
        ["loose{a=\"1\"} 1", "loose{a=\"2\"} 2"],
        family("not_finite", "gauge", "One is no number.", 'not_finite{a="1"} NaN', 'not_finite{a="2"} +Inf', 'not_finite{a="3"} 3'),
        family("twice", "gauge", "The same labels twice.", 'twice{a="1"} 1', 'twice{a="1"} 2'),
        family("spelled", "histogram", "Infinity is spelled differently.", f'spelled_bucket{{le="1"}} {k}', f'spelled_bucket{{le="+inf"}} {2 * k}', f"spelled_sum {k}", f"spelled_count {2 * k}"),
        family("uncounted", "histogram", "No count.", *histogram("uncounted", [0.5, 2] * k, ["1.0", "5.0"], total=False)),
        family("short", "histogram", "No +Inf.", *histogram("short", [0.5, 2] * k, ["1.0", "5.0"], infinite=False)),
        family("request_duration_us", "gauge", "Cumulative", "request_duration_us 5"),
        family("reserved", "gauge", "Labels named like columns.", 'reserved{count="1",value="2",unit="3",mine="4"} 6'),
        family("negative", "histogram", "Observations below 0.", *histogram("negative", [-2, 0.5] * k, ["-1.0", "0.0", "1.0"])),
        # As in every Go program: the counter's name without its suffix is that of the gauge.
        family("both_bytes", "gauge", "What is in use.", "both_bytes 5"),
        family("both_bytes_total", "counter", "What was in use in all.", f"both_bytes_total {k}"),
    ]
    return "\n".join(line for row in rows for line in row) + "\n"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, text, kind, status=200):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        page = {"/metrics": usual, "/odd/metrics": odd}.get(self.path)
        if page is None:
            self.answer("not here", "text/plain", 404)
        else:
            self.answer(page(arrived), "text/plain; version=0.0.4; charset=utf-8")

    def do_POST(self):
        global arrived
        self.rfile.read(int(self.headers["Content-Length"]))
        with lock:
            arrived += 1
        time.sleep(0.7)
        self.answer(json.dumps({
            "id": "1", "object": "chat.completion", "created": 1, "model": "mock-model",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes, of course."}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14},
        }), "application/json")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
