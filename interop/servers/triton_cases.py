"""Runs the program against a Triton that is up (triton.sh), with the models of triton_models.py.

    python triton_cases.py CASE --aiperf PROGRAM --http HOST:PORT --grpc HOST:PORT --page URL --pid PID --work DIR [--brief]

In every case no request fails but those that must; the page counts exactly those that succeed; and all that the page says before
and after the run is in the JSON, CSV, JSONL and Parquet files.

infer     kserve_v2_infer over HTTP and gRPC, concurrency 1, 8, 64; latency like the server's own and a plain client's
stream    kserve_v2_infer streamed over gRPC; time to the first token and between tokens as the model makes them
generate  Triton's generate and generate_stream by a template
queue     a queue of 4: most requests are refused, HTTP and gRPC
cache     a prompt that comes again is answered from the cache
batch     a model with a batch dimension and a tensor max_tokens
embed     kserve_v2_embeddings
rank      kserve_v2_rankings
killed    the server is killed in the middle of a run over gRPC, and the errors say what happened
"""

import json
import os
import signal
import statistics
import time

import pages
import reference
from check import expect
from runs import again, main, profile

# Milliseconds by which a figure may exceed what the model makes, or the server's own, at concurrency 1: on a busy machine
# the model's sleeps last longer. A delayed acknowledgement costs 40.
NEAR = 15
OSL = 12


def infer_run(args, name, model, url, *options, endpoint="kserve_v2_infer", **more):
    fixed = ["--model", model, "--tokenizer", "builtin", "--url", url, "--endpoint-type", endpoint]
    return profile(args, "triton-" + name, *fixed, *options, **more)


def counted(name, model, run, count):
    """The page counts these requests and the files say all that it does."""
    expect(len(run.records) == count, f"{name}: {len(run.records)} records, not {count}")
    good, grown = count - len(run.errors), run.grown("nv_inference_request_success", model=model)
    expect(grown == good, f"{name}: {grown:g} successes on the page, {good} here")
    # Triton counts nowhere what a full queue refuses.
    grown = run.grown("nv_inference_request_failure", model=model)
    expect(grown <= len(run.errors), f"{name}: {grown:g} failures on the page, {len(run.errors)} here")
    run.expect_pages()


def server_latency(before, after, model):
    """The mean time of a request in the server, in milliseconds."""
    sums = pages.growth(before, after, "nv_inference_request_duration_us", model=model)
    return sums / pages.growth(before, after, "nv_inference_request_success", model=model) / 1000


def both(args):
    return ("http", args.http), ("grpc", "grpc://" + args.grpc)


def infer(args):
    said = []
    for scheme, url in both(args):
        for concurrency, count in ((1, 10), (8, 32))[scheme == "grpc" :] if args.brief else ((1, 20), (8, 48), (64, 128)):
            said.append(again(lambda: infer_one(args, f"infer-{scheme}-{concurrency}", url, concurrency, count, scheme == "http")))
    return "; ".join(said)


def infer_one(args, name, url, concurrency, count, replay):
    run = infer_run(args, name, "text", url, "--isl", 50, "--concurrency", concurrency, "--request-count", count)
    counted(name, "text", run, count)
    ours, server = run.summary["request_latency"]["avg"], server_latency(run.before, run.after, "text")
    said = f"{name} latency {ours:.1f} ms, server {server:.1f}"
    expect(ours >= server - 1, said)
    if replay:
        bodies = [json.dumps(r["payload"]) for r in run.lines("profile_export_raw.jsonl")]
        before = pages.read(args.page)
        _, totals = reference.replay(args.http, "/v2/models/text/infer", bodies, concurrency)
        plain = statistics.fmean(totals) * 1000 - server_latency(before, pages.read(args.page), "text")
        said += f" (+{plain:.1f} the plain client)"
        expect(ours - server <= 2 * max(0, plain) + max(NEAR, 0.1 * server), said)
    return said


def stream(args):
    said = []
    for concurrency, count in ((1, 20),) if args.brief else ((1, 20), (8, 48), (64, 128)):
        said.append(again(lambda: stream_one(args, f"stream-{concurrency}", concurrency, count)))
    return "; ".join(said)


def stream_one(args, name, concurrency, count):
    options = ["--streaming", "--isl", 50, "--concurrency", concurrency, "--request-count", count]
    run = infer_run(args, name, "stream", "grpc://" + args.grpc, *options)
    counted(name, "stream", run, count)
    ours, gaps = run.summary["time_to_first_token"]["avg"], run.summary["inter_chunk_latency"]["avg"]
    # The page times a decoupled model only until it returns, before its first word.
    said = f"{name} first token {ours:.1f} ms, the model's 20; between chunks {gaps:.2f}, the model's 5"
    expect(ours >= 20 and gaps >= 4.9, said)
    expect(concurrency > 1 or ours <= 20 + NEAR and gaps <= 5 + NEAR / 2, said)
    return said


TEMPLATE = {"payload_template": '{"text_input": {{ text|tojson }}, "max_tokens": 12, "stream": {{ stream|lower }}}', "response_field": "text_output"}


def generate(args):
    said = []
    for path, model, more in ("generate", "text", []), ("generate_stream", "stream", ["--streaming"]):
        options = ["--custom-endpoint", f"/v2/models/{model}/{path}", "--extra-inputs", json.dumps(TEMPLATE), "--isl", 50]
        run = infer_run(args, path, model, args.http, *options, *more, "--concurrency", 4, "--request-count", 24, endpoint="template")
        counted(path, model, run, 24)
        replies = [reply["response_text"].split() for reply in json.loads((run.directory / "outputs.json").read_text())["data"]]
        expect({len(reply) for reply in replies} == {OSL}, f"{path}: replies of {[len(r) for r in replies]} words")
        latency = run.summary["request_latency"]["avg"]
        said.append(f"{path} latency {latency:.1f} ms")
        if more:
            first = run.summary["time_to_first_token"]["avg"]
            said[-1] += f", first token {first:.1f}"
            expect(first < latency - 5 * (OSL - 1) + NEAR, said[-1])
    return "; ".join(said)


def queue(args):
    said = []
    for scheme, url in both(args):
        name = f"queue-{scheme}"
        run = infer_run(args, name, "limited", url, "--isl", 50, "--concurrency", 16, "--request-count", 80, fails=True)
        counted(name, "limited", run, 80)
        codes, refused = {e.get("code") for e in run.errors}, len(run.errors)
        expect(codes == {503} and 0 < refused < 80, f"{name}: {refused} of 80 failed with {codes}")
        said.append(f"{name}: {refused} of 80 refused with 503")
    return "; ".join(said)


def cache(args):
    options = ["--isl", 50, "--concurrency", 1, "--request-count", 10, "--num-dataset-entries", 1]
    run = infer_run(args, "cache", "cached", args.http, *options)
    counted("cache", "cached", run, 10)
    hits, misses = (run.grown(f"nv_cache_num_{what}_per_model", model="cached") for what in ("hits", "misses"))
    expect((hits, misses) == (9, 1), f"{hits:g} hits and {misses:g} misses of 10 equal requests")
    return f"{hits:g} hits, {misses:g} miss"


def batch(args):
    for scheme, url in both(args):
        options = ["--isl", 50, "--osl", OSL, "--concurrency", 4, "--request-count", 24]
        run = infer_run(args, f"batch-{scheme}", "batched", url, *options)
        counted(f"batch-{scheme}", "batched", run, 24)
        replies = [reply["response_text"].split() for reply in json.loads((run.directory / "outputs.json").read_text())["data"]]
        expect({len(reply) for reply in replies} == {OSL}, f"batch-{scheme}: replies of {[len(r) for r in replies]} words")
    return f"{OSL} words in every reply, HTTP and gRPC"


def embed(args):
    return vectors(args, "embed", "kserve_v2_embeddings", "--isl", 50, "--batch-size-text", 3)


def rank(args):
    return vectors(args, "rank", "kserve_v2_rankings", "--rankings-passages-mean", 5)


def vectors(args, model, endpoint, *options):
    for scheme, url in both(args):
        run = infer_run(args, f"{model}-{scheme}", model, url, *options, "--concurrency", 4, "--request-count", 16, endpoint=endpoint)
        counted(f"{model}-{scheme}", model, run, 16)
    return "16 requests each over HTTP and gRPC"


def killed(args):
    def kill():
        time.sleep(3)
        os.kill(args.pid, signal.SIGKILL)

    args.page = []  # it is gone with the server
    run = infer_run(args, "killed", "text", "grpc://" + args.grpc, "--isl", 50, "--concurrency", 4, "--benchmark-duration", 6, fails=True, during=kill)
    good, texts = len(run.records) - len(run.errors), {e["message"] for e in run.errors}
    expect(good and run.errors, f"{good} of {len(run.records)} succeeded: {run.output[-2000:]}")
    expect(not any("does not speak gRPC" in text for text in texts), f"it spoke gRPC: {texts}")
    return f"{good} succeeded, {len(run.errors)} failed: {sorted(texts)[0]}"


if __name__ == "__main__":
    cases = (infer, stream, generate, queue, cache, batch, embed, rank, killed)
    main({case.__name__: case for case in cases}, "http", "grpc")
