"""Compares the points of two sets of plots: plots.py NAME DIR-OF-PLOTLY-FIGURES DIR-OF-SVG-FILES."""
import base64
import html
import json
import pathlib
import re
import sys

import numpy as np

# A slice's values have two decimals in the file that the original reads; times are floats of seconds there.
TOLERANCE = {"slices": 0.0051, "throughput_slices": 0.0051}


def numbers(values):
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"]).astype(float)
    return np.array([np.nan if v is None else v for v in values or []], dtype=float)


def original(path):
    """Returns the traces of a figure of Plotly as dictionaries of a mode, a name and points."""
    figure = json.loads(path.read_text())
    traces = []
    for trace in figure["data"]:
        traces.append({"mode": trace.get("mode") or "", "name": trace.get("name") or "", "fill": trace.get("fill"),
                       "labels": trace.get("text"), "x": numbers(trace.get("x")), "y": numbers(trace.get("y")),
                       "error": numbers((trace.get("error_y") or {}).get("array"))})
    return traces


def ours(path):
    text = re.search("<metadata>(.*?)</metadata>", path.read_text(), re.S)[1]
    layers = json.loads(html.unescape(text))["layers"]
    for layer in layers:
        for key in ("x", "y", "x_end", "low", "high"):
            layer[key] = numbers(layer.get(key))
        layer["name"] = layer.get("name", "")
    return layers


def points(*columns):
    """Returns rows in an order that both programs share."""
    rows = np.column_stack(columns) if columns else np.empty((0, 0))
    return rows[np.lexsort(rows.T[::-1])]


def same(what, left, right, tolerance=1e-6):
    if left.shape != right.shape:
        raise SystemExit(f"{what}: {left.shape} points in the original, {right.shape} here")
    if not np.allclose(left, right, rtol=1e-9, atol=tolerance):
        worst = np.unravel_index(np.argmax(np.abs(left - right)), left.shape)
        raise SystemExit(f"{what}: {left[worst]} in the original, {right[worst]} here, at {worst}")
    return len(left)


def of(layers, kind):
    return [layer for layer in layers if layer["kind"] == kind]


def clouds(name, theirs, mine):
    """Points with labels, by series."""
    count = 0
    series = {t["name"].split(" = ")[-1]: t for t in theirs if t["labels"] is not None}
    for layer in of(mine, "points"):
        trace = series.pop(layer["name"].split(" = ")[-1])
        labels = [float(v) for v in trace["labels"]]
        count += same(name, points(trace["x"], trace["y"], labels),
                      points(layer["x"], layer["y"], [float(v) for v in layer["labels"]]))
    if series:
        raise SystemExit(f"{name}: series that are missing here: {sorted(series)}")
    return count


def fronts(name, theirs, mine):
    """The lines of Pareto fronts; ours is not drawn for a single point, and the original draws each twice."""
    lines = [points(t["x"], t["y"]) for t in theirs if t["mode"] == "lines" and len(t["x"]) > 1][::2]
    drawn = [points(layer["x"], layer["y"]) for layer in of(mine, "line")]
    if len(lines) != len(drawn):
        raise SystemExit(f"{name}: {len(lines)} fronts in the original, {len(drawn)} here")
    key = lambda rows: tuple(rows[0])
    return sum(same(name + ", front", a, b) for a, b in zip(sorted(lines, key=key), sorted(drawn, key=key)))


def regions(name, theirs, mine):
    """The widths and heights of regions of confidence: ours are tilted within the same bounds. Of means over trials the
    original knows no deviation and draws regions without a size; those are left out."""
    span = lambda t: [t["x"].min(), t["x"].max(), t["y"].min(), t["y"].max()]
    left = np.array([span(t) for t in theirs if t["fill"] == "toself"])
    right = np.array([span(layer) for layer in of(mine, "polygon")])
    sized = (left[:, 1] > left[:, 0]).any()
    if not sized:
        return 0
    # A tilted ellipse of 64 corners touches its bounds between two of them.
    order = np.lexsort(left[:, :1].T), np.lexsort(right[:, :1].T)
    left, right = left[order[0]], right[order[1]]
    size = np.maximum(left[:, [1, 3]] - left[:, [0, 2]], 1e-12)
    if np.abs((left - right) / size[:, [0, 0, 1, 1]]).max() > 0.005:
        raise SystemExit(f"{name}: regions {left} in the original, {right} here")
    return len(left)


def shifted(name, trace, layer):
    """A curve over time that counts from another instant."""
    left, right = points(trace["x"], trace["y"]), points(layer["x"], layer["y"])
    if left.shape != right.shape:
        raise SystemExit(f"{name}: {left.shape} points in the original, {right.shape} here")
    shift = np.median(left[:, 0] - right[:, 0])
    right = points(layer["x"] + shift, layer["y"])
    return same(name, left, right, 1e-5), shift


def check(name, theirs, mine):
    if name in ("pareto", "per_gpu"):
        return clouds(name, theirs, mine) + fronts(name, theirs, mine)
    if name == "joined":
        return clouds(name, theirs, mine)
    if name == "uncertainty":
        return clouds(name, theirs, mine) + regions(name, theirs, mine)
    if name == "ttft":
        layer = of(mine, "points")[0]
        return same(name, points(theirs[0]["x"], theirs[0]["y"]), points(layer["x"], layer["y"]))
    if name == "latency":
        count, _ = shifted(name, theirs[0], of(mine, "points")[0])
        return count
    if name == "throughput":
        layer = of(mine, "stair-area")[0]
        return same(name, points(theirs[0]["x"], theirs[0]["y"]), points(layer["x"], layer["y"]))
    if name == "gpus":
        layer = of(mine, "stair")[0]
        count = same(name, points(theirs[0]["x"], theirs[0]["y"]), points(layer["x"], layer["y"]))
        more, shift = shifted(name, theirs[1], of(mine, "area")[0])
        print(f"    GPUs: the curve of the original is {1000 * shift:.3f} ms later than ours")
        return count + more
    if name == "requests":
        count = 0
        for phase, part in (("Prefill Phase", "Until"), ("Decode Phase", "From")):
            spans = [t for t in theirs if t["name"] == phase]
            layer = next(entry for entry in of(mine, "spans") if entry["name"].startswith(part))
            left = points([t["x"][0] for t in spans], [t["x"][1] for t in spans], [t["y"][0] for t in spans])
            count += same(name, left, points(layer["x"], layer["x_end"], layer["y"]))
        return count
    if name in ("slices", "throughput_slices"):
        traces = [t for t in theirs if t["mode"] == "markers" and len(t["x"]) and not np.isnan(t["x"]).all()]
        left = points(np.concatenate([t["x"] for t in traces]), np.concatenate([t["y"] for t in traces]))
        dots = of(mine, "points")
        right = points(np.concatenate([d["x"] for d in dots]), np.concatenate([d["y"] for d in dots]))
        return same(name, left, right, TOLERANCE[name])
    raise SystemExit(f"nothing compares {name}")


def main():
    group, theirs, mine = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    names = {path.stem for path in theirs.glob("*.json")}
    missing = names - {path.stem for path in mine.glob("*.svg")}
    if missing or not names:
        raise SystemExit(f"{group}: not drawn here: {sorted(missing) or 'nothing to compare'}")
    for name in sorted(names):
        count = check(name, original(theirs / (name + ".json")), ours(mine / (name + ".svg")))
        print(f"    {group}/{name}: {count} points are the same")


main()
