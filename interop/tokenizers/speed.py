"""Makes tokenizers as large as published ones, and says how fast the reference library is with them on one thread.

    python speed.py make FOLDER RANKS PROSE    tokenizer.json files: bytelevel (200k, from the ranks), wordpiece and unigram (30k, trained)
    python speed.py compare FOLDER OURS        the table: OURS is the output of the Go benchmark
"""

import base64
import json
import os
import re
import sys
import time

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

O200K = "|".join([
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+",
])


def byte_characters():
    plain = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    rest = [b for b in range(256) if b not in plain]
    return {b: chr(b) for b in plain} | {b: chr(256 + i) for i, b in enumerate(rest)}


def halves(token, ranks):
    """The merge that makes a token: what lower ranks leave of it."""
    parts = [bytes([b]) for b in token]
    while len(parts) > 2:
        best = min(range(len(parts) - 1), key=lambda i: ranks.get(parts[i] + parts[i + 1], 1 << 30))
        parts[best : best + 2] = [parts[best] + parts[best + 1]]
    return parts


def bytelevel(path):
    ranks = {}
    for line in open(path, "rb"):
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    characters = byte_characters()
    name = lambda token: "".join(characters[b] for b in token)
    merges = []
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        if len(token) > 1:
            lower = {t: r for t, r in ((token[i:j], ranks.get(token[i:j], 1 << 30)) for i in range(len(token)) for j in range(i + 2, len(token) + 1)) if r < rank}
            merges.append(tuple(name(part) for part in halves(token, lower)))
    t = Tokenizer(models.BPE(vocab={name(token): rank for token, rank in ranks.items()}, merges=merges, ignore_merges=False))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(O200K), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    return t


def trained(model, trainer, lines):
    t = Tokenizer(model)
    if isinstance(model, models.WordPiece):
        t.normalizer, t.pre_tokenizer, t.decoder = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    else:
        t.normalizer = normalizers.Sequence([normalizers.NFKC()])
        t.pre_tokenizer, t.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    t.train_from_iterator(lines, trainer)
    return t


def make(folder, ranks, prose):
    lines = open(prose, encoding="utf-8").read().splitlines()
    for name, build in {
        "bytelevel": lambda: bytelevel(ranks),
        "wordpiece": lambda: trained(models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer(vocab_size=30000, special_tokens=["[UNK]"]), lines),
        "unigram": lambda: trained(models.Unigram(), trainers.UnigramTrainer(vocab_size=30000, special_tokens=["<unk>"], unk_token="<unk>"), lines[: len(lines) // 4]),
    }.items():
        os.makedirs(f"{folder}/{name}", exist_ok=True)
        if not os.path.exists(f"{folder}/{name}/tokenizer.json"):
            build().save(f"{folder}/{name}/tokenizer.json")


def best(work, rounds=3):
    """The shortest of some runs in seconds."""
    spent = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        spent.append(time.perf_counter() - begin)
    return min(spent)


def compare(folder, output):
    prose = open(f"{folder}/prose.txt", encoding="utf-8").read()[:400_000]
    texts, size = [prose[i : i + 4000] for i in range(0, len(prose), 4000)], len(prose.encode())
    ours = {}
    for line in open(output):
        if m := re.match(r"Benchmark(\S+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op(?:\s+([\d.]+) MB/s)?", line):
            ours[m[1]] = float(m[2]) / 1e6, float(m[3] or 0)
    print(f"{'':24}{'reference':>14}{'here':>14}{'ratio':>8}")
    for name in ("bytelevel", "wordpiece", "unigram"):
        path = f"{folder}/{name}/tokenizer.json"
        t = Tokenizer.from_file(path)
        t.encode(texts[0])
        theirs = size / best(lambda: [t.encode(text, add_special_tokens=False) for text in texts]) / 1e6
        print(f"{name + ', prose':24}{theirs:9.1f} MB/s{ours['Speed/encode/' + name][1]:9.1f} MB/s{ours['Speed/encode/' + name][1] / theirs:8.1f}")
        load = best(lambda: Tokenizer.from_file(path), 2) * 1000
        mine = ours["Speed/load/" + name][0]
        print(f"{name + ', load':24}{load:11.0f} ms{mine:11.1f} ms{load / mine:8.1f}")
        print(f"{name + ', packed, load':24}{'':14}{ours['Speed/packed/' + name][0]:11.1f} ms")
    print(f"{'built-in, load':24}{'':14}{ours['Load'][0]:11.1f} ms")


if __name__ == "__main__":
    make(*sys.argv[2:]) if sys.argv[1] == "make" else compare(*sys.argv[2:])
