"""Reads the files of graded runs with pandas and DuckDB, and computes again what they say.

usage: graded.py make PROBLEMS REPLIES      writes problems and what the mock server answers
       graded.py read RUN SWEEP COMPARISON  reads a run, a sweep over concurrency, a comparison of its cells
"""
import json
import math
import pathlib
import random
import sys

command, *paths = sys.argv[1:]
if command == "make":
    draw = random.Random(7)
    with open(paths[0], "w") as problems, open(paths[1], "w") as replies:
        for i in range(200):
            a, b = draw.randint(2, 60), draw.randint(2, 60)
            problems.write(json.dumps({"question": f"What is {a} plus {b} (problem {i})?", "answer": f"#### {a + b}"}) + "\n")
            reply = f"#### {a + b}" if draw.random() < 0.9 else f"I think it is {a + b + 1}."
            replies.write(json.dumps({"contains": f"(problem {i})", "reply": reply}) + "\n")
            if draw.random() < 0.08:
                replies.write(json.dumps({"contains": f"(problem {i})", "reply": "#### 0", "above": 4}) + "\n")
    sys.exit()

import duckdb
import pandas as pd

run, sweep = pathlib.Path(paths[0]), pathlib.Path(paths[1])
comparison = json.loads(pathlib.Path(paths[2]).read_text())


def same(what, got, want):
    assert got == want or math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-9), f"{what}: {got}, want {want}"


lines = pd.read_json(run / "accuracy_export.jsonl", lines=True)
table = pd.read_csv(run / "accuracy_results.csv")
summary = json.loads((run / "profile_export_aiperf.json").read_text())
assert list(table.columns) == ["task", "correct", "total", "unparsed", "accuracy"] and table.task[0] == "OVERALL"
overall = summary["accuracy"]["overall"]
for name, n in (("correct", lines.passed.sum()), ("total", len(lines)), ("unparsed", lines.unparsed.sum())):
    same(name + " of the CSV", int(table[name][0]), int(n))
    same(name + " of the summary", overall[name], int(n))
same("the share", summary["accuracy.overall"]["avg"], lines.passed.mean())
asked = lines.groupby("conversation_id").agg(answers=("actual", "nunique"), right=("passed", "nunique"))
same("problems with different answers", summary["accuracy"]["repeats"]["varied"], int((asked.answers > 1).sum()))
same("problems right and wrong", summary["accuracy"]["repeats"]["flipped"], int((asked.right > 1).sum()))
z, n, p = 1.959963984540054, len(asked), lines.passed.mean()
middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
same("Wilson's interval", overall["ci95_low"], (middle - half) / (1 + z * z / n))
same("Wilson's interval", overall["ci95_high"], (middle + half) / (1 + z * z / n))

query = duckdb.sql(f"select count(*), count(*) filter (passed), count(distinct conversation_id) from "
                   f"read_json('{run}/accuracy_export.jsonl')").fetchall()[0]
assert query == (len(lines), int(lines.passed.sum()), n), query
right = duckdb.sql(f"select correct from read_csv('{run}/accuracy_results.csv') where task = 'OVERALL'").fetchall()[0][0]
same("DuckDB's count", right, int(lines.passed.sum()))

cells = json.loads((sweep / "sweep_aggregate" / "profile_export_aiperf_sweep.json").read_text())["accuracy"]["cells"]
before, after = (pd.read_json(sweep / f"concurrency_{cell['parameters']['concurrency']}" / "accuracy_export.jsonl", lines=True)
                 .set_index("conversation_id").passed for cell in (cells[0], cells[-1]))
both = pd.concat([before, after], axis=1, keys=["before", "after"]).dropna()
lost, won = int((both.before & ~both.after).sum()), int((~both.before & both.after).sum())
exact = min(1, 2 * sum(math.comb(lost + won, k) for k in range(min(lost, won) + 1)) / 2 ** (lost + won))
for name, found in (("the sweep", cells[-1]["against_first"]), ("the comparison", comparison["comparisons"][0]["answers"]
                    if "comparisons" in comparison else comparison["answers"])):
    assert (found["problems"], found["lost"], found["won"]) == (len(both), lost, won), (name, found, lost, won)
    same("McNemar's p of " + name, found["p"], exact)
    assert found["low"] < found["difference"] < found["high"], found
assert lost > won, "the server answers worse under load"
print(f"graded answers: {len(lines)} lines, {n} problems; {lost} lost and {won} won under load, p = {exact:.2g}")
