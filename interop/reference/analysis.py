"""Compares what the original and this program make of the same runs; see analysis.sh."""

import csv
import json
import os
import re
import sys


def fail(text):
    print(text)
    sys.exit(1)


def outputs(theirs, ours):
    """outputs.json: the same shape, but for the newer version of it."""
    theirs, ours = json.load(open(theirs)), json.load(open(ours))
    assert theirs["schema_version"] == "1.0" and ours["schema_version"] == "1.1"
    assert list(ours) == ["schema_version", "data", "warmup"], list(ours)
    assert list(theirs) == ["schema_version", "data"], list(theirs)
    # Requests of the warm-up: both count session_num for each phase from 0.
    assert {e["benchmark_phase"] for e in ours["data"]} == {"profiling"}
    assert {e["benchmark_phase"] for e in ours["warmup"]} == {"warmup"} and len(ours["warmup"]) == 2
    for doc in (theirs, ours):
        keys = [(e["session_num"], e["turn_index"]) for e in doc["data"]]
        assert keys == sorted(keys), keys
    shape = None
    for e in theirs["data"]:
        assert list(e) == [k for k in ours["data"][0] if k != "benchmark_phase"], list(e)
        if e["response_text"] is not None:
            shape = {k: type(v).__name__ for k, v in e["metrics"].items()}
        else:
            assert e["metrics"] == {}
    for e in ours["data"]:
        if e["response_text"] is None:
            assert e["metrics"] == {}, e
        else:
            assert {k: type(v).__name__ for k, v in e["metrics"].items()} == shape, (e["metrics"], shape)
            assert list(e["metrics"]) == list(shape)
    print(f"outputs: {len(theirs['data'])} entries of the original, {len(ours['data'])} of ours, the same keys, order and types")


def run(path, config, throughput, metrics):
    os.makedirs(path)
    doc = {"schema_version": "1.5", "benchmark_id": "b", "request_count": {"unit": "requests", "avg": 3.0}, "input_config": config}
    if throughput is not None:
        doc["output_token_throughput"] = {"unit": "tokens/sec", "avg": throughput}
    json.dump(doc, open(f"{path}/profile_export_aiperf.json", "w"))
    if metrics is not None:
        json.dump({"schema_version": "1.0", "metrics": metrics}, open(f"{path}/server_metrics_export.json", "w"))


def config(model, dataset):
    return {"models": {"items": [{"name": model}]}, "datasets": [{"name": "default", "type": "public", "dataset": f"speed_bench_{dataset}"}]}


def gauge(name, *values):
    return {name: {"type": "gauge", "series": [{"stats": {"avg": v}} for v in values]}}


def counters(accepted, drafts, tokens):
    names = {"vllm:spec_decode_num_accepted_tokens": accepted, "vllm:spec_decode_num_drafts": drafts, "vllm:spec_decode_num_draft_tokens": tokens}
    return {name: {"type": "counter", "series": [{"stats": {"total": v}} for v in values]} for name, values in names.items()}


def runs(root):
    """Runs of every kind that the reports know."""
    q = f"{root}/qualitative/"
    run(q + "01", config("A", "writing"), 100.5, gauge("sglang:spec_accept_length", 3.126, 9.0) | gauge("sglang:spec_accept_rate", 0.75))
    run(q + "02", config("A", "coding"), 200.0, counters([450.0], [200.0], [1000.0]))
    run(q + "03", config("B", "qa"), None, gauge("vllm:spec_decode_mean_accepted_length", 2.0) | gauge("vllm:spec_decode_draft_acceptance_rate", 0.5))
    run(q + "04", config("B", "rag"), 7.25, gauge("trtllm:spec_accept_length", 1.5) | gauge("trtllm:spec_accept_rate", 0.25))
    run(q + "05", config("B", "math"), 8.0, gauge("my_spec_accept_mean_length", 4.0))
    run(q + "06", config("B", "stem"), 9.0, {})
    run(q + "07", config("B", "roleplay"), 9.0, None)
    run(q + "08", {"models": {"items": [{"name": "B"}]}, "datasets": [{"name": "default", "type": "synthetic"}]}, 1.0, None)
    run(q + "09", config("C", "qa"), 1.0, counters([450.0, 50.0], [200.0, 300.0], [1000.0, 1000.0]))
    t = f"{root}/throughput/"
    for i, tier in enumerate(["1k_low_entropy", "1k_mixed", "2k_high_entropy"]):
        run(f"{t}{i}", config("A", f"throughput_{tier}"), 10.0 * (i + 1), gauge("sglang:spec_accept_length", i + 2.5) | gauge("sglang:spec_accept_rate", 0.25))
    m = f"{root}/mixed/"
    run(m + "1", config("A", "throughput_8k"), 10.0, gauge("sglang:spec_accept_length", 2.5) | gauge("sglang:spec_accept_rate", 0.5))
    run(m + "2", config("A", "qualitative"), 20.0, gauge("sglang:spec_accept_length", 3.5) | gauge("sglang:spec_accept_rate", 0.25))


def matrix(kind, metric, stem):
    theirs, ours = ([row for row in csv.reader(open(f"{stem}-{program}.csv", newline=""))] for program in ("theirs", "ours"))
    if open(f"{stem}-ours.csv", newline="").read().count("\r\n") != len(ours):
        fail("lines do not end as in the original")
    if kind == "throughput":
        # Each input length has a row of its own here; the original has a column for each category.
        flat = {f"throughput_{re.search(r'[(](.*)[)]', row[0])[1]}_{tier}": v for row in ours[1:] for tier, v in zip(ours[0][1:-1], row[1:-1]) if v}
        want = {c: v for c, v in zip(theirs[0][1:-1], theirs[1][1:-1]) if v}
        if flat != want:
            fail(f"speed-bench-report {kind} {metric}: {flat} is not {want}")
    else:
        if kind == "qualitative" and metric != "throughput":
            # The original looks at the first series of a counter, this program at all of them.
            col = theirs[0].index("qa")
            rows = [next(r for r in side if r[0] == "C") for side in (theirs, ours)]
            want = ("3.25", "2.00") if metric == "accept_length" else ("0.45", "0.25")
            if (rows[0][col], rows[1][col]) != want:
                fail(f"speed-bench-report {kind} {metric}: {rows}")
            for side in (theirs, ours):
                side.remove(next(r for r in side if r[0] == "C"))
        if theirs != ours:
            fail(f"speed-bench-report {kind} {metric} differs:\n{theirs}\n{ours}")
    print(f"speed-bench-report {kind} {metric}: {len(ours) - 1} rows agree")


def pages(raw, lanes, messages):
    """Our pages hold the requests and the messages of the raw export, whoever wrote it."""
    lines = [json.loads(line) for line in open(raw)]
    measured = [r for r in lines if r["metadata"]["benchmark_phase"] == "profiling"]
    data = json.loads(re.search(r"const data = (.*?);\nconst palette", open(lanes).read(), re.S)[1])
    assert len(data["bars"]) == len(measured), (len(data["bars"]), len(measured))
    assert len(data["sessions"]) == len({r["metadata"]["x_correlation_id"] for r in measured})
    assert sum(bar[5] == 1 for bar in data["bars"]) == sum("error" in r and r["error"] is not None for r in measured)
    book = json.loads(re.search(r"const data = (.*?);\nconst make", open(messages).read(), re.S)[1])
    said = lambda turn: [book["bodies"][body][0] for role, body in turn["messages"] if role != "reply"]
    got = sorted(said(t) for c in book["conversations"] for t in c["turns"])
    want = sorted([m["content"] for m in r["payload"]["messages"]] for r in lines)
    assert got == want, "messages differ"
    print(f"analyze: {len(measured)} requests drawn, messages of {len(lines)} requests in the page")


{"outputs": outputs, "runs": runs, "matrix": matrix, "pages": pages}[sys.argv[1]](*sys.argv[2:])
