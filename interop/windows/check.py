"""Compares what the program for Windows did with what it does on Linux: check.py FOLDER-OF-RUNS."""

import json
import pathlib
import sys

runs = pathlib.Path(sys.argv[1])


def document(name):
    return json.loads((runs / name).read_text(encoding="utf-8"))


def lines(name):
    return [json.loads(line) for line in (runs / name).read_text(encoding="utf-8").splitlines()]


# Both servers saw what both clients say, and the prompts of one seed are the same on both systems.
for run, server in ("from-windows", "linux.jsonl"), ("from-linux", "windows.jsonl"):
    summary, records = document(f"{run}/profile_export_aiperf.json"), lines(f"{run}/profile_export.jsonl")
    ids = {line["metadata"]["x_request_id"] for line in records}
    seen = [line for line in lines(server) if line["request_id"] in ids]  # other runs asked the same server
    assert summary["request_count"]["avg"] == len(records) == len(seen) == 150, (run, len(records), len(seen))
    tokens = sum(line["output_tokens"] for line in seen)
    assert summary["total_osl"]["avg"] == tokens, (run, summary["total_osl"]["avg"], tokens)
    # The server waits 20 ms. A clock that stands still between ticks of the system's timer shows less.
    assert summary["time_to_first_token"]["min"] >= 20, (run, summary["time_to_first_token"])
assert document("from-windows/inputs.json")["data"] == document("from-linux/inputs.json")["data"]

# The instants of Windows are finer than its timer: hardly two gaps between events are the same.
gaps = [gap for line in lines("from-windows/profile_export.jsonl") for gap in line["metrics"]["inter_chunk_latency"]["value"]]
assert len(set(gaps)) > len(gaps) / 4, (len(set(gaps)), len(gaps))

# A cancelled run is whole, and the second Ctrl-C ends the program.
cancelled = document("c/profile_export_aiperf.json")
assert (runs / "c.code").read_text().strip() == "0" and (runs / "cc.code").read_text().strip() == "130"
assert cancelled["was_cancelled"] and cancelled["request_count"]["avg"] == len(lines("c/profile_export.jsonl")) > 0
assert "Cancellation in Progress" in (runs / "c.log").read_text(encoding="utf-8")
assert "Force Quit" in (runs / "cc.log").read_text(encoding="utf-8")

# Nobody listens: the same error, with the same chain of causes.
windows, linux = ([line["error"] for line in lines(f"refused-{system}/profile_export.jsonl")] for system in ("windows", "linux"))
assert windows[0] == linux[0] and windows[0]["cause_chain"][-1] == "ConnectionRefusedError", (windows[0], linux[0])

# Both systems compute the same reports of the same records, byte by byte; the console's names files.
for name in "profile_export_aiperf.json", "profile_export_aiperf.csv":
    one = (runs / "from-windows" / name).read_bytes()
    for other in "report-windows", "report-linux":
        assert (runs / other / name).read_bytes() == one, (other, name)

tested = document("selftest.json")
assert tested["machine"]["system"] == "windows/amd64" and tested["result"] == "pass", tested["result"]
print(f"windows: demo, runs both ways, {len(windows)} refused requests, Ctrl-C, reports, self-test of "
      f"{len(tested['sections'])} sections")
