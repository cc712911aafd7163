"""A recording and the recording of its replay: how far apart they are. Usage: twin.py NAME RECORDED REPLAYED [HITS HITS],
each HITS a pair of the server's own counters, cached/asked tokens, of what passed; without them what its replies say
counts."""
import glob
import json
import os
import sys


def rows_of(folder):
    rows = []
    for name in sorted(glob.glob(os.path.join(folder, "traffic*.jsonl"))):
        rows += [json.loads(line) for line in open(name)][1:]
    return sorted((r for r in rows if r["outcome"] == "ok" and r.get("input_length")), key=lambda r: r["timestamp_ms"])


def distance(a, b):
    """Of Kolmogorov and Smirnov: the largest difference of two cumulative distributions."""
    points = sorted([(x, 1 / len(a), 0) for x in a] + [(x, 0, 1 / len(b)) for x in b])
    fa = fb = most = 0
    for i, (x, da, db) in enumerate(points):
        fa, fb = fa + da, fb + db
        if i + 1 == len(points) or points[i + 1][0] > x:
            most = max(most, abs(fa - fb))
    return most


def mean(values):
    return sum(values) / len(values)


name, recorded, replayed = sys.argv[1:4]
a, b = rows_of(recorded), rows_of(replayed)
arrivals = [[r["timestamp_ms"] - rows[0]["timestamp_ms"] for r in rows] for rows in (a, b)]
out = [[r.get("usage_completion_tokens") or r["output_length"] for r in rows] for rows in (a, b)]
isl = [mean([r["input_length"] for r in rows]) for rows in (a, b)]
osl = [mean(o) for o in out]
apart = distance(*arrivals)
print(f"{name}: {len(a)} and {len(b)} requests, mean ISL {isl[0]:.1f} and {isl[1]:.1f}, mean OSL {osl[0]:.2f} and {osl[1]:.2f}, "
      f"arrival distance {apart:.3f}")
faults = []
if len(a) != len(b):
    faults.append("another number of requests")
if abs(isl[0] / isl[1] - 1) > 0.01 or abs(osl[0] / osl[1] - 1) > 0.01:
    faults.append("mean lengths differ by more than 1 %")
# Later turns come a time after the replies before them, which a busy machine delays.
if apart > 0.1:
    faults.append("arrivals are apart")
by, pairs = "the server's counters", [tuple(map(float, hits.split("/"))) for hits in sys.argv[4:6]]
if not pairs:
    by = "the server's replies"
    pairs = [(sum(r.get("usage_cached_tokens", 0) for r in rows), sum(r["usage_prompt_tokens"] for r in rows if "usage_cached_tokens" in r))
             for rows in (a, b)]
rates = [100 * hits / max(asked, 1) for hits, asked in pairs]
print(f"{name}: prefix cache hit rate by {by} {rates[0]:.1f} % and {rates[1]:.1f} %, of {pairs[0][1]:.0f} and {pairs[1][1]:.0f} tokens")
if abs(rates[0] - rates[1]) > 2 or not pairs[0][1]:
    faults.append("hit rates are more than 2 points apart")
sys.exit("; ".join(faults) or 0)
