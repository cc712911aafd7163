"""Writes one table as Arrow files and streams, with each compression, and its rows as JSON: arrow.py FOLDER."""

import datetime
import json
import pathlib
import sys

import pyarrow as pa
import pyarrow.ipc as ipc

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
utc = datetime.datetime(2026, 1, 1, 0, 0, 0, 250000)
table = pa.table({
    "timestamp_start_unix_ms": pa.array([1000, 1500, None, 2500, 3000], pa.int64()),
    "prompt": pa.array(["a", "b\u00e9", "", "d", None], pa.string()),
    "large": pa.array(["a", "b", None, "d", "e"], pa.large_string()),
    "view": pa.array(["a", "a much longer text than twelve", None, "d", "e"], pa.string_view()),
    "bytes": pa.array([b"\x00\x01", b"", None, b"x", b"y"], pa.binary()),
    "fixed": pa.array([b"ab", b"cd", None, b"ef", b"gh"], pa.binary(2)),
    "i8": pa.array([1, -2, 3, None, 127], pa.int8()),
    "u16": pa.array([1, 2, 65535, None, 0], pa.uint16()),
    "i32": pa.array([1, -2, 3, None, 2**31 - 1], pa.int32()),
    "u64": pa.array([1, 2, 2**63 + 5, None, 0], pa.uint64()),
    "f16": pa.array([1.5, -2, None, 0, 65504], pa.float16()),
    "f32": pa.array([1.5, -2, None, 0, 1e10], pa.float32()),
    "f64": pa.array([1.5, -2, None, 0, 1e300], pa.float64()),
    "bool": pa.array([True, False, None, True, True], pa.bool_()),
    "list": pa.array([[1, 2], [], None, [3, None], [5]], pa.list_(pa.int64())),
    "large_list": pa.array([["x"], [], None, ["y", None], ["z"]], pa.large_list(pa.string())),
    "pairs": pa.array([[1, 2], [3, 4], None, [5, 6], [7, None]], pa.list_(pa.int32(), 2)),
    "struct": pa.array([{"a": 1, "b": "x"}, {"a": None, "b": "y"}, None, {"a": 3, "b": None}, {"a": 4, "b": "z"}]),
    "structs": pa.array([[{"a": 1, "b": ["p"]}], [], None, [{"a": 2, "b": []}, {"a": 3, "b": None}], []]),
    "dictionary": pa.array(["r", "g", None, "r", "b"]).dictionary_encode(),
    "instant": pa.array([utc] * 4 + [None], pa.timestamp("us")),
    "nothing": pa.nulls(5),
})
for compression in (None, "lz4", "zstd"):
    options = ipc.IpcWriteOptions(compression=compression)
    for form, writer in (("file", ipc.new_file), ("stream", ipc.new_stream)):
        with writer(folder / f"{form}-{compression or 'plain'}.arrow", table.schema, options=options) as out:
            for batch in table.to_batches(max_chunksize=2):
                out.write_batch(batch)
stored = table.set_column(table.schema.get_field_index("instant"), "instant", table["instant"].cast(pa.int64()))
rows = json.dumps(stored.to_pylist(), default=lambda value: "bytes:" + value.hex(), indent=1)
(folder / "rows.json").write_text(rows + "\n")

# A trace that a run can replay.
trace = pa.table({
    "timestamp_start_unix_ms": [5000, 5200, 5100],
    "prompt": ["one", "two, three", "four"],
    "input_tokens": [1, 3, 1],
    "output_tokens": [2, 4, 6],
    "provided_session_id": ["s", "s", None],
    "total_hashes": [[1, 2], [1, 2, 3], [9]],
    "block_size": [64, 64, 64],
})
with ipc.new_file(folder / "trace.arrow", trace.schema, options=ipc.IpcWriteOptions(compression="lz4")) as out:
    out.write_table(trace)
