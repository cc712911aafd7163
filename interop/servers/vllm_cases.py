"""Cases of vLLM, with a batch of 16: one against a server that is up (vllm.sh).

    python vllm_cases.py CASE --aiperf PROGRAM --url HOST:PORT --tokenizer DIR --work DIR --page URL

queue      64 requests: at most 48 wait
cancelled  every second request is given up: what both sides counted is explained
refused    prompts longer than the model's context: all fail, with the server's words
classifier a model that reads a query and a passage together: scores, ranks, classes and what its pooler has
embedder   a model of embeddings: vectors as numbers, base64 and bytes; scores, of which each passage is a request of its own

For the last two, tokens and requests of the page are those of the replies' usage and of the bodies, with no word of other
clients; and what the server refuses is an error with its words.
"""

import json

from check import expect, value
from runs import main, profile


def chat(args, name, *options, **more):
    fixed = ["--model", "tiny", "--tokenizer", args.tokenizer, "--url", args.url, "--endpoint-type", "chat", "--streaming"]
    return profile(args, "vllm-" + name, *fixed, "--extra-inputs", "ignore_eos:true", *options, **more)


def queue(args):
    run = chat(args, "queue", "--isl", 50, "--osl", 48, "--concurrency", 64, "--request-count", 256)
    text, average, most = run.queued()
    expect(0 < average <= 48 and 24 <= most <= 48, f"64 requests and a batch of 16: {text}")
    expect(run.grown("vllm:generation_tokens_total") == 256 * 48, f"{run.grown('vllm:generation_tokens_total'):g} tokens generated")
    run.expect_pages()
    return text


def cancelled(args):
    options = ["--isl", 50, "--osl", 64, "--concurrency", 4, "--request-count", 40]
    run = chat(args, "cancelled", *options, "--request-cancellation-rate", 50, "--request-cancellation-delay", 0.03, fails=True)
    good = len(run.records) - len(run.errors)
    expect(run.code == 0 and 5 <= good <= 39, f"exit code {run.code}, {good} of {len(run.records)} succeeded")
    finished = run.grown("vllm:request_success_total") - run.grown("vllm:request_success_total", finished_reason="abort")
    expect(good <= finished <= 40, f"{finished:g} finished on the page, {good} succeeded here")
    run.expect_pages()
    verdict = run.summary["reconciliation"]["verdict"]
    expect(verdict in ("agree", "explained"), f"reconciliation: {run.summary['reconciliation']}")
    return f"{good} of {len(run.records)} succeeded; {verdict}"


def refused(args):
    run = chat(args, "refused", "--isl", 3000, "--osl", 8, "--concurrency", 4, "--request-count", 12, fails=True)
    codes = {e.get("code") for e in run.errors}
    expect(run.code != 0 and len(run.errors) == 12 and codes == {400}, f"exit code {run.code}, {len(run.errors)} errors, {codes}")
    expect("maximum context length" in run.output, f"the server's reason is missing: {run.output[-2000:]}")
    expect(run.grown("vllm:request_success_total") == 0, "the page counts a success")
    return "12 of 12 refused with 400"


RANKING = ["--rankings-passages-mean", 4, "--rankings-passages-stddev", 2, "--rankings-query-prompt-token-mean", 10]
RANKING += ["--rankings-passages-prompt-token-mean", 20]
TEXTS = ["--isl", 50]
EMPTY = {"texts": [""]}
UNRANKED = {"texts": [{"name": "query", "contents": ["What is rain?"]}]}


def pooled(args, endpoint, inputs, *options, usage=True, fails=False):
    """A run of 20 requests of a type that generates nothing. inputs counts the prompts that the server makes of a body."""
    fixed = ["--model", "tiny", "--tokenizer", args.tokenizer, "--url", args.url, "--endpoint-type", endpoint]
    run = profile(args, f"vllm-{endpoint}", *fixed, "--concurrency", 4, "--request-count", 20, *options, fails=fails)
    expect(len(run.records) == 20, f"{endpoint}: {len(run.records)} records")
    if fails:
        return run
    wanted = sum(inputs(r["payload"]) for r in run.lines("profile_export_raw.jsonl"))
    grown = run.grown("vllm:request_success_total")
    expect(grown == wanted, f"{endpoint}: {grown:g} on the page, {wanted} inputs")
    tags = {tag for r in run.records for tag in r["metrics"]}
    wrong = [tag for tag in tags if "output" in tag or "completion" in tag or "first_token" in tag]
    expect(not wrong, f"{endpoint}: nothing is generated, and there are {wrong}")
    grown = run.grown("vllm:prompt_tokens_total")
    said = sum(value(r, "usage_prompt_tokens" if usage else "input_sequence_length") for r in run.records)
    expect(said == grown > 0, f"{endpoint}: {said} prompt tokens in the replies, {grown:g} on the page")
    compared = run.summary["reconciliation"]
    expect(compared["verdict"] in ("agree", "explained") and "chat template" not in compared["summary"], f"{endpoint}: {compared}")
    run.expect_pages()
    return run


def refuses(args, endpoint, body, words):
    """A body that the server refuses: its words are in the error."""
    source = args.work / f"vllm-{endpoint}.jsonl"
    source.write_text(json.dumps(body) + "\n")
    run = pooled(args, endpoint, None, "--input-file", source, "--custom-dataset-type", "single_turn", fails=True)
    codes = {e.get("code") for e in run.errors}
    expect(run.code != 0 and len(run.errors) == 20 and codes == {400}, f"{endpoint}: exit code {run.code}, {len(run.errors)} errors, {codes}")
    expect(all(words in e["message"] for e in run.errors), f"{endpoint}: {run.errors[:1]}")


def classifier(args):
    pooled(args, "vllm_score", lambda body: len(body["text_2"]), *RANKING)
    fields = ["--extra-inputs", "score_query_field:queries", "--extra-inputs", "score_documents_field:documents"]
    run = pooled(args, "vllm_score", lambda body: len(body["documents"]), *RANKING, *fields, "--use-server-token-count")
    expect(all(value(r, "input_sequence_length") == value(r, "usage_prompt_tokens") for r in run.records), "the server's count is not taken")
    pooled(args, "vllm_classify", lambda body: len(body["input"]), *TEXTS, "--batch-size-text", 3)
    pooled(args, "vllm_pooling", lambda body: len(body["input"]), *TEXTS)
    for path in "/v2/rerank", "/v1/rerank", "/rerank":
        pooled(args, "cohere_rankings", lambda body: len(body["documents"]), *RANKING, "--custom-endpoint", path)
    refuses(args, "vllm_score", UNRANKED, "At least one text_pair element must be given")
    refuses(args, "vllm_classify", EMPTY, "You must pass at least one prompt")
    return "score, classify, pooling, rerank: tokens and requests are those of the page"


def embedder(args):
    one = lambda body: len(body["input"])
    for endpoint in "embeddings", "vllm_pooling":
        for form in "float", "base64", "bytes":
            pooled(args, endpoint, one, *TEXTS, "--extra-inputs", f"encoding_format:{form}", usage=form != "bytes")
    pooled(args, "vllm_score", lambda body: 1 + len(body["text_2"]), *RANKING)
    refuses(args, "vllm_pooling", EMPTY, "You must pass at least one prompt")
    return "embeddings, pooling, score: tokens and requests are those of the page"


if __name__ == "__main__":
    main({case.__name__: case for case in (queue, cancelled, refused, classifier, embedder)}, "url", "tokenizer")
