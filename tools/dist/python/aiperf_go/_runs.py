"""The files of a run as frames."""

import importlib
import importlib.util
import io
import json
import os
from pathlib import Path

# What a file is called, and what it is called after a prefix of --profile-export-prefix.
_FILES = {
    "summary": ("profile_export_aiperf.json", ".json"),
    "records": ("profile_export.jsonl", ".jsonl"),
    "packed records": ("profile_export.jsonl.zst", ".jsonl.zst"),
    "time slices": ("profile_export_aiperf_timeslices.json", "_timeslices.json"),
    "server metrics": ("server_metrics_export.json", "_server_metrics.json"),
    "GPU telemetry": ("gpu_telemetry_export.jsonl", "_gpu_telemetry.jsonl"),
    "network latencies": ("profile_export_network_latency.jsonl", "_network_latency.jsonl"),
    "sweep": ("sweep_aggregate/profile_export_aiperf_sweep.json", ""),
}

# How to have a run write a file.
_OPTIONS = {
    "records": "--export-level records, the default, writes it",
    "time slices": "--slice-duration SECONDS writes it",
    "server metrics": "--server-metrics-formats json writes it, if a server had metrics",
    "GPU telemetry": "--gpu-telemetry writes it, if a GPU was found",
    "network latencies": "--network-latency-automatic writes it",
    "sweep": "a sweep such as --concurrency 1,2,4 writes it; this is the folder of one run",
}


def load(folder, frames=None):
    """Return the :class:`Run` of a folder of results.

    frames is "pandas" or "polars": what the tables of the run are. Without it they are those of pandas, or of polars
    where pandas is not installed.
    """
    return Run(folder, frames)


class Run:
    """The folder of a run. Files are read when they are asked for, and each time anew."""

    def __init__(self, folder, frames=None):
        if frames not in (None, "pandas", "polars"):
            raise ValueError(f'frames is "pandas" or "polars", not {frames!r}')
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise FileNotFoundError(f"{self.folder} is not a folder of results")
        self._frames = frames
        self._prefix = self._find_prefix()

    def __repr__(self):
        return f"Run({os.fspath(self.folder)!r})"

    def document(self):
        """Return the JSON summary, as it is."""
        return json.loads(self._path("summary").read_text(encoding="utf-8"))

    def summary(self):
        """Return a row for each metric: metric, unit, and a column for each statistic."""
        return self._frame([{"metric": name, **value} for name, value in _metrics(self.document())])

    def records(self):
        """Return a row for each request: the members of its metadata, a column for each metric in the unit that
        :meth:`units` gives, and ``error_code``, ``error_type`` and ``error_message`` where a request failed. Metrics
        with a value for each chunk are lists."""
        rows = []
        for line in self._record_lines():
            row = dict(line.get("metadata", {}))
            for name, value in line.get("metrics", {}).items():
                row[name] = value["value"] if _is_value(value) else value
            for name, value in (line.get("error") or {}).items():
                row["error_" + name] = value
            rows.append(row)
        return self._frame(rows)

    def units(self):
        """Return the unit of each metric, as in {"time_to_first_token": "ms"}."""
        return {name: value["unit"] for name, value in _metrics(self.document())}

    def timeslices(self):
        """Return a row for each slice of time and metric: timeslice_index, start_ns, end_ns, metric, unit, statistics."""
        rows = []
        for piece in json.loads(self._path("time slices").read_text(encoding="utf-8"))["timeslices"]:
            head = {name: value for name, value in piece.items() if not isinstance(value, (dict, list))}
            rows += [{**head, "metric": name, **value} for name, value in _metrics(piece)]
        return self._frame(rows)

    def server_metrics(self):
        """Return a row for each series: metric, type, unit, endpoint_url, labels, and its statistics."""
        rows = []
        for name, metric in self._server_metrics():
            for series in metric.get("series", []):
                rows.append({**_series_head(name, metric, series), **_packed(series.get("stats", {}))})
        return self._frame(rows)

    def server_metrics_over_time(self):
        """Return a row for each series and slice of time: the columns of :meth:`server_metrics` that name the series,
        start_ns, end_ns, and the figures of the slice."""
        rows = []
        for name, metric in self._server_metrics():
            for series in metric.get("series", []):
                head = _series_head(name, metric, series)
                rows += [{**head, **_packed(piece)} for piece in series.get("timeslices", [])]
        if not rows:
            raise FileNotFoundError(f"{self._path('server metrics')} has no slices of time: --slice-duration SECONDS "
                                    "writes them")
        return self._frame(rows)

    def gpu_telemetry(self):
        """Return a row for each reading of a GPU."""
        return self._frame([_flat(line) for line in _lines(self._path("GPU telemetry"))])

    def network_latency(self):
        """Return a row for each handshake that measured the network."""
        return self._frame([_flat(line) for line in _lines(self._path("network latencies"))])

    def cells(self):
        """Return a row for each cell of a sweep and metric: the swept values, metric, unit, and its statistics over the
        runs of the cell."""
        rows = []
        document = json.loads(self._path("sweep").read_text(encoding="utf-8"))
        for cell in document.get("per_combination_metrics", []):
            head = _flat(cell.get("parameters", {}))
            rows += [{**head, "metric": name, **value} for name, value in cell.get("metrics", {}).items()]
        return self._frame(rows)

    def _find_prefix(self):
        """The prefix of the files' names, None for the plain names."""
        names = sorted(entry.name for entry in self.folder.iterdir() if entry.is_file())
        if "profile_export_aiperf.json" not in names:
            for name in names:
                stem = name[: -len(".json")]
                if name.endswith(".json") and any(stem + end in names for end in ("_run_state.json", ".csv", ".jsonl")):
                    return stem
        return None

    def _name(self, what):
        plain, suffix = _FILES[what]
        return plain if self._prefix is None or not suffix else self._prefix + suffix

    def _path(self, what):
        path = self.folder / self._name(what)
        if not path.is_file():
            why = _OPTIONS.get(what, "it is no folder of a finished run; its runs may be in the folders below it")
            raise FileNotFoundError(f"{self.folder} has no {self._name(what)}: {why}")
        return path

    def _record_lines(self):
        packed = self.folder / self._name("packed records")
        if not packed.is_file() or (self.folder / self._name("records")).is_file():
            yield from _lines(self._path("records"))
            return
        for module, open_it in (("compression.zstd", "open"), ("zstandard", "open")):
            if _installed(module):
                with getattr(importlib.import_module(module), open_it)(packed, "rt", encoding="utf-8") as file:
                    yield from (json.loads(line) for line in file)
                return
        raise ImportError(f"{packed} is compressed: pip install zstandard, or unpack it with zstd -d")

    def _server_metrics(self):
        document = json.loads(self._path("server metrics").read_text(encoding="utf-8"))
        return document.get("metrics", {}).items()

    def _frame(self, rows):
        kind = self._frames or next((name for name in ("pandas", "polars") if _installed(name)), None)
        if kind is None:
            raise ImportError("tables need pandas or polars: pip install pandas, or pip install polars")
        library = importlib.import_module(kind)
        columns = list(dict.fromkeys(name for row in rows for name in row))
        if kind == "pandas":
            return library.DataFrame(rows, columns=columns)
        # strict=False: a column with whole numbers and others is one of floats.
        return library.DataFrame({name: library.Series(name, [row.get(name) for row in rows], strict=False)
                                  for name in columns})


def _installed(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # of a module in a package that is missing
        return False


def _lines(path):
    with io.open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def _is_value(value):
    return isinstance(value, dict) and "value" in value and "unit" in value


def _metrics(document):
    """The members of a document that are metrics: those with a unit and plain statistics."""
    for name, value in document.items():
        if isinstance(value, dict) and "unit" in value and not any(isinstance(v, dict) for v in value.values()):
            yield name, value


def _series_head(name, metric, series):
    return {"metric": name, "type": metric.get("type"), "unit": metric.get("unit"),
            "endpoint_url": series.get("endpoint_url"),
            "labels": json.dumps(series.get("labels") or {}, sort_keys=True)}


def _packed(value):
    """The members of an object; those that are objects or lists, such as the buckets of a histogram, as JSON."""
    return {name: json.dumps(member) if isinstance(member, (dict, list)) else member for name, member in value.items()}


def _flat(value, prefix=""):
    """The members of nested objects in one, with dots; lists as JSON."""
    out = {}
    for name, member in value.items():
        if isinstance(member, dict):
            out.update(_flat(member, prefix + name + "."))
        else:
            out.update(_packed({prefix + name: member}))
    return out
