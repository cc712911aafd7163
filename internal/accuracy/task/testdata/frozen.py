"""Writes frozen.json: what CPython's random module draws where a benchmark prescribes it.

    python3 testdata/frozen.py > testdata/frozen.json

The data are made up. The procedures are written here from their description, with random.Random itself, so that the
Go code is compared with Python and not with itself.
"""
import hashlib
import itertools
import json
import random
import sys

WORDS = "iron zinc gold tin lead neon argon boron silver copper nickel helium carbon".split()


def subject(name, rows):
    """The rows of a subject's worked examples; each names the text of its right choice."""
    made = []
    for i, text in enumerate(rows):
        choices = [w for w in WORDS if w != text][i % 7:i % 7 + 3]
        choices.insert(i % 4, text)
        made.append({"question": f"{name} {i}", "choices": choices, "answer": i % 4})
    return {"name": name, "rows": made}


def shots(rows, n):
    groups = {}
    for i, row in enumerate(rows):
        groups.setdefault(row["choices"][row["answer"]], []).append(i)
    by_size = {}
    for text in sorted(groups):
        by_size.setdefault(len(groups[text]), []).append(text)
    draw = random.Random(0)
    order = []
    for size in sorted(by_size, reverse=True):
        texts = by_size[size]
        draw.shuffle(texts)
        order += texts
    drawn = []
    for text in itertools.cycle(order):
        if len(drawn) == min(n + 1, len(rows)):
            break
        rest = groups[text]
        if rest:
            drawn.append(rest.pop(draw.randrange(len(rest))))
    return drawn[:n]


def order(question):
    seed = int(hashlib.sha256(question.encode()).hexdigest(), 16) % 2**32
    indices = [0, 1, 2, 3]
    random.Random(seed).shuffle(indices)
    return indices


subjects = [
    subject("all differ", ["iron", "zinc", "gold", "tin", "lead"]),
    subject("groups", ["iron", "zinc", "iron", "gold", "zinc", "iron", "tin", "Zinc", "zinc", "lead", "gold", "é"]),
    subject("few", ["neon", "neon", "neon"]),
]
questions = ["", "What?", "Which of these is a noble gas?", "Größe μ → ∞ 🦊", "a\nb\tc"] + [
    f"Question {i}: what is {i} × {i}?" for i in range(35)]
json.dump({
    "python": "CPython " + sys.version.split()[0],
    "subjects": [s | {"shots": {str(n): shots(s["rows"], n) for n in (1, 3, 5, 8)}} for s in subjects],
    "gpqa": [{"question": q, "order": order(q)} for q in questions],
}, sys.stdout, ensure_ascii=False)
print()
