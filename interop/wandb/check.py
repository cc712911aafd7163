"""Steps of check.sh with the official client of Weights & Biases.

    check.py log FOLDER TABLE             logs the run of FOLDER with the client, with the table of a file
    check.py read FOLDER RUN [TABLE]      reads a run back, compares it with FOLDER and writes its table to a file
    check.py compare THEIRS OURS          compares the requests of two logs of server.py
"""

import json
import math
import os
import re
import sys
import tempfile

faults = []
STATISTICS = ("avg", "min", "max", "p99", "p90", "p50", "std")


def expect(condition, text):
    if not condition:
        faults.append(text)


def load(*path):
    with open(os.path.join(*path)) as f:
        return json.load(f)


def files_of(folder):
    found = []
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(where, name), folder)
            if not path.startswith("wandb" + os.sep) and (
                    re.fullmatch(r"[^/]*\.(json|csv|jsonl|parquet)|phases/[^/]*/[^/]*\.(json|csv)", path) or re.search(r"\.(png|jpe?g|svg|html)$", path)):
                found.append(path)
    return sorted(found)


def log(folder, table):
    import wandb

    summary, table = load(folder, "profile_export_aiperf.json"), load(table)
    short = summary["benchmark_id"][:8]
    config = {**{k: v for k, v in summary["input_config"].items() if v is not None}, "aiperf.cli_command": "aiperf profile"}
    run = wandb.init(project="bench", name=f"aiperf-{short}", config=config,
                     tags=["aiperf-" + summary["aiperf_version"], "benchmark-" + short, "nightly"],
                     settings=wandb.Settings(console="off", x_disable_stats=True, silent=True, disable_code=True, disable_git=True))
    rows = wandb.Table(columns=table["columns"], data=table["data"])
    run.log({"summary_metrics": rows})
    for tag, block in summary.items():
        if isinstance(block, dict) and "unit" in block:
            run.summary[tag] = {k: block[k] for k in STATISTICS if block.get(k) is not None}
    artifact = wandb.Artifact(f"aiperf-{run.id}", type="aiperf-run")
    for name in files_of(folder):
        artifact.add_file(os.path.join(folder, name), name=name)
    run.log_artifact(artifact)
    run.finish()


def rounded(value):
    return None if value is None else math.floor(value * 100 + 0.5) / 100


def read(folder, name, out=None):
    import wandb

    api, summary = wandb.Api(), load(folder, "profile_export_aiperf.json")
    run = api.run(f"me/bench/{name}")
    short = summary["benchmark_id"][:8]
    expect(run.name == f"aiperf-{short}" and run.state == "finished", f"name {run.name}, state {run.state}")
    expect(run.tags == ["aiperf-" + summary["aiperf_version"], "benchmark-" + short, "nightly"], f"tags {run.tags}")
    # The configuration is that of the file.
    config = dict(run.config)
    expect(config.pop("aiperf.cli_command", "").startswith("aiperf profile "), "no command line")
    wanted = {k: v for k, v in summary["input_config"].items() if v is not None}
    for key in wanted.keys() | config.keys():
        expect(config.get(key) == wanted.get(key), f"configuration: {key} is {config.get(key)}, the file has {wanted.get(key)}")
    # Each figure of the summary is that of the file.
    blocks = {k: v for k, v in summary.items() if isinstance(v, dict) and "unit" in v}
    figures = 0
    uploaded = {k: dict(v) for k, v in dict(run.summary).items() if k in blocks}
    for tag, block in uploaded.items():
        for stat in STATISTICS:
            have, want = block.get(stat), blocks[tag].get(stat)
            expect(have == want, f"{tag} {stat}: {have}, the file has {want}")
            figures += want is not None
    others = set(dict(run.summary)) - set(blocks) - {"_step", "_runtime", "_timestamp", "_wandb", "summary_metrics"}
    expect(not others, f"values that are not in the file: {sorted(others)}")
    # Those of the file that the tables of the console leave out are not uploaded, the others are.
    missing = sorted(set(blocks) - set(uploaded))
    expect(len(uploaded) >= 10 and not {"request_latency", "time_to_first_token", "request_throughput"} - set(uploaded),
           f"only {sorted(uploaded)}")
    # The table holds the same figures with two decimals.
    with tempfile.TemporaryDirectory() as there:
        reference = run.summary["summary_metrics"]
        table = json.load(run.file(reference["path"]).download(root=there, replace=True))
        expect(table["columns"] == ["Metric", *STATISTICS] and len(table["data"]) == len(uploaded), f"table {table['columns']}")
        wanted = sorted(json.dumps([rounded(b.get(s)) for s in STATISTICS]) for b in uploaded.values())
        expect(sorted(json.dumps([rounded(v) for v in row[1:]]) for row in table["data"]) == wanted, "figures of the table")
        labels = [row[0] for row in table["data"]]
        expect(len(set(labels)) == len(labels) and all(labels), f"names of the rows {labels}")
        for rows in (list(run.scan_history()), run.history(pandas=False)):
            expect(len(rows) == 1 and rows[0]["summary_metrics"]["sha256"] == reference["sha256"], f"history {rows}")
        names = {f.name for f in run.files()}
        expect({"config.yaml", "wandb-summary.json", "wandb-metadata.json", reference["path"]} <= names, f"files {names}")
        # The artifacts: the table, and the files byte for byte.
        kinds = {a.type for a in run.logged_artifacts()}
        expect(kinds == {"run_table", "aiperf-run"}, f"artifacts {kinds}")
        stored = api.artifact(f"me/bench/run-{name}-summary_metrics:latest").get("summary_metrics")
        expect(stored.columns == table["columns"] and [list(r) for r in stored.data] == table["data"], "the table of the artifact")
        artifact = api.artifact(f"me/bench/aiperf-{name}:latest")
        expect(artifact.type == "aiperf-run", artifact.type)
        place = artifact.download(root=os.path.join(there, "files"))
        expect(files_of(place) == files_of(folder), f"files {files_of(place)}, the folder has {files_of(folder)}")
        for file in files_of(place):
            expect(open(os.path.join(place, file), "rb").read() == open(os.path.join(folder, file), "rb").read(), f"{file} differs")
        if out:
            json.dump(table, open(out, "w"))
    print(f"{os.path.basename(os.path.normpath(folder))}: {figures} figures of {len(uploaded)} metrics, {len(table['data'])} rows, "
          f"{len(files_of(folder))} files; {len(missing)} metrics that the console does not show are not uploaded")


# What the client sends and this program does not, and the other way round, each with its reason.
EXPLAINED = {
    "Viewer": "asks for the user, for its own output",
    "ServerFeaturesQuery": "asks what the server can do; what is used here exists on all servers",
    "ArtifactType": "asks whether another kind of artifact has the name; each name holds the new id of the run",
    "UpsertBucket again": "sends its telemetry as _wandb of the configuration",
    "file_stream again": "sends the summary while the run goes on; this program uploads once, after the run",
    "UpsertBucket.entity": "names in its second request the entity that it got for the first",
    "UpsertBucket.host": "the name of the machine stays here",
    "CreateArtifact.input.historyStep": "the step of an artifact in the history; the history has one row",
    "file requirements.txt": "Python packages",
    "manifest.local_path": "a path of this machine",
    "manifest.skip_cache": "for its own cache",
    "other": "telemetry of the client",
}
used = set()


def explained(key):
    used.add(key)
    return key in EXPLAINED


def requests(path):
    found = {"operations": {}, "streams": [], "puts": [], "files": set(), "manifests": {}}
    for line in open(path):
        e = json.loads(line)
        if e["status"] == 429:
            continue
        expect("fault" not in e, f"{path}: {e.get('fault')}")
        if e["path"] == "/graphql":
            name = re.search(r"(?:query|mutation)\s+(\w+)", e["body"]["query"])[1]
            expect(e["credentials"], f"{path}: {name} without credentials")
            found["operations"].setdefault(name, []).append(e["body"].get("variables") or {})
        elif e["path"].endswith("/file_stream"):
            expect(e["credentials"], f"{path}: file_stream without credentials")
            found["streams"].append(e["body"])
        elif e["method"] == "PUT":
            expect(not e["credentials"], f"{path}: {e['path']} with credentials")
            found["puts"].append(e)
            if e["path"].startswith("/store/manifest/"):
                found["manifests"][e["path"]] = e["body"]
        else:
            expect(explained("other"), f"{path}: {e['method']} {e['path']}")
    for v in found["operations"].get("CreateRunFiles", []):
        found["files"] |= set(v["files"])
    return found


def keys(values, prefix):
    """Returns the paths of all values that are not null."""
    found = set()
    for v in values if isinstance(values, list) else [values]:
        if isinstance(v, dict):
            for key, inner in v.items():
                found |= keys(inner, f"{prefix}.{key}")
        elif v is not None:
            found.add(prefix)
    return found


def compare(theirs, ours):
    a, b = requests(theirs), requests(ours)
    for name in sorted(a["operations"].keys() | b["operations"].keys()):
        mine, other = b["operations"].get(name), a["operations"].get(name)
        if not mine or not other:
            expect(explained(name), f"{name} is sent by {'the client' if other else 'this program'} alone")
            continue
        # The client names files in batches of so much time: their sets are compared, not their number.
        if len(mine) != len(other) and name not in ("CreateArtifactFiles", "CreateRunFiles"):
            expect(explained(name + " again"), f"{name}: {len(other)} times by the client, {len(mine)} times by this program")
        for key in keys(mine, name) ^ keys(other, name):
            expect(explained(key), f"variable {key} is sent by one alone")
    members = [keys(s, "stream") for s in (a["streams"], b["streams"])]
    if len(a["streams"]) != len(b["streams"]):
        expect(explained("file_stream again"), "requests of the file stream")
    for key in members[0] ^ members[1]:
        expect(explained(key), f"file stream: {key} is sent by one alone")
    for key in a["files"] ^ b["files"]:
        if not key.startswith("media/table/"):  # its name holds the sum of the table
            expect(explained("file " + key), f"file of the run: {key} is sent by one alone")
    for path, r in (("the client", a), ("this program", b)):
        media = [n for n in r["files"] if n.startswith("media/table/")]
        expect(len(media) == 1 and re.fullmatch(r"media/table/summary_metrics_0_[0-9a-f]{20}\.table\.json", media[0]), f"{path}: {media}")
        for e in r["puts"]:
            expect(e["path"].startswith("/store/md5/") == ("x-store" in e["headers"]), f"{path}: headers of {e['path']}")
    # The artifacts, by their type: digests, and entries of the manifest.
    digests = [{v["input"]["artifactTypeName"]: v["input"]["digest"] for v in r["operations"]["CreateArtifact"]} for r in (a, b)]
    expect(digests[0]["aiperf-run"] == digests[1]["aiperf-run"], f"digests of the files {digests}")

    def manifests(r):
        return {tuple(sorted(m["contents"])): m for m in r["manifests"].values()}
    x, y = manifests(a), manifests(b)
    expect(x.keys() == y.keys(), f"manifests of {x.keys()}, {y.keys()}")
    entries = 0
    for names in x.keys() & y.keys():
        expect({k: v for k, v in x[names].items() if k != "contents"} == {k: v for k, v in y[names].items() if k != "contents"}, "a manifest's head")
        for name in names:
            one, two = x[names]["contents"][name], y[names]["contents"][name]
            for key in one.keys() ^ two.keys():
                expect(explained("manifest." + key), f"manifest: {key} of {name} is sent by one alone")
            if len(names) > 1:
                expect((one["digest"], one["size"]) == (two["digest"], two["size"]), f"{name}: {one}, {two}")
            entries += 1
    unused = EXPLAINED.keys() - used
    shared = len(a["operations"].keys() & b["operations"].keys())
    print(f"requests: {shared} operations of both, {entries} entries of manifests, {len(used)} differences explained"
          + (f", not seen: {', '.join(sorted(unused))}" if unused else ""))


{"log": log, "read": read, "compare": compare}[sys.argv[1]](*sys.argv[2:])
for f in faults:
    print("FAULT:", f)
sys.exit(1 if faults else 0)
