"""Rankings and errors of infinity: a case against a server that is up (infinity.sh).

    python infinity_cases.py CASE --aiperf PROGRAM --url HOST:PORT --tokenizer DIR --work DIR --page URL

rankings   a query and passages, concurrency 1, 8, 64; latency like that of a plain client
missing    a path that the server has not: the series of its errors are made by the run itself
"""

import json
import statistics

import reference
from check import expect, near
from runs import again, main, profile


def rankings(args):
    said = []
    for concurrency, count in (1, 10), (8, 32), (64, 96):
        said.append(again(lambda: rank(args, concurrency, count)))
    return "; ".join(said)


def rank(args, concurrency, count):
    options = ["--model", "rerank", "--tokenizer", args.tokenizer, "--url", args.url, "--endpoint-type", "cohere_rankings"]
    options += ["--custom-endpoint", "/v1/rerank", "--rankings-passages-mean", 4, "--rankings-query-prompt-token-mean", 10]
    options += ["--rankings-passages-prompt-token-mean", 20, "--concurrency", concurrency, "--request-count", count]
    run = profile(args, f"infinity-rank-{concurrency}", *options)
    grown = run.grown("http_requests_total", handler="/v1/rerank")
    expect(len(run.records) == grown == count, f"{len(run.records)} records, {grown:g} on the page, of {count}")
    run.expect_pages()
    bodies = [json.dumps(r["payload"]) for r in run.lines("profile_export_raw.jsonl")]
    _, totals = reference.replay(args.url, "/v1/rerank", bodies, concurrency)
    ours, plain = run.summary["request_latency"]["p50"], statistics.median(totals) * 1000
    said = f"concurrency {concurrency}: latency {ours:.1f} ms, plain client {plain:.1f}"
    expect(near(ours / 1000, plain / 1000), said)
    return said


def missing(args):
    options = ["--model", "tiny", "--tokenizer", args.tokenizer, "--url", args.url, "--endpoint-type", "embeddings"]
    options += ["--custom-endpoint", "/v1/nothing", "--isl", 20, "--concurrency", 1, "--request-count", 10]
    run = profile(args, "infinity-missing", *options, fails=True)
    expect(run.code != 0 and len(run.errors) == 10, f"exit code {run.code}, {len(run.errors)} errors")
    grown = run.grown("http_requests_total", status="4xx")
    expect(grown == 10, f"the page counted {grown:g} of 10")
    family = json.loads((run.directory / "server_metrics_export.json").read_text())["metrics"]["http_requests"]
    total = sum(s["stats"]["total"] for s in family["series"] if s["labels"].get("status") == "4xx")
    # The last one is counted after its reply.
    expect(9 <= total <= 10, f"the JSON file has {total:g} of 10")
    return f"{total:g} of 10 in the files"


if __name__ == "__main__":
    main({"rankings": rankings, "missing": missing}, "url", "tokenizer")
