"""Reads runs back from an MLflow server with its own client and compares them with the files of the runs.

    readback.py URI run FOLDER [live=N] [status=S]   the run that FOLDER's mlflow_export.json names
    readback.py URI delete LOG                       deletes the run that a log names
    readback.py URI compare THEIRS OURS              the keys of a run of the original against those of ours
"""

import json
import math
import os
import re
import sys
import tempfile

from mlflow.tracking import MlflowClient

uri, command = sys.argv[1:3]
client = MlflowClient(tracking_uri=uri)
faults = []


def expect(condition, text):
    if not condition:
        faults.append(text)


def load(folder, name):
    with open(os.path.join(folder, name)) as f:
        return json.load(f)


def read_run(folder, options):
    export, summary = load(folder, "mlflow_export.json"), load(folder, "profile_export_aiperf.json")
    run = client.get_run(export["run_id"])
    # Results: each statistic of the summary is there, under its tag or, for diagnostics, under system/.
    metrics, seen = run.data.metrics, set()
    for tag, block in summary.items():
        if not isinstance(block, dict) or "unit" not in block:
            continue
        base = tag if tag in metrics else "system/" + tag
        for stat, value in block.items():
            key = base if stat == "avg" else f"{base}.{stat}"
            if stat in ("unit", "method") or not isinstance(value, (int, float)) or isinstance(value, bool):
                continue
            expect(key in metrics, f"{key} is missing")
            if key in metrics:
                seen.add(key)
                expect(math.isclose(metrics[key], value, rel_tol=1e-9, abs_tol=1e-9), f"{key} is {metrics[key]}, the summary has {value}")
    results = {k for k in metrics if not k.startswith("live.")}
    expect(results == set(export["metric_keys"]), f"mlflow_export.json names other metrics: {results ^ set(export['metric_keys'])}")
    more = results - seen - {"aiperf.completed_requests", "aiperf.total_expected_requests"}
    expect(not more, f"not in the summary: {sorted(more)}")
    expect(any(k.startswith("system/http_req_") for k in metrics), "no diagnostics")
    with open(os.path.join(folder, "profile_export.jsonl")) as f:
        records = [json.loads(line) for line in f]
    expect(metrics["aiperf.completed_requests"] == len(records), f"{metrics['aiperf.completed_requests']} completed requests, {len(records)} lines")
    # Live: the history has its steps, and the means lie between the smallest and the largest value.
    history = client.get_metric_history(run.info.run_id, "live.gen_ai.client.operation.duration")
    least = int(options.get("live", 1))
    expect(len(history) >= least, f"{len(history)} live latencies, {least} expected")
    low, high = summary["request_latency"]["min"] / 1e3, summary["request_latency"]["max"] / 1e3
    for m in history:
        expect(low * 0.999 <= m.value <= high * 1.001, f"live latency {m.value} is not in {low}…{high}")
    steps = [m.step for m in history]
    expect(steps == sorted(set(steps)), f"steps {steps}")
    sent = client.get_metric_history(run.info.run_id, "live.aiperf.timing.requests.sent.profiling")
    values = [m.value for m in sent]
    expect(values == sorted(values) and values and values[-1] >= len(records), f"sent {values}")
    count = client.get_metric_history(run.info.run_id, "live.aiperf.request_count")
    good = sum(1 for r in records if not r.get("error"))
    expect(count and count[-1].value == good, f"live request count {[m.value for m in count]}, {good} successes")
    # Parameters and tags.
    params, tags = run.data.params, run.data.tags
    expect(set(params) == set(export["param_keys"]), f"parameters {sorted(params)}")
    expect(params["endpoint.type"] == "chat" and params["endpoint.models"] == "mock-model", f"parameters {params}")
    expect(params["aiperf.cli_command"].startswith("aiperf profile --model") and "s3cret" not in str(params), "the command line")
    expect(set(export["tag_keys"]) <= set(tags), f"tags {sorted(tags)}")
    expect(tags["benchmark_id"] == summary["benchmark_id"] and tags["aiperf.version"] == summary["aiperf_version"], f"tags {tags}")
    expect(tags["aiperf.was_cancelled"] == str(summary["was_cancelled"]).lower(), f"tags {tags}")
    expect(tags.get("mlflow.parentRunId") == export["parent_run_id"], f"tags {tags}")
    expect(run.info.run_name == export["run_name"] and run.info.status == options.get("status", "FINISHED"), f"{run.info}")
    # Files: each is there, byte for byte.
    with tempfile.TemporaryDirectory() as there:
        client.download_artifacts(run.info.run_id, "", there)
        stored = {os.path.relpath(os.path.join(d, f), there) for d, _, files in os.walk(there) for f in files}
        expect(len(stored) == len(export["uploaded_artifacts"]), f"files {sorted(stored)}")
        for name in export["uploaded_artifacts"]:
            place = os.path.join(there, "exports", name)
            expect(os.path.exists(place), f"{name} is not there")
            if os.path.exists(place) and name not in ("mlflow_export.json", "logs/aiperf.log"):
                with open(place, "rb") as a, open(os.path.join(folder, name), "rb") as b:
                    expect(a.read() == b.read(), f"{name} differs")
    expect("s3cret" not in json.dumps(export), "a secret is in mlflow_export.json")
    print(f"{os.path.basename(os.path.normpath(folder))}: {len(results)} metrics, {len(history)} live points of a metric, {len(params)} parameters, {len(tags)} tags, {len(stored)} files")


def compare(theirs, ours):
    def read(folder):
        run = client.get_run(load(folder, "mlflow_export.json")["run_id"])
        return run, {k for k in run.data.metrics if not k.startswith("live.")}, {k for k in run.data.metrics if k.startswith("live.")}

    their_run, their_keys, their_live = read(theirs)
    our_run, our_keys, our_live = read(ours)
    # Diagnostics stand under system/, counts of one number have no count of their own.
    flat = {k.removeprefix("system/") for k in our_keys}
    scalars = {k for k in flat if f"{k}.p50" not in flat}
    missing = {k for k in their_keys - flat if k.removesuffix(".count") not in scalars}
    expect(not missing, f"metrics that only the original has: {sorted(missing)}")
    # Token counts of the two kinds share a key with the original; timestamps and its own internal lag are no figures of ours.
    explained = {"live.gen_ai.client.token.usage", "live.aiperf.min_request_timestamp", "live.aiperf.max_response_timestamp", "live.aiperf.credit_drop_latency", "live.aiperf.requested_osl"}
    expect(not their_live - our_live - explained, f"live scalars that only the original has: {sorted(their_live - our_live - explained)}")
    for name, a, b in (("parameters", their_run.data.params, our_run.data.params), ("tags", their_run.data.tags, our_run.data.tags)):
        expect(not set(a) - set(b), f"{name} that only the original has: {sorted(set(a) - set(b))}")
        same = {k for k in a if k in b} - {"output.artifact_directory", "benchmark_id", "aiperf.version", "mlflow.runName", "mlflow.source.name", "mlflow.user"}
        for k in sorted(same):
            expect(a[k] == b[k], f"{name}: {k} is {a[k]!r} with the original, {b[k]!r} with ours")
    files = set(load(theirs, "mlflow_export.json")["uploaded_artifacts"]) - set(load(ours, "mlflow_export.json")["uploaded_artifacts"])
    expect(not files, f"files that only the original uploads: {sorted(files)}")
    keys = set(load(theirs, "mlflow_export.json")) ^ set(load(ours, "mlflow_export.json"))
    expect(not keys, f"keys of mlflow_export.json: {sorted(keys)}")
    print(f"the original: {len(their_keys)} metrics and {len(their_live)} live ones; of ours {len(their_keys & flat)} and {len(their_live & our_live)} have the same keys")


if command == "run":
    read_run(sys.argv[3], dict(a.split("=", 1) for a in sys.argv[4:]))
elif command == "delete":
    with open(sys.argv[3]) as f:
        client.delete_run(re.search(r"tracking the run .*/runs/([0-9a-f]+)", f.read())[1])
else:
    compare(*sys.argv[3:5])
for f in faults:
    print("FAULT:", f)
sys.exit(1 if faults else 0)
