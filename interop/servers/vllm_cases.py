"""Cases of vLLM, with a batch of 16: one against a server that is up (vllm.sh).

    python vllm_cases.py CASE --aiperf PROGRAM --url HOST:PORT --tokenizer DIR --work DIR --page URL

queue      64 requests: at most 48 wait
cancelled  every second request is given up: what both sides counted is explained
refused    prompts longer than the model's context: all fail, with the server's words
"""

from check import expect
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


if __name__ == "__main__":
    main({case.__name__: case for case in (queue, cancelled, refused)}, "url", "tokenizer")
