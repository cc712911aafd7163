"""Compares what aiperf reads of other tools' results with what it measured itself under the same load.

    python check.py AIPERF OURS RESULT...

The load is closed: the first token after 20 ms, then one every 5 ms. A client on a busy machine adds to that, never less:
so times are compared with the server's, and with ours by a wide margin.
"""

import json
import subprocess
import sys

# Absolute differences that a client may add: in ms, or a share of the figure.
TIMES = {("time_to_first_token", "p50"): (19.5, 60), ("inter_token_latency", "p50"): (3.5, 10),
         ("request_latency", "p50"): (94, 160)}
EQUAL = {("output_sequence_length", "avg"): 0.01, ("input_sequence_length", "avg"): 0.05}


def main(aiperf, ours, results):
    failed = False
    for result in results:
        run = subprocess.run([aiperf, "compare", ours, result, "--format", "json"], capture_output=True, text=True)
        if run.returncode != 0:
            print(f"FAIL {result}: {run.stderr.strip()}")
            failed = True
            continue
        figures = {(f["tag"], f["stat"]): f for f in json.loads(run.stdout)["comparisons"][0]["figures"]}
        wrong = []
        for key, (low, high) in TIMES.items():
            f = figures.get(key)
            if f and not low <= f["new"] <= high:
                wrong.append(f"{key[0]} {key[1]} is {f['new']:.2f} ms, ours {f['base']:.2f}")
        for key, share in EQUAL.items():
            f = figures.get(key)
            if f and abs(f["new"] - f["base"]) > share * f["base"]:
                wrong.append(f"{key[0]} {key[1]} is {f['new']:.2f}, ours {f['base']:.2f}")
        if ("request_latency", "p50") not in figures and ("time_to_first_token", "p50") not in figures:
            wrong.append("no latency at all")
        failed = failed or bool(wrong)
        print(f"{'FAIL' if wrong else 'ok  '} {result}: {len(figures)} figures in common{'; '.join([''] + wrong)}")
    sys.exit(failed)


main(sys.argv[1], sys.argv[2], sys.argv[3:])
