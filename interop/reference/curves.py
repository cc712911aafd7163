"""Recomputes the curves over time and the error-adjusted latencies of a run from its own profile_export.jsonl, by the definition
and without any code of ours, and compares them with its profile_export_aiperf.json to 1e-9.

    curves.py ours DIR ...      every figure must agree
    curves.py theirs DIR ...    the original: its stamps are floats of epoch nanoseconds, that is multiples of 256 ns

What the original does in another way than the documentation says is not compared: effective_decode_throughput and what is
made of it follow single chunks there, tokens_in_flight grows in steps, effective_latency and credit_to_start_latency count
failed requests, and a run without streaming has curves that are 0 throughout. Simulated cancellations end later there than they
did, and the curves are cut off at the end of the phase: such runs cannot be compared.
"""

import json
import math
import sys

RANKS = (50, 90, 95, 99)
ADJUSTED = ("request_latency", "time_to_first_token", "inter_token_latency", "decode_duration", "full_decode_duration",
            "full_response_inter_token_latency")


def load(directory, rounded):
    def stamp(ns):
        return int(float(ns)) if rounded else ns

    with open(f"{directory}/profile_export_aiperf.json") as f:
        summary = json.load(f)
    requests = []
    with open(f"{directory}/profile_export.jsonl") as f:
        for line in map(json.loads, f):
            if line["metadata"]["benchmark_phase"] != "profiling":
                continue
            metrics = {tag: m["value"] for tag, m in line["metrics"].items()}
            start, first = line["metadata"]["request_start_ns"], metrics.get("time_to_first_token")
            requests.append({
                "start": stamp(start), "end": stamp(line["metadata"]["request_end_ns"]), "failed": "error" in line,
                "first": None if first is None else stamp(start + round(first * 1e6)),
                "isl": metrics.get("input_sequence_length", 0), "osl": metrics.get("output_sequence_length", 0), "metrics": metrics})
    return summary, requests


def segments(requests, window):
    """Yields duration, and at its start: concurrency, prefill and decode concurrency, prefill and decode rate, tokens and growth."""
    instants = sorted({t for r in requests for t in (r["start"], r["first"], r["end"]) if t is not None})
    for a, b in zip(instants, instants[1:]):
        present = [r for r in requests if r["start"] <= a < r["end"]]
        prefill = [r for r in present if r["first"] is not None and a < r["first"]]
        decode = [r for r in present if r["first"] is not None and a >= r["first"]]
        rates = [((r["osl"] - 1) / (r["end"] - r["first"]) if r["osl"] else 0) * 1e9 for r in decode]
        yield (b - a, len(present), len(prefill), len(decode), math.fsum(r["isl"] / (r["first"] - r["start"]) * 1e9 for r in prefill),
               math.fsum(rates), math.fsum([r["isl"] for r in present if not r["failed"]] +
                                           [1 + rate * (a - r["first"]) * 1e-9 for r, rate in zip(decode, rates) if r["osl"]]), b - a)
    if window > instants[-1] - instants[0]:
        yield (window - (instants[-1] - instants[0]), 0, 0, 0, 0, 0, 0, 0)


CURVES = {
    "effective_concurrency": (lambda s: s[1], None),
    "effective_prefill_concurrency": (lambda s: s[2], None),
    "effective_decode_concurrency": (lambda s: s[3], None),
    "effective_prefill_throughput": (lambda s: s[4], None),
    "effective_decode_throughput": (lambda s: s[5], None),
    "effective_total_throughput": (lambda s: s[4] + s[5], None),
    "effective_prefill_throughput_per_user": (lambda s: s[4] / max(s[2], 1), None),
    "effective_decode_throughput_per_user": (lambda s: s[5] / max(s[3], 1), None),
    "active_prefill_throughput": (lambda s: s[4], 2),
    "active_decode_throughput": (lambda s: s[5], 3),
    "active_total_throughput": (lambda s: s[4] + s[5], 1),
    "active_prefill_throughput_per_user": (lambda s: s[4] / max(s[2], 1), 2),
    "active_decode_throughput_per_user": (lambda s: s[5] / max(s[3], 1), 3),
}
NOT_THEIRS = {"effective_decode_throughput", "effective_decode_throughput_per_user", "active_decode_throughput",
              "active_decode_throughput_per_user", "tokens_in_flight"}


def describe(values):
    total = sum(ns for _, ns in values)
    avg = math.fsum(v * ns for v, ns in values) / total
    figures = {"avg": avg, "min": min(v for v, _ in values), "max": max(v for v, _ in values),
               "std": math.sqrt(math.fsum((v - avg) ** 2 * ns for v, ns in values) / total)}
    values = sorted(values)
    for q in RANKS:
        reached = 0
        for v, ns in values:
            reached += ns
            if reached * 100 >= q * total:
                figures[f"p{q}"] = v
                break
    return figures


def adjusted(requests, tag):
    values = sorted(r["metrics"][tag] for r in requests if not r["failed"] and tag in r["metrics"])
    failed = sum(r["failed"] for r in requests)
    if not values or not failed:
        return None
    n = len(values) + failed
    figures = {"min": values[0], "count": n}
    for q in (1, 5, 10, 25, 50, 75, 90, 95, 99):
        i = round(q / 100 * (n - 1))
        if i < len(values):
            figures[f"p{q}"] = values[i]
    return figures


def compare(tag, want, block):
    have = {k: v for k, v in block.items() if k != "unit"}
    if sorted(have) != sorted(want):
        return [f"{tag} has {sorted(have)}, want {sorted(want)}"]
    return [f"{tag}.{k}: {have[k]}, recomputed {v}" for k, v in want.items() if abs(have[k] - v) > 1e-9 * max(abs(v), 1e-3)]


def check(directory, theirs):
    summary, requests = load(directory, theirs)
    if not requests or "effective_concurrency" not in summary:
        return [f"no curves in {directory}"]
    in_flight = sum(r["end"] - r["start"] for r in requests)
    window = round(in_flight / summary["effective_concurrency"]["avg"])
    curve = list(segments(requests, window))
    wrong, compared = [], 0
    for tag, (value, during) in CURVES.items():
        if tag not in summary or theirs and (tag in NOT_THEIRS or "time_to_first_token" not in summary):
            continue
        values = [(value(s), s[0]) for s in curve if during is None or s[during] > 0]
        wrong += compare(tag, describe(values), summary[tag])
        compared += 1
    if "tokens_in_flight" in summary and not theirs:
        growing = math.fsum(s[6] * s[0] + s[5] * s[0] * s[7] * 0.5e-9 for s in curve) / window
        if abs(growing - summary["tokens_in_flight"]["avg"]) > 1e-9 * growing:
            wrong.append(f"tokens_in_flight.avg: {summary['tokens_in_flight']['avg']}, recomputed {growing}")
        compared += 1
    for tag in ADJUSTED:
        want = adjusted(requests, tag)
        if want and f"adj_{tag}" in summary:
            wrong += compare(f"adj_{tag}", want, summary[f"adj_{tag}"])
            compared += 1
        elif bool(want) != (f"adj_{tag}" in summary) and not (theirs and tag.startswith("full_")):
            wrong.append(f"adj_{tag} is {'missing' if want else 'there'}")
    print(f"  {directory}: {compared} metrics recomputed, {len(wrong)} differences")
    return wrong


def main():
    theirs = sys.argv[1] == "theirs"
    differences = [text for directory in sys.argv[2:] for text in check(directory, theirs)]
    for text in differences:
        print("   ", text)
    sys.exit(1 if differences else 0)


main()
