"""Reads pages of metrics in the text format, with nothing but the standard library."""

import re

SAMPLE = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: -?\d+)?")
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')


def parse(page):
    """The families of a page: name → type, and (name of a sample, labels) → value."""
    types, samples = {}, {}
    for line in page.splitlines():
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ", 3)
            types[family] = kind
        elif line and not line.startswith("#"):
            name, labels, value = SAMPLE.fullmatch(line).groups()
            pairs = tuple(sorted((k, v.replace("\\\\", "\\").replace('\\"', '"').replace("\\n", "\n")) for k, v in LABEL.findall(labels or "")))
            samples[name, pairs] = float(value)
    return types, samples


def exported(family, kind, taken=()):
    """The name in the files, None for what is not collected. A counter in taken keeps its _total."""
    name = family.removesuffix("_total") if kind == "counter" and family not in taken else family
    if kind == "summary" or name.endswith(("_created", "_uptime")) or "_uptime_" in name:
        return None
    return name


def labels_of(series):
    return tuple(sorted((series.get("labels") or {}).items()))
