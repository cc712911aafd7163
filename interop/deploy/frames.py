"""The module of the wheel reads the folders of runs into frames: frames.py SLICED PLAIN, two runs against a server
with metrics, the first with slices of time."""

import json
import sys

import aiperf_go
import pandas
import polars

sliced, plain = sys.argv[1:]
with open(f"{sliced}/profile_export_aiperf.json") as file:
    latency = json.load(file)["request_latency"]
for name, library in (("pandas", pandas), ("polars", polars)):
    run = aiperf_go.load(sliced, frames=name)
    records = run.records()
    assert isinstance(records, library.DataFrame) and len(records) == 20, records
    assert sorted(records["session_num"].to_list()) == list(range(20)), records
    assert abs(records["request_latency"].mean() - latency["avg"]) < 1e-6, latency
    summary = run.summary()
    averages = dict(zip(summary["metric"].to_list(), summary["avg"].to_list()))
    assert averages["request_latency"] == latency["avg"] and averages["request_count"] == 20, averages
    assert run.units()["request_latency"] == latency["unit"] == "ms"
    slices = run.timeslices()
    assert {"timeslice_index", "start_ns", "metric", "avg"} <= set(slices.columns) and len(slices) > 10, slices
    series = run.server_metrics()
    assert "vllm:num_requests_running" in series["metric"].to_list(), series
    over_time = run.server_metrics_over_time()
    assert "start_ns" in over_time.columns, over_time
    other = aiperf_go.load(plain, frames=name)
    for read, option in ((run.cells, "sweep"), (other.timeslices, "--slice-duration"),
                         (other.server_metrics_over_time, "--slice-duration")):
        try:
            read()
        except FileNotFoundError as e:
            assert option in str(e), e
        else:
            raise AssertionError(f"{read} reads a file that is not there")
    print(f"{name}: records {records.shape}, summary {summary.shape}, slices {slices.shape}, series {series.shape}, "
          f"over time {over_time.shape}")
