"""Checks the files of a run beside real exporters: against the pages that were read by hand before and after it, and
against each other.

    real.py DIR LOG    with DIR/before.json, DIR/after.json and DIR/out
"""

import bisect
import csv
import json
import math
import re
import statistics
import sys

import pandas as pd

from page import exported, labels_of, parse

directory, log = sys.argv[1:]
failures = []
checks = 0


def check(right, text):
    global checks
    checks += 1
    if not right:
        failures.append(text)


def load(name):
    with open(f"{directory}/{name}", encoding="utf-8") as f:
        return json.load(f)


before, after, files = load("before.json"), load("after.json"), load("out/server_metrics_export.json")
recording = load("out/server_metrics_recording.json")
start, phase_end = recording["window"]["start_ns"], recording["window"]["end_ns"]
series = {}  # (endpoint, name, labels) → series
for name, family in files["metrics"].items():
    for s in family["series"]:
        series[s["endpoint_url"], name, labels_of(s)] = s

# Each family and each series of the pages, with its type; what only comes with the first request may be missing.
all_taken = set()
for url in after["pages"]:
    types, samples = parse(before["pages"][url])
    later, ends = parse(after["pages"][url])
    check(later.items() >= types.items(), f"{url}: families vanished")
    summaries = 0
    # Go programs have a gauge and a counter of the same name without _total, go_memstats_alloc_bytes.
    taken = {f for f, kind in types.items() if kind == "counter" and types.get(f.removesuffix("_total"), kind) != kind}
    all_taken |= taken
    for family, kind in types.items():
        name = exported(family, kind, taken)
        if name is None:
            summaries += kind == "summary"
            check(family not in files["metrics"], f"{family} ({kind}) is exported")
            continue
        got = files["metrics"].get(name)
        check(got is not None and got["type"] == {"untyped": "unknown"}.get(kind, kind), f"{family}: {kind} on the page, {got and got['type']} in the file")
        for (sample, pairs), value in samples.items():
            if sample == family and math.isfinite(value):
                check((url, name, pairs) in series, f"{family}{pairs} of {url} is missing")
    # A total lies within what two pages read outside the window say.
    for (sample, pairs), value in samples.items():
        family = sample if types.get(sample) == "counter" else None
        if family and (s := series.get((url, exported(family, "counter", taken), pairs))):
            outer = ends[sample, pairs] - value
            check(-1e-6 <= s["stats"]["total"] <= outer * (1 + 1e-9) + 1e-6, f"{sample}{pairs}: total {s['stats']['total']}, {outer} between the pages")
    for (sample, pairs), value in samples.items():
        family = sample.removesuffix("_count")
        if sample.endswith("_count") and types.get(family) == "histogram":
            s = series[url, family, pairs]
            check(0 <= s["stats"]["count"] <= ends[sample, pairs] - value, f"{family}{pairs}: count {s['stats']['count']}, {ends[sample, pairs] - value} between the pages")
            check(not s.get("buckets") or list(s["buckets"])[-1] == "+Inf" and list(s["buckets"].values())[-1] == s["stats"]["count"], f"{family}{pairs}: buckets {s.get('buckets')}")

# Known families of both exporters.
node, prometheus = after["pages"]
for name, url, kind, unit, labels in [
    ("node_cpu_seconds", node, "counter", "seconds", {"cpu", "mode"}),
    ("node_load1", node, "gauge", None, set()),
    ("node_memory_MemAvailable_bytes", node, "gauge", "bytes", set()),
    ("node_network_receive_bytes", node, "counter", "bytes", {"device"}),
    ("node_network_transmit_packets", node, "counter", None, {"device"}),
    ("node_procs_running", node, "gauge", None, set()),
    ("node_uname_info", node, "gauge", None, {"domainname", "machine", "nodename", "release", "sysname", "version"}),
    ("prometheus_http_requests", prometheus, "counter", "requests", {"code", "handler"}),
    ("prometheus_http_request_duration_seconds", prometheus, "histogram", "seconds", {"handler"}),
    ("prometheus_tsdb_head_samples_appended", prometheus, "counter", None, {"type"}),
    ("prometheus_tsdb_head_series", prometheus, "gauge", None, set()),
    ("process_cpu_seconds", prometheus, "counter", "seconds", set()),
]:
    family = files["metrics"].get(name)
    check(family is not None, f"{name} is missing")
    if family:
        mine = [s for s in family["series"] if s["endpoint_url"] == url]
        check((family["type"], family.get("unit")) == (kind, unit), f"{name}: {family['type']}, {family.get('unit')}")
        check(mine and all(set(s.get("labels") or {}) == labels for s in mine), f"{name}: labels {[s.get('labels') for s in mine[:1]]}")
check("go_memstats_alloc_bytes_total" in all_taken, "no counter shares its name with a gauge")
totals = {n for n, f in files["metrics"].items() if f["type"] == "counter" and n.endswith("_total")}
check(totals == all_taken, f"counters that end in _total: {totals}, {all_taken} share their names with others")

# Totals in their order of magnitude: the run lasts most of the time between the pages.
share = (phase_end - start) / 1e9 / (after["time"] - before["time"])
for name, url in ("node_cpu_seconds", node), ("prometheus_tsdb_head_samples_appended", prometheus), ("prometheus_http_requests", prometheus):
    total = sum(s["stats"]["total"] for (u, n, _), s in series.items() if (u, n) == (url, name))
    (_, first), (_, last) = parse(before["pages"][url]), parse(after["pages"][url])
    outer = sum(v - first.get(k, 0) for k, v in last.items() if k[0] == name + "_total")
    check(0.3 * share * outer <= total <= outer, f"{name}: {total} in the window, {outer} between the pages, which is {share:.0%} of the time")
    print(f"  {name}: {total:.2f} in the window, {outer:.2f} between the two pages ({share:.0%} of that time)")
cpus = len({dict(k[2])["cpu"] for k in series if k[1] == "node_cpu_seconds"})
idle = sum(s["stats"]["rate"] for (_, n, _), s in series.items() if n == "node_cpu_seconds")
check(0.8 * cpus <= idle <= 1.2 * cpus, f"{cpus} processors have {idle} seconds in a second")

# The recording gives the same statistics.
raw = {}
fetches = {}
first_page = {}
with open(f"{directory}/out/server_metrics_export.jsonl", encoding="utf-8") as f:
    for line in f:
        scrape = json.loads(line)
        url = scrape["endpoint_url"]
        fetches[url] = fetches.get(url, 0) + 1
        first_page[url] = min(first_page.get(url, math.inf), scrape["timestamp_ns"])
        for name, samples in scrape["metrics"].items():
            for s in samples:
                if "value" in s:
                    raw.setdefault((url, name, labels_of(s)), []).append((scrape["timestamp_ns"], s["value"]))
for url, info in files["summary"]["endpoint_info"].items():
    check(fetches[url] == info["total_fetches"], f"{url}: {fetches[url]} lines, {info['total_fetches']} fetches")


def percentile(values, p):
    values = sorted(values)
    rank = (len(values) - 1) * p / 100
    low = math.floor(rank)
    high = min(low + 1, len(values) - 1)
    return values[low] + (rank - low) * (values[high] - values[low])


def close(a, b, scale):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), abs(scale))


for (url, name, labels), s in series.items():
    kind = files["metrics"][name]["type"]
    samples = sorted(raw.get((url, name, labels), []), key=lambda x: x[0])
    end = max(phase_end, files["summary"]["endpoint_info"][url]["last_update_ns"])
    inside = [v for t, v in samples if start <= t <= end]
    if kind == "gauge" and not name.endswith("_info"):
        stats, mean = s["stats"], statistics.fmean(inside)
        want = {"avg": mean, "min": min(inside), "max": max(inside), "std": statistics.stdev(inside) if len(inside) > 1 else 0.0, "p50": percentile(inside, 50), "p99": percentile(inside, 99)}
        for stat, value in want.items():
            check(close(stats[stat], value, mean), f"{name}{labels}.{stat}: {stats[stat]}, {value} by the recording")
    elif kind == "counter":
        at = bisect.bisect_left([t for t, _ in samples], start)
        # A counter that an earlier page lacked was 0 there.
        reference = samples[at - 1][1] if at else 0 if first_page[url] < samples[0][0] else inside[0]
        check(close(s["stats"]["total"], max(inside[-1] - reference, 0), reference), f"{name}{labels}: total {s['stats']['total']}, {inside[-1] - reference} by the recording")

# The other formats hold the same series.
table = pd.read_parquet(f"{directory}/out/server_metrics_export.parquet")
names = {n for (_, n, _) in series}
check(set(table.metric_name) <= names and len(set(table.metric_name)) > 0.9 * len(names), "Parquet: other names than in the JSON")
last = table[table.metric_type == "counter"].sort_values("timestamp_ns", kind="stable").groupby(["endpoint_url", "metric_name"] + sorted(label for label in set(table.columns) if label in {"cpu", "mode", "device"}), dropna=False).last()
for (url, name, cpu, device, mode), row in last.iterrows():
    if name == "node_cpu_seconds":
        s = series[url, name, (("cpu", cpu), ("mode", mode))]
        check(close(row["value"], s["stats"]["total"], 1), f"Parquet: {name} {cpu} {mode}: {row['value']}, total {s['stats']['total']}")
rows = 0
with open(f"{directory}/out/server_metrics_export.csv", newline="", encoding="utf-8") as f:
    for block in re.split("\r\n\r\n", f.read()):
        for row in csv.DictReader(block.splitlines(keepends=True)):
            if "Key" in row:
                continue
            rows += 1
            if row["Type"] == "counter":
                mine = [s for (u, n, _), s in series.items() if n == row["Metric"] and u == f"http://{row['Endpoint']}/metrics" and all((s.get("labels") or {}).get(k, "") == row[k] for k in row if k in (s.get("labels") or {}))]
                check(any(f"{s['stats']['total']:.4f}" == row["total"] for s in mine), f"CSV: {row['Metric']}: total {row['total']}")
infos = sum(n.endswith("_info") for (_, n, _) in series)
check(rows == len(series) - infos, f"CSV: {rows} rows for {len(series) - infos} series")

with open(log, encoding="utf-8") as f:
    lines = f.read().splitlines()
skipped = [line for line in lines if "Skipping unsupported summary metric: go_gc_duration_seconds" in line]
check(len(skipped) == 1, f"the log skips go_gc_duration_seconds {len(skipped)} times")
for line in lines:
    if "WARN" in line and "etrics" in line:
        print("  log:", line.strip())
for text in failures[:40]:
    print("  WRONG", text)
print(f"  {len(series)} series of {len(files['metrics'])} families; {checks} checks, {len(failures)} failed")
sys.exit(1 if failures else 0)
