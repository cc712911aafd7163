"""A router whose /metrics is answered by two servers in turn.

    python routers_cases.py turns --aiperf PROGRAM --url HOST:PORT --tokenizer DIR --work DIR --page URL...

The program must see that it reads two servers by one address: it says so once, claims neither a restart nor other clients,
and gives no total of the servers that is not theirs. With each server's own page the totals are right.
"""

import json
import re

import pages
from check import expect
from runs import main, profile

# What must be the sum over the servers where it is given at all.
TOTALS = {"vllm:generation_tokens": "vllm:generation_tokens_total", "vllm:prompt_tokens": "vllm:prompt_tokens_total"}


def turns(args):
    # A total depends on which of the two servers answers first and last.
    return "; ".join(one(args, count) for count in ((60, 61) if args.brief else (60, 61, 62)))


def one(args, count):
    servers, args.page = args.page, []
    before = pages.read(servers)
    options = ["--model", "tiny", "--tokenizer", args.tokenizer, "--url", args.url, "--endpoint-type", "chat", "--streaming"]
    options += ["--isl", 100, "--osl", 16, "--extra-inputs", "ignore_eos:true", "--concurrency", 4, "--request-count", count]
    run = profile(args, f"turns-{count}", *options, scrape=True)
    after, args.page = pages.read(servers), servers
    grown = pages.growth(before, after, "vllm:request_success_total")
    expect(grown == count, f"the servers counted {grown:g} of {count} requests")
    log = (run.directory / "logs/aiperf.log").read_text().splitlines()
    warnings = [line for line in log if " WARNING " in line and "metrics" in line]
    expect(len(warnings) <= 1, f"{len(warnings)} warnings of one page, such as {warnings[:1]}")
    document = json.loads((run.directory / "server_metrics_export.json").read_text())["metrics"]
    for name, sample in TOTALS.items():
        right = pages.growth(before, after, sample)
        totals = [s["stats"]["total"] for s in document.get(name, {"series": []})["series"] if "total" in s.get("stats", {})]
        expect(not totals or abs(sum(totals) - right) < 1e-6, f"{name}: {totals}, the servers' own {right:g}")
    said = " ".join(re.findall(r"^(?:Server|Run): .*(?:\n(?!\S+:).+)*", run.output, re.M))
    expect(not re.search("restart|other clients|not all servers", said), said)
    for row in run.summary["reconciliation"]["rows"]:
        expect(row.get("status") != "differs", f"reconciliation: {row}")
    expect("in turn" in run.output + "".join(warnings), f"the page is answered in turn, and the program says: {said}")
    return said


if __name__ == "__main__":
    main({"turns": turns}, "url", "tokenizer")
