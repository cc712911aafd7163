"""The answer of a search of answers.sh, out of the files that the program left.

    python answers.py PROGRAM DIR            prints it
    python answers.py hold DIR TRUTH         fails unless the interval of aiperf capacity is within one of the truth
"""

import json
import pathlib
import re
import sys


def history(folder):
    found = sorted(pathlib.Path(folder).rglob("search_history.json"))
    return json.loads(found[0].read_text()) if found else None


def main(program, folder, truth=None):
    if program in ("goodput", "knee"):
        # The profiles log what they conclude; the report has no member for it.
        log = (pathlib.Path(folder) / "log").read_text()
        probes = len(set(re.findall(r"Benchmark (\d+) \([^)]*\): completed", log)))
        told = re.findall(r"guidellm\.benchmark\.profiles\.\S+ - (.*search finished.*?)(?:, but|;|$)", log, re.M)
        return f"{told[-1] if told else 'no answer'}, {probes} probes"
    found = history(folder)
    if found is None:
        return "no history"
    summary, probes = found.get("boundary_summary") or {}, len(found["iterations"])
    if program == "hold":
        ends = summary["interval"]
        # A search that the client limited, or that ran out of time, has no upper end.
        high = float("inf") if ends["hi"] is None else ends["hi"]
        if not ends["lo"] - 1 <= int(truth) <= high + 1:
            sys.exit(f"  the interval {ends['lo']} to {ends['hi']} is not that of {truth}")
        return ""
    if "interval" in summary:
        ends = summary["interval"]
        limited = summary["client_limited_probes"]
        return f"{summary['estimate']} ({ends['lo']} to {ends['hi']}), {probes} probes, {limited} limited by the client"
    largest, smallest = summary.get("feasible_max") or {}, summary.get("infeasible_min") or {}
    return f"{largest.get('value')} holds, {smallest.get('value')} does not, {probes} probes"


line = main(*sys.argv[1:])
if line:
    print(line)
