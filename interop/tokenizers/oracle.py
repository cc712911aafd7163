"""Expected token ids of the built-in vocabularies, from the engine that defined them.

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install tiktoken
    /tmp/oracle/bin/python interop/tokenizers/oracle.py o200k_base.tiktoken --count 20000 > expected.jsonl
    AIPERF_TOKENIZER_VECTORS=expected.jsonl go test -run Oracle ./internal/workload/tokenizer

The argument is the public rank file. Every line written is {"text": …, "ids": […]}; the texts are
random but for some chosen by hand and depend on --seed alone. --file adds the paragraphs of a text
file. The committed sample, internal/workload/tokenizer/testdata/o200k_base.jsonl, is
--count 400 --seed 1 --short.
"""

import argparse
import json
import random

import tiktoken
from tiktoken.load import load_tiktoken_bpe

PATTERN = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
SPECIALS = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}

CHOSEN = [
    "",
    " ",
    "  ",
    "\n",
    "a",
    "hello world",
    "Hello, World! It's 12345 o'clock.",
    "I'll I'LL we've WE'VE don't DON'T it's IT'S he'd HE'D I'm I'M they're THEY'RE",
    "it'\u017f IT'\u017f it\u2019s",
    "a \n \n b",
    "a  b   c\t\td\u00a0\u00a0e\u2028\u2029f\u0085\u0085g",
    "\r\n\r\n  \r\n x",
    "trailing   ",
    "trailing \n ",
    "<|endoftext|>",
    "a<|endoftext|>b <|endofprompt|>\n<|endofprompt|><|endof|><|",
    "<|endoftext|",
    "  <|endoftext|>  x",
    "\x00\x7f\x1b[0m",
    "http://a.b/c//d/\n//e/ /\n",
    "ABCdef abcDEF aBcDeF \u01c5abc \u02b0A\u02b0b",
    "\u0301\u0301a \u0301b\u0301 \u0301",
    "e\u0301E\u0301 \u00e9\u00c9",
    "\u4f60\u597d\uff0c\u4e16\u754c\uff01\u3053\u3093\u306b\u3061\u306f\uc548\ub155",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466\U0001f1e9\U0001f1ea",
    "\u0661\u0662\u0663\u0664 \u00bd\u2167 1234567890",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "zqxj" * 60,
    "=" * 200,
    " " * 200 + "x",
    "\n" * 100,
    "\ufffd\ufeff\U0010ffff",
    "\u0897 \u1c89\u1c8a \ua7cb \U00010d50 \U000116d0 \U00013460 \U0002ebf0",
]

# What the pattern tells apart, and the neighbours that are easy to get wrong.
ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "0123456789\u0660\u06f1\u00b2\u2460\u216b",
    " \t\u00a0\u2003\u3000\u0085\u2028\x0b\x0c\x1c\x1f",
    "\r\n",
    ".,;:!?/\\'\"()[]{}<>|@#$%^&*-_=+~`",
    "'sStTmMdD\u017flLrReEvV'",
    "\u01c5\u01c8\u01cb\u1f88\u02b0\u02b1\u02c6\u3005\u0e46",
    "\u0300\u0301\u0308\u20dd\u0903\u0e31\ufe0f\u200d\u200b",
    "\u00df\u00e9\u00c4\u0416\u0436\u03a9\u03c9\u05d0\u0628\u0915\u0e01\u4e2d\u56fd\u3042\u30a2\uac00",
    "\U0001f600\U0001f468\U0001f3fd\U0001f1e9\U00010400\U00010428\U00020000",
    "\x00\x01\x7f\u0080\u00ad\ufeff\ufffd\uffff\U0010ffff\ue000",
]
WORDS = "the of and to in is that for it as was with be by on not he his but at are this have from which you I The And It".split()


def text(r, short):
    """One random text: a mix of alphabets, words, runs and any code points."""
    out = []
    alphabets = r.sample(ALPHABETS, r.randint(1, len(ALPHABETS)))
    for _ in range(r.randint(1, 12 if short else 60)):
        kind = r.random()
        if kind < 0.55:
            out.append(r.choice(r.choice(alphabets)))
        elif kind < 0.7:
            out.append(r.choice((" ", "", "\n", "'")) + r.choice(WORDS))
        elif kind < 0.8:
            out.append(r.choice(r.choice(alphabets)) * r.randint(2, 9 if short else 150))
        elif kind < 0.9:
            c = r.choice((r.randrange(0x3000), r.randrange(0x110000), r.randrange(0x10000, 0x20000)))
            out.append("" if 0xD800 <= c <= 0xDFFF else chr(c))
        elif kind < 0.98:
            out.append("".join(r.choice(ALPHABETS[r.randint(0, 1)]) for _ in range(r.randint(1, 12 if short else 90))))
        else:
            out.append(r.choice(("<|endoftext|>", "<|endofprompt|>", "<|")))
    return "".join(out)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("ranks")
    options.add_argument("--count", type=int, default=20000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--short", action="store_true", help="keep the random texts small")
    options.add_argument("--file", action="append", default=[])
    args = options.parse_args()
    encoding = tiktoken.Encoding(
        "o200k_base", pat_str=PATTERN, mergeable_ranks=load_tiktoken_bpe(args.ranks), special_tokens=SPECIALS
    )
    r = random.Random(args.seed)
    texts = CHOSEN + [text(r, args.short) for _ in range(args.count)]
    for path in args.file:
        whole = open(path, encoding="utf-8").read()
        texts += [whole[i : i + 2000] for i in range(0, len(whole), 2000)]
    for t in texts:
        print(json.dumps({"text": t, "ids": encoding.encode(t, allowed_special="all")}, separators=(",", ":")))


if __name__ == "__main__":
    main()
