"""The module of the wheel reads the folders of runs into frames: frames.py RUN RUN, of which the first has slices of time."""

import json
import sys

import aiperf_go
import pandas
import polars

sliced, plain = sys.argv[1:]
for name, library in (("pandas", pandas), ("polars", polars)):
    run = aiperf_go.load(sliced, frames=name)
    records = run.records()
    assert isinstance(records, library.DataFrame) and len(records) == 20, records
    assert records["request_latency"].min() > 0 and records["session_num"].n_unique() == 20 if name == "polars" else True
    summary = run.summary()
    (row,) = [r for r in rows] if (rows := [
        r for r in (summary.to_dict("records") if name == "pandas" else summary.to_dicts())
        if r["metric"] == "request_latency"]) else [None]
    with open(f"{sliced}/profile_export_aiperf.json") as file:
        document = json.load(file)
    assert row["avg"] == document["request_latency"]["avg"] and row["unit"] == "ms" == run.units()["request_latency"], row
    assert abs(records["request_latency"].mean() - row["avg"]) < 1e-6, row
    slices = run.timeslices()
    assert {"timeslice_index", "start_ns", "metric", "avg"} <= set(slices.columns) and len(slices) > 10, slices
    for read, option in ((run.cells, "sweep"), (aiperf_go.load(plain).timeslices, "--slice-duration")):
        try:
            read()
        except FileNotFoundError as e:
            assert option in str(e), e
        else:
            raise AssertionError(f"{read} reads a file that is not there")
    print(f"{name}: {records.shape} records, {summary.shape} summary, {slices.shape} slices")
