"""Compares what Prometheus stored of the live page of a series of runs with the summaries of its runs.

    stored.py classic|native PROMETHEUS PAGE DIR DASHBOARD
"""

import json
import math
import re
import sys
import time
import urllib.parse
import urllib.request

kind, server, page, directory, dashboard = sys.argv[1:]
failures = []
checks = 0


def check(right, text):
    global checks
    checks += 1
    if not right:
        failures.append(text)


def api(path, **arguments):
    with urllib.request.urlopen(f"{server}/api/v1/{path}?{urllib.parse.urlencode(arguments)}", timeout=10) as reply:
        return json.load(reply)["data"]


def query(expr, at=None):
    return api("query", query=expr, **({"time": at} if at else {}))["result"]


def last(expr):
    """The last value of the one series that is asked for, stored within two minutes."""
    result = query(f"last_over_time({expr}[2m])")
    if len(result) != 1:
        return None
    return float(result[0]["value"][1])


def same(sample, want, text):
    got = last(sample)
    check(got is not None and math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-12), f"{text}: {sample} is {got}, the summary says {want}")


def label(run, phase="profiling", **more):
    return "{" + ",".join(f'{k}="{v}"' for k, v in {"run": run, "phase": phase, **more}.items()) + "}"


time.sleep(1)
# The last scrape that had an answer; both runs were on that page.
final = max(t for t, v in query(f'up{{instance="{page}"}}[2m]')[0]["values"] if v == "1")
families = {
    "aiperf_time_to_first_token_seconds": ("time_to_first_token", 1e-3),
    "aiperf_inter_chunk_latency_seconds": ("inter_chunk_latency", 1e-3),
    "aiperf_inter_token_latency_seconds": ("inter_token_latency", 1e-3),
    "aiperf_request_latency_seconds": ("request_latency", 1e-3),
    "aiperf_output_sequence_length_tokens": ("output_sequence_length", 1),
    "aiperf_input_sequence_length_tokens": ("input_sequence_length", 1),
}
for number in 1, 2:
    run = f"trial_{number:04d}"
    with open(f"{directory}/profile_runs/run_{number:04d}/profile_export_aiperf.json", encoding="utf-8") as f:
        summary = json.load(f)
    with open(f"{directory}/profile_runs/run_{number:04d}/run_state.json", encoding="utf-8") as f:
        state = json.load(f)
    for family, (tag, scale) in families.items():
        stats = summary[tag]
        if kind == "classic":
            same(f"{family}_count{label(run)}", stats["count"], run)
            same(f"{family}_sum{label(run)}", stats["sum"] * scale, run)
            same(f'{family}_bucket{label(run, le="+Inf")}', stats["count"], run)
            continue
        # A native histogram: its own count, sum and buckets, which give percentiles to within a bucket.
        result = query(f"{family}{label(run)}", final)
        check(len(result) == 1 and "histogram" in result[0], f"{run}: {family} is no native histogram: {str(result)[:200]}")
        if not result or "histogram" not in result[0]:
            continue
        h = result[0]["histogram"][1]
        check(int(float(h["count"])) == stats["count"], f"{run}: {family} has {h['count']}, the summary {stats['count']}")
        check(math.isclose(float(h["sum"]), stats["sum"] * scale, rel_tol=1e-9), f"{run}: {family} sums to {h['sum']}, the summary {stats['sum'] * scale}")
        check(math.isclose(sum(float(b[3]) for b in h["buckets"]), stats["count"]), f"{run}: the buckets of {family}")
        for q in 50, 90, 99:
            got = float(query(f"histogram_quantile({q / 100}, {family}{label(run)})", final)[0]["value"][1])
            want = stats[f"p{q}"] * scale
            check(want == 0 or abs(got - want) <= 0.12 * want, f"{run}: p{q} of {family} is {got}, the summary says {want}")
    good, failed = summary["request_count"]["avg"], summary["error_request_count"]["avg"]
    same("aiperf_requests_total" + label(run, outcome="success"), good, run)
    same("aiperf_requests_total" + label(run, outcome="error"), failed, run)
    by_kind = query(f"sum(last_over_time(aiperf_request_errors_total{label(run)}[2m]))")
    check(by_kind and float(by_kind[0]["value"][1]) == failed, f"{run}: errors by kind: {by_kind}, the summary has {failed}")
    phase = [p for p in state["phases"] if p["kind"] == "profiling"][0]
    same("aiperf_requests_sent_total" + label(run), phase["requests_sent"], run)
    same("aiperf_requests_cut_off_total" + label(run), phase["requests_cancelled"], run)
    check(phase["requests_cancelled"] > 0, f"{run}: nothing was cut off")
    same("aiperf_requests_in_flight" + label(run), 0, run)
    same("aiperf_input_tokens_total" + label(run), summary["total_isl"]["avg"], run)
    same("aiperf_output_tokens_total" + label(run), summary["total_output_tokens"]["avg"], run)
    same("aiperf_good_requests_total" + label(run), summary["good_request_count"]["avg"], run)
    same("aiperf_configured_concurrency" + label(run), 50, run)
    same("aiperf_configured_request_rate" + label(run), 60, run)
    same("aiperf_phase_state" + label(run, state="complete"), 1, run)
    health = summary["client_health"]
    same(f'aiperf_client_verdict{{run="{run}",verdict="{health["verdict"]}"}}', 1, run)
    same(f'aiperf_client_cpu_ratio{{run="{run}"}}', health["cpu"]["share"], run)
    same(f'aiperf_host_cpu_busy_ratio{{run="{run}"}}', health["host"]["cpu"]["busy_share"], run)
    if kind == "classic":
        same("aiperf_client_send_lag_seconds_count" + label(run), good + failed, run)
    info = query(f'last_over_time(aiperf_info{{run="{run}"}}[2m])')
    check(len(info) == 1 and info[0]["metric"]["benchmark_id"] == summary["benchmark_id"] and info[0]["metric"]["instance"] == page and info[0]["metric"]["model"] == "mock-model",
          f"{run}: {info}")
    # The figures grew while the run was under way.
    series = query(f'aiperf_requests_total{label(run, outcome="success")}[2m]')
    values = [float(v) for _, v in series[0]["values"]] if series else []
    check(len(set(values)) >= 5 and values == sorted(values), f"{run}: the count of requests went {values}")
    flying = [float(v) for _, v in query(f"aiperf_requests_in_flight{label(run)}[2m]")[0]["values"]]
    check(1 <= max(flying) <= 50, f"{run}: in flight {flying}")
check(last("aiperf_requests_sent_total" + label("trial_0001", phase="warmup")) == 10, "the warm-up of the first run")

# The types that Prometheus knows of the page, and no scrape that failed.
with urllib.request.urlopen(f"{server}/api/v1/targets", timeout=10) as reply:
    target = json.load(reply)["data"]["activeTargets"][0]
check("up" in {m["metric"]["__name__"] for m in query("up")}, "no scrape")
types = {name: rows[0]["type"] for name, rows in api("metadata").items() if name.startswith("aiperf_")}
for name, want in {"aiperf_requests_total": "counter", "aiperf_requests_in_flight": "gauge", "aiperf_request_latency_seconds": "histogram", "aiperf_info": "gauge"}.items():
    check(not types or types.get(name) == want, f"{name} is a {types.get(name)}")
duration = max(float(v) for _, v in query(f'scrape_duration_seconds{{instance="{page}"}}[2m]')[0]["values"])

# Each query of the dashboard is one that Prometheus answers; in the time of the runs most have something to say.
middle = summary["run_info"]["end_time_ns"] / 1e9 - 1
silent = []
with open(dashboard, encoding="utf-8") as f:
    panels = json.load(f)["panels"]
asked = 0
for panel in panels:
    for item in panel.get("targets", []):
        expr = item["expr"].replace("$__rate_interval", "5s").replace('"$instance"', '".*"').replace('"$run"', '".*"').replace('"$phase"', '"profiling"')
        check(not re.search(r"\$", expr), f"a variable is left in {expr}")
        asked += 1
        try:
            if not query(expr, middle):
                silent.append((panel["title"], item["expr"]))
        except urllib.error.HTTPError as e:
            check(False, f"panel {panel['title']}: {expr}: {e.read().decode()[:200]}")
classic_only = {p["title"] for p in panels if any("_bucket{" in t["expr"] for t in p.get("targets", []))}
# A client that is well has no findings.
check({title for title, _ in silent} - {"Findings"} == (classic_only if kind == "native" else set()), f"panels without data: {sorted({t for t, _ in silent})}")
for text in failures[:30]:
    print("  WRONG", text)
print(f"  {kind}: {checks} checks, {len(failures)} failed; {len(types)} families, longest scrape {duration * 1e3:.1f} ms; {asked} queries of the dashboard, {len(silent)} without an answer")
sys.exit(1 if failures else 0)
