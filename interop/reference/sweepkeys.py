"""Compares the files about several runs that the original and ours left of the same sweep or search: the same files, the same keys
of the same types in the same order, or a row of differences.tsv with a reason. What single metrics hold is not compared here.
Exit code 1 on a difference without a reason.

    sweepkeys.py NAME THEIRS OURS     THEIRS and OURS are artifact directories
"""

import csv
import fnmatch
import json
import pathlib
import sys

name, theirs, ours = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
with open(pathlib.Path(__file__).with_name("differences.tsv"), newline="") as table:
    KNOWN = list(csv.DictReader(table, delimiter="\t"))
METRICS = ("metrics", "summary_metrics")


def shape(value, path="", out=None):
    out = {} if out is None else out
    if isinstance(value, dict):
        for key, inner in value.items():
            at = f"{path}.{key}" if path else key
            kind = "number" if type(inner) in (int, float) else type(inner).__name__
            out.setdefault(at, set()).add(kind)
            if key not in METRICS:
                shape(inner, at, out)
    elif isinstance(value, list):
        for inner in value:
            shape(inner, path + "[]", out)
    return out


def explained(file, path, what):
    return any(row["what"] == what and fnmatch.fnmatchcase(f"sweeps:{name}/{file}", row["file"]) and
               fnmatch.fnmatchcase(path, row["path"].replace("[]", "[[]]")) for row in KNOWN)


def files(root):
    found = [p for p in root.rglob("*.json") if p.parent.name == "sweep_aggregate" or p.name.startswith("search_") or "aggregate" in p.parts]
    return {str(p.relative_to(root)) for p in found}


failures, same, reasons = [], 0, 0


def differs(file, path, what, text):
    global reasons
    if explained(file, path, what):
        reasons += 1
    else:
        failures.append(f"{file}: {path}: {text}")


for file in sorted(files(theirs) | files(ours)):
    if not (ours / file).exists():
        differs(file, "", "absent", "is missing here")
    elif not (theirs / file).exists():
        differs(file, "", "further", "is only here")
    else:
        documents = [json.loads((root / file).read_text(encoding="utf-8")) for root in (theirs, ours)]
        a, b = map(shape, documents)
        for path, kinds in a.items():
            if path not in b:
                differs(file, path, "absent", "is missing here")
            elif kinds - {"NoneType"} <= b[path]:
                same += 1
            else:
                differs(file, path, "type", f"{', '.join(sorted(kinds))} there, {', '.join(sorted(b[path]))} here")
        for path in b.keys() - a.keys():
            differs(file, path, "further", "is only here")
        order = [[k for k in d if k in documents[0] and k in documents[1]] for d in documents]
        if order[0] != order[1]:
            failures.append(f"{file}: the keys have the order {order[1]} here, {order[0]} there")
print(f"{name}: {same} keys of files about several runs alike, {reasons} differ for a reason")
for failure in failures[:40]:
    print("  DIFFERS " + failure)
sys.exit(bool(failures))
