"""check.py NAME STORED DIRECTORY LOG: compares what the collector stored of a run with the run's own records."""
import collections, json, os, sys

name, stored, directory, log = sys.argv[1], sys.argv[2], sys.argv[3], open(sys.argv[4]).read()
delta = name == "delta"
problems = []


def expect(what, got, want):
    if isinstance(want, float):
        good = isinstance(got, (int, float)) and abs(got - want) <= 1e-9 * max(abs(want), 1e-9)
    else:
        good = got == want
    if not good:
        problems.append(f"{what}: {got!r}, expected {want!r}")


def value(v):
    (kind, text), = v.items()
    return int(text) if kind == "intValue" else text


def attributes(list):
    return {a["key"]: value(a["value"]) for a in list}


class Series:
    """One metric with one set of attributes: cumulative points replace one another, those of deltas add up."""

    def __init__(self):
        self.count, self.sum, self.points, self.bounds, self.buckets = 0, 0.0, 0, None, None

    def add(self, point, cumulative):
        total = float(point.get("sum", point.get("asDouble", point.get("asInt", 0))))
        count = int(point.get("count", 0))
        buckets = [int(n) for n in point.get("bucketCounts", [])]
        self.points += 1
        if cumulative:
            if count < self.count:
                problems.append("a cumulative count went down")
            self.count, self.sum, self.buckets = count, total, buckets
        else:
            self.count, self.sum = self.count + count, self.sum + total
            self.buckets = [a + b for a, b in zip(self.buckets, buckets)] if self.buckets else buckets
        self.bounds = point.get("explicitBounds")


series, meta, resource, pushes = collections.defaultdict(Series), {}, {}, 0
for line in open(stored):
    pushes += 1
    for rm in json.loads(line)["resourceMetrics"]:
        resource = attributes(rm["resource"]["attributes"])
        for sm in rm.get("scopeMetrics", []):
            expect("scope", sm["scope"]["name"], "aiperf.records")
            for m in sm["metrics"]:
                kind = "histogram" if "histogram" in m else "sum"
                data = m[kind]
                temporality = data["aggregationTemporality"]  # 1 delta, 2 cumulative
                meta[m["name"]] = (kind, m.get("unit"), data.get("isMonotonic", False))
                up_down = kind == "sum" and not data.get("isMonotonic")
                expect(f"temporality of {m['name']}", temporality, 2 if up_down or not delta else 1)
                for p in data["dataPoints"]:
                    series[m["name"], tuple(sorted(attributes(p.get("attributes", [])).items()))].add(p, temporality == 2)

# The resource says which run this is.
summary = json.load(open(f"{directory}/profile_export_aiperf.json"))
expect("service.name", resource.get("service.name"), "aiperf")
expect("team", resource.get("team"), "perf")
expect("benchmark", resource.get("aiperf.benchmark.id"), resource.get("service.instance.id"))
expect("benchmark id", resource.get("aiperf.benchmark.id"), summary["benchmark_id"])
expect("endpoint", resource.get("aiperf.endpoint.type"), "chat")

provider = "acme" if name == "grpc-by-variable" else "_OTHER"
common = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": "mock-model"}
of_request = {**common, "aiperf.benchmark_phase": "profiling", "aiperf.has_error": False, "aiperf.was_cancelled": False}
of_error = {**of_request, "aiperf.has_error": True, "error.type": "http_5xx"}


def find(metric, wanted):
    found = series.get((metric, tuple(sorted(wanted.items()))))
    if found is None:
        there = [dict(a) for n, a in series if n == metric]
        problems.append(f"{metric} with {wanted} is missing; there is {there}")
        return Series()
    return found


# Each record metric of the run's own lines is in the stream, with its count and its sum.
records = [json.loads(line) for line in open(f"{directory}/profile_export.jsonl")]
good, bad = [r for r in records if not r.get("error")], [r for r in records if r.get("error")]
DURATION = [0.01 * 2**k for k in range(14)]
CHUNK = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.75, 1, 2, 5]
TOKENS = [4**k for k in range(13)]
STANDARD = {
    "request_latency": ("gen_ai.client.operation.duration", "s", 1e-3, DURATION, {}),
    "time_to_first_token": ("gen_ai.client.operation.time_to_first_chunk", "s", 1e-3, CHUNK, {}),
    "inter_token_latency": ("gen_ai.client.operation.time_per_output_chunk", "s", 1e-3, CHUNK, {}),
    "input_sequence_length": ("gen_ai.client.token.usage", "{token}", 1, TOKENS, {"gen_ai.token.type": "input"}),
    "output_token_count": ("gen_ai.client.token.usage", "{token}", 1, TOKENS, {"gen_ai.token.type": "output"}),
}
INTERNAL = {"ms": ("ns", 1e6)}
checked = set()
for tag in sorted({tag for r in records for tag in r["metrics"]}):
    of = bad if tag.startswith("error_") else good
    values, unit = [], None
    for r in of:
        if tag in r["metrics"]:
            m = r["metrics"][tag]
            unit = m["unit"]
            values += m["value"] if isinstance(m["value"], list) else [m["value"]]
    targets = []
    if tag in STANDARD:
        targets.append(STANDARD[tag])
    if tag not in STANDARD or tag == "input_sequence_length":
        other, factor = INTERNAL.get(unit, (unit, 1))
        targets.append((f"aiperf.{tag}", other, factor, None, {}))
    for metric, unit_wanted, factor, bounds, more in targets:
        s = find(metric, {**(of_error if of is bad else of_request), **more})
        expect(f"{metric} count", s.count, len(values))
        got, want = s.sum, sum(values) * factor
        if abs(got - want) > 1e-6 * abs(want) + 1e-9:
            problems.append(f"{metric} sum: {got!r}, expected {want!r}")
        expect(f"{metric} kind and unit", meta.get(metric, (None, None))[:2], ("histogram", unit_wanted))
        if bounds:
            expect(f"{metric} bounds", len(s.bounds or []), len(bounds))
            for a, b in zip(s.bounds or [], bounds):
                expect(f"{metric} bound", float(a), float(b))
        if s.bounds:
            limits = s.bounds
            want_buckets = [0] * (len(limits) + 1)
            for v in values:
                v *= factor
                want_buckets[next((i for i, limit in enumerate(limits) if v <= limit * (1 + 1e-12)), len(limits))] += 1
            expect(f"{metric} buckets", s.buckets, want_buckets)
        checked.add(metric)

expect("aiperf.request_count", find("aiperf.request_count", of_request).sum, float(len(good)))
if bad:
    expect("aiperf.error_request_count", find("aiperf.error_request_count", of_error).sum, float(len(bad)))
for metric in ("aiperf.request_latency", "aiperf.time_to_first_token", "aiperf.inter_token_latency", "aiperf.output_token_count"):
    if metric in meta:
        problems.append(f"{metric} is there twice, under two names")

# The load's counters.
timing = {k[0][len("aiperf.timing."):]: v for k, v in series.items() if k[0].startswith("aiperf.timing.") and dict(k[1])["aiperf.benchmark_phase"] == "profiling"}
for (metric, a) in series:
    for key, want in common.items():
        expect(f"{metric} {key}", dict(a).get(key), want)
for field, want in {"requests.sent": len(records), "requests.completed": len(records), "requests.errors": len(bad), "sessions.sent": len(records)}.items():
    if want:
        expect(f"timing {field}", timing[field].sum if field in timing else None, float(want))
        expect(f"timing {field} is a counter", meta.get("aiperf.timing." + field), ("sum", "1", True))
if "requests.in_flight" in timing:
    expect("in flight at the end", timing["requests.in_flight"].sum, 0.0)
expect("elapsed", meta.get("aiperf.timing.phase.elapsed_sec"), ("sum", "s", False))
if name != "restart":
    warm = [dict(a) for n, a in series if n == "aiperf.request_count" and dict(a)["aiperf.benchmark_phase"] == "warmup"]
    expect("warm-up is apart", len(warm), 1)

warnings = [line for line in log.splitlines() if "OpenTelemetry" in line and "WARNING" in line or "--otel-url" in line and "WARNING" in line]
if name == "restart":
    expect("warnings", len(warnings), 1)
    if "accepts pushes again" not in log:
        problems.append("the log does not tell that the collector is back")
elif warnings:
    problems.append(f"warnings: {warnings}")

latency = find("gen_ai.client.operation.duration", of_request)
print(f"{name}: {len(problems)} problems; {len(meta)} metrics, {len(series)} series, {sum(s.points for s in series.values())} points in {pushes} pushes; "
      f"{len(good)} requests and {len(bad)} errors; gen_ai.client.operation.duration count {latency.count} sum {latency.sum:.6f} s; {len(checked)} metrics compared with the records")
for p in problems[:20]:
    print("  " + p)
sys.exit(bool(problems))
