"""Compares the server metrics files of the original and ours: every key, unit, type and label, and the value of
every statistic that timing does not enter, to 1e-9.

    servermetrics.py constant|steps THEIRS OURS

Prints what differs; a difference that is not listed in EXPLAINED ends with exit code 1.
"""

import csv
import json
import re
import sys

import pyarrow.parquet as pq

name, theirs_dir, ours_dir = sys.argv[1:]
differences = []

# Differences with a reason; docs/compatibility.md gives it. Each must occur.
BOTH = [
    r"_us(\.unit| .*\.Unit): |^Parquet row: .*(_us\"|in microseconds)",  # the suffix _us and "in microseconds" are no unit there
    r"^Parquet (endpoint_url|metric_name|metric_type|timestamp_ns): .* not null> here",  # required columns are declared so here
    r"^Parquet metadata aiperf\.metric_(count|type_counts):",  # series of each endpoint there, names here
    r"^CSV (counter|gauge): order",  # a label with an empty value counts as filled there
]
EXPLAINED = {
    "constant": BOTH + [
        # These names have no unit there.
        r"(prefix_cache_(queries|hits)|_tokens_cached|_tokens_by_source|_requests_started)(\.unit: | .*\.Unit: |\")",
    ],
    "steps": BOTH + [
        # Samples that do not stand directly below their header lose their type there.
        r"\b(apart|between|between_total)\b",
        # Of untyped samples without a header only the last is kept there.
        r"\bloose\b",
        # Infinity spelled otherwise is a bucket like others there.
        r"\bspelled\b",
        # A missing _count is 0 there, the +Inf bucket here.
        r"\buncounted\b",
        # A negative sum becomes 0 there, and is kept without estimates here.
        r"\bnegative\b",
        # Of a gauge and a counter of the same name without _total only the last stays there; here both do.
        r"\bboth_bytes(_total)?\b",
    ],
}

# Statistics that depend on when a page was read; recording.py compares them over the same samples.
TIMED = {"rate", "rate_avg", "rate_min", "rate_max", "rate_std", "count_rate", "sum_rate"}
# The only gauge that moves: how often each of its values is seen depends on when it is read.
MOVING = "vllm:num_requests_running"
PORT = re.compile(r"127\.0\.0\.1:\d+")


def differ(where, theirs, ours):
    differences.append(f"{where}: {short(theirs)} there, {short(ours)} here")


def short(value):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) < 160 else text[:157] + "..."


def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool) or type(a) is not type(b):
        return a == b and type(a) is type(b)
    if isinstance(a, float):
        return a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def equal(stat, a, b):
    """The deviation of equal values is the noise of their sum there and 0 here."""
    return same(a[stat], b[stat]) or stat == "std" and abs(a[stat] - b[stat]) <= 1e-9 * abs(a["avg"])


def rounded(column, a, b):
    """The average and the deviation of equal values carry the rounding of their sum there; recording.py computes it."""
    if column not in ("avg", "std") or a.get("min") != a.get("max") or not a.get("min"):
        return False
    return abs(float(a[column]) - float(b[column])) <= 1e-9 * abs(float(a["min"]))


def anonymous(text):
    """The two runs of steps have servers with ports of their own."""
    return PORT.sub("HOST", text) if name == "steps" else text


def read(directory, ending):
    with open(f"{directory}/server_metrics_export.{ending}", newline="", encoding="utf-8") as f:
        return anonymous(f.read())


def timed(metric, stat):
    return stat in TIMED or (metric == MOVING and name == "steps" and stat not in ("min", "max"))


def shape(value):
    """Keys and types."""
    if isinstance(value, dict):
        return {k: shape(v) for k, v in value.items()}
    if isinstance(value, list):
        return [shape(v) for v in value[:1]]
    return type(value).__name__


def compare_keys(where, a, b):
    for key in a:
        if key not in b:
            differ(f"{where}.{key}", "present", "missing")
    for key in b:
        if key not in a:
            differ(f"{where}.{key}", "missing", "present")
    both = [k for k in a if k in b]
    if both != [k for k in b if k in a]:
        differ(f"{where}: order", both, [k for k in b if k in a])
    return both


def identity(series):
    return series["endpoint_url"].removeprefix("http://HOST") + json.dumps(series.get("labels") or {}, sort_keys=True, ensure_ascii=False)


def json_export():
    a, b = json.loads(read(theirs_dir, "json")), json.loads(read(ours_dir, "json"))
    compare_keys("JSON", a, b)
    for key in compare_keys("JSON summary", a["summary"], b["summary"]):
        theirs, ours = a["summary"][key], b["summary"][key]
        if key == "endpoint_info":
            for url in compare_keys("JSON summary.endpoint_info", theirs, ours):
                if shape(theirs[url]) != shape(ours[url]) or list(theirs[url]) != list(ours[url]):
                    differ(f"JSON summary.endpoint_info {url}", shape(theirs[url]), shape(ours[url]))
        elif key == "phase_time_ranges":
            if shape(theirs) != shape(ours) or any(r["start_ns"] >= r["end_ns"] for r in ours.values()):
                differ("JSON summary.phase_time_ranges", theirs, ours)
        elif key.endswith("_time"):
            if re.sub(r"\d", "0", theirs) != re.sub(r"\d", "0", ours):
                differ(f"JSON summary.{key}", theirs, ours)
        elif theirs != ours:
            differ(f"JSON summary.{key}", theirs, ours)
    compared = 0
    for metric in compare_keys("JSON metrics", a["metrics"], b["metrics"]):
        compared += family(metric, a["metrics"][metric], b["metrics"][metric])
    print(f"  JSON: {len(a['metrics'])} metrics there, {len(b['metrics'])} here; {compared} values compared")


def family(metric, a, b):
    compared = 0
    for key in compare_keys(f"JSON {metric}", a, b):
        if key != "series" and a[key] != b[key]:
            differ(f"JSON {metric}.{key}", a[key], b[key])
    theirs, ours = ({identity(s): s for s in m["series"]} for m in (a, b))
    for who in compare_keys(f"JSON {metric}", theirs, ours):
        x, y, where = theirs[who], ours[who], f"JSON {metric} {who}"
        for key in compare_keys(where, x, y):
            if key == "stats":
                for stat in compare_keys(f"{where}.stats", x[key], y[key]):
                    compared += 1
                    if type(x[key][stat]) is not type(y[key][stat]) or not timed(metric, stat) and not equal(stat, x[key], y[key]):
                        differ(f"{where}.{stat}", x[key][stat], y[key][stat])
            elif key == "timeslices":
                for i in (0, -1):
                    # Whether the last one is partial is a matter of time.
                    slice_x, slice_y = ({k: shape(v) for k, v in s[key][i].items() if k != "is_complete"} for s in (x, y))
                    if slice_x != slice_y or list(slice_x) != list(slice_y):
                        differ(f"{where}.timeslices[{i}]", slice_x, slice_y)
            elif not same(x[key], y[key]):
                differ(f"{where}.{key}", x[key], y[key])
    return compared


def csv_export():
    """By section: the header as it is, the rows by their identity, and their order."""
    a, b = sections(read(theirs_dir, "csv")), sections(read(ours_dir, "csv"))
    rows = 0
    for section in compare_keys("CSV sections", a, b):
        (head, theirs), (mine, ours) = a[section], b[section]
        if head != mine:
            differ(f"CSV {section}: header", head, mine)
        columns = [c for c in head if c in mine]
        for row in compare_keys(f"CSV {section}", theirs, ours):
            rows += 1
            for column in columns:
                x, y = theirs[row].get(column), ours[row].get(column)
                if x != y and not timed(row.split()[0], column) and not rounded(column, theirs[row], ours[row]):
                    differ(f"CSV {section} {row}.{column}", x, y)
    print(f"  CSV: {rows} rows compared")


def uncommented(text):
    return re.sub(r"\A(#.*\n)*", "", text)


def sections(text):
    out = {}
    text = uncommented(text)
    for block in re.split(r"\r\n\r\n", text):
        head, *rows = csv.reader(block.splitlines(keepends=True))
        fixed = ("Metric", "Endpoint", "Key") if "Key" in head else ("Metric", "Endpoint", *head[head.index("Description") - labels(head) : head.index("Description")])
        table = {}
        for r in rows:
            cells = dict(zip(head, r))
            table[" ".join(cells[c] for c in fixed)] = cells
        out[rows[0][1] if "Key" not in head else "info"] = head, table
    return out


def labels(head):
    """How many label columns there are: those between the last statistic and the description."""
    last = {"std", "rate_std", "p99", "p99_estimate"}
    at = max(i for i, c in enumerate(head) if c in last)
    return head.index("Description") - at - 1


def jsonl_export():
    a, b = ([json.loads(line) for line in read(d, "jsonl").splitlines()] for d in (theirs_dir, ours_dir))
    x, y = shape(a[0] | {"metrics": {}}), shape(b[0] | {"metrics": {}})
    if x != y or list(x) != list(y):
        differ("JSONL keys", x, y)
    for url in sorted({line["endpoint_url"] for line in a}):
        theirs, ours = ([line["metrics"] for line in lines if line["endpoint_url"] == url] for lines in (a, b))
        if not ours:
            differ("JSONL endpoint", url, "missing")
            continue
        # The first and the last page are the same in both runs.
        for i in (0, -1):
            for metric in compare_keys(f"JSONL {url} [{i}]", theirs[i], ours[i]):
                if not same(theirs[i][metric], ours[i][metric]):
                    differ(f"JSONL {metric} [{i}]", theirs[i][metric], ours[i][metric])
    print(f"  JSONL: {len(a)} lines there, {len(b)} here")


def parquet_export():
    a, b = (pq.read_table(f"{d}/server_metrics_export.parquet") for d in (theirs_dir, ours_dir))
    for field in compare_keys("Parquet columns", {f.name: f for f in a.schema}, {f.name: f for f in b.schema}):
        x, y = a.schema.field(field), b.schema.field(field)
        if (x.type, x.nullable) != (y.type, y.nullable):
            differ(f"Parquet {field}", str(x), str(y))
    meta, mine = ({k.decode(): v.decode() for k, v in t.schema.metadata.items() if k != b"ARROW:schema"} for t in (a, b))
    timeless = {"aiperf.schema_version", "aiperf.exporter", "aiperf.endpoint_urls", "aiperf.endpoint_count", "aiperf.label_columns", "aiperf.label_count",
                "aiperf.metric_count", "aiperf.metric_type_counts", "aiperf.model_names", "aiperf.concurrency", "aiperf.request_rate", "aiperf.schema_note", "aiperf.hostname"}
    for key in compare_keys("Parquet metadata", dict(sorted(meta.items())), dict(sorted(mine.items()))):
        if key in timeless and anonymous(meta[key]) != anonymous(mine[key]):
            differ(f"Parquet metadata {key}", meta[key], mine[key])
    theirs, ours = last_rows(a), last_rows(b)
    for row in theirs:
        if row not in ours:
            differ("Parquet row", row, "missing")
        elif not same(theirs[row], ours[row]):
            differ(f"Parquet row {row}", theirs[row], ours[row])
    for row in ours:
        if row not in theirs:
            differ("Parquet row", "missing", row)
    print(f"  Parquet: {a.num_rows} rows there, {b.num_rows} here; {len(theirs)} series and buckets compared")


def last_rows(table):
    """The last sample of each series and bucket."""
    out = {}
    for row in table.to_pylist():
        key = {k: v for k, v in row.items() if v is not None and k not in ("value", "sum", "count", "bucket_count", "timestamp_ns")}
        out[anonymous(json.dumps(key, ensure_ascii=False, sort_keys=True))] = [row["value"], row["sum"], row["count"], row["bucket_count"]]
    return out


print(f"server metrics, {name}:")
json_export()
csv_export()
jsonl_export()
parquet_export()
unexplained = [d for d in differences if not any(re.search(e, d) for e in EXPLAINED[name])]
gone = [e for e in EXPLAINED[name] if not any(re.search(e, d) for d in differences)]
for text in unexplained:
    print("  DIFFERS", text)
for text in gone:
    print("  NO LONGER DIFFERS", text)
print(f"  {len(differences)} differences, {len(differences) - len(unexplained)} of them explained")
sys.exit(1 if unexplained or gone else 0)
