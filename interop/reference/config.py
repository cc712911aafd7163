"""Configuration files as the original reads them, and as ours does.

    config.py templates OURS URL   what the original's config init prints
    config.py cases OURS URL       the files of configcases.py
    config.py runs OURS URL        a few of them run, and the configuration that the results hold
    config.py rows                 after all of them: the rows of configdifferences.tsv that none needed

OURS is our program, URL a mock server. A difference without a row in configdifferences.tsv ends with exit code 1, and so
does a row without a difference.
"""

import concurrent.futures
import csv
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys

import configcases
import original
import yaml

LONGEST = 120  # seconds that a command may take
with open(pathlib.Path(__file__).with_name("configdifferences.tsv"), newline="") as table:
    KNOWN = list(csv.DictReader(table, delimiter="\t"))
# The rows that were needed, kept in a file between the parts.
USED, NEEDED = set(), pathlib.Path("needed.txt")
# What every process knows: the substitution of the environment is among the cases.
ENVIRONMENT = {"T": "5"}
# What profile says of an accepted file that is to be its artifact directory.
ACCEPTED = r"exists but is not a directory|the artifact directory cannot be made|is not a directory"
SMALLEST = "benchmark:\n  model: m\n  endpoint: {url: 'http://127.0.0.1:1'}\n  dataset: {isl: 5}\n  phases: {type: concurrency, requests: 1}\n"
# The files that are run, by their sections; the address is that of the mock server.
ENDPOINT = "endpoint: {url: 'URL', streaming: true}, tokenizer: {name: builtin}, runtime: {ui: none}, gpu_telemetry: {enabled: false}, " \
    "server_metrics: {enabled: false}"
DATASET = "dataset: {isl: {mean: 20, stddev: 2}, osl: 4, entries: 8}"
RUNS = {
    "concurrency": DATASET + ", phases: {type: concurrency, concurrency: 2, requests: 6}",
    "warm-up": DATASET + ", warmup: {type: concurrency, requests: 3}, profiling: {type: poisson, rate: 50, requests: 6}, slos: {request_latency: 1000}",
    "gamma": DATASET + ", phases: {type: gamma, rate: 50, smoothness: 2, duration: 0.5, grace_period: 1, concurrency: 8, rate_ramp: 0.2}",
    "users": "dataset: {isl: 20, osl: 4, turns: 2}, phases: {type: user_centric, rate: 50, users: 3, requests: 12}",
    "schedule": "dataset: {type: file, format: mooncake_trace, records: [{timestamp: 0, input_length: 20, output_length: 3}, "
                "{timestamp: 40, input_length: 20, output_length: 3}]}, phases: {type: fixed_schedule}",
    "records": "dataset: {type: file, records: [{text: a}, {text: b}], sampling: shuffle}, phases: {type: constant, rate: 40, requests: 6}, artifacts: "
               "{dir: OUT, slice_duration: 1, user_files: [{path: note.json, content: {model: '{{ model }}', n: 5}}, {path: n.yaml, format: yaml, content: [1, {a: '5'}]}]}",
}


class Outcome:
    """The end of a command: its exit code and what it printed."""

    def __init__(self, code, out, err=""):
        self.code, self.out, self.err = code, out, err

    def said(self):
        text = re.sub(r"[│╭╮╰╯─]+", " ", f"{self.err} {self.out}")
        text = re.sub(r"Error Running AIPerf System|Configuration validation failed:|\d+ validation errors? for AIPerfConfig|"
                      r"\[type=.*?(?=benchmark\.|File:|$)|For further information visit \S+", " ", text)
        return re.sub(r"\s+", " ", text).strip()[:260]


def ours(program, args, folder):
    try:
        run = subprocess.run([program, *args], capture_output=True, text=True, timeout=LONGEST, cwd=folder, stdin=subprocess.DEVNULL,
                             env={**os.environ, **ENVIRONMENT, "COLUMNS": "500", "NO_COLOR": "1"})
    except subprocess.TimeoutExpired:
        return Outcome(124, "", "it did not end")
    return Outcome(run.returncode, run.stdout, run.stderr)


def theirs(app, args):
    code, text = original.outcome(app, args, ENVIRONMENT)
    if code == 124:  # once more: what a busy machine did not end in time says nothing of the file
        code, text = original.outcome(app, args, ENVIRONMENT)
    return Outcome(code, text)


def start():
    """The original, with everything loaded that these commands need."""
    app = original.start()
    path = pathlib.Path("warm.yaml").absolute()
    path.write_text(SMALLEST)
    original.warm(app, ["profile", "--config", str(path), "--artifact-dir", str(path)], ["config", "validate", str(path)],
                  ["config", "expand", str(path), "-F", "-f", "json"])
    return app


def expanded(program, file, folder):
    """What our config expand prints in full."""
    end = ours(program, ["config", "expand", file, "-F", "-f", "json"], folder)
    if "not available" not in end.err:
        return end
    end = ours(program, ["config", "show", file, "-o", "json"], folder)
    if end.code == 0:
        one = {"index": 0, "dir_name": "base", "label": "base", "values": {}, "benchmark": json.loads(end.out)["config"]["benchmark"]}
        end.out = json.dumps({"sweep_type": "none", "variations": [one]}, indent=1)
    return end


def document(text):
    """The JSON document in what a command printed; warnings may come before."""
    at = text.find("{\n")
    return json.loads(text[at:]) if at >= 0 else None


def flat(value, path=""):
    """Path → value of everything that a document says; null and absent are the same."""
    if isinstance(value, dict) and value:
        return {at: leaf for key, inner in value.items() for at, leaf in flat(inner, f"{path}.{key}" if path else key).items()}
    if isinstance(value, list) and value:
        return {at: leaf for i, inner in enumerate(value) for at, leaf in flat(inner, f"{path}[{i}]").items()}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = float(value)
    return {} if value is None else {path: value}


def reason(name, what, path=""):
    """The reason of the first row that fits; an empty path fits what has none."""
    for row in KNOWN:
        if row["what"] == what and fnmatch.fnmatchcase(name, escaped(row["case"])) and fnmatch.fnmatchcase(path, escaped(row["path"])):
            USED.add("\t".join(row.values()))
            return row["reason"]
    return None


def escaped(pattern):
    return pattern.replace("[", "[[]")


class Comparison:
    def __init__(self, what):
        self.what, self.files, self.same, self.explained, self.faults = what, 0, 0, {}, []

    def count(self, name, what, why, text):
        if why is None:
            self.faults.append(f"{name}: {what} {text}")
        else:
            self.explained.setdefault(why, []).append(name)

    def equal(self, name, what, a, b, text="", path=""):
        if a == b:
            self.same += 1
        else:
            self.count(name, what, reason(name, what, path), text)

    def bodies(self, name, a, b):
        """Key by key; what is absent on one side is named so, with the value of the other."""
        a, b = flat(a), flat(b)
        for path in sorted(a.keys() | b.keys()):
            if path not in b:
                self.count(name, "absent here", reason(name, "absent here", path), f"{path} = {a[path]!r}")
            elif path not in a:
                self.count(name, "absent there", reason(name, "absent there", path), f"{path} = {b[path]!r}")
            else:
                self.equal(name, "differs", a[path], b[path], f"{path}: there {a[path]!r}, here {b[path]!r}", path)

    def end(self):
        known = sum(map(len, self.explained.values()))
        print(f"{self.what}: {self.files} files, {self.same} answers and values alike, {known} differences that are known, {len(self.faults)} faults")
        for why, names in sorted(self.explained.items()):
            print(f"  KNOWN {len(names)} × {why}")
        for fault in self.faults:
            print(f"  FAULT {fault}")
        with NEEDED.open("a") as file:
            file.writelines(row + "\n" for row in sorted(USED))
        return bool(self.faults)


def expansion(comparison, name, a, b):
    """Compares what config expand -F -f json printed."""
    a, b = document(a.out), document(b.out)
    comparison.equal(name, "sweep type", sweep_type(a["sweep_type"]), sweep_type(b["sweep_type"]), f"there {a['sweep_type']}, here {b['sweep_type']}")
    comparison.equal(name, "variations", len(a["variations"]), len(b["variations"]), f"there {len(a['variations'])}, here {len(b['variations'])}")
    for x, y in zip(a["variations"], b["variations"]):
        comparison.bodies(name, {k: v for k, v in x.items() if k != "benchmark"}, {k: v for k, v in y.items() if k != "benchmark"})
        comparison.bodies(name, x["benchmark"], y["benchmark"])


def sweep_type(name):
    """The type of a sweep, for which the original prints the name of its class."""
    return name.lower().removesuffix("sweep").replace("_", "").removesuffix("s")


def templates(program, url):
    app = start()
    listed = original.outcome(app, ["config", "init", "--template", "?"])[1]
    names = re.sub(r"\s+", " ", listed).split("Available templates: ")[1].strip(" \"'").split(", ")
    comparison = Comparison("templates")
    for name in names:
        folder = pathlib.Path("templates", name).absolute()
        folder.mkdir(parents=True)
        file = str(folder / f"{name}.yaml")
        made = theirs(app, ["config", "init", "-t", name, "-o", file, "-u", url])
        if made.code != 0:
            raise SystemExit(f"config init -t {name}: {made.said()}")
        comparison.files += 1
        for command in ["config", "validate", file], ["config", "expand", file]:
            a, b = theirs(app, command), ours(program, command, folder)
            comparison.equal(name, "exit code", a.code, b.code, f"{' '.join(command[:2])}: there {a.code} {a.said()}, here {b.code} {b.said()}")
            if a.code == b.code == 0:
                comparison.equal(name, "text of " + command[1], lines(a), lines(b), f"there {lines(a)}, here {lines(b)}")
        full = ["config", "expand", file, "-F", "-f", "json"]
        a, b = theirs(app, full), expanded(program, file, folder)
        if a.code or b.code:
            continue
        expansion(comparison, name, a, b)
        as_yaml = ours(program, [*full[:-1], "yaml"], folder)
        comparison.equal(name, "the same as YAML", flat(document(b.out)), flat(yaml.safe_load(as_yaml.out)), as_yaml.said())
        shown = ours(program, ["config", "show", file, "-o", "json"], folder)
        comparison.equal(name, "config show", shown.code, 0, shown.said())
    return comparison.end()


def lines(outcome):
    """What a command printed; the name of the sweep's class is its type."""
    out = re.sub(r"Sweep type: (\w+)", lambda m: f"Sweep type: {sweep_type(m[1])}", outcome.out)
    return [line.rstrip() for line in out.splitlines() if line.strip()]


def cases(program, _):
    app = start()
    comparison = Comparison("cases")
    chosen = [c for c in configcases.CASES if fnmatch.fnmatchcase(c[0], escaped(os.environ.get("CASE", "*")))]

    def answers(i, case):
        name, text, flags = case
        folder = pathlib.Path("cases", str(i)).absolute()
        folder.mkdir(parents=True)
        file = folder / "c.yaml"
        file.write_text(text)
        path = str(file)
        if not flags:
            full = ["config", "expand", path, "-F", "-f", "json"]
            return [(theirs(app, c), f()) for c, f in ((["config", "validate", path], lambda: ours(program, ["config", "validate", path], folder)),
                                                       (full, lambda: expanded(program, path, folder)))]
        command = ["profile", "--config", path, *flags, "--artifact-dir", path]
        more = [] if "--tokenizer" in flags else ["--tokenizer", "builtin"]
        return [(theirs(app, command), ours(program, command + more, folder))]

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(answers, range(len(chosen)), chosen))
    for (name, _, flags), pairs in zip(chosen, ends):
        comparison.files += 1
        (a, b), *rest = pairs
        if flags:
            accepted(comparison, name, "profile", reached(a), reached(b), a, b)
            continue
        accepted(comparison, name, "validate", a.code == 0, b.code == 0, a, b)
        if a.code and b.code:
            comparison.equal(name, "exit code", a.code, b.code, f"there {a.code} {a.said()}, here {b.code} {b.said()}")
        x, y = rest[0]
        if x.code == y.code == 0:
            expansion(comparison, name, x, y)
    return comparison.end()


def reached(end):
    """Whether profile got as far as its artifact directory, which is none."""
    return bool(re.search(ACCEPTED, re.sub(r"[\s│]+", " ", end.err + end.out)))


def accepted(comparison, name, command, there, here, a, b):
    what = "only there" if there else "only here"
    comparison.equal(name, what, there, here, f"({command}): {(b if there else a).said()}")


def runs(program, url):
    theirs_program = pathlib.Path(sys.executable).with_name("aiperf")
    comparison = Comparison("runs")
    for name, body in RUNS.items():
        folder = pathlib.Path("runs", name).absolute()
        folder.mkdir(parents=True)
        found, case = [], f"run {name}"
        for side, command in ("theirs", theirs_program), ("ours", program):
            out = folder / side
            file = folder / f"{side}.yaml"
            text = f"benchmark: {{model: mock-model, {ENDPOINT}, {body}}}\n".replace("URL", url).replace("OUT", str(out))
            if "artifacts" not in text:
                text = text.replace("runtime:", f"artifacts: {{dir: '{out}'}}, runtime:")
            file.write_text(text)
            end = ours(str(command), ["profile", "--config", str(file)], folder)
            export = out / "profile_export_aiperf.json"
            comparison.equal(case, "exit code", end.code, 0, f"{side}: {end.code} {end.said()}")
            if not export.exists():
                comparison.count(case, "no export", None, f"{side}: {end.said()}")
                continue
            found.append((out, json.loads(export.read_text().replace(str(out), "OUT").replace(str(file), "FILE"))["input_config"]))
        comparison.files += 1
        if len(found) < 2:
            continue
        (a, x), (b, y) = found
        comparison.bodies(case, x, y)
        for file in "note.json", "n.yaml":
            if (a / file).exists():
                comparison.equal(case, "user file", (a / file).read_text(), (b / file).read_text() if (b / file).exists() else None, file, file)
    return comparison.end()


def rows():
    needed = set(NEEDED.read_text().splitlines())
    idle = [row for row in KNOWN if "\t".join(row.values()) not in needed]
    for row in idle:
        print(f"  FAULT no difference needs the row: {row['case']} {row['what']} {row['path']}")
    return bool(idle)


if __name__ == "__main__":
    sys.exit({"templates": templates, "cases": cases, "runs": runs, "rows": rows}[sys.argv[1]](*sys.argv[2:]))
