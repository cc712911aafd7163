"""Compares the graders with those of the original as a black box: both programs ask the same problems of the same mock
server, whose answers are listed in a file, and their accuracy_export.jsonl are compared problem by problem.

    accuracy.py OURS ORIGINAL WORK [GRADER...]

The data set is served on loopback in the form of the Hugging Face hub.
"""
import collections, hashlib, http.server, json, os, pathlib, random, re, subprocess, sys, threading, urllib.parse

CASES = int(os.environ.get("CASES", "2000"))


class Hub(http.server.BaseHTTPRequestHandler):
    """Serves the files of ROOT/OWNER/NAME as a data set of the hub."""

    protocol_version = "HTTP/1.1"
    root = pathlib.Path()
    revision = ""  # of the data: the hub's client keeps what it has fetched of a revision

    def log_message(self, *_):
        pass

    def reply(self, status, body, headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def entry(self, repo, path):
        data = (self.root / repo / path).read_bytes()
        return {"type": "file", "path": path, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}

    def answer(self):
        url = urllib.parse.urlparse(self.path)
        parts = [urllib.parse.unquote(p) for p in url.path.strip("/").split("/")]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        missing = [("X-Error-Code", "EntryNotFound"), ("X-Repo-Commit", self.revision)]
        if parts[:1] == ["datasets"] and parts[3:4] == ["resolve"]:
            file = self.root / parts[1] / parts[2] / "/".join(parts[5:])
            if not file.is_file():
                return self.reply(404, {}, missing)
            data = file.read_bytes()
            return self.reply(200, data, [("ETag", f'"{hashlib.sha1(data).hexdigest()}"'), ("X-Repo-Commit", self.revision)])
        repo = "/".join(parts[2:4])
        if parts[:2] != ["api", "datasets"] or not (self.root / repo).is_dir():
            return self.reply(404, {}, [("X-Error-Code", "RepoNotFound")])
        base = self.root / repo
        files = sorted(str(f.relative_to(base)) for f in base.rglob("*") if f.is_file())
        rest = parts[4:]
        if not rest or rest[0] == "revision":
            return self.reply(200, {"id": repo, "sha": self.revision, "private": False, "gated": False, "disabled": False,
                                    "tags": [], "downloads": 0, "likes": 0, "siblings": [{"rfilename": f} for f in files]})
        if rest[0] == "tree":
            under = "/".join(rest[2:])
            found = [self.entry(repo, f) for f in files if not under or f.startswith(under + "/")]
            return self.reply(200, found) if found else self.reply(404, {}, missing)
        try:
            wanted = json.loads(body)["paths"]
        except ValueError:
            wanted = urllib.parse.parse_qs(body.decode()).get("paths", [])
        out = []
        for path in (w.strip("/") for w in wanted):
            if path in files:
                out.append(self.entry(repo, path))
            elif any(f.startswith(path + "/") for f in files):
                out.append({"type": "directory", "path": path, "size": 0, "oid": "0" * 40})
        self.reply(200, out)

    do_GET = do_POST = do_HEAD = answer


# Results, each in several spellings that a model may give; the first one is also a gold answer.
RESULTS = [
    ["42", "42.0", "42.", "+42", "42\\%", "$42", "\\$42", "42 cm", "42\\text{ cm}", "042", "forty-two"],
    ["1234", "1,234", "1{,}234", "1234.00", "12.34", "1 234", "\\$1,234"],
    ["\\frac{1}{2}", "0.5", "1/2", ".5", "\\frac12", "\\dfrac{1}{2}", "\\tfrac12", "50\\%", "50%", "\\frac{2}{4}", "-\\frac{1}{2}"],
    ["-7", "- 7", "−7", "7", "(-7)", "-7.0", "\\boldsymbol{-7}"],
    ["\\sqrt{2}", "\\sqrt2", "1.41421356", "2^{1/2}", "\\frac{2}{\\sqrt{2}}", "1.4142", "1.41"],
    ["2\\sqrt{3}", "\\sqrt{12}", "3.4641", "2 \\sqrt 3", "\\sqrt{3}\\cdot 2"],
    ["\\pi", "3.14159265", "3.14", "pi", "π", "\\pi "],
    ["\\frac{\\pi}{4}", "\\pi/4", "0.785398", "45^\\circ"],
    ["90^\\circ", "90", "90 degrees", "90\\text{ degrees}", "\\frac{\\pi}{2}", "90°"],
    ["x^2+2x+1", "(x+1)^2", "1+2x+x^2", "x^2 + 2x", "x^{2}+2x+1"],
    ["3x-5", "-5+3x", "3(x-5)+10", "3x - 5 "],
    ["(1,2)", "(1, 2)", "(2,1)", "1,2", "[1,2]", "\\left(1,2\\right)"],
    ["1,2,3", "3,2,1", "1, 2 and 3", "\\{1,2,3\\}", "1, 2, 3", "1,2"],
    ["[0,1)", "[0, 1)", "(0,1)", "0\\le x<1", "\\left[0,1\\right)"],
    ["(-\\infty,3]", "(-\\infty, 3]", "x\\le 3", "(-inf,3]"],
    ["\\{2,5\\}", "2,5", "{5,2}", "\\{5,2\\}"],
    ["x=4", "4", "y=4", "x = 4", "x=5"],
    ["y=2x+1", "2x+1", "y = 1+2x", "2x-y+1=0"],
    ["\\text{yes}", "yes", "Yes", "no", "\\text{Yes}"],
    ["\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", "\\begin{bmatrix}1 & 2\\\\ 3 & 4\\end{bmatrix}", "\\begin{pmatrix}1&2\\\\4&3\\end{pmatrix}"],
    ["10^{6}", "1000000", "1,000,000", "10^6", "1e6"],
    ["0.001", "1/1000", "10^{-3}", ".001", "0.1\\%"],
    ["1+i", "i+1", "1+j", "\\sqrt{2}e^{i\\pi/4}"],
    ["\\binom{5}{2}", "10", "\\frac{5!}{3!2!}"],
    ["5!", "120"],
    ["\\log 2", "\\ln 2", "0.693147"],
    ["A", "(A)", "A.", "**A**", "a", "\\text{A}", "B"],
    ["C", "(C)", "C)", "**C**", "D", "C or D"],
    ["12", "0.12", "1200", "12.00005", "12.001"],
    ["3\\frac{1}{2}", "3.5", "7/2", "\\frac{7}{2}"],
]
FRAMES = [
    "{}", "\\boxed{{{}}}", "$\\boxed{{{}}}$", "So the result is \\boxed{{{}}}.", "We get \\boxed{{1}}, no, \\boxed{{{}}}",
    "The final answer is {}.", "the answer is {}", "Answer: {}", "**Answer:** {}", "answer: ({})", "The answer is ({}).",
    "The answer is **{}**.", "Final Answer: ${}$. I hope it is correct.", "First 3, then 8; finally {}", "#### {}",
    "Some steps.\n#### {}\nDone", "It is not 5 but {}.", "{}\n", " {} \nBecause it is so.", "I think {} is right",
    "The answer is 9. No, the answer is {}.", "\\boxed{{{}", "\\boxed{{\n{}\n}}", "Let me think: {} = {}", "Therefore, $x = {}$.",
    "$${}$$", "\\[{}\\]", "\\({}\\)", "The Answer is {}", "Answer is {}", "The correct option is {}, since A is false.",
]
OTHERS = ["", " ", "\n\n", "I cannot answer that.", "Sorry, I can't help with this request.", "As an AI model, I do not know.",
          "None", "…", "\\boxed{}", "The answer is", "Answer:", "####", "#### ", "{{{{", "\\frac{", "}}}", "yes and no", "42 42 42",
          "-", ".", "A B C D", "ABCD", "\\boxed{\\boxed{3}}", "step 1: 1+1=2\nstep 2: 2*2=4\nso 4"]


def number(draw):
    """Draws a plain number, the gold answer, with spellings of it and other numbers."""
    n = draw.choice([draw.randint(0, 99), draw.randint(100, 999), draw.randint(1000, 99999)])
    if draw.random() < 0.15:
        return [f"{n}/7", f"\\frac{{{n}}}{{7}}", f"{n / 7:.6f}", f"{n / 7:.2f}", f"{2 * n}/14", f"\\dfrac{{{n}}}{{7}}"]
    if draw.random() < 0.15:
        return [f"{n}.5", f"{n}.50", f"{2 * n + 1}/2", f"\\frac{{{2 * n + 1}}}{{2}}", f"{n}.500001", f"{n}.6", f"{n}.5%"]
    return [str(n), f"{n}.0", f"{n:,}", f"\\frac{{{2 * n}}}{{2}}", f"{n}\\%", f"{n}%", f"{n} cm", f"{n}\\text{{ cm}}", f"x={n}",
            f"x = {n}", f"{n}^\\circ", f"\\${n}", f"${n}", str(n + 1), f"-{n}", f"{n}+1", f"{n - 2} + 2", f"{2 * n}/2", f"{n}.00001",
            f"({n})", f"{n}.", f"0{n}", f"{n}x", f"{n}, {n + 1}", f"{n / 100}", f"{n}00", f"\\text{{{n}}}", f"{n}e0"]


def cases(grader):
    """Lists (gold, reply, reasoning): drawn with a fixed seed."""
    draw = random.Random(grader)
    letters = "ABCDEFGHIJ" if grader == "mmlu_pro" else "ABCD"
    out = []
    while len(out) < CASES:
        group = draw.choice(RESULTS)
        if grader in ("multiple_choice", "mmlu_pro", "lighteval_gpqa"):
            group = [draw.choice(letters)] + [draw.choice(letters + "EZ") + draw.choice(["", ".", ")", " ", ": text"]) for _ in range(3)]
        elif grader == "lighteval_expr" and draw.random() < 0.85:
            group = number(draw)
        elif grader == "lighteval_gsm8k":
            n = draw.choice([draw.randint(-50, 99), draw.randint(1000, 99999)])
            group = [str(n), f"{n:,}", f"{n}.0", f"{n}.", f"${n}", str(n + 1), f"{n / 2}", f"-{n}", f"{n}%", f"{n} apples"]
        gold, said = group[0], draw.choice(group)
        reply, reasoning = draw.choice(FRAMES).replace("{}", "\0").replace("{{", "{").replace("}}", "}").replace("\0", said), ""
        kind = draw.random()
        if kind < 0.08:
            reply = draw.choice(OTHERS)
        elif kind < 0.12:
            reply = "The steps are long. " * draw.randint(1, 80) + reply  # some are cut by the budget
        elif kind < 0.16:
            reply, reasoning = draw.choice(["", reply]), reply
        elif kind < 0.24:
            reply = reply + draw.choice(["\n", " "]) + draw.choice(FRAMES[:20]).replace("{}", draw.choice(group)).replace("{{", "{").replace("}}", "}")
        if grader == "lighteval_gsm8k":
            gold = "Steps <<1+1=2>>.\n#### " + draw.choice([gold, group[1]])
        elif grader == "lighteval_latex":
            gold = f"We see $1+1=2$. Hence it is $\\boxed{{{gold}}}$."
        elif grader == "multiple_choice":
            gold = " " + gold
        out.append((gold, reply, reasoning))
    return out


# Differences that are meant to be: (name, graders, whether ours is right, what it is). docs/compatibility.md lists them. One
# that explains nothing any more fails the check.
MATH, EXPR, LATEX = "math", "lighteval_expr", "lighteval_latex"
EXPLAINED = [
    ("gold answer that is no plain number", {EXPR}, None, lambda gold, said, text: not re.fullmatch(r"-?[0-9]+([./][0-9]+)?", gold)),
    ("equation written another way", {MATH}, True, lambda gold, said, text: "=" in gold and "=" in said),
    ("complex number in polar form", {MATH, LATEX}, True, lambda gold, said, text: "e^{i" in said),
    ("Unicode symbol", {MATH, LATEX}, True, lambda gold, said, text: re.search("[π°−∞√]", said)),
    ("thousands set apart", {MATH}, True, lambda gold, said, text: re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+", said) and "^" in gold),
    ("\\boldsymbol", {MATH, LATEX}, True, lambda gold, said, text: "\\boldsymbol" in said),
    ("delimiters of displayed math", {MATH}, True, lambda gold, said, text: said.startswith("\\[")),
    ("letter of a choice in \\text at the end", {MATH}, True, lambda gold, said, text: gold in "ABCDE" and "\\text{" in said),
    ("letter that is also a unit", {MATH}, True, lambda gold, said, text: re.search(r"\\\(a\\\)", said)),
    ("full stop inside the result", {EXPR, LATEX}, True, lambda gold, said, text: said.endswith(".")),
    ("power of ten with e", {EXPR, LATEX}, True, lambda gold, said, text: re.search("[0-9]e[0-9]", said)),
    ("fraction before a full stop", {EXPR}, True, lambda gold, said, text: "/" in said and said + "." in text),
    ("result in bold", {EXPR, LATEX}, None, lambda gold, said, text: f"**{said}**" in text),
    ("list joined by and", {LATEX}, True, lambda gold, said, text: " and " in said),
    ("pi in letters", {LATEX}, True, lambda gold, said, text: said == "pi"),
    ("pair in square brackets", {LATEX}, False, lambda gold, said, text: "[1,2]" in text and "(1,2)" in gold),
]


def export(path):
    """Reads an export by the number of the problem in the prompt's order."""
    rows = [json.loads(line) for line in open(path)]
    return {r["session_num"]: r for r in rows if r["benchmark_phase"] == "profiling"}


def compare(grader, ours, original, work):
    folder = work / grader
    data = work / "hub" / "openai" / "gsm8k"
    for d in (folder, data / "main"):
        d.mkdir(parents=True, exist_ok=True)
    (data / "README.md").write_text("---\nconfigs:\n- config_name: main\n  data_files:\n  - split: test\n    path: main/test.jsonl\n---\n")
    listed = cases(grader)
    with open(data / "main" / "test.jsonl", "w") as rows, open(folder / "replies.jsonl", "w") as replies:
        for i, (gold, reply, reasoning) in enumerate(listed):
            question = f"case {i} of {grader}"
            rows.write(json.dumps({"question": question, "answer": gold}) + "\n")
            replies.write(json.dumps({"prompt": f"Question: {question}\nAnswer:", "reply": reply, "reasoning": reasoning}) + "\n")
    Hub.revision = hashlib.sha1((data / "main" / "test.jsonl").read_bytes()).hexdigest()
    server = subprocess.Popen([ours, "mock-server", "--port", "0", "--fast", "--replies", folder / "replies.jsonl"],
                              stdout=subprocess.PIPE, text=True)
    try:
        url = re.search(r"http://\S+", server.stdout.readline()).group()
        common = ["--model", "m", "--url", url, "--endpoint-type", "chat", "--tokenizer", "builtin", "--accuracy-benchmark", "gsm8k",
                  "--request-count", str(len(listed)), "--concurrency", "16", "--ui", "none"]
        for name, program, more in (("ours", ours, ["--accuracy-data", data, "--accuracy-grader", grader]),
                                    ("original", original, ["--accuracy-grader", grader])):
            with open(folder / f"{name}.log", "w") as log:
                subprocess.run([program, "profile", *common, *more, "--artifact-dir", folder / name], stdout=log,
                               stderr=subprocess.STDOUT, timeout=500, cwd=folder, check=False)
    finally:
        server.terminate()
        server.wait()
    ourRows = {int(re.search(r"(\d+)$", r["conversation_id"]).group()): r for r in export(folder / "ours" / "accuracy_export.jsonl").values()}
    theirs = export(folder / "original" / "accuracy_export.jsonl")
    different, reasons = collections.Counter(), collections.Counter()
    with open(folder / "differences.tsv", "w") as out:
        for i, (gold, reply, reasoning) in enumerate(listed):
            a, b = ourRows.get(i), theirs.get(i)
            if a is None or b is None:
                different["missing"] += (a is None) != (b is None)
                continue
            for key in ("passed", "unparsed"):
                if a[key] != b[key]:
                    reason = key == "passed" and next((name for name, graders, right, is_it in EXPLAINED if grader in graders and
                                                       right in (None, a[key]) and is_it(gold, a["actual"], a["model_output"])), "")
                    if reason:
                        reasons[reason] += 1
                    else:
                        different[key] += 1
                    print(reason or "UNEXPLAINED", i, key, a[key], b[key], repr(gold), repr(reply), repr(reasoning), repr(a["actual"]), repr(b["actual"]),
                          repr(b["explanation"]), sep="\t", file=out)
    print(f"{grader}: {len(listed)} answers, graded {len(ourRows)} and {len(theirs)}, passed "
          f"{sum(r['passed'] for r in ourRows.values())} and {sum(r['passed'] for r in theirs.values())}; unexplained differences: "
          f"{dict(different) or 0}; explained: {dict(reasons) or 0}", flush=True)
    if CASES >= 2000:
        for name, of, _, _ in EXPLAINED:
            if grader in of and not reasons[name]:
                different["no longer needed"] += 1
                print(f"{grader}: nothing needs the explanation {name!r} any more", flush=True)
    return not different


def main():
    ours, original, work = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
    graders = sys.argv[4:] or ["exact_match", "multiple_choice", "mmlu_pro", "math", "lighteval_gsm8k", "lighteval_gpqa",
                               "lighteval_expr", "lighteval_latex"]
    Hub.root = work / "hub"
    hub = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    os.environ.update(HF_ENDPOINT=f"http://127.0.0.1:{hub.server_port}", DO_NOT_TRACK="1")
    ok = True
    for grader in graders:
        os.environ["HF_HOME"] = str(work / "hf" / grader)
        ok = compare(grader, ours, original, work) and ok
    sys.exit(not ok)


main()
