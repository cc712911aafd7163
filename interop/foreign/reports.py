"""Reads benchmark reports with llm-d's own package and compares their figures with the summary of the run.

    python reports.py SUMMARY REPORT...
"""

import json
import sys

import llmd_benchmark_report

PLACES = {
    "time_to_first_token": ("latency", "time_to_first_token"),
    "inter_token_latency": ("latency", "time_per_output_token"),
    "inter_chunk_latency": ("latency", "inter_token_latency"),
    "request_latency": ("latency", "request_latency"),
    "input_sequence_length": ("requests", "input_length"),
    "output_sequence_length": ("requests", "output_length"),
    "output_token_throughput": ("throughput", "output_token_rate"),
    "request_throughput": ("throughput", "request_rate"),
}

with open(sys.argv[1]) as f:
    summary = json.load(f)
for path in sys.argv[2:]:
    report = llmd_benchmark_report.import_benchmark_report(path)
    aggregate = report.results.request_performance.aggregate
    compared = 0
    for tag, (part, name) in PLACES.items():
        block, read = summary[tag], getattr(getattr(aggregate, part), name)
        for stat, field in {"avg": "mean", "std": "stddev", "min": "min", "p50": "p50", "p99": "p99", "max": "max"}.items():
            if stat in block:
                compared += 1
                assert getattr(read, field) == block[stat], f"{path}: {tag} {stat}: {getattr(read, field)}, {block[stat]}"
    assert aggregate.requests.total == summary["request_count"]["avg"], path
    assert compared > 30, f"{path}: only {compared} figures"
    print(f"ok   {path}: version {report.version}, {compared} figures as in the summary")
