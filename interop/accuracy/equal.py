"""Compares the equivalence of expressions with sympy's: pairs that a seeded generator makes, equal ones by rewriting.

    equal.py PROGRAM [PAIRS] [SEED]

PROGRAM reads pairs as JSON Lines and writes true or false for each. A disagreement fails unless REASONS names it.
"""
import collections, json, random, re, subprocess, sys, warnings

import sympy

warnings.simplefilter("ignore")
x, y = sympy.symbols("x y")

# What the two see differently: (name, what is true of the expressions and their texts). One that nothing needs fails the check.
REASONS = [
    ("numbers closer than 1e-4 are equal", lambda a, b, texts: not (a - b).free_symbols and abs(sympy.N(a - b)) < 1e-4),
    ("sympy writes a/(7x) as a / 7 x", lambda a, b, texts: any(re.search(r"/ \S+ \S", t) for t in texts)),
]


def leaf(r):
    return r.choice([sympy.Integer(r.randint(1, 12)), sympy.Rational(r.randint(1, 9), r.randint(2, 9)), x, x, y, sympy.pi,
                     sympy.sqrt(r.choice([2, 3, 5, 7])), sympy.Integer(r.randint(-9, -1))])


def make(r, depth):
    """Makes an expression."""
    if depth == 0 or r.random() < 0.15:
        return leaf(r)
    a, b = make(r, depth - 1), make(r, depth - 1)
    kind = r.randrange(9)
    if kind == 0:
        return a + b
    if kind == 1:
        return a - b
    if kind == 2:
        return a * b
    if kind == 3:
        return a / b if b != 0 else a
    if kind == 4:
        return a ** r.choice([2, 2, 3])
    if kind == 5:
        return sympy.sqrt(leaf(r) ** 2 + 1)
    if kind == 6:
        return r.choice([sympy.sin, sympy.cos, sympy.tan])(leaf(r))
    if kind == 7:
        return sympy.log(sympy.Integer(r.randint(2, 9)))
    return a + b * leaf(r)


def other(r, e):
    """Rewrites an expression, or makes another one of it."""
    change = r.choice([sympy.expand, sympy.factor, sympy.together, sympy.simplify, sympy.apart if len(e.free_symbols) == 1 else
                       sympy.expand, lambda v: v, lambda v: v + 1 - 1, lambda v: v + r.choice([1, -1, sympy.Rational(1, 3), x]),
                       lambda v: -v, lambda v: v * 2, lambda v: v.subs(x, y), lambda v: v.subs(sympy.Integer(2), sympy.Integer(3))])
    try:
        return change(e)
    except Exception:  # sympy cannot rewrite all of them
        return e


def equal(a, b):
    """Decides by sympy; None where it cannot."""
    try:
        d = a - b
        verdict = d.equals(0)
        if verdict is None:
            verdict = sympy.simplify(d) == 0
        return bool(verdict)
    except Exception:
        return None


def plain(e):
    return str(e).replace(" ", "")


def main():
    program, count, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5000, sys.argv[3] if len(sys.argv) > 3 else "1"
    r = random.Random(seed)
    pairs = []
    while len(pairs) < count:
        a = make(r, r.choice([1, 2, 2, 3]))
        if a.has(sympy.zoo, sympy.nan, sympy.oo) or sympy.count_ops(a) > 25:
            continue
        b = other(r, a)
        if b.has(sympy.zoo, sympy.nan, sympy.oo):
            continue
        verdict = equal(a, b)
        if verdict is None:
            continue
        write = [lambda e: sympy.latex(e, ln_notation=True), lambda e: sympy.latex(e, ln_notation=True, fold_short_frac=True), plain]
        texts = r.choice(write)(a), r.choice(write)(b)
        pairs.append((a, b, texts, verdict))
    lines = "".join(json.dumps(t) + "\n" for _, _, t, _ in pairs)
    got = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout.split()
    reasons, bad = collections.Counter(), 0
    for (a, b, texts, verdict), mine in zip(pairs, got, strict=True):
        if (mine == "true") == verdict:
            continue
        reason = next((name for name, is_it in REASONS if is_it(a, b, texts)), "")
        reasons[reason] += 1
        if not reason:
            bad += 1
            print(f"sympy {verdict}, ours {mine}: {texts[0]}   {texts[1]}")
    print(f"{count} pairs with seed {seed}: {sum(p[3] for p in pairs)} equal, {bad} unexplained disagreements, explained: {dict(reasons)}")
    unused = [name for name, _ in REASONS if not reasons[name]] if count >= 5000 else []
    for name in unused:
        print(f"nothing needs the reason {name!r} any more")
    sys.exit(bool(bad or unused))


main()
