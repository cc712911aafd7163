"""What went wrong, or could, with NVIDIA Dynamo: a case against a server that is up.

    python dynamo_cases.py CASE --aiperf PROGRAM --url HOST:PORT --tokenizer DIR --work DIR --page URL... [--pid PID]

fresh     the first requests of a new frontend: their series are on no page before them, and count all the same
nagle     one request at a time: the frontend holds the first token until the client has acknowledged the reply's head, which
          the client must not delay
queue     a batch of 2 and 16 requests, with the pages of the frontend and of the worker: 14 wait, not 28
overload  a queue of 4 and 64 requests: most are refused with 529, and each is counted by both sides
killed    the worker (--pid) is killed in the middle: what failed is counted
capacity  a batch of 8: aiperf capacity finds 8
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time

from check import expect
from runs import again, main, profile


def chat(args, name, *options, **more):
    fixed = ["--model", "tiny", "--tokenizer", args.tokenizer, "--url", args.url, "--endpoint-type", "chat", "--streaming"]
    fixed += ["--use-server-token-count", "--extra-inputs", "ignore_eos:true", "--isl", 100, "--osl", 16]
    return profile(args, "dynamo-" + name, *fixed, *options, **more)


def fresh(args):
    run = chat(args, "fresh", "--concurrency", 8, "--request-count", 16)
    expect(len(run.records) == 16, f"{len(run.records)} records")
    expect(run.grown("dynamo_frontend_requests_total") == 16, "the frontend counted other requests, too")
    run.expect_pages()
    return "16 requests, all in the files"


def nagle(args):
    def attempt():
        run = chat(args, "nagle", "--concurrency", 1, "--request-count", 30)
        server, gap = (run.mean_ms(f"dynamo_frontend_{what}_seconds") for what in ("time_to_first_token", "inter_token_latency"))
        ours, itl = run.summary["time_to_first_token"]["avg"], run.summary["inter_token_latency"]["avg"]
        said = f"time to first token {ours:.1f} ms, the server's own {server:.1f}; between tokens {itl:.2f}, the server's own {gap:.2f}"
        # A delayed acknowledgement costs up to 40 ms, and here some 25.
        expect(-1 <= ours - server <= 6 and abs(itl - gap) <= max(0.4, 0.1 * gap), said)
        return said

    return again(attempt)


def queue(args):
    run = chat(args, "queue", "--concurrency", 16, "--request-count", 160)
    text, average, most = run.queued()
    # A batch that is being changed runs less than 2 for a moment.
    expect(8 <= average <= 14 and 13 <= most <= 16, f"16 requests and a batch of 2: {text}")
    run.expect_pages()
    return text


def overload(args):
    run = chat(args, "overload", "--concurrency", 64, "--request-count", 300, fails=True)
    codes, refused = {e.get("code") for e in run.errors}, len(run.errors)
    expect(len(run.records) == 300 and 100 <= refused < 300 and codes == {529}, f"{refused} of {len(run.records)} failed, {codes}")
    for status, count in ("error", refused), ("success", 300 - refused):
        grown = run.grown("dynamo_frontend_requests_total", status=status)
        expect(grown == count, f"{grown:g} requests with status {status} on the page, {count} here")
    run.expect_pages()
    expect(run.summary["limited_by"][0]["code"] == "many_errors", f"limited by {run.summary['limited_by']}")
    line = re.search(r"^ *limited by +(.*)$", run.output, re.M)
    expect(line and "too few requests" not in line[1], f"the short report says: limited by {line and line[1]}")
    return f"{refused} of 300 refused with 529; limited by {line[1]}"


def killed(args):
    def kill():
        time.sleep(3)
        os.kill(args.pid, signal.SIGKILL)

    args.page = args.page[:1]  # the worker's page is gone with it
    run = chat(args, "killed", "--concurrency", 4, "--benchmark-duration", 6, fails=True, during=kill)
    good, codes = len(run.records) - len(run.errors), {e.get("code") for e in run.errors}
    expect(good and run.errors, f"{good} of {len(run.records)} succeeded, errors {codes}")
    expect(run.summary["request_count"]["avg"] == good, f"{run.summary['request_count']}, {good} records without an error")
    grown = run.grown("dynamo_frontend_requests_total", status="success")
    expect(grown == good, f"{grown:g} successes on the page, {good} here")
    expect("503" in run.output, f"the report does not name the errors, {codes}: {run.output[-2000:]}")
    return f"{good} succeeded, {len(run.errors)} failed with {codes}"


def capacity(args):
    directory = args.work / "dynamo-capacity"
    shutil.rmtree(directory, ignore_errors=True)
    command = [args.aiperf, "capacity", "--url", args.url, "--model", "tiny", "--tokenizer", args.tokenizer, "--endpoint-type", "chat"]
    command += ["--ttft", "p95:300", "--max", "32", "--budget", "3m", "--isl", "100", "--osl", "100", "--ui", "none"]
    command += ["--extra-inputs", "ignore_eos:true", "--artifact-dir", str(directory)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=400)
    expect(run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:])
    found = json.loads((directory / "search_history.json").read_text())["boundary_summary"]
    ends = found["interval"]
    said = f"concurrency {found['estimate']:g}, 95 %: {ends['lo']:g} to {ends['hi']:g}"
    expect(ends["lo"] <= 8 <= ends["hi"] and abs(found["estimate"] - 8) <= 1, said)
    return said


if __name__ == "__main__":
    main({case.__name__: case for case in (fresh, nagle, queue, overload, killed, capacity)}, "url", "tokenizer")
