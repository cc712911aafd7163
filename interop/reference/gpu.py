"""gpu.py THEIRS OURS: compares the GPU telemetry of two runs against the same page."""
import csv, json, sys

# Known differences: the original adds the samples of a gauge up ("sum"), orders the keys of a line otherwise, and calls
# the source telemetry_source_url only, where ours keeps dcgm_url as well. Its energy begins with the last reading
# before the load, which may be seconds old; ours reads once more just before the first request. So energies are
# compared with the power that the page is known to have, not with each other.
#
# The original of this version has vendor-prefixed names; ours has them when it is asked for.
RENAMED = {"gpu_power_usage": "nvidia_power_usage", "gpu_memory_used": "nvidia_memory_used", "gpu_temperature": "nvidia_temperature",
           "mem_utilization": "nvidia_memory_utilization"}
problems = []


def load(directory):
    summary = json.load(open(f"{directory}/profile_export_aiperf.json"))
    lines = [json.loads(line) for line in open(f"{directory}/gpu_telemetry_export.jsonl")]
    text = open(f"{directory}/profile_export_aiperf.csv", newline="").read()
    rows = list(csv.reader(text.splitlines()))
    header = next(i for i, r in enumerate(rows) if r and r[0] == "Endpoint")
    return summary, lines, rows[header:], text


theirs, ours = (load(d) for d in sys.argv[1:3])


def same(what, a, b):
    if a != b:
        problems.append(f"{what}: theirs {a!r}, ours {b!r}")


def name(field):
    return RENAMED.get(field, field if field.startswith("nvidia_") else "nvidia_" + field)


t, o = theirs[0]["telemetry_data"], ours[0]["telemetry_data"]
same("keys of telemetry_data", list(t), list(o))
for key in ("endpoints_configured", "endpoints_successful"):
    same(key, t["summary"].get(key), o["summary"].get(key))
same("endpoints", list(t["endpoints"]), list(o["endpoints"]))
for endpoint, block in t["endpoints"].items():
    mine = o["endpoints"].get(endpoint, {"gpus": {}})
    same("GPUs", list(block["gpus"]), list(mine["gpus"]))
    for key, gpu in block["gpus"].items():
        other = mine["gpus"].get(key, {"metrics": {}})
        for field in gpu:
            if field != "metrics":
                same(f"{key}.{field}", gpu[field], other.get(field))
        renamed = {name(f): m for f, m in other["metrics"].items()}
        same(f"metrics of {key}", sorted(name(f) for f in gpu["metrics"]), sorted(renamed))
        for field, metric in gpu["metrics"].items():
            match = renamed.get(name(field), {})
            same(f"{key}.{field} unit", metric.get("unit"), match.get("unit"))
            same(f"{key}.{field} statistics", sorted(set(metric) - {"sum"}), sorted(match))
            a, b = metric.get("avg"), match.get("avg")
            if a is not None and b is not None and field.find("energy") < 0 and abs(a - b) > 0.05 * max(abs(a), 1):
                problems.append(f"{key}.{field} avg: theirs {a}, ours {b}")
same("keys of a line", sorted(set(theirs[1][0]) | {"dcgm_url"}), sorted(ours[1][0]))
same("fields of a line", sorted(name(f) for f in theirs[1][0]["telemetry_data"]), sorted(name(f) for f in ours[1][0]["telemetry_data"]))
same("columns", [c for c in theirs[2][0] if c != "sum"], ours[2][0])
same("rows", len(theirs[2]), len(ours[2]))
efficiency = [k for k in theirs[0] if any(w in k for w in ("gpu_power", "gpu_energy", "joule", "energy_per", "per_watt", "energy_delay"))]
for key in efficiency:
    if key not in ours[0]:
        problems.append(f"{key}: missing in ours ({theirs[0][key]})")
    else:
        a, b = theirs[0][key], ours[0][key]
        same(f"{key} unit", a["unit"], b["unit"])
        if "power" in key and key != "nvidia_average_gpu_power" and abs(a["avg"] - b["avg"]) > 0.05 * abs(a["avg"]):
            problems.append(f"{key}: theirs {a}, ours {b}")


def energy(run):
    """The energy of a run as a share of what the power of the page makes of its duration."""
    seconds = run[0]["benchmark_duration"]["avg"]
    return run[0]["nvidia_total_gpu_energy"]["avg"] / (run[0]["nvidia_total_gpu_power"]["avg"] * seconds)


if not 0.97 < energy(ours) < 1.1:
    problems.append(f"energy: {energy(ours):.3f} of power times duration")
print(f"gpu: energy as a share of power times duration: theirs {energy(theirs):.3f}, ours {energy(ours):.3f}")
print(f"gpu: {len(t['endpoints'])} endpoint(s), {len(theirs[1])} and {len(ours[1])} lines, {len(efficiency)} figures of efficiency")
for p in problems:
    print("  " + p)
sys.exit(bool(problems))
