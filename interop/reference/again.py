"""Compares the figures that ours computed of a run of the original with the original's own, block by block.

    again.py NAME THEIRS OURS     THEIRS is the folder of the run, OURS what `aiperf report` wrote
"""

import datetime
import json
import pathlib
import sys

name, theirs, ours = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
NOISE = 1e-9
# docs/compatibility.md gives the reasons.
EXPLAINED = {
    "http_req_data_sent": "bytes here",
    "http_req_data_received": "bytes here",
    "context_overflow_count": "absent as long as it is 0",
    "credit_to_start_latency": "of successful requests here",
    "effective_latency": "of successful requests here",
    "network_rtt": "one value here",
    # Readings after the load count there, and rates are others.
    "nvidia_average_gpu_power": "up to the end of the last request here",
    "nvidia_performance_per_watt": "rates",
    "nvidia_output_tps_per_watt": "rates",
}
# The window of a curve is known to the microsecond; tokens are spread evenly over a request's decode time here.
CURVES, SHAPES = ("effective_", "active_"), ("decode_throughput", "tokens_in_flight")
# Rates divide by the length of the phase there, by benchmark_duration here.
RATES = ("request_throughput", "goodput", "output_token_throughput", "input_token_throughput", "total_token_throughput")
# Epoch nanoseconds are floats there: the last bits of a duration are those of an instant.
EPOCH = 1e-6


def load(folder, file):
    path = folder / file
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def near(a, b, noise):
    return a == b or abs(a - b) <= noise * max(abs(a), abs(b), 1e-9)


def reason(what, tag, stat, value, got, spans):
    """Whether a difference is known, and as large as it may be."""
    if tag in EXPLAINED or any(shape in tag for shape in SHAPES):
        return True
    if got is None:  # absent is not zero
        return value == 0 and tag.startswith(CURVES) or tag == "output_sequence_length" and not a.get(tag, {}).get("avg")
    if tag == "benchmark_duration":
        return abs(value - got) <= EPOCH
    if tag in RATES:
        return near(value * spans[0], got * spans[1], 1e-4)
    # A slice that the end of the phase cuts short ends with the last response there.
    return tag.startswith(CURVES) and (near(value, got, 1e-3) or "slice" in what and spans[0] != spans[1])


def compare(what, a, b, spans):
    equal = explained = 0
    faults = []
    for tag, block in a.items():
        if not (isinstance(block, dict) and "unit" in block):
            continue
        mine = b.get(tag)
        for stat, value in block.items():
            if stat == "unit" or not isinstance(value, (int, float)):
                continue
            got = (mine or {}).get(stat)
            if got is not None and near(value, got, NOISE):
                equal += 1
            elif reason(what, tag, stat, value, got, spans):
                explained += 1
            else:
                faults.append(f"{what}: {tag}.{stat}: {value} there, {got} here")
    return equal, explained, faults


a, b = load(theirs, "profile_export_aiperf.json"), load(ours, "profile_export_aiperf.json")
start, end = (datetime.datetime.fromisoformat(a[key]) for key in ("start_time", "end_time"))
equal, explained, failures = compare("summary", a, b, ((end - start).total_seconds(), b.get("benchmark_duration", {}).get("avg", 0)))
slices = load(theirs, "profile_export_aiperf_timeslices.json")
if slices:
    mine = load(ours, "profile_export_aiperf_timeslices.json")["timeslices"]
    if len(mine) != len(slices["timeslices"]):
        failures.append(f"{len(slices['timeslices'])} time slices there, {len(mine)} here")
    for i, (x, y) in enumerate(zip(slices["timeslices"], mine)):
        e, k, f = compare(f"slice {i}", x, y, (x["end_ns"] - x["start_ns"], y["end_ns"] - y["start_ns"]))
        equal, explained, failures = equal + e, explained + k, failures + f
print(f"{name}: {equal} figures computed again are equal, {explained} differ for a reason")
for failure in failures:
    print("  DIFFERS " + failure)
sys.exit(bool(failures))
