"""A plug-in for aiperf: it loads files of prompts, measures requests and exports results."""
import json
import os
import sys


def load(params):
    with open(params["file"], encoding="utf-8") as file:
        return {"lines": [{"text": line.strip()} for line in file if line.strip()]}


def measure(params):
    def value(record):
        metrics = record["metrics"]
        if "output_sequence_length" not in metrics:
            return None  # a failed request
        return metrics["request_latency"]["value"] / metrics["output_sequence_length"]["value"]

    return {"values": [value(record) for record in params["records"]]}


def finish(params):
    return {}  # measure gave a value for each request; {"value": 1.5} is a figure of the run


def export(params):
    def figure(tag):
        return params["summary"].get(tag, {}).get("avg")

    with open(os.path.join(params["folder"], "summary_line.txt"), "w", encoding="utf-8") as file:
        print(f"{figure('request_throughput')} requests/s, {figure('request_latency')} ms", file=file)
    return {"message": "wrote summary_line.txt"}


greeting = json.loads(sys.stdin.readline())
print(json.dumps({"aiperf_plugin": 1, "name": greeting["name"]}), flush=True)
for line in sys.stdin:
    call = json.loads(line)
    try:
        answer = {"result": {"load": load, "measure": measure, "finish": finish, "export": export}[call["method"]](
            call["params"])}
    except Exception as error:
        answer = {"error": repr(error)}
    print(json.dumps({"id": call["id"], **answer}), flush=True)
