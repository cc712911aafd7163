"""Writes what the reference engine's components make of chosen texts: internal/workload/tokenizer/hf/testdata/components.json.

    python components.py > ../../internal/workload/tokenizer/hf/testdata/components.json
"""

import json

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

TEXTS = [
    "", " ", "Hello, World! It's  12345 o'clock.", "  a\tb\nc\u00a0d\u2028e  ", "\u00c9\u00e9 e\u0301\u0327\u0344 \u1e9b\u0323 \ufb01 \u2460 \u00bd \u212b", "\u0130I\u0131i \u03a3\u0391\u03a3 \u1c89\ua7dc",
    "\u4e2d\u6587abc\u3001\u30c6\u30b9\u30c8\u30fc\u3072 \ud55c\uae00", "x\u0000y\u0007z\ufffd\u200b\u200d\ufeff\u00ad", "a\u0316\u0301" * 20, "\u0915\u094d\u0937 \u0e19\u0e49\u0e33 \u08d3\u0316\u0301", "\u2581\u2581a\u2581b ", "\u0661\u0662\u00b2\u2167 3\u2074", "!?...$+<=>^`|~\u00a1\u2010\u3001", "\U0001f468\u200d\U0001f469 \U0001f3fd", "ab-cd--ef---", "\r\n\r\n a\r\nb", "\u1100\u1161\u11a8\uac00\u11a8",
]
TOKENS = [["\u2581Hello", "\u2581", "wor", "##ld", "ing</w>", "!"], ["<0xE2>", "<0x96>", "<0x81>", "<0xff>", "<0xZZ>", "a"], ["\u0120he", "llo\u010a", "\u00c3", "\u00a9", "\u4e2d", "<s>"], ["a", "a", "<pad>", "|", "b", "b", "n't", " do not"], ["do", "##n", "'", "t", ".", ",", "?", "'s"], []]


def main():
    r = Regex
    norm = [normalizers.NFC(), normalizers.NFD(), normalizers.NFKC(), normalizers.NFKD(), normalizers.Lowercase(), normalizers.Strip(), normalizers.Strip(left=False), normalizers.StripAccents(), normalizers.Replace("a", "bb"), normalizers.Replace(r(r"\s+"), "_"), normalizers.Prepend("\u2581"), normalizers.Nmt(), normalizers.ByteLevel(), normalizers.BertNormalizer(), normalizers.BertNormalizer(lowercase=False), normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False), normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()])]
    p = pre_tokenizers
    pre = [p.ByteLevel(), p.ByteLevel(add_prefix_space=False), p.ByteLevel(add_prefix_space=False, use_regex=False), p.Whitespace(), p.WhitespaceSplit(), p.BertPreTokenizer(), p.Metaspace(), p.Metaspace(prepend_scheme="first"), p.Metaspace(prepend_scheme="never", split=False), p.Digits(), p.Digits(individual_digits=True), p.CharDelimiterSplit("b"), p.UnicodeScripts(), p.FixedLength(length=3)]
    for behavior in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"):
        pre += [p.Punctuation(behavior), p.Split("-", behavior), p.Split(r(r"\d|\s"), behavior, invert=True), p.Split(r("(?<=a)b|[[:punct:]]{2}|[\\p{L}&&[^a-c]]++"), behavior)]
    pre.append(p.Sequence([p.Digits(), p.Punctuation(), p.Metaspace()]))
    d = decoders
    dec = [d.ByteLevel(), d.WordPiece(), d.WordPiece(cleanup=False), d.Metaspace(), d.Metaspace(prepend_scheme="never"), d.BPEDecoder(), d.CTC(), d.ByteFallback(), d.Fuse(), d.Replace("\u2581", " "), d.Strip("a", 1, 0), d.Strip("!", 0, 1), d.Sequence([d.Replace("\u2581", " "), d.ByteFallback(), d.Fuse(), d.Strip(" ", 1, 0)])]

    def spec(kind, c):
        t = Tokenizer(models.BPE())
        setattr(t, kind, c)
        return json.loads(t.to_str())[kind]

    out = {"normalizers": [], "pre_tokenizers": [], "decoders": [], "models": []}
    for n in norm:
        out["normalizers"].append({"spec": spec("normalizer", n), "cases": [[t, n.normalize_str(t)] for t in TEXTS]})
    for x in pre:
        out["pre_tokenizers"].append({"spec": spec("pre_tokenizer", x), "cases": [[t, [piece for piece, _ in x.pre_tokenize_str(t)]] for t in TEXTS]})
    for x in dec:
        out["decoders"].append({"spec": spec("decoder", x), "cases": [[t, x.decode(t)] for t in TOKENS if t or x is dec[0]]})
    words = ["low low low lower lowest new newer newest wide wider widest \u00e9t\u00e9 na\u00efve 100 2024"] * 5 + TEXTS
    byte_tokens = [f"<0x{i:02X}>" for i in range(256)]
    small = dict(vocab_size=90, show_progress=False)
    cases = []

    def trained(model, trainer, **parts):
        t = Tokenizer(model)
        for k, v in parts.items():
            if k != "post":
                setattr(t, k, v)
        t.train_from_iterator(words, trainer)
        if "post" in parts:
            t.post_processor = parts["post"]
        cases.append(t)
        return t

    trained(models.BPE(unk_token="?"), trainers.BpeTrainer(special_tokens=["?"], **small), pre_tokenizer=p.Whitespace())
    trained(models.BPE(unk_token="?", fuse_unk=True, continuing_subword_prefix="##"), trainers.BpeTrainer(special_tokens=["?"], continuing_subword_prefix="##", limit_alphabet=20, **small), pre_tokenizer=p.Whitespace())
    trained(models.BPE(unk_token="?", end_of_word_suffix="</w>"), trainers.BpeTrainer(special_tokens=["?"], end_of_word_suffix="</w>", limit_alphabet=30, **small), pre_tokenizer=p.Whitespace(), decoder=d.BPEDecoder())
    t = trained(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True), trainers.BpeTrainer(vocab_size=330, show_progress=False, special_tokens=["<unk>", "<s>"] + byte_tokens, limit_alphabet=30), pre_tokenizer=p.Metaspace(prepend_scheme="first"), decoder=d.Sequence([d.ByteFallback(), d.Metaspace(prepend_scheme="first")]), post=processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)]))
    t.add_special_tokens(["<s>", AddedToken("[L]", lstrip=True), AddedToken("[R]", rstrip=True), AddedToken("[W]", single_word=True)])
    trained(models.BPE(ignore_merges=True), trainers.BpeTrainer(initial_alphabet=p.ByteLevel.alphabet(), vocab_size=300, show_progress=False), pre_tokenizer=p.ByteLevel(add_prefix_space=False), decoder=d.ByteLevel())
    t = trained(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=12), trainers.WordPieceTrainer(special_tokens=["[UNK]", "[CLS]", "[SEP]"], limit_alphabet=30, **small), normalizer=normalizers.BertNormalizer(), pre_tokenizer=p.BertPreTokenizer(), decoder=d.WordPiece(), post=processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1)))
    t.add_tokens([AddedToken("\u00c9T\u00c9", normalized=True), "lo", "low", "ow"])
    trained(models.Unigram(), trainers.UnigramTrainer(unk_token="<unk>", special_tokens=["<unk>"], vocab_size=200, show_progress=False), normalizer=normalizers.NFKC(), pre_tokenizer=p.Metaspace(), decoder=d.Metaspace())
    trained(models.WordLevel(unk_token="<unk>"), trainers.WordLevelTrainer(special_tokens=["<unk>"], vocab_size=30, show_progress=False), pre_tokenizer=p.Whitespace())
    texts = TEXTS + ["lowest new \u00e9t\u00e9 wider", "lowlowlower<s>[L] x [R]  y[W]z [W] low", "   [L]  [R]   low", "\u00c9t\u00e9 \u00c9T\u00c9 slow lowly", "<unk><0x41>", "widestwidestwidest", "e\u00e9\u4e2d\u4e2de"]
    for t in cases:
        ids = [t.encode(x, add_special_tokens=False).ids for x in texts]
        out["models"].append({"added": t.num_special_tokens_to_add(False), "file": json.loads(t.to_str()), "cases": [{"text": x, "ids": i, "decoded": t.decode(i, skip_special_tokens=False)} for x, i in zip(texts, ids)]})
    print(json.dumps(out, separators=(",", ":"), sort_keys=True))


if __name__ == "__main__":
    main()
