"""Compares the aggregates of repeated runs of the original and ours: the same keys in the same order, the same rows, and on
both sides figures and text that follow from the side's own runs. Exit code 1 on a difference.
"""

import csv
import glob
import json
import math
import statistics
import sys

theirs_dir, ours_dir = sys.argv[1:]
failures = []
STATS = ["avg", "min", "max", "sum", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "std"]
# Metrics that only ours has.
OURS = ("full_", "read_lag")


def check(side, what, ok):
    if not ok:
        failures.append(f"{side}: {what}")


def load(path):
    with open(path) as f:
        return json.load(f)


def near(a, b):
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def side(name, root):
    runs = [load(path) for path in sorted(glob.glob(f"{root}/profile_runs/*/profile_export_aiperf.json"))]
    whole = load(f"{root}/aggregate/profile_export_aiperf_aggregate.json")
    rows = whole["metrics"]
    check(name, f"{len(runs)} folders, {whole['metadata']['num_profile_runs']} runs", len(runs) == whole["metadata"]["num_profile_runs"])
    expected = {f"{tag}_{stat}": [] for r in runs for tag, m in r.items() if isinstance(m, dict) and "unit" in m for stat in STATS if stat in m}
    check(name, f"rows without a metric or metrics without a row: {sorted(set(expected) ^ set(rows))}", set(expected) == set(rows))
    for key, row in rows.items():
        tag, stat = key.rsplit("_", 1)
        values = [r[tag][stat] for r in runs if tag in r and stat in r[tag]]
        n, mean = len(values), statistics.fmean(values)
        check(name, f"{key}: mean", near(row["mean"], mean) and row["min"] == min(values) and row["max"] == max(values))
        if n < 2:
            continue
        std = statistics.stdev(values)
        spread = max(abs(v) for v in values) * 1e-9
        check(name, f"{key}: std {row['std']}, {std}", math.isclose(row["std"], std, rel_tol=1e-6, abs_tol=spread))
        check(name, f"{key}: se", math.isclose(row["se"], std / math.sqrt(n), rel_tol=1e-6, abs_tol=spread))
        check(name, f"{key}: interval", near(row["ci_low"], row["mean"] - row["t_critical"] * row["se"]) and near(row["ci_high"], row["mean"] + row["t_critical"] * row["se"]))
        check(name, f"{key}: cv", row["cv"] is None if mean == 0 else math.isclose(row["cv"], std / abs(mean), rel_tol=1e-6, abs_tol=1e-9))
    with open(f"{root}/aggregate/profile_export_aiperf_aggregate.csv", newline="") as f:
        text = f.read()
    lines = list(csv.reader(text.splitlines()))
    check(name, "lines of the CSV do not end with CRLF", text.count("\r\n") == text.count("\n"))
    at = lines.index([])
    for line in lines[1:at]:
        row = rows[line[0]]
        for column, cell in zip(lines[0][1:], line[1:]):
            v = row[column]
            if column != "unit":
                v = "inf" if v is None else f"{v:.{4 if column in ('cv', 'se', 't_critical') else 2}f}"
            check(name, f"CSV {line[0]} {column}: {cell}, {v}", cell == v)
    return whole, rows, lines[0], [line[0] for line in lines[at + 1:]]


def collated(name, root):
    whole = load(f"{root}/aggregate/profile_export_aiperf_collated.json")
    pools = {}
    for path in sorted(glob.glob(f"{root}/profile_runs/*/profile_export.jsonl")):
        for line in open(path):
            record = json.loads(line)
            if record["metadata"]["benchmark_phase"] != "profiling" or record.get("error"):
                continue
            for tag, m in record["metrics"].items():
                if not isinstance(m["value"], list):
                    pools.setdefault(tag, []).append(float(m["value"]))
    check(name, f"pooled metrics: {sorted(set(pools) ^ set(whole['metrics']))}", set(pools) == set(whole["metrics"]))
    for tag, m in whole["metrics"].items():
        values, c = sorted(pools.get(tag, [0.0])), m["combined"]
        check(name, f"{tag}: count", c["count"] == len(values) == sum(r["count"] for r in m["per_run"]))
        check(name, f"{tag}: mean", near(c["mean"], statistics.fmean(values)))
        for rank in (50, 90, 95, 99):
            h = (len(values) - 1) * rank / 100
            low = math.floor(h)
            want = values[low] + (h - low) * (values[min(low + 1, len(values) - 1)] - values[low])
            check(name, f"{tag}: p{rank} {c[f'p{rank}']}, {want}", near(c[f"p{rank}"], want))
    return whole


def shape(v):
    return {k: shape(m) if k in ("metadata", "combined") else None for k, m in v.items()} if isinstance(v, dict) else None


a, a_rows, a_header, a_meta = side("original", theirs_dir)
b, b_rows, b_header, b_meta = side("ours", ours_dir)
check("both", "keys of the aggregate", json.dumps(shape(a)) == json.dumps(shape(b)))
check("both", "CSV header and metadata", (a_header, a_meta) == (b_header, b_meta))
for key in ("num_profile_runs", "num_successful_runs", "failed_runs", "confidence_level", "cooldown_seconds"):
    check("both", f"{key}: {a['metadata'][key]} there, {b['metadata'][key]} here", a["metadata"][key] == b["metadata"][key])
check("both", f"rows missing here: {sorted(set(a_rows) - set(b_rows))}", set(a_rows) <= set(b_rows))
extra = {k for k in set(b_rows) - set(a_rows) if not k.startswith(OURS)}
check("both", f"rows only here: {sorted(extra)}", not extra)
for key in set(a_rows) & set(b_rows):
    check("both", f"{key}: keys", list(a_rows[key]) == list(b_rows[key]))
    check("both", f"{key}: t {a_rows[key]['t_critical']} there, {b_rows[key]['t_critical']} here", near(a_rows[key]["t_critical"], b_rows[key]["t_critical"]))
a, b = collated("original", theirs_dir), collated("ours", ours_dir)
check("both", "keys of the collated file", json.dumps(shape(a)) == json.dumps(shape(b)))
for tag in set(a["metrics"]) & set(b["metrics"]):
    check("both", f"{tag}: keys", json.dumps(shape(a["metrics"][tag])) == json.dumps(shape(b["metrics"][tag])))
print(f"repeats: {len(a_rows)} rows there, {len(b_rows)} here, {b['metadata']['num_profile_runs']} runs each")
for f in failures[:40]:
    print("  DIFFERS " + f)
sys.exit(bool(failures))
