"""Lists every key of the original's JSON and JSONL files of one run: in ours with the same type and unit, or in
differences.tsv with a reason. Others end with exit code 1.

    keys.py NAME THEIRS OURS     THEIRS and OURS are artifact directories of the same benchmark
"""

import csv
import fnmatch
import json
import pathlib
import sys

name, theirs, ours = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
with open(pathlib.Path(__file__).with_name("differences.tsv"), newline="") as table:
    KNOWN = list(csv.DictReader(table, delimiter="\t"))
# Mappings whose keys are data: an endpoint, a GPU, a header. Their keys are no part of the shape.
DATA = ("endpoints", "endpoint_info", "gpus", "headers", "request_headers", "response_headers", "labels", "buckets", "payload", "payloads", "extra",
        "histogram", "slos", "variation_values")


def documents(path):
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [json.loads(text)]


def kind(value):
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, (int, float)) else {"str": "text", "dict": "object", "list": "list", "NoneType": "null"}[type(value).__name__]


def walk(value, path, out):
    """Path → set of types; units count as types of their own."""
    if isinstance(value, dict):
        inside = path.rsplit(".", 1)[-1]
        for key, inner in value.items():
            at = f"{path}.{key}" if path else key
            if inside in DATA:
                at = f"{path}.*"
            out.setdefault(at, set()).add(f"unit {inner}" if key == "unit" else kind(inner))
            walk(inner, at, out)
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, (dict, list)):
                walk(inner, path + "[]", out)


def reason(file, path, what):
    """The reason of the first row whose patterns fit; a row is about keys that are absent, or whose type differs."""
    for row in KNOWN:
        if row["what"] == what and fnmatch.fnmatchcase(file, row["file"]) and fnmatch.fnmatchcase(path, row["path"].replace("[]", "[[]]")):
            return row["reason"]
    return None


def silent(document):
    """The metrics of a document that are 0 throughout: curves without streaming. Absent is not zero here."""
    return [tag for tag, block in document.items() if isinstance(block, dict) and "unit" in block and block.get("max") == block.get("min") == 0
            and not block.get("avg") and tag.startswith(("effective_", "active_", "tokens_in_flight"))]


failures, same, explained = [], 0, 0
for path in sorted(theirs.rglob("*.json*")):
    file = str(path.relative_to(theirs))
    if not (ours / file).exists() and file.startswith("profile_runs/run_"):
        file = file.replace("/run_", "/trial_", 1)
    if not (ours / file).exists():
        if reason(file, "", "absent") is None:
            failures.append(f"{file} is missing")
        else:
            explained += 1
        continue
    a, b = {}, {}
    for document in documents(path):
        for part in [document, *document.get("timeslices", [])] if isinstance(document, dict) else []:
            for tag in silent(part):
                del part[tag]
                explained += 1
        walk(document, "", a)
    for document in documents(ours / file):
        walk(document, "", b)
    absent = []
    for key, kinds in a.items():
        if any(key.startswith(prefix + ".") or key.startswith(prefix + "[]") for prefix in absent):
            continue
        if key in b and kinds - {"null"} <= b[key]:
            same += 1
            continue
        if key not in b:
            absent.append(key)
        if reason(file, key, "type" if key in b else "absent") is not None:
            explained += 1
        else:
            failures.append(f"{file}: {key}: {', '.join(sorted(kinds))} there, {', '.join(sorted(b.get(key, ['missing'])))} here")
print(f"{name}: {same} keys alike, {explained} differ for a reason")
for failure in failures:
    print("  DIFFERS " + failure)
sys.exit(bool(failures))
