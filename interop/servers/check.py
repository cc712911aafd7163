"""Runs the benchmarks against a server that is up, and compares what the program says with what others say.

    python check.py SERVER --aiperf PROGRAM --url HOST:PORT --tokenizer DIR --work DIR [--page URL]... [--brief | --accept]

For each endpoint, streamed and not, one turn and several, at concurrency 1, 8 and 64:
  - no request fails, and each is counted once;
  - prompts are as long as was asked for, and the server's usage exceeds that by its chat template and by nothing else;
  - output counts are those of the library "tokenizers" on the text that arrived; the server generated what was asked for;
  - the server's counters of tokens grew by the sum over the requests, where it has a page of metrics, and the program says so;
  - medians are like those of a plain client that sends the same bodies in the same run;
  - with --page, all that the pages of metrics say before and after the run is in the JSON, CSV, JSONL and Parquet files; the
    server counted these requests and no others; and the mean of time to first token and of latency exceeds the mean of the
    server's own histogram by little more than that of the plain client;
  - the warnings that are due come, and no others.
--brief leaves out concurrency 64, several turns and all endpoints but the first. --accept instead sends 4 x 400 streamed requests at concurrency 1, 4, 16 and 64, of which none may fail.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

import tokenizers

import pages
import reference

ISL, OSL = 100, 16
# A factor and seconds: two clients take turns on a machine that other programs use too.
FACTOR, SLACK = 3, 0.05
# A client sees a mean later than the server's own histogram has it. How much the plain client does is the share of the
# network and of the server's front; this program may need twice that, and these milliseconds or this share of the mean.
MORE_MS, MORE_SHARE = 5, 0.10
# A server may end its own measurement after the client has the last byte.
EARLY_MS, EARLY_SHARE = 2, 0.05
PATHS = {"chat": "/v1/chat/completions", "completions": "/v1/completions", "embeddings": "/v1/embeddings"}


class Server:
    """What is known of a server: what it offers, and what its replies and its metrics say."""

    def __init__(self, endpoints, extra=None, template=None, usage="exact", counters=None, key=None, loads=((1, 10), (8, 32), (64, 96)), requests=None, labels=None, first=None, whole=None):
        self.endpoints = endpoints  # endpoint types
        self.extra = extra or {}  # extra inputs, so that a reply has exactly the length that was asked for
        self.template = template  # the prompt's tokens, with the model's chat template, out of the messages
        self.usage = usage  # "exact", or "zero": a server that has the member and does not count
        self.counters = counters or {}  # the server's own counters, or histograms of counts, for each member of the usage
        self.key = key
        self.loads = loads  # pairs of a concurrency and a number of requests
        self.requests, self.labels = requests, labels or {}  # the sample of its pages that counts requests, with these labels
        self.first, self.whole = first, whole  # its histograms of the time to the first token and of the latency, in seconds


def tiny_template(encode, messages):
    """The template of make_tokenizer.py, by hand."""
    tokens = 3  # before the reply to come: <|im_start|>, the role, <|im_start|>
    for message in messages:
        tokens += 3 + len(encode(message["role"])) + len(encode(message["content"]))
    return tokens + len(encode("assistant")) - 1


# Mock servers behind a router: the pages are theirs and the router's own.
MOCKS = Server(
    ["chat", "completions"],
    {"ignore_eos": True},
    counters={
        "usage_prompt_tokens": ["vllm:prompt_tokens"],
        "usage_completion_tokens": ["vllm:generation_tokens"],
    },
    requests="vllm:request_success_total",
    first="vllm:time_to_first_token_seconds",
    whole="vllm:e2e_request_latency_seconds",
)

SERVERS = {
    "llama": Server(
        ["chat", "completions"],
        {"ignore_eos": True, "cache_prompt": False},
        template=tiny_template,
        counters={
            "usage_prompt_tokens": ["llamacpp:prompt_tokens", "llamacpp:prompt_tokens_cached"],
            "usage_completion_tokens": ["llamacpp:tokens_predicted"],
        },
    ),
    "llama-embeddings": Server(["embeddings"]),
    "transformers": Server(
        ["chat", "completions"],
        template=tiny_template,
        loads=((1, 5), (8, 16), (64, 64)),  # one request at a time, and slowly
    ),
    "litellm": Server(["chat", "completions"], {"ignore_eos": True}, key="sk-tiny"),
    "litserve": Server(["chat"], usage="zero"),
    "vllm": Server(
        ["chat", "completions"],
        {"ignore_eos": True},
        template=tiny_template,
        counters={
            "usage_prompt_tokens": ["vllm:prompt_tokens"],
            "usage_completion_tokens": ["vllm:generation_tokens"],
        },
        requests="vllm:request_success_total",
        first="vllm:time_to_first_token_seconds",
        whole="vllm:e2e_request_latency_seconds",
    ),
    "infinity": Server(["embeddings"], requests="http_requests_total", labels={"handler": "/v1/embeddings"}),
    "sglang-router": MOCKS,
    "vllm-router": MOCKS,
    "dynamo": Server(
        ["chat", "completions"],
        {"ignore_eos": True},
        template=tiny_template,
        counters={
            "usage_prompt_tokens": ["dynamo_frontend_input_sequence_tokens"],
            "usage_completion_tokens": ["dynamo_frontend_output_tokens"],
        },
        requests="dynamo_frontend_requests_total",
        first="dynamo_frontend_time_to_first_token_seconds",
        whole="dynamo_frontend_request_duration_seconds",
    ),
}


def benchmark(args, server, directory, *options):
    """One run of the program: its summary, its records, its exchanges, and the pages before and after it. A run that fails
    ends the check."""
    command = [args.aiperf, "profile", "--model", args.model, "--tokenizer", args.tokenizer, "--url", args.url]
    command += ["--random-seed", "1", "--ui", "none", "--export-level", "raw", "--no-gpu-telemetry"]
    command += ["--artifact-dir", str(directory), *map(str, options)]
    if server.key:
        command += ["--api-key", server.key]
    if args.page:
        command += ["--server-metrics", *args.page, "--server-metrics-formats", "json", "csv", "jsonl", "parquet"]
    before = pages.read(args.page)
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if run.returncode:
        sys.exit(f"{' '.join(command)}\nexit code {run.returncode}\n{run.stdout[-3000:]}{run.stderr[-3000:]}")
    after = pages.read(args.page)
    summary = json.loads((directory / "profile_export_aiperf.json").read_text())
    lines = lambda name: [json.loads(line) for line in (directory / name).read_text().splitlines()]
    return summary, lines("profile_export.jsonl"), lines("profile_export_raw.jsonl"), (before, after)


def value(record, tag):
    return record["metrics"].get(tag, {}).get("value")


def expect(holds, message):
    if not holds:
        raise AssertionError(message)


def check_counts(server, endpoint, turns, records, exchanges, encode, asked):
    """Every request succeeded, and its token counts are those of other programs."""
    errors = [r["error"] for r in records if r.get("error")]
    expect(not errors, f"{len(errors)} of {len(records)} requests failed, first: {errors[:1]}")
    expect(asked is None or len(records) == asked, f"{len(records)} records, not {asked}")
    payloads = {e["metadata"]["x_request_id"]: e["payload"] for e in exchanges}
    for record in records:
        payload = payloads[record["metadata"]["x_request_id"]]
        isl, prompt = value(record, "input_sequence_length"), value(record, "usage_prompt_tokens")
        if turns == 1:
            expect(isl == ISL, f"a prompt has {isl} tokens, not {ISL}")
        if endpoint == "completions":
            sent = len(encode(payload["prompt"]))
            expect(isl == sent, f"input length {isl}; the prompt has {sent} tokens")
        if server.usage == "zero":
            expect(not prompt, f"usage says {prompt} prompt tokens where the server counts none")
        elif endpoint == "chat" and server.template:
            counted = server.template(encode, payload["messages"])
            expect(prompt == counted, f"usage {prompt}, the messages with their template have {counted} tokens")
        elif endpoint == "completions" and server.template:
            expect(prompt == isl, f"usage {prompt}, input length {isl}: nothing is added to a prompt")
        else:
            expect(prompt, "there is no usage")
        if endpoint != "embeddings" and server.usage == "exact":
            generated = value(record, "usage_completion_tokens")
            expect(generated == OSL, f"the server says that it generated {generated} tokens, {OSL} were asked for")


def check_texts(directory, encode):
    """The output lengths are those of the library "tokenizers" on the text that arrived."""
    for reply in json.loads((directory / "outputs.json").read_text())["data"]:
        ours, theirs = reply["metrics"]["output_sequence_length"], len(encode(reply["response_text"]))
        expect(ours == theirs, f"output length {ours}, the text has {theirs} tokens: {reply['response_text']!r}")


def check_sums(records):
    """A reply's latency is its first token plus its gaps."""
    for r in records:
        first, gap, length = (value(r, t) for t in ("time_to_first_token", "inter_token_latency", "output_sequence_length"))
        if gap is not None:
            total = first + gap * (length - 1)
            expect(abs(total - value(r, "request_latency")) < 1e-3, f"{first} + {gap} x ({length} - 1) is not the latency")


def check_counters(args, server, directory, records):
    """The server's own counters of tokens grew by the sums over the requests, on the pages that were named if some were."""
    if not server.counters:
        return
    metrics = json.loads((directory / "server_metrics_export.json").read_text())["metrics"]
    for tag, names in server.counters.items():
        grown = sum(s["stats"].get("total", s["stats"].get("sum", 0)) for n in names if n in metrics for s in metrics[n]["series"] if s["endpoint_url"] in args.page or not args.page)
        said = sum(value(r, tag) for r in records)
        expect(grown == said, f"{names} grew by {grown}, the replies' usage sums up to {said}")


def check_pages(server, directory, records, seen):
    """The server's pages, as they are read here, agree with the records and with the files of server metrics."""
    if not seen[1]:
        return
    wrong = pages.faults(*seen, directory)
    expect(not wrong, "the pages and the files of server metrics:\n  " + "\n  ".join(wrong[:20]))
    if server.requests:
        grown = pages.growth(*seen, server.requests, **server.labels)
        expect(grown == len(records), f"{server.requests} grew by {grown:g}, there are {len(records)} records")
    for tag, names in server.counters.items():
        grown = sum(pages.growth(*seen, n + suffix) for n in names for suffix in ("_total", "_sum"))
        said = sum(value(r, tag) for r in records)
        expect(grown == said, f"{names} of the pages grew by {grown}, the replies' usage sums up to {said}")


# The rows of reconciliation in the summary, for each member of the usage.
QUANTITIES = {"usage_prompt_tokens": "prompt_tokens", "usage_completion_tokens": "generated_tokens"}


def check_totals(server, directory, summary, records):
    """The program's own comparison with the server's counters: both sides have the sums over the requests, and it says so."""
    if not server.counters:
        return
    block = summary["reconciliation"]
    rows = {row["quantity"]: row for row in block["rows"]}
    for tag in server.counters:
        quantity = QUANTITIES[tag]
        row, said = rows[quantity], sum(value(r, tag) for r in records)
        expect(row["status"] == "agrees" and row["client"] == row["server"] == said, f"the replies' {tag} sum up to {said}, reconciliation says {row}")
        expect(row["client_metric"] == tag, f"reconciliation compares {row['client_metric']}, not {tag}")
    expect(block["verdict"] == "agree" and "causes" not in block, f"reconciliation: {block}")
    lines = re.findall(r"^Server: counted .*$", (directory / "profile_export_console.txt").read_text(), re.M)
    expect(len(lines) == 1, f"the report says {lines} of the server's totals")


def check_warnings(server, endpoint, directory, records):
    """The boxes at the end of the report, and the warnings of the log, are those that are due. Embeddings have no box: their
    usage has prompts alone."""
    boxes = re.findall(r"╭─+ (.*?) ─+╮", (directory / "profile_export_console.txt").read_text())
    differ = lambda a, b: bool(b) and a is not None and abs(a - b) > 0.1 * b
    prompts = any(differ(value(r, "usage_prompt_tokens"), value(r, "input_sequence_length")) for r in records)
    replies = any(differ(value(r, "usage_completion_tokens"), value(r, "output_sequence_length")) for r in records)
    apart = [r for r in records if abs((value(r, "output_sequence_length") or OSL) - OSL) > OSL * 0.05]
    # Replies that have the length asked for by the server's count, and another by ours: one box says so for both.
    kept = [r for r in apart if value(r, "usage_completion_tokens") == OSL]
    due = endpoint != "embeddings" and (prompts or replies and 2 * len(kept) <= len(apart))
    said = "Token Count Discrepancy Warning" in boxes
    expect(due == said, f"a warning of token counts that differ is {'due' if due else 'not due'}; there are {boxes}")
    said = "Output Sequence Length Mismatch Warning" in boxes
    expect(bool(apart) == said, f"a warning of output lengths is {'due' if apart else 'not due'}; there are {boxes}")
    unknown = set(boxes) - {"Token Count Discrepancy Warning", "Output Sequence Length Mismatch Warning"}
    expect(not unknown, f"boxes that were not expected: {unknown}")
    logged = [line for line in (directory / "logs/aiperf.log").read_text().splitlines() if re.search(r"\b(WARNING|ERROR)\b", line)]
    limits = [line for line in logged if "--osl only limits the output" in line]
    due = "ignore_eos" not in server.extra and endpoint != "embeddings"
    expect(due == bool(limits), f"the warning that replies may be short is {'due' if due else 'not due'}")
    false = [line for line in logged if line not in limits and not any(re.search(p, line) for p in ALLOWED)]
    expect(not false, f"warnings that were not expected: {false}")


# Warnings that a machine under load, a cold server or the quirks of a server make true.
ALLOWED = [
    r"the first (\d+ requests|request) took",  # a cold server
    r"the client|this machine|processor|CPU",  # another program took the machine
    r"usage",
    r"[Ss]erver metrics",
    r"came from the server's prefix cache",  # each run sends the prompts of the one before it
    r"Unreachable endpoints",  # a router whose page is not at its address
]


def near(ours, theirs):
    return ours <= FACTOR * theirs + SLACK and theirs <= FACTOR * ours + SLACK


def check_latencies(args, server, endpoint, concurrency, summary, exchanges, seen):
    """The medians are like those of the plain client, the means like those of the server; the figures, for the line of the
    case."""
    bodies = [json.dumps(e["payload"]) for e in exchanges]
    headers = [("Authorization", f"Bearer {server.key}")] if server.key else []
    before = pages.read(args.page)
    firsts, totals = reference.replay(args.url, PATHS[endpoint], bodies, concurrency, headers)
    again = before, pages.read(args.page)
    figures = []
    for name, tag, theirs, own in (
        ("latency", "request_latency", totals, server.whole),
        ("first token", "time_to_first_token", firsts, server.first),
    ):
        if tag not in summary:
            continue
        ours, median = summary[tag]["p50"] / 1000, statistics.median(theirs)
        figures.append(f"{name} {ours * 1000:.1f} ms, plain client {median * 1000:.1f}")
        expect(near(ours, median), figures[-1])
        if own and args.page:
            figures.append(check_mean(name, summary[tag]["avg"], statistics.fmean(theirs) * 1000, own, seen, again))
    return "; ".join(figures)


def check_mean(name, ours, plain, histogram, seen, again):
    """A mean exceeds that of the server's histogram by little more than the plain client's does. All are in milliseconds."""
    server, server_again = (pages.mean(*p, histogram) * 1000 for p in (seen, again))
    more = ours - server
    least = -max(EARLY_MS, EARLY_SHARE * server)
    most = 2 * max(0, plain - server_again) + max(MORE_MS, MORE_SHARE * server)
    said = f"mean {ours:.1f}, server {server:.1f} (+{plain - server_again:.1f} the plain client)"
    expect(least <= more <= most, f"{name}: {said}: {more:.1f} more, not {least:.1f} to {most:.1f}")
    return said


def cases(server, brief):
    """(endpoint, streamed, turns, concurrency, requests or sessions)"""
    loads = server.loads[: 2 if brief else 3]
    for endpoint in server.endpoints[: 1 if brief else None]:
        for streamed in [False] if endpoint == "embeddings" else [False, True]:
            for concurrency, count in loads:
                yield endpoint, streamed, 1, concurrency, count
            if endpoint == "chat" and not brief:
                yield endpoint, streamed, 3, 8, 8


def introduce(args, server):
    """Sends a request of each kind, after which the pages have all their series. That they are counted when they appear in
    a run is for a check of its own."""
    for endpoint in server.endpoints:
        for stream in [False] if endpoint == "embeddings" else [False, True]:
            body = {"model": args.model, "stream": stream, "max_tokens": 4}
            body.update({"chat": {"messages": [{"role": "user", "content": "hello"}]}, "completions": {"prompt": "hello"}, "embeddings": {"input": "hello"}}[endpoint])
            reference.exchange(args.url, PATHS[endpoint], json.dumps(body), {"Content-Type": "application/json"})


def check(args, server, encode):
    if args.page:
        introduce(args, server)
    for endpoint, streamed, turns, concurrency, count in cases(server, args.brief):
        name = f"{endpoint}{'-streamed' if streamed else ''}-{turns}x{concurrency}"
        options = ["--endpoint-type", endpoint, "--isl", ISL, "--concurrency", concurrency]
        extra = dict(server.extra)
        if endpoint != "embeddings":
            options += ["--osl", OSL]
        if streamed:
            options += ["--streaming"]
            extra["stream_options"] = {"include_usage": True}
        if extra and endpoint != "embeddings":
            options += ["--extra-inputs", json.dumps(extra)]
        if turns > 1:
            options += ["--num-sessions", count, "--session-turns-mean", turns]
        else:
            options += ["--request-count", count, "--num-dataset-entries", count]
        for attempt in (1, 2, 3):
            directory = args.work / f"{name}-{attempt}"
            summary, records, exchanges, seen = benchmark(args, server, directory, *options)
            check_counts(server, endpoint, turns, records, exchanges, encode, count * turns)
            if endpoint != "embeddings":
                check_texts(directory, encode)
            if streamed:
                check_sums(records)
            check_counters(args, server, directory, records)
            check_pages(server, directory, records, seen)
            check_totals(server, directory, summary, records)
            check_warnings(server, endpoint, directory, records)
            try:
                figures = check_latencies(args, server, endpoint, concurrency, summary, exchanges, seen)
                break
            except AssertionError as e:
                # The two clients take turns: what else runs on the machine may have begun in between.
                if attempt == 3:
                    raise AssertionError(f"{name}: {e}") from None
            except Exception as e:
                raise AssertionError(f"{name}: {e}") from None
        print(f"   {name:28} {len(records):4} requests; {figures}", flush=True)


def accept(args, server):
    """Streamed requests, of which none may fail."""
    for concurrency in (1, 4, 16, 64):
        directory = args.work / f"accept-{concurrency}"
        options = ["--endpoint-type", "chat", "--streaming", "--isl", 20, "--osl", OSL, "--concurrency", concurrency]
        options += ["--request-count", 400, "--num-dataset-entries", 400, "--extra-inputs", json.dumps(server.extra)]
        summary, records, *_ = benchmark(args, server, directory, *options)
        errors = summary["error_summary"]
        expect(not errors and len(records) == 400, f"concurrency {concurrency}: {len(records)} records, errors {errors}")
        print(f"   400 streamed requests at concurrency {concurrency}: no errors", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server", choices=SERVERS)
    parser.add_argument("--aiperf", required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--page", action="append", default=[], help="a page of metrics of the server")
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--accept", action="store_true")
    args = parser.parse_args()
    server = SERVERS[args.server]
    tokenizer = tokenizers.Tokenizer.from_file(f"{args.tokenizer}/tokenizer.json")
    encode = lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    try:
        if args.accept:
            accept(args, server)
        else:
            check(args, server, encode)
    except AssertionError as e:
        sys.exit(f"{args.server}: {e}")


if __name__ == "__main__":
    main()
