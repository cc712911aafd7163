"""The metrics pages of a server before and after a run, and what the files of the run must say of them.

The pages are read and added up here, with the standard library; of the run only its four files of server metrics are read:
JSON, CSV, JSONL, Parquet.
"""

import csv
import json
import math
import re
import sys
import time
import urllib.request
from pathlib import Path

import pyarrow.parquet

sys.path.append(str(Path(__file__).parent.parent / "server-metrics"))
from page import exported, labels_of, parse  # noqa: E402

# What grows on a page while no request is answered: the runtime's own counters, and those of the page's readers, whom
# vllm-router counts in all of its families.
OWN = r"^(process|python_gc|go|vllm_router)_|tokio|event_loop|http_requests|http_request_|http_response"
# How long a server may take to count a request after its last byte, in seconds.
SETTLE = 2


def read(urls):
    """The text of each page. Servers count some things just after the reply: the pages are read until two of them agree."""
    pages, end = None, time.monotonic() + SETTLE
    while True:
        last, pages = pages, {url: urllib.request.urlopen(url, timeout=10).read().decode() for url in urls}
        if last is not None and all(steady(last[u]) == steady(pages[u]) for u in urls) or time.monotonic() > end:
            return pages
        time.sleep(0.1)


def steady(page):
    """The lines of a page that only requests change."""
    return [line for line in page.splitlines() if not re.search(OWN, line) and "_uptime" not in line]


def growth(before, after, name, **labels):
    """The growth of a sample over all series and pages that have these labels; what is not on a page before is 0 there."""
    total = 0.0
    for url in after:
        first, last = parse(before.get(url, ""))[1], parse(after[url])[1]
        for (sample, pairs), value in last.items():
            if sample == name and all(dict(pairs).get(k) == v for k, v in labels.items()):
                total += value - first.get((sample, pairs), 0)
    return total


def mean(before, after, histogram, **labels):
    """The mean of what a histogram observed between the pages, None where it observed nothing."""
    count = growth(before, after, histogram + "_count", **labels)
    return growth(before, after, histogram + "_sum", **labels) / count if count else None


def faults(before, after, directory, late=0):
    """What the four files say of the pages that is not so, one line each.

    late is the number of requests that the server may count only after the run has read its page for the last time.
    """
    wrong = []
    document = json.loads((directory / "server_metrics_export.json").read_text())["metrics"]
    csv_rows, csv_names = read_csv(directory / "server_metrics_export.csv")
    lines = [json.loads(line) for line in (directory / "server_metrics_export.jsonl").read_text().splitlines()]
    parquet = read_parquet(directory / "server_metrics_export.parquet")
    told = set()  # families of which one line says enough
    for url in after:
        (_, first), (types, last) = parse(before[url]), parse(after[url])
        descriptions = dict(re.findall(r"^# HELP (\S+) (.*)$", after[url], re.M))
        recorded = {}
        for line in lines:
            if line["endpoint_url"] == url:
                recorded.update(line["metrics"])
        if not recorded:
            wrong.append(f"{url}: no line of the JSONL file")
        for family, kind in types.items():
            say = lambda text: told.add(family) or wrong.append(f"{family} ({kind}): {text}") if family not in told else None
            name = exported(family, kind)
            mine = {(sample, pairs): v for (sample, pairs), v in last.items() if of(sample, family, kind)}
            if kind in ("gauge", "unknown", "untyped"):
                # One that is new on the page may have come after the run had read it for the last time.
                mine = {key: v for key, v in mine.items() if key in first}
            if name is None:
                if family in document:
                    say("is exported")
                continue
            if not mine:
                continue  # a family without a series
            if name not in recorded and not any(key in first for key in mine):
                continue  # in no scrape: the server made it after the last one, as Dynamo does with those of its runtime
            entry = document.get(name)
            if entry is None:
                say("is not in the JSON file")
                continue
            if entry["type"] != {"untyped": "unknown"}.get(kind, kind):
                say(f"has type {entry['type']} in the JSON file")
            if unescaped(descriptions.get(family, "")).strip() != (entry.get("description") or "").strip():
                say(f"is described as {entry.get('description')!r}, on the page as {descriptions.get(family)!r}")
            if name not in csv_names:
                say("is not in the CSV file")
            if name not in recorded and not name.endswith("_info"):
                say("is not in the JSONL file")
            if (url, name) not in {key[:2] for key in parquet}:
                say("is not in the Parquet file")
            series = {labels_of(s): s for s in entry["series"] if s["endpoint_url"] == url}
            own = re.search(OWN, family)
            if kind in ("gauge", "unknown", "untyped"):
                absent = [pairs for (_, pairs), v in mine.items() if pairs not in series and math.isfinite(v)]
                if absent:
                    say(f"lacks the series {dict(absent[0])}")
                continue
            counts = [(sample, pairs) for sample, pairs in mine if kind == "counter" or sample == family + "_count"]
            for sample, pairs in counts:
                if pairs not in series:
                    say(f"lacks the series {dict(pairs)}")
                    continue
                stats = series[pairs]["stats"]
                grown = last[sample, pairs] - first.get((sample, pairs), 0)
                total = stats.get("total" if kind == "counter" else "count")
                missing = grown - (total or 0)
                if total is None or missing < -1e-9 * max(1, abs(grown)) or missing > 1e-9 * max(1, abs(grown)) + late and not own:
                    say(f"grew by {grown:g}, the JSON file has {total}: {dict(pairs)}")
                    continue
                if kind == "histogram":
                    summed = last[family + "_sum", pairs] - first.get((family + "_sum", pairs), 0)
                    if not own and not late and total and not near(stats["sum"], summed):
                        say(f"has the sum {summed:g}, the JSON file {stats['sum']:g}: {dict(pairs)}")
                    for le, value in series[pairs].get("buckets", {}).items() if not own and not late else ():
                        bucket = next((k for k in mine if k[0] == family + "_bucket" and same_bucket(k[1], pairs, le)), None)
                        if bucket is None or last[bucket] - first.get(bucket, 0) != value:
                            say(f"bucket {le} has {value} in the JSON file: {dict(pairs)}")
                row = csv_rows.get((url, name, pairs))
                for stat in ("total",) if kind == "counter" else ("count", "sum"):
                    if stat in stats and (row is None or not row.get(stat) or abs(float(row[stat]) - stats[stat]) > 1e-4 * max(1, abs(stats[stat]))):
                        say(f"{stat} is {stats[stat]:g} in the JSON file, {row and row.get(stat)!r} in the CSV file: {dict(pairs)}")
                row = parquet.get((url, name, pairs))
                column = {"total": "value", "count": "count", "sum": "sum"}
                for stat in ("total",) if kind == "counter" else ("count", "sum"):
                    if stat in stats and (row is None or row[column[stat]] is None or not near(row[column[stat]], stats[stat])):
                        say(f"{stat} is {stats[stat]:g} in the JSON file, {row and row[column[stat]]} in the Parquet file: {dict(pairs)}")
                if not own and not late and name in recorded:
                    said = next((s for s in recorded[name] if labels_of(s) == pairs), None)
                    value = said and (said["value"] if kind == "counter" else said["count"])
                    if said is None or not near(value, last[sample, pairs]):
                        say(f"is {last[sample, pairs]:g} on the page, {value} in the last line of the JSONL file: {dict(pairs)}")
    return wrong


def of(sample, family, kind):
    if kind == "histogram":
        return sample in (family + "_bucket", family + "_count", family + "_sum")
    return sample == family


def near(a, b):
    return abs(a - b) <= 1e-6 * max(1, abs(a), abs(b))


def same_bucket(pairs, labels, le):
    bound = dict(pairs)["le"]
    return tuple(p for p in pairs if p[0] != "le") == labels and (bound == le or float(bound) == float(le))


def unescaped(text):
    return text.replace("\\n", "\n").replace("\\\\", "\\")


def read_csv(path):
    """(endpoint, name, labels) → row of counters and histograms, and the names in the file."""
    rows, names = {}, set()
    with path.open(newline="", encoding="utf-8") as f:
        blocks = re.split("\r\n\r\n", f.read())
    for block in blocks:
        for row in csv.DictReader(block.splitlines(keepends=True)):
            names.add(row["Metric"])
            columns = list(row)
            stats = {"Endpoint", "Type", "Metric", "Unit", "Description", "total", "rate", "count", "sum", "avg", "buckets"}
            labels = [c for c in columns if c not in stats and not re.match(r"p\d|rate|count_|sum_|le=|min$|max$|std$", c)]
            url = f"http://{row['Endpoint']}" + ("" if "/" in row["Endpoint"] else "/metrics")
            rows[url, row["Metric"], tuple(sorted((c, row[c]) for c in labels if row[c]))] = row
    return Rows(rows), names


class Rows(dict):
    """Rows by labels. A CSV file has no difference between an empty label and none."""

    def get(self, key, default=None):
        url, name, pairs = key
        return super().get((url, name, tuple(p for p in pairs if p[1])), default)


def read_parquet(path):
    """(endpoint, name, labels) → the last row."""
    table = pyarrow.parquet.read_table(path)
    labels = json.loads(table.schema.metadata[b"aiperf.label_columns"])
    last = {}
    for row in table.to_pylist():
        key = row["endpoint_url"], row["metric_name"], tuple(sorted((c, row[c]) for c in labels if row[c] is not None))
        if key not in last or row["timestamp_ns"] >= last[key]["timestamp_ns"]:
            last[key] = row
    return last
