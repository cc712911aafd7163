"""Options, metric tags and their kinds as the original's help and its answers show them, and both programs' answers to
each spelling.

    options.py names FILE          compares FILE (internal/cli/testdata/options-0.13.tsv) with the original
    options.py write FILE          writes it
    options.py spellings FILE OURS gives every spelling to both programs; OURS is our program

Neither program gets further than its command line: the original is given no model, ours an address where nobody is.
"""

import concurrent.futures
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import original

HEADER = ["command", "option", "kind", "values"]
KUBE = ["attach", "cancel", "cleanup", "dashboard", "debug", "delete", "generate", "init", "list", "logs", "preflight", "profile", "results",
        "show", "shutdown", "sweep", "validate"]
RUNS = ("kube profile", "kube sweep", "kube generate")  # they take all options of profile
COMMANDS = ["profile", "analyze swim-lane", "analyze turn-messages", "analyze-trace", "chat", "config init", "config validate",
            "config expand", "plot", "plugins", "proxy", "service", "speed-bench-report", "synthesize", "validate",
            *(f"kube {name}" for name in KUBE)]
# Values that are plausible for a text whose form is checked, and for a number within limits.
SAMPLES = {
    "--goodput": "request_latency:100", "--input-file": "/", "--stream": "metrics", "--search-recipe": "max-throughput-ttft-sla",
}
NUMBERS = ["2", "0.5", "44.1"]
LONGEST = 60  # seconds that a case may take
NEEDS_VALUE = "requires an argument"
BY_PARSER = "CLIConfig"  # the first stage refuses a value
NO_MODEL = r"benchmark\.models\.items .*?/too_short ?"  # what the second stage says at least, where no model is given
# All that is left to refuse.
LAST = re.compile(rf"Error Running AIPerf System (1 validation error for AIPerfConfig {NO_MODEL}$|--fixed-schedule-\S+ requires)")


# Refused by either stage, and a help text: what the original loads once for all cases.
WARM = [["profile", "--made-up"], ["profile", "--concurrency", "x"], ["profile", "--concurrency", "4"], ["profile", "--help"]]


def brief(text):
    return re.sub(r"\s+", " ", re.sub(r"[│╭╮╰╯─]+", " ", text)).strip()


def names_model(args):
    return {arg.split("=")[0] for arg in args} & {"--model", "--model-names", "-m"}


def answer(app, args, env=None):
    """What profile says of arguments. A model would start a run: an offset that needs another flag ends it before."""
    if names_model(args):
        args = ["--fixed-schedule-start-offset", "1", *args]
    code, text = original.outcome(app, ["profile", *args], env)
    if code == 124:  # once more: what a busy machine did not end in time says nothing of the arguments
        code, text = original.outcome(app, ["profile", *args], env)
    return code, brief(text)


def refused_by_parser(text):
    return text.startswith("Error ") and not text.startswith("Error Running")


def kind(app, name, choices):
    """How an option of profile takes its values: a flag takes none, a list any number."""
    _, alone = answer(app, [name])
    takes = NEEDS_VALUE in alone
    # Help breaks the names of choices up, as in 1-k: the answer to a wrong one has them as they are.
    _, wrong = answer(app, [name, "zzz"])
    one_of = re.search(r"Input should be ('[^\[]*')", wrong)
    if one_of:
        choices = re.findall(r"'([^']*)'", one_of[1])
    if not takes:
        if "Unused Tokens" in wrong:
            return "flag", ""
        return "list", "|".join(choices) or SAMPLES.get(name, "a:b")
    if choices:
        return "choice", "|".join(choices)
    _, text = answer(app, [name, SAMPLES.get(name, "x")])
    if BY_PARSER not in text:
        return "text", SAMPLES.get(name, "x")
    for number in NUMBERS:
        _, text = answer(app, [name, number])
        if BY_PARSER not in text:
            whole = number == "2" and BY_PARSER in answer(app, [name, "0.5"])[1]
            return ("int" if whole else "float"), number
    return "text", ""


def collect():
    app = original.start()
    original.warm(app, *WARM)
    rows = []
    for command in COMMANDS:
        _, text = original.outcome(app, [*command.split(), "--help"])
        options = original.options(text)
        if command == "profile":
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                kinds = list(pool.map(lambda o: kind(app, o[0][0], o[1]), options))
        else:
            kinds = [("choice", "|".join(choices)) if choices else
                     ("flag", "") if any(n.startswith("--no-") for n in names) else ("value", "") for names, choices in options]
        for (names, _), (what, values) in zip(options, kinds):
            for name in names:
                if command in RUNS and any(name == row[1] for row in rows if row[0] == "profile"):
                    continue  # one of profile's own
                flag = name.startswith("--empty-") or command != "profile" and name.startswith("--no-")
                rows.append([command, name, "flag" if flag else what, "" if flag else values])
    return rows


def read(path):
    with open(path, newline="") as file:
        return [[row[column] for column in HEADER] for row in csv.DictReader(file, delimiter="\t")]


def write(path, rows):
    path.parent.mkdir(exist_ok=True)
    with open(path, "w", newline="") as file:
        out = csv.writer(file, delimiter="\t", lineterminator="\n")
        out.writerow(HEADER)
        out.writerows(rows)


def names(path):
    rows, kept = collect(), read(path)
    for row in rows:
        if row not in kept:
            print("  MISSING", row)
    for row in kept:
        if row not in rows:
            print("  UNKNOWN", row)
    print(f"options: {len(rows)} names of the original, {sum(row in kept for row in rows)} of them in the table")
    return rows != kept


# Lists in the forms that take them, beside each option with its own value.
FORMS = [
    ["--url", "a", "b"], ["--url", "a,b"], ["--url", "a", "--url", "b"], ["--url=a", "--url=b"], ["-u", "a"], ["-u=a"],
    ["--header", "A:b", "C:d"], ["--header", "A:b,C:d"], ["-H", "A:b", "-H", "C:d"], ["-H=A:b"], ["--header", '{"A": "b"}'], ["--header", "A: b"],
    ["--extra-inputs", "a:1", "b:2"], ["--extra-inputs", "a:1,b:2"], ["--extra-inputs", '{"a": {"b": 1}}'], ["--extra-inputs=a:1"],
    ["--goodput", "request_latency:100 time_to_first_token:5"], ["--goodput=request_latency:100"],
    ["--server-metrics-formats", "json", "csv"], ["--server-metrics-formats", "json,csv"], ["--server-metrics-formats=json"],
    ["--server-metrics", "a", "b"], ["--server-metrics"], ["--gpu-telemetry", "a:9400", "b:9400"], ["--gpu-telemetry"],
    ["--concurrency", "1", "2"], ["--concurrency", "1", "--concurrency", "2"], ["--concurrency=1", "--concurrency=1"],
    ["--concurrency", "1_000"], ["--concurrency", " 4 "], ["--concurrency", "4.0"], ["--concurrency", "1e3"], ["--concurrency", "+4"],
    ["--concurrency", "-4"], ["--concurrency="], ["--concurrency", "0"],
    ["--request-rate", "inf"], ["--request-rate", "Infinity"], ["--warmup-request-rate", "inf"],
    ["--request-rate", "1e2"], ["--request-rate", ".5"], ["--request-rate", "1_0.5"], ["--request-rate", "nan"],
    ["--benchmark-duration", "10"], ["--benchmark-duration", "0"], ["--benchmark-grace-period", "inf"], ["--benchmark-grace-period", "-1"],
    ["--streaming=true"], ["--streaming=false"], ["--streaming=1"], ["--streaming=0"], ["--streaming=yes"], ["--streaming=no"], ["--streaming=t"],
    ["--streaming=F"], ["--streaming=on"], ["--streaming=TRUE"], ["--streaming", "--streaming"], ["--streaming", "true"], ["--no-streaming"],
    ["--request_count", "5"], ["--request-count", "5"], ["--Request-Count", "5"], ["--request-coun", "5"], ["-c", "5"],
    ["--random-seed", "0"], ["--random-seed", "-1"], ["--isl", "0"], ["--osl", "0"], ["--isl-stddev", "0.5"], ["--isl", "5", "extra"],
    ["--image-batch-size", "2"], ["--batch-size-image", "2"], ["--seq-dist", "128,64:100"], ["--seq-dist", "128|10,64|5:70;256,128:30"],
    ["--arrival-pattern", "Poisson"], ["--endpoint-type", "CHAT"], ["--ui", "None"], ["--ui-type", "simple"], ["--log-level", "debug"],
    ["--dataset-filter", "a=b", "c=d"], ["--wandb-tag", "a", "b"], ["--mlflow-artifact-glob", "a", "b"], ["--mlflow-tag", "a:b", "c:d"],
    ["--tokenizer", "builtin"], ["--audio-sample-rates", "16,44.1"], ["--image-format", "PNG"], ["--export-level", "RAW"],
    ["--slice-duration", "0.5"], ["--slice-duration", "0"], ["--num-profile-runs", "1"], ["--num-profile-runs", "11"], ["--confidence-level", "0.95"],
]
# What both programs have to refuse: a check that takes them sees no refusal.
WRONG = [
    ["--made-up"], ["--made-up", "x"], ["--made-up=x"], ["--concurrency"], ["--concurrency", "many"], ["--concurrency", "4", "--made-up"],
    ["--endpoint-type", "made-up"], ["--streaming=maybe"], ["--extra-inputs", "no-colon"], ["--request-rate", "-1"], ["made-up"],
]
# Spellings that only one of the programs takes, and why; docs/compatibility.md has a row for each reason.
KNOWN = {
    "--streaming=on": "booleans may be on and off here",
    "--mlflow-tag a:b": "there tags come in pairs",
    "--mlflow-tag=a:b": "there tags come in pairs",
}
# The environment sets these options in both programs.
VARIABLES = [("AIPERF_API_SERVER_PORT", "8080"), ("AIPERF_API_SERVER_HOST", "127.0.0.1"), ("AIPERF_HTTP_CONNECTION_LIMIT", "x"),
             ("AIPERF_HTTP_CONNECTION_LIMIT", "100"), ("AIPERF_HTTP_CONNECTION_LIMIT", "0"), ("AIPERF_DATASET_CONFIGURATION_TIMEOUT", "x"),
             ("AIPERF_SERVER_METRICS_COLLECTION_INTERVAL", "0.5"), ("AIPERF_SERVER_METRICS_COLLECTION_INTERVAL", "-1"),
             ("AIPERF_UI_MIN_UPDATE_PERCENT", "1"), ("AIPERF_DEV_MODE", "maybe"), ("AIPERF_DEV_MODE", "1")]


def cases(path):
    """Every spelling with its values, in both forms."""
    for command, name, kind_of, values in read(path):
        if command != "profile":
            continue
        if kind_of == "flag":
            yield [name]
            continue
        for i, value in enumerate(values.split("|")):
            yield [name, value]
            if i == 0:
                yield [name + "=" + value]


# What our parser says of an argument that it does not take; other faults are of rules between options.
REFUSAL = re.compile(r"unknown (flag|option)|unexpected argument|needs a value|must be one of|did you mean|is not a (whole )?number|is not a time|"
                     r"is out of range|is too large|given twice|is not a valid file|the value is empty|must be in 'key:value'|"
                     r"is not true or false|not a boolean|takes no value|has an empty item|is no number|item \d+:|AIPERF_\w+")
UNAVAILABLE = "not available in this release"
# How far a program gets with its arguments: refused by its parser, by a rule between options, or not at all.
REFUSED, RULED_OUT, TAKEN = range(3)


def theirs(app, args, env):
    """How far the original gets, and what it said."""
    code, text = answer(app, args, env)
    if code == 124 or refused_by_parser(text) or "EnvironmentError" in text or "validation error for _" in text:
        return REFUSED, text
    return (TAKEN if LAST.search(text) else RULED_OUT), re.sub(NO_MODEL, "", text)


def ours(program, args, env):
    """The same of ours, which asks an address where nobody is for its models."""
    ends = [] if {arg.split("=")[0] for arg in args} & {"--url", "-u"} else ["--url", "http://127.0.0.1:1"]
    if names_model(args):
        ends += ["--tokenizer", "builtin", "--wait-for-model-timeout", "0.01"]
    with tempfile.TemporaryDirectory() as folder:
        try:
            run = subprocess.run([program, "profile", *args, *ends], capture_output=True, text=True, timeout=LONGEST, cwd=folder,
                                 stdin=subprocess.DEVNULL, env={**os.environ, **env, "COLUMNS": "500"})
        except subprocess.TimeoutExpired:
            return REFUSED, "it did not end"
    text = brief(run.stderr)
    if REFUSAL.search(text) or UNAVAILABLE in text:
        return REFUSED, text
    return (TAKEN if names_model(args) or "no --model is given" in text else RULED_OUT), text


def reason(said):
    """Why a program refuses, without what every refusal has."""
    said = re.sub(r"^Error (Running AIPerf System )?(--model-names is required: .*?--model my-model )?", "", said)
    return re.sub(r"^\d+ validation errors? for AIPerfConfig | \[type=.*", "", said)[:300]


def spellings(path, program):
    """Which spellings one program takes and the other does not. ONLY=forms leaves the plain ones out."""
    listed = [] if os.environ.get("ONLY") == "forms" else list(cases(path))
    todo = [(["--concurrency", "5"], {name: value}) for name, value in VARIABLES]
    todo += [(args, {}) for args in FORMS + listed]
    plain = len(todo)
    todo += [(args, {}) for args in WRONG]
    app = original.start()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        there = list(pool.map(lambda c: theirs(app, *c), todo[:len(VARIABLES)]))
        original.warm(app, *WARM)  # which reads the variables
        there += pool.map(lambda c: theirs(app, *c), todo[len(VARIABLES):])
        here = list(pool.map(lambda c: ours(program, *c), todo))
    same, missing, explained, faults, only_there, only_here = 0, 0, 0, [], {}, {}
    for (args, env), (a, said), (b, told) in zip(todo[:plain], there, here):
        shown = " ".join([*(f"{k}={v}" for k, v in env.items()), *args])
        if a == REFUSED and args in listed and shown not in KNOWN:
            faults.append(f"REFUSED {shown}: by the original, though the table has it: {said[:300]}")
        elif UNAVAILABLE in told and a != REFUSED:
            missing += 1
        elif shown in KNOWN:
            explained += 1
        elif (a == TAKEN) == (b == TAKEN):
            same += 1
        elif b == RULED_OUT:  # the original finds the like later, or not at all
            only_here.setdefault(reason(told), []).append(shown)
        elif a == RULED_OUT:
            only_there.setdefault(reason(said), []).append(shown)
        else:
            only, text = ("there", told) if a == TAKEN else ("here", said)
            faults.append(f"DIFFERS {shown}: only taken {only}: {text[:300]}")
    for (args, _), *ends in zip(todo[plain:], there[plain:], here[plain:]):
        for (end, _), where in zip(ends, ("there", "here")):
            if end == TAKEN:
                faults.append(f"UNSEEN {' '.join(args)}: its refusal {where}")
    rules = [sum(map(len, notes.values())) for notes in (only_here, only_there)]
    print(f"options: {plain} spellings, {same} answered alike, {missing} of capabilities that this release lacks, {explained} known to differ, "
          f"{rules[0]} stopped by a rule between options that only ours has so early, {rules[1]} by one that only the original has, {len(faults)} faults")
    print(f"options: {len(WRONG)} made-up flags and values that both have to refuse")
    for where, notes in (("here", only_here), ("there", only_there)):
        for why, shown in notes.items():
            print(f"  RULE {where}: {why}: {', '.join(shown)}")
    for fault in faults:
        print("  " + fault)
    return bool(faults)


if __name__ == "__main__":
    action, table = sys.argv[1], pathlib.Path(sys.argv[2])
    if action == "write":
        write(table, collect())
        sys.exit(0)
    sys.exit(names(table) if action == "names" else spellings(table, sys.argv[3]))
