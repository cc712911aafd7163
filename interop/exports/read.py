"""Reads every file of a run with the consumers' own libraries and checks that they tell the same story."""

import csv
import json
import sys

import duckdb
import pandas as pd
import polars as pl

run = sys.argv[1]
summary = json.load(open(f"{run}/profile_export_aiperf.json"))
valid = summary["request_count"]["avg"]
failed = summary.get("error_request_count", {"avg": 0.0})["avg"]
assert valid + failed == 80, (valid, failed)
assert summary["schema_version"] == "1.5"

# JSONL: line by line, with pandas, Polars and DuckDB.
records = [json.loads(line) for line in open(f"{run}/profile_export.jsonl")]
assert len(records) == 80
assert sum("error" in r for r in records) == failed
frame = pd.json_normalize(records)
latency = frame["metrics.request_latency.value"].dropna()
assert abs(latency.mean() - summary["request_latency"]["avg"]) < 1e-9 * latency.mean()
assert abs(latency.quantile(0.99) - summary["request_latency"]["p99"]) < 1e-9 * latency.max()
assert abs(latency.std(ddof=0) - summary["request_latency"]["std"]) < 1e-6
polars = pl.read_ndjson(f"{run}/profile_export.jsonl", infer_schema_length=None)
ttft = polars.select(pl.col("metrics").struct.field("time_to_first_token").struct.field("value")).to_series().drop_nulls()
assert abs(ttft.mean() - summary["time_to_first_token"]["avg"]) < 1e-9 * ttft.mean()
count, tokens = duckdb.sql(
    f"select count(*), sum(metrics.output_sequence_length.value) from read_json_auto('{run}/profile_export.jsonl', format='newline_delimited', sample_size=-1)"
).fetchall()[0]
assert count == 80 and tokens == summary["total_osl"]["avg"], (count, tokens)

# Raw JSONL: warm-up included; the packets of a stream hold the text that was counted.
raw = [json.loads(line) for line in open(f"{run}/profile_export_raw.jsonl")]
assert len(raw) == 88, len(raw)
phases = pd.Series([r["metadata"]["benchmark_phase"] for r in raw]).value_counts()
assert phases["warmup"] == 8 and phases["profiling"] == 80
streamed = next(r for r in raw if "error" not in r)
events = [p["value"] for item in streamed["responses"] for p in item["packets"] if p["name"] == "data"]
assert events[-1] == "[DONE]" and sum('"content"' in e for e in events) == 32, events[:2]

# CSV: two sections split at the empty line.
text = open(f"{run}/profile_export_aiperf.csv", newline="").read()
assert text.count("\r\n\r\n") == 1 and text.endswith("\r\n") and "\n" not in text.replace("\r\n", "")
first, second = text.split("\r\n\r\n")
table = {row["Metric"]: row for row in csv.DictReader(first.splitlines())}
assert table["Request Latency (ms)"]["avg"] == f"{summary['request_latency']['avg']:.2f}"
values = dict(list(csv.reader(second.splitlines()))[1:])
assert values["Request Count"] == f"{valid:.2f}"

# outputs.json holds the texts of the same requests, sorted, with the same figures.
outputs = json.load(open(f"{run}/outputs.json"))
texts = pd.json_normalize(outputs["data"]).set_index("x_request_id")
assert len(texts) == 80 and len(outputs["warmup"]) == 8 and list(texts["session_num"]) == sorted(texts["session_num"])
for record in records:
    entry = texts.loc[record["metadata"]["x_request_id"]]
    assert pd.isna(entry["response_text"]) == ("error" in record)
    if "error" not in record:
        assert entry["metrics.request_latency"] == record["metrics"]["request_latency"]["value"]
        assert entry["metrics.output_sequence_length"] == record["metrics"]["output_sequence_length"]["value"]
spoken = next(r for r in raw if "error" not in r and r["metadata"]["benchmark_phase"] == "profiling")
events = [p["value"] for item in spoken["responses"] for p in item["packets"] if p["name"] == "data" and '"content"' in p["value"]]
said = "".join(json.loads(e)["choices"][0]["delta"]["content"] for e in events)
assert texts.loc[spoken["metadata"]["x_request_id"]]["response_text"] == said

# inputs.json lists what was sent.
inputs = json.load(open(f"{run}/inputs.json"))["data"]
assert len(inputs) == 100 and all(len(c["payloads"]) == 1 for c in inputs)
console = open(f"{run}/profile_export_console.txt", encoding="utf-8").read()
assert "\x1b" not in console and "AIPerf | LLM Metrics" in console
print(f"exports: {len(records)} records, {len(raw)} raw records, {len(summary)} keys read by pandas, Polars and DuckDB")
