"""Loads the JSON and CSV file of sweeps with the standard library and pandas: no NaN or Infinity in the JSON, numeric columns,
the same figures in both, intervals that follow from the trials, and a front that no cell dominates.

    sweeps.py DIR ...    folders that have profile_export_aiperf_sweep.json and .csv
"""

import io
import json
import pathlib
import sys

import pandas


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def check(folder):
    text = (folder / "profile_export_aiperf_sweep.json").read_text(encoding="utf-8")
    sweep = json.loads(text, parse_constant=refuse)
    assert sweep["aggregation_type"] == sweep["metadata"]["aggregation_type"] == "sweep"
    names = [p["name"] for p in sweep["metadata"]["sweep_parameters"]]
    cells = sweep["per_combination_metrics"]
    frame = pandas.json_normalize([{**{f"p.{k}": v for k, v in c["parameters"].items()},
                                    **{k: v["mean"] for k, v in c["metrics"].items()}} for c in cells])
    assert len(frame) == len(cells) == sweep["metadata"]["num_combinations"]
    # The first section of the CSV is a table that pandas reads as it is.
    table = (folder / "profile_export_aiperf_sweep.csv").read_bytes().decode().split("\r\n\r\n")[0]
    csv = pandas.read_csv(io.StringIO(table))
    assert list(csv.columns[:len(names)]) == names, csv.columns[:3]
    assert csv.shape[0] == len(cells)
    for cell, (_, row) in zip(cells, csv.iterrows()):
        assert all(row[name] == cell["parameters"][name] for name in names)
        for key, block in cell["metrics"].items():
            assert list(block) == ["mean", "std", "min", "max", "cv", "ci_low", "ci_high", "unit"], (key, list(block))
            assert abs(row[key + "_mean"] - block["mean"]) <= 0.00501 + 1e-9 * abs(block["mean"]), key
            if block["std"] is None:
                assert sweep["metadata"]["num_trials_per_value"] == 1 and pandas.isna(row[key + "_std"]), key
            else:
                assert block["ci_low"] <= block["mean"] <= block["ci_high"], key
    best = sweep["best_configurations"]
    assert {"best_throughput", "best_latency_p99"} <= set(best)
    assert best["best_throughput"]["metric"] == frame["request_throughput_avg"].max()
    assert best["best_latency_p99"]["metric"] == frame["time_to_first_token_p99"].min()
    front = sweep["pareto_optimal"]
    assert front and all(any(point == c["parameters"] for c in cells) for point in front)
    return len(cells)


count = 0
for name in sys.argv[1:]:
    try:
        count += check(pathlib.Path(name))
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {error}")
        sys.exit(1)
print(f"sweeps: pandas loads {len(sys.argv) - 1} sweeps with {count} cells")
