"""Prints the character sets of the reference engine's components as hexadecimal ranges.

    python charsets.py

internal/workload/tokenizer/hf/charsets_table.go holds them: the sets that differ from every version of the standard
library's tables. They are found by asking the components about every code point.
"""

from tokenizers import normalizers, pre_tokenizers

POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def ranges(points):
    out = []
    for c in points:
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return " ".join(f"{a:x}" if a == b else f"{a:x}-{b:x}" for a, b in out)


def main():
    bert = lambda **k: normalizers.BertNormalizer(**({"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False} | k))
    removed = lambda n: lambda ch: n.normalize_str(ch) == ""
    cut = pre_tokenizers.Punctuation("removed")
    digits = pre_tokenizers.Digits(individual_digits=True)
    words = pre_tokenizers.Whitespace()
    scripts = pre_tokenizers.UnicodeScripts()
    forms = [normalizers.NFKD(), normalizers.NFKC()]
    for name, test in {
        "oldPunctuation": lambda ch: cut.pre_tokenize_str(ch) == [],
        "oldNonspacing": removed(bert(strip_accents=True)),
        "oldMarks": removed(normalizers.StripAccents()),
        "oldControls": removed(bert(clean_text=True)),
        "numbers": lambda ch: len(digits.pre_tokenize_str(ch + ch)) == 2,
        "words": lambda ch: len(words.pre_tokenize_str("a" + ch + "a")) == 1,
        "noScript": lambda ch: len(scripts.pre_tokenize_str("a" + ch + "a")) == 1 and len(scripts.pre_tokenize_str("я" + ch + "я")) == 1,
        "changed by NFKD": lambda ch: forms[0].normalize_str(ch) != ch,
        "changed by NFKC": lambda ch: forms[1].normalize_str(ch) != ch,
    }.items():
        print(name, ranges(c for c in POINTS if test(chr(c))))


if __name__ == "__main__":
    main()
