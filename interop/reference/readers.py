"""Loads every JSON and JSONL file under a directory with the data models of the installed original, unchanged.

A file that no model is known for, or that its model refuses, ends with exit code 1.
"""

import json
import pathlib
import sys

from aiperf.common.models import export_models, network_latency_models, record_models, server_metrics_models, telemetry_models
from aiperf.common.models.dataset_models import InputsFile
from aiperf.config.config import BenchmarkConfig
from aiperf.config.resolution.plan import BenchmarkRun
from pydantic import TypeAdapter

BLOCK = export_models.JsonMetricResult
# Ours alone: 0.13 has no model for them.
OURS = ("run_state.json", "server_metrics_recording.json")
failures, loaded = [], {}


def summary(text):
    document = export_models.JsonExportData.model_validate_json(text)
    assert isinstance(document.input_config, BenchmarkConfig), "input_config is missing"
    # Members that the model does not name are metrics, of which each has a unit.
    for key, value in json.loads(text).items():
        if isinstance(value, dict) and "unit" in value:
            BLOCK.model_validate(value)


def server_metrics(text):
    document = server_metrics_models.ServerMetricsExportData.model_validate_json(text)
    BenchmarkConfig.model_validate(document.input_config)


def aggregate(text):
    """The aggregates have no model: what they are is dictionaries, with these members."""
    document = json.loads(text)
    assert {"schema_version", "aiperf_version", "metadata", "metrics"} <= set(document)
    TypeAdapter(dict[str, dict]).validate_python(document["metrics"])


def outputs(text):
    document = json.loads(text)
    assert isinstance(document["data"], list) and isinstance(document["schema_version"], str)


def manifest(text):
    """The list of phases has no model."""
    document = json.loads(text)
    assert document["schema_version"] == 1 and len(document["phases"]) > 1
    for phase in document["phases"]:
        assert {"phase_index", "profiling_index", "phase_name", "phase_kind", "start_ns", "end_ns", "was_cancelled", "successful_request_count",
                "error_request_count", "total_request_count", "error_summary", "metrics_json", "metrics_csv"} <= set(phase), phase


def of_phase(model):
    """What was collected beside one phase: only the data has a model."""
    def load(text):
        document = json.loads(text)
        assert list(document) == ["data", "phase", "schema_version", "warnings"] and document["schema_version"] == 1
        model.model_validate(document["data"])
    return load


def lines(model):
    def load(text):
        for number, line in enumerate(text.splitlines(), 1):
            try:
                model.model_validate_json(line)
            except Exception as error:
                raise ValueError(f"line {number}: {error}") from error
    return load


def document(model):
    return model.model_validate_json


READERS = [
    ("profile_export_aiperf.json", summary),
    ("profile_export_aiperf_timeslices.json", document(export_models.TimesliceCollectionExportData)),
    ("profile_export_aiperf_aggregate.json", aggregate),
    ("profile_export_aiperf_collated.json", aggregate),
    ("profile_export.jsonl", lines(record_models.MetricRecordInfo)),
    ("profile_export_raw.jsonl", lines(record_models.RawRecordInfo)),
    ("inputs.json", document(InputsFile)),
    ("outputs.json", outputs),
    ("run_config.json", document(BenchmarkRun)),
    ("server_metrics_export.json", server_metrics),
    ("server_metrics_export.jsonl", lines(server_metrics_models.SlimRecord)),
    ("gpu_telemetry_export.jsonl", lines(telemetry_models.TelemetryRecord)),
    ("phase_manifest.json", manifest),
    ("server_metrics.json", of_phase(server_metrics_models.ServerMetricsResults)),
    ("gpu_telemetry.json", of_phase(export_models.TelemetryExportData)),
]

root = pathlib.Path(sys.argv[1])
for path in sorted(root.rglob("*.json*")):
    name = str(path.relative_to(root))
    if path.name.endswith(OURS):
        continue
    load = dict(READERS).get(path.name)
    if load is None:
        failures.append(f"{name}: no model is known for it")
        continue
    try:
        load(path.read_text(encoding="utf-8"))
        loaded[path.name] = loaded.get(path.name, 0) + 1
    except Exception as error:
        failures.append(f"{name}: {str(error)[:1500]}")
runs = len([path for path in root.iterdir() if path.is_dir()])
print(f"readers: {runs} runs, {sum(loaded.values())} files loaded: " + ", ".join(f"{n} {name}" for name, n in sorted(loaded.items())))
for failure in failures:
    print("  FAILS " + failure)
sys.exit(bool(failures) or not loaded)
