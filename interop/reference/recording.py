"""Gives the server metrics recording of a run of the original to ours and compares what both make of the same samples:
every statistic, rate, bucket and timeslice, to 1e-9.

    recording.py THEIRS AIPERF     THEIRS is the artifact directory of the run, AIPERF our program

Prints what differs; a difference that is not listed in EXPLAINED ends with exit code 1.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

theirs, aiperf = pathlib.Path(sys.argv[1]), sys.argv[2]

# Differences with a reason; docs/compatibility.md gives it. Each must occur.
EXPLAINED = [
    # Infinity spelled otherwise is a bucket like others there.
    r"^spelled ",
    # A missing _count is 0 in their recording; their buckets go on.
    r"^uncounted ",
    # A negative sum becomes 0 there, and is kept without estimates here.
    r"^negative ",
]


def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool) or type(a) is not type(b):
        return a == b and type(a) is type(b)
    if isinstance(a, float):
        return abs(a - b) <= 1e-9 * max(abs(a), abs(b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def rounding(value, n):
    """What the original's average and deviation of n equal values are: its sum is not exact."""
    values = np.full(n, value)
    return {"avg": float(values.mean()), "std": float(values.std(ddof=1)) if n > 1 else 0.0}


def identity(series):
    return json.dumps(series.get("labels") or {}, sort_keys=True, ensure_ascii=False)


def measured(lines):
    """The scrapes of the phase. One that was sent before the phase and answered in it is marked as one before it there."""
    return [line for line in lines if line.get("benchmark_phase") == "profiling"]


def again(url, lines, types, scratch):
    """Our statistics of one endpoint's part of the recording. The original's slices begin with the first sample of the
    endpoint in the phase, ours where the window begins: here that is the same."""
    first, last = (end(line["timestamp_ns"] for line in measured(lines)) for end in (min, max))
    recording = scratch / "recording.jsonl"
    recording.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    given = [flag for name, kind in types.items() if kind != "histogram" for flag in ("--type", f"{name}={kind}")]
    subprocess.run([aiperf, "server-metrics", recording, "--from", str(first), "--to", str(last),
                    "--slice-duration", "1", "--formats", "json", "--output-dir", scratch, *given], check=True, capture_output=True)
    metrics = json.loads((scratch / "server_metrics_export.json").read_text(encoding="utf-8"))["metrics"]
    return {(url, name, identity(series)): series for name, metric in metrics.items() for series in metric["series"]}


export = json.loads((theirs / "server_metrics_export.json").read_text(encoding="utf-8"))
lines = collections.defaultdict(list)
for text in (theirs / "server_metrics_export.jsonl").read_text(encoding="utf-8").splitlines():
    line = json.loads(text)
    lines[line["endpoint_url"]].append(line)
for url, info in export["summary"]["endpoint_info"].items():
    if info["total_fetches"] != len(lines[url]):
        sys.exit(f"{url}: {info['total_fetches']} scrapes, {len(lines[url])} lines in the recording")

ours = {}
with tempfile.TemporaryDirectory() as scratch:
    for url in lines:
        types = {name: metric["type"] for name, metric in export["metrics"].items()}
        ours |= again(url, lines[url], types, pathlib.Path(scratch))

differences, compared, absent = [], 0, 0
for name, metric in export["metrics"].items():
    for series in metric["series"]:
        url, who = series["endpoint_url"], identity(series)
        held = [line for line in lines[url] if any(identity(s) == who for s in line["metrics"].get(name, []))]
        if not held:  # the recording leaves out the metrics that tell in their labels
            absent += 1
            if not name.endswith("_info"):
                differences.append(f"{name} {who}: not in the recording")
            continue
        mine = ours.get((url, name, who), {})
        a, b = ({"buckets": s.get("buckets"), "timeslices": s.get("timeslices")} | s["stats"] for s in (series, mine | {"stats": mine.get("stats", {})}))
        if metric["type"] in ("gauge", "unknown") and a["min"] == a["max"]:
            expected = rounding(a["min"], len(measured(held)))
            a |= {stat: b.get(stat) for stat in expected if a[stat] == expected[stat] and b.get(stat) == (a["min"] if stat == "avg" else 0)}
        for key in a | b:
            compared += 1
            if not same(a.get(key), b.get(key)):
                differences.append(f"{name} {who} {key}: {json.dumps(a.get(key))[:200]} there, {json.dumps(b.get(key))[:200]} here")

unexplained = [d for d in differences if not any(re.search(e, d) for e in EXPLAINED)]
gone = [e for e in EXPLAINED if not any(re.search(e, d) for d in differences)]
print(f"server metrics, the original's recording: {sum(map(len, lines.values()))} lines, {compared} values compared, {absent} series not recorded there")
for text in unexplained:
    print("  DIFFERS", text)
for text in gone:
    print("  NO LONGER DIFFERS", text)
print(f"  {len(differences)} differences, {len(differences) - len(unexplained)} of them explained")
sys.exit(1 if unexplained or gone else 0)
