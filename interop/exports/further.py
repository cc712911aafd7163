"""Reads the files that only some runs write (Parquet, time slices, GPUs, probes of the network, the state) and those of a series
of runs and of a comparison, with the consumers' own libraries: they tell the same story as the summary."""

import csv
import json
import math
import sys

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq

run, series, comparison = sys.argv[1:]
summary = json.load(open(f"{run}/profile_export_aiperf.json"))
records = [json.loads(line) for line in open(f"{run}/profile_export.jsonl")]


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-9)


# Records as Parquet: a row for each line, a column for each metric, lists as lists, units in the footer.
path = f"{run}/profile_export.parquet"
table = pd.read_parquet(path)
assert len(table) == len(records) and list(table["x_request_id"]) == [r["metadata"]["x_request_id"] for r in records]
for tag in ["request_latency", "time_to_first_token", "output_sequence_length"]:
    assert near(table[tag].dropna().mean(), summary[tag]["avg"]), tag
assert near(pl.read_parquet(path)["request_latency"].drop_nulls().mean(), summary["request_latency"]["avg"])
p50, errors = duckdb.sql(f"select quantile_cont(time_to_first_token, 0.5), count(error_code) from '{path}'").fetchall()[0]
assert near(p50, summary["time_to_first_token"]["p50"]) and errors == summary["error_request_count"]["avg"] > 0
gaps = duckdb.sql(f"select max(gap) from (select unnest(inter_chunk_latency) as gap from '{path}')").fetchall()[0][0]
assert near(gaps, summary["inter_chunk_latency"]["max"])
units = json.loads(pq.read_schema(path).metadata[b"aiperf.units"])
assert units["request_latency"] == summary["request_latency"]["unit"] == "ms"

# Further percentiles stand after p99, in both files.
keys = list(summary["request_latency"])
assert keys[keys.index("p99") + 1] == "p99.9"
with open(f"{run}/profile_export_aiperf.csv", newline="") as f:
    text = f.read()
parts = text.split("\r\n\r\n")
head = parts[0].split("\r\n")[0].split(",")
assert head[head.index("p99") + 1] == "p99.9"
first = {row["Metric"]: row for row in csv.DictReader(parts[0].splitlines())}
assert first["Request Latency (ms)"]["p99.9"] == f"{summary['request_latency']['p99.9']:.2f}"

# Time slices: the same figures in both files; their requests are those of the run.
slices = json.load(open(f"{run}/profile_export_aiperf_timeslices.json"))["timeslices"]
tidy = pd.read_csv(f"{run}/profile_export_aiperf_timeslices.csv")
assert list(tidy.columns) == ["Timeslice", "Start_NS", "End_NS", "Metric", "Unit", "Stat", "Value"]
counts = tidy[(tidy["Metric"] == "Request Count") & (tidy["Stat"] == "avg")]
assert counts["Value"].sum() == summary["request_count"]["avg"] == sum(s.get("request_count", {"avg": 0})["avg"] for s in slices)
for s in slices:
    if "request_latency" in s:
        row = tidy[(tidy["Timeslice"] == s["timeslice_index"]) & (tidy["Metric"] == "Request Latency") & (tidy["Stat"] == "p50")]
        assert row["Value"].item() == float(f"{s['request_latency']['p50']:.2f}")

# GPUs: readings, the summary's section and the third section of the CSV.
readings = pl.read_ndjson(f"{run}/gpu_telemetry_export.jsonl", infer_schema_length=None)
gpus = [g for e in summary["telemetry_data"]["endpoints"].values() for g in e["gpus"].values()]
assert readings["gpu_uuid"].n_unique() == len(gpus) == 2
power = readings.select(pl.col("telemetry_data").struct.field("gpu_power_usage")).to_series()
for g in gpus:
    block = g["metrics"]["gpu_power_usage"]
    assert block["unit"] == "W" and power.min() - 1e-9 <= block["min"] <= block["avg"] <= block["max"] <= power.max() + 1e-9
assert summary["total_gpu_energy"]["unit"] == "J" and summary["total_gpu_energy"]["avg"] > 0
lines = list(csv.DictReader(text.split("\r\n\r\n\r\n")[1].splitlines()))
assert {line["GPU_UUID"] for line in lines} == {g["gpu_uuid"] for g in gpus}, lines[0]

# Probes of the network: their mean is the metric.
probes = pd.read_json(f"{run}/profile_export_network_latency.jsonl", lines=True)
assert near(probes["rtt_ns"].mean() / 1e6, summary["network_rtt"]["avg"])

# The state is that of the run.
state = json.load(open(f"{run}/run_state.json"))
assert state["benchmark_id"] == summary["benchmark_id"] and state["status"] == "finished"

# The aggregate of a series: a row for each statistic, the same in JSON and CSV; pooled requests of all runs.
whole = json.load(open(f"{series}/aggregate/profile_export_aiperf_aggregate.json"))
runs = [json.load(open(f"{series}/profile_runs/run_000{n}/profile_export_aiperf.json")) for n in (1, 2, 3)]
assert near(whole["metrics"]["request_latency_avg"]["mean"], pd.Series([r["request_latency"]["avg"] for r in runs]).mean())
assert near(whole["metrics"]["request_latency_avg"]["std"], pd.Series([r["request_latency"]["avg"] for r in runs]).std())
with open(f"{series}/aggregate/profile_export_aiperf_aggregate.csv", newline="") as f:
    rows = list(csv.reader(f))
row = next(r for r in rows if r and r[0] == "request_latency_avg")
assert row[1] == f"{whole['metrics']['request_latency_avg']['mean']:.2f}", row
collated = json.load(open(f"{series}/aggregate/profile_export_aiperf_collated.json"))
pooled = pd.concat([pd.json_normalize([json.loads(line) for line in open(f"{series}/profile_runs/run_000{n}/profile_export.jsonl")]) for n in (1, 2, 3)])
values = pooled["metrics.request_latency.value"]
assert near(collated["metrics"]["request_latency"]["combined"]["p99"], values.quantile(0.99)), collated["metrics"]["request_latency"]

# A comparison.
compared = json.load(open(comparison))["comparisons"][0]
figures = pd.DataFrame(compared["figures"]).set_index(["tag", "stat"])
assert near(figures.loc[("request_latency", "avg"), "base"], runs[0]["request_latency"]["avg"])
assert set(figures["verdict"]) <= {"better", "worse", "no difference", "undecided", "differs"}
print(f"exports: {len(table)} rows of Parquet, {len(slices)} slices, {len(readings)} readings of GPUs, {len(probes)} probes, {len(whole['metrics'])} rows of an aggregate, {len(figures)} figures of a comparison")
