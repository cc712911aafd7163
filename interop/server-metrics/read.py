"""Runs the examples of a document in a directory of files, then compares the formats with each other."""

import io
import json
import math
import os
import re
import subprocess
import sys

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

FIXED_BEFORE = ["endpoint_url", "metric_name", "metric_type", "unit", "description", "timestamp_ns"]
FIXED_AFTER = ["value", "sum", "count", "bucket_le", "bucket_count"]
failures = []


def check(what, ok):
    if not ok:
        failures.append(what)
        print("FAILED:", what)


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def run_examples(document):
    counts = {"sh": 0, "sql": 0, "python": 0}
    with open(document, encoding="utf-8") as f:
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", f.read(), re.M | re.S)
    for language, code in blocks:
        counts[language] += 1
        if language == "sh":
            result = subprocess.run(["bash", "-euc", code], capture_output=True, text=True)
            ok, said = result.returncode == 0 and result.stdout.strip() != "", result.stderr
        elif language == "python":
            result = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
            ok, said = result.returncode == 0 and result.stdout.strip() != "", result.stderr
        else:
            try:
                ok, said = len(duckdb.sql(code).fetchall()) > 0, "no rows"
            except duckdb.Error as e:
                ok, said = False, str(e)
        check(f"{language} example:\n{code}\n{said}", ok)
    check(f"examples of every kind: {counts}", min(counts.values()) > 0)
    return sum(counts.values())


def check_schema():
    schema = pq.read_schema("server_metrics_export.parquet")
    meta = {k.decode(): v.decode() for k, v in schema.metadata.items()}
    labels = json.loads(meta["aiperf.label_columns"])
    check("column order", schema.names == FIXED_BEFORE + labels + FIXED_AFTER)
    for field in schema:
        number = {"timestamp_ns": pa.int64(), "value": pa.float64(), "sum": pa.float64(), "count": pa.float64(), "bucket_count": pa.float64()}
        check(f"type of {field.name}: {field.type}", field.type == number.get(field.name, pa.string()))
        required = field.name in ("endpoint_url", "metric_name", "metric_type", "timestamp_ns")
        check(f"{field.name} is {'required' if required else 'optional'}", field.nullable != required)
    file = pq.ParquetFile("server_metrics_export.parquet")
    for i in range(file.num_row_groups):
        group = file.metadata.row_group(i)
        check(f"row group {i} has {group.num_rows} rows", group.num_rows <= 10_000)
        check("Snappy", all(group.column(c).compression == "SNAPPY" for c in range(group.num_columns)))
    check("metric types", sum(json.loads(meta["aiperf.metric_type_counts"]).values()) == int(meta["aiperf.metric_count"]))
    return meta, labels


def rows_of(df, name, series, labels):
    rows = df[(df.metric_name == name) & (df.endpoint_url == series["endpoint_url"])]
    for label in labels:
        value = series.get("labels", {}).get(label)
        rows = rows[rows[label].isna()] if value is None else rows[rows[label] == value]
    return rows


def check_statistics(labels):
    """Statistics of the JSON, computed anew from the samples of the Parquet file."""
    with open("server_metrics_export.json", encoding="utf-8") as f:
        export = json.load(f)
    df = pd.read_parquet("server_metrics_export.parquet")
    n = 0
    for name, family in export["metrics"].items():
        for series in family["series"]:
            n += 1
            rows, stats = rows_of(df, name, series, labels), series["stats"]
            where = f"{name} {series.get('labels')} at {series['endpoint_url']}"
            check(f"{where} has rows", len(rows) > 0)
            check(f"{where}: type", set(rows.metric_type) == {family["type"]})
            if family["type"] in ("gauge", "unknown"):
                check(f"{where}: mean", close(rows.value.mean(), stats["avg"]))
                check(f"{where}: deviation", close(rows.value.std(ddof=1), stats["std"]))
                for p in (1, 5, 10, 25, 50, 75, 90, 95, 99):
                    check(f"{where}: p{p}", close(rows.value.quantile(p / 100), stats[f"p{p}"]))
            elif family["type"] == "counter":
                check(f"{where}: total", rows.value.iloc[-1] == stats["total"])
            else:
                last = rows[rows.timestamp_ns == rows.timestamp_ns.max()]
                check(f"{where}: buckets", dict(zip(last.bucket_le, last.bucket_count)) == series.get("buckets"))
                check(f"{where}: order of buckets", list(last.bucket_le) == list(series["buckets"]))
                check(f"{where}: count and sum", last["count"].iloc[0] == stats["count"] and close(last["sum"].iloc[0], stats["sum"]))
    return export, df, n


def check_csv(export):
    with open("server_metrics_export.csv", newline="", encoding="utf-8") as f:
        text = f.read()
    check("CSV ends its lines with CRLF", text.count("\n") == text.count("\r\n"))
    tables = [pd.read_csv(io.StringIO(block), dtype={"engine": str}) for block in text.replace("\r\n", "\n").strip("\n").split("\n\n")]
    n = 0
    for table in tables:
        if "Key" in table:
            continue
        for row in table.itertuples():
            found = [
                s
                for s in export["metrics"][row.Metric]["series"]
                if s["endpoint_url"].split("://")[1].removesuffix("/metrics") == row.Endpoint
                and all(getattr(row, k, None) == v for k, v in s.get("labels", {}).items())
            ]
            check(f"{row.Metric} at {row.Endpoint} in JSON and CSV", len(found) == 1)
            for key, value in found[0]["stats"].items():
                n += 1
                check(f"{row.Metric} {key}: {getattr(row, key)} and {value}", abs(getattr(row, key) - value) <= 0.5001e-4)
    return n


def check_lines(export):
    fetches = {}
    with open("server_metrics_export.jsonl", encoding="utf-8") as f:
        for line in f:
            url = json.loads(line)["endpoint_url"]
            fetches[url] = fetches.get(url, 0) + 1
    told = {url: info["total_fetches"] for url, info in export["summary"]["endpoint_info"].items()}
    check(f"lines {fetches} and fetches {told}", fetches == told)


def main():
    document = os.path.abspath(sys.argv[1])
    os.chdir(sys.argv[2])
    examples = run_examples(document)
    _, labels = check_schema()
    export, df, series = check_statistics(labels)
    figures = check_csv(export)
    check_lines(export)
    rows = len(df)
    check("rows in Polars", pl.scan_parquet("server_metrics_export.parquet").select(pl.len()).collect().item() == rows)
    check("rows in DuckDB", duckdb.sql("SELECT count(*) FROM 'server_metrics_export.parquet'").fetchall()[0][0] == rows)
    nulls = duckdb.sql("SELECT count(*) FROM 'server_metrics_export.parquet' WHERE (value IS NULL) = (bucket_le IS NULL)").fetchall()[0][0]
    check("a row has a value or a bucket", nulls == 0)
    if failures:
        sys.exit(f"{len(failures)} checks failed")
    print(f"{examples} examples ran, {rows} rows and {series} series agree, {figures} figures of the CSV too")


main()
