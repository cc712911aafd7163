"""Runs of the program against a server that is up, for the cases of one server."""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pages
from check import expect


class Run:
    """A finished run: its summary, its records, its output, its folder, and the server's pages before and after it."""

    def __init__(self, args, name, options, during, most, scrape):
        self.directory = args.work / name
        shutil.rmtree(self.directory, ignore_errors=True)
        command = [args.aiperf, "profile", "--random-seed", "1", "--ui", "none", "--no-gpu-telemetry", "--export-level", "raw"]
        if args.page:
            command += ["--server-metrics", *args.page, "--server-metrics-formats", "json", "csv", "jsonl", "parquet"]
        elif not scrape:
            command += ["--no-server-metrics"]
        command += ["--artifact-dir", str(self.directory), *map(str, options)]
        self.before = pages.read(args.page)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            during()
            self.output, _ = process.communicate(timeout=most)
        finally:
            process.kill()
        self.code = process.returncode
        self.after = pages.read(args.page)
        try:
            self.summary = json.loads((self.directory / "profile_export_aiperf.json").read_text())
            self.records = self.lines("profile_export.jsonl")
        except FileNotFoundError as e:
            raise AssertionError(f"{' '.join(command)}\nexit code {self.code}, {e}\n{self.output[-3000:]}") from None

    def lines(self, name):
        return [json.loads(line) for line in (self.directory / name).read_text().splitlines()]

    @property
    def errors(self):
        return [r["error"] for r in self.records if r.get("error")]

    def grown(self, sample, **labels):
        return pages.growth(self.before, self.after, sample, **labels)

    def mean_ms(self, histogram, **labels):
        """The mean of a histogram of seconds, in milliseconds."""
        return pages.mean(self.before, self.after, histogram, **labels) * 1000

    def expect_pages(self, late=0):
        """All that the pages say is in the files."""
        wrong = pages.faults(self.before, self.after, self.directory, late)
        expect(not wrong, "\n  ".join(["the pages and the files of server metrics:", *wrong[:20]]))

    def queued(self):
        """The text of what limited the run, and its two numbers: how many waited at the server on average and at most."""
        found = [limit["text"] for limit in self.summary.get("limited_by", []) if limit["code"] == "queue"]
        expect(found, f"no queue among {self.summary.get('limited_by')}")
        words = found[0].split()
        return found[0], float(words[0]), float(words[words.index("at", words.index("average,")) - 1])


def profile(args, name, *options, fails=False, during=lambda: None, most=300, scrape=False):
    """A run whose requests all succeed, unless it fails. during is called while it goes on, most is its time in seconds.
    Without pages it scrapes none, unless scrape lets it look for those of --url."""
    run = Run(args, name, options, during, most, scrape)
    if not fails:
        expect(run.code == 0, f"exit code {run.code}:\n{run.output[-3000:]}")
        expect(not run.errors, f"{name}: {len(run.errors)} of {len(run.records)} requests failed, first: {run.errors[:1]}")
    return run


def again(attempt, tries=3):
    """Repeats what compares times: what else runs on the machine may have begun in between."""
    for left in reversed(range(tries)):
        try:
            return attempt()
        except AssertionError:
            if not left:
                raise


def main(cases, *more):
    """Runs the case that is named, and prints what it says. more are the names of further options."""
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=cases)
    for name in ("aiperf", *more):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--page", action="append", default=[], help="a page of metrics of the server")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--pid", type=int, help="a process of the server")
    parser.add_argument("--brief", action="store_true")
    args = parser.parse_args()
    try:
        print(f"   {args.case}: {cases[args.case](args)}", flush=True)
    except AssertionError as e:
        sys.exit(f"   {args.case}: WRONG: {e}")
