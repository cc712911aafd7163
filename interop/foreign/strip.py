"""Makes small test data of the results that the tools wrote: without texts, paths, names of machines and most requests.

    python strip.py RESULTS TESTDATA
"""

import json
import pathlib
import re
import sys

KEPT = 8  # requests of a list that has one item for each


def cut(value, key=""):
    """Returns the value without texts of requests and without places of this machine."""
    if isinstance(value, dict):
        return {k: cut(v, k) for k, v in value.items() if k not in ("environment", "scheduler_state", "pdf")}
    if isinstance(value, list):
        return [cut(v) for v in value]
    if isinstance(value, str):
        if key in ("request", "output", "request_args") or key == "generated_texts":
            return ""
        if key in ("platform", "python_version"):
            return ""
        return re.sub(r"(/[\w.-]+){3,}/([\w.-]+)", r"\2", re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8000", value))
    return value


def main(results, testdata):
    results, testdata = pathlib.Path(results), pathlib.Path(testdata)
    for source in sorted(results.rglob("*")):
        name = source.relative_to(results)
        if source.is_dir() or source.suffix not in (".json", ".jsonl", ".yaml"):
            continue
        text = source.read_text()
        target = testdata / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".yaml":
            text = re.sub(r"(/[\w.-]+){3,}/([\w.-]+)", r"\2", text)
            target.write_text(re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8000", text))
            continue
        out = []
        for document in text.splitlines() if source.suffix == ".jsonl" else [text]:
            d = cut(json.loads(document))
            if isinstance(d, dict):
                d.pop("generated_texts", None)
                for benchmark in d.get("benchmarks", []):
                    benchmark["requests"] = {"successful": [], "errored": [], "incomplete": []}
                    for key in ("text", "image", "video", "audio", "tool_call"):
                        benchmark["metrics"].pop(key, None)
                for experiment in d.get("experiments", []):
                    experiment["requests"] = experiment["requests"][:KEPT]
                    for request in experiment["requests"]:
                        request["request_inputs"] = {}
            elif source.name.startswith("per_request"):
                d = d[:KEPT]
                for request in d:
                    request["request"] = request["response"] = ""
                    request["info"]["response_metrics"]["response_chunks"] = []
            out.append(json.dumps(d, indent=None if source.suffix == ".jsonl" or len(text) > 20000 else 1))
        target.write_text("\n".join(out) + "\n")


main(*sys.argv[1:])
