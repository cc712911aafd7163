"""The original's command line as a black box: its program is started once, and every case is a fork of that process.

A case is a list of arguments; its outcome is (exit code, what was printed).
"""

import contextlib
import io
import multiprocessing
import os
import re
import sys
from importlib import metadata

LONGEST = 60  # seconds that a case may take


def start():
    """Loads the program; later calls find it loaded."""
    os.environ["COLUMNS"] = "500"
    os.environ["TERM"] = "dumb"
    [entry] = [e for e in metadata.entry_points(group="console_scripts") if e.name == "aiperf"]
    return entry.load()


def call(app, args):
    text = io.StringIO()
    sys.argv = ["aiperf", *args]
    code = 0
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        try:
            app()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1 if end.code else 0
        except BaseException as fault:  # what a program prints for a fault is its business; here it is a refusal
            print(f"{type(fault).__name__}: {fault}")
            code = 1
    return code, text.getvalue()


def warm(app, *cases):
    """Makes cases, which have to be refused, in this process: what the program loads for them is there for every fork."""
    for args in cases:
        call(app, args)


def case(app, args, env, answer):
    os.environ.update(env)
    answer.send(call(app, args))
    answer.close()
    os._exit(0)


def outcome(app, args, env=None):
    """Runs a case in a process of its own."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=case, args=(app, args, env or {}, theirs))
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(LONGEST) else (124, "it did not end")
    except EOFError:
        return (1, "it ended without a word")
    finally:
        ours.close()
        process.join(1)
        if process.is_alive():
            process.kill()
            process.join()


ROW = re.compile(r"^│ (?:\* | {2})? *((?:[A-Z][A-Z0-9-]* )?(?:--?[A-Za-z][\w-]*(?: |$))+)(.*)$")


def options(help_text):
    """The rows of a help text: (names, choices) of each option. A text that goes on in the next line is indented."""
    rows = []
    for line in help_text.splitlines():
        if line.startswith("│ "):
            row = ROW.match(line.rstrip("│ ") + " ")
            first = line[2:].lstrip("* ")
            column = len(line) - len(first.rstrip())
            if row and (line[2] in "-*" or re.match(r"│ ? {0,3}[A-Z-]", line)):
                rows.append([[n for n in row[1].split() if n.startswith("-")], row[2]])
            elif rows:
                rows[-1][1] += " " + line.strip("│ ")
    out = []
    for names, text in rows:
        found = re.search(r"\[choices: ([^\]]*)\]", text)
        choices = [c.strip() for c in found[1].split(",")] if found else []
        out.append((names, choices))
    return out
