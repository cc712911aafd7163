"""Makes tokenizers of every kind and what the libraries that define them make of adversarial texts.

    python engines.py OUT --count 10000

Each folder written under OUT holds a tokenizer file (tokenizer.json, tokenizer.model, tekken.json,
NAME.tiktoken, or a file named builtin that holds a built-in name) and vectors.jsonl: lines of
{"text": …, "ids": […], "decoded": …}; decoded is left out where it is the text. The engines are the
packages tokenizers, sentencepiece, mistral-common and tiktoken. Vocabularies are trained here, taken
from those packages, or read from a folder of published ones (--published).
"""

import argparse
import glob
import io
import json
import os
import random
import shutil
import sysconfig

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from oracle import ALPHABETS, CHOSEN, text as random_text

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

MORE = [
    "<0x0A><0xE2>\n", "▁▁a ▁ b▁", "Ġhello Ċ ġ", "##ing un##ing", "e\u0301\u0327\u0344 \u1e9b\u0323 \ufb01 ﬀ ㌀ ｱｲｳ ① ½ ™ Å",
    "\u0130I\u0131i ΑΣ ΣΑΣ ß ẞ ǅ", "한글 각 가\u11a8 \u1100\u1161\u11a8 \u1112\u1161", "नमस्ते क्षि ครับ น้ำ བོད་", "a\u200db\u200cc\u00add\ufeffe\u2060",
    "👩‍👩‍👧‍👦👍🏽🇩🇪🇫🇷🏴‍☠️ ☕︎ ✈️", "tab\tnl\ncr\rff\fvt\vnel\x85nbsp\xa0ls\u2028ps\u2029", "\u0301", "\u0301" * 40, "a" + "\u0316\u0301" * 30 + "b",
    "日本語テスト、東京タワー。ｶﾞｷﾞ カ゛", "中文。English,混合！123４５６", "x=1;y==2 !=3 <=4 ->5 => 6 ::7 ... ,,, ;;", "http://user:pass@host:80/p?q=1#f",
    "don't can't I'm we've they'd you're he'll it's 's 'S ' s", "do not ' n't .. ? ! , .", "A" * 300, "é" * 120, "漢" * 150, "1234567890" * 12, "    indent\n\t\ttabs\n",
    "<s>hi</s> <unk> <pad> [CLS] [SEP] [MASK]", "   leading", "trailing   ", " \n \n ", "\u2581\u2581x", "a\u0000b", "ﷺ ﷽", "①②③ ⅷ ٣٤", "\U0001d400\U0001d7ce \U0002f800", "½⅓ x² y₃ ªº",
    "[IMG] [INST] [/INST] <|im_start|>user\nhi<|im_end|>", "\r\n\r\n", "a\r\nb\rc\n\n\nd", "𝕳𝖊𝖑𝖑𝖔 ℍ ℌ", "Ⅷ ⅷ Ω K Å", "\u1e00\u0323 q\u0307\u0323 \u0958 \u2adc",
]


def corpus(limit=1_500_000):
    """Prose and code that every machine with this repository and Python has."""
    out, size = [], 0
    files = sorted(glob.glob(os.path.join(ROOT, "**", "*.md"), recursive=True)) + sorted(glob.glob(os.path.join(ROOT, "internal", "*", "*.go")))
    files += sorted(glob.glob(os.path.join(sysconfig.get_paths()["stdlib"], "*.py")))
    for path in files:
        whole = open(path, encoding="utf-8", errors="replace").read()
        out.append(whole)
        size += len(whole)
        if size > limit:
            break
    return out


def foreign(count=3000):
    """Texts of many scripts, to give trained vocabularies more than Latin."""
    r = random.Random(5)
    blocks = [(0x370, 0x3FF), (0x400, 0x4FF), (0x5D0, 0x5EA), (0x620, 0x64A), (0x904, 0x939), (0xE01, 0xE3A), (0x4E00, 0x4E80), (0x3041, 0x3096), (0x30A1, 0x30FA), (0xAC00, 0xAC80), (0x1F600, 0x1F640), (0xC0, 0x17F), (0x300, 0x320)]
    out = []
    for _ in range(count):
        lo, hi = r.choice(blocks)
        out.append(" ".join("".join(chr(r.randint(lo, hi)) for _ in range(r.randint(1, 6))) for _ in range(8)))
    return out


def trained(model, trainer, normalizer=None, pre=None, post=None, decoder=None, texts=None):
    t = Tokenizer(model)
    if normalizer:
        t.normalizer = normalizer
    if pre:
        t.pre_tokenizer = pre
    t.train_from_iterator(texts, trainer)
    if post:
        t.post_processor = post
    if decoder:
        t.decoder = decoder
    return t


def byte_trainer(size=4000, **k):
    return trainers.BpeTrainer(vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False, **k)


def flagged(t):
    """Adds tokens with every flag."""
    t.add_special_tokens(["<s>", "</s>", AddedToken("[MASK]", lstrip=True), AddedToken("[R]", rstrip=True), AddedToken("[B]", lstrip=True, rstrip=True)])
    t.add_tokens([AddedToken("word", single_word=True), AddedToken("Ünï", normalized=True), AddedToken("raw É", normalized=False), "ing", "the dog", AddedToken("  ", normalized=False), AddedToken("12", single_word=True, lstrip=True, rstrip=True), "é", "ab", "abc", "bc"])
    return t


PATTERNS = {
    "bloom": r" ?[^(\s|[.,!?…。，、।۔،])]+",
    "falcon": "[0-9][0-9][0-9]",
    "deepseek_llm": r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-Ֆ]+",
    "kimi": r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "possessive": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "tekken": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "marks": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "words": r"\w+|[^\w\s]+",
    "ends": r"^.|.$|\bth|\d\d|[[:punct:]]{2,}|\x{e9}|[^\p{ASCII}]{3}|(?<=a)b|\P{L}\s",
}


def trained_cases(texts):
    """Names and tokenizers of this library's trainers."""
    few = texts[: len(texts) // 3]
    bl = pre_tokenizers.ByteLevel
    yield "bytelevel_prefix_roberta", flagged(trained(models.BPE(), byte_trainer(), pre=bl(add_prefix_space=True), post=processors.RobertaProcessing(("</s>", 1), ("<s>", 0)), decoder=decoders.ByteLevel(), texts=texts))
    yield "bytelevel_nfc", flagged(trained(models.BPE(), byte_trainer(), normalizer=normalizers.NFC(), pre=bl(add_prefix_space=False), decoder=decoders.ByteLevel(), texts=texts))
    yield "bytelevel_ignore_merges", trained(models.BPE(ignore_merges=True), byte_trainer(), pre=bl(add_prefix_space=False), decoder=decoders.ByteLevel(), texts=texts)
    yield "bytelevel_normalizer", trained(models.BPE(), byte_trainer(2000), normalizer=normalizers.Sequence([normalizers.NFKC(), normalizers.ByteLevel()]), decoder=decoders.ByteLevel(), texts=few)
    yield "bytelevel_poor", trained(models.BPE(unk_token="<unk>", fuse_unk=True), trainers.BpeTrainer(vocab_size=300, special_tokens=["<unk>"], limit_alphabet=60, show_progress=False), pre=bl(add_prefix_space=False), decoder=decoders.ByteLevel(), texts=few)
    for name, pattern in PATTERNS.items():
        pre = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), bl(add_prefix_space=False, use_regex=False)])
        yield "split_" + name, trained(models.BPE(), byte_trainer(2500), pre=pre, decoder=decoders.ByteLevel(), texts=few)
    for n, (behavior, invert, pattern) in enumerate([("removed", False, r"\s+"), ("removed", True, r"\w+"), ("merged_with_previous", False, r"[,.\s]"), ("merged_with_next", False, r"[,.\s]"), ("contiguous", False, r"\d|\s"), ("merged_with_next", True, r"\p{L}+"), ("contiguous", True, "a|e"), ("isolated", True, " ")]):
        pre = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern) if pattern != " " else " ", behavior, invert), bl(add_prefix_space=False, use_regex=False)])
        yield f"behavior_{n}_{behavior}", trained(models.BPE(), byte_trainer(1500), pre=pre, decoder=decoders.ByteLevel(), texts=few)
    for behavior in ("isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"):
        pre = pre_tokenizers.Sequence([pre_tokenizers.Punctuation(behavior), pre_tokenizers.Digits(individual_digits=behavior == "removed"), bl(add_prefix_space=False, use_regex=behavior == "isolated")])
        yield "punctuation_" + behavior, trained(models.BPE(), byte_trainer(1500), pre=pre, decoder=decoders.ByteLevel(), texts=few)
    yield "scripts_fixed", trained(models.BPE(unk_token="?"), trainers.BpeTrainer(vocab_size=3000, special_tokens=["?"], show_progress=False), pre=pre_tokenizers.Sequence([pre_tokenizers.UnicodeScripts(), pre_tokenizers.FixedLength(length=7)]), texts=texts)
    yield "delimiter", trained(models.BPE(unk_token="?", fuse_unk=True), trainers.BpeTrainer(vocab_size=2500, special_tokens=["?"], show_progress=False), pre=pre_tokenizers.Sequence([pre_tokenizers.CharDelimiterSplit("e"), pre_tokenizers.WhitespaceSplit()]), decoder=decoders.Fuse(), texts=texts)
    yield "clip", flagged(trained(models.BPE(unk_token="[UNK]", end_of_word_suffix="</w>"), trainers.BpeTrainer(vocab_size=3000, end_of_word_suffix="</w>", special_tokens=["[UNK]"], show_progress=False), normalizer=normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]), pre=pre_tokenizers.Whitespace(), decoder=decoders.BPEDecoder("</w>"), texts=texts))
    yield "subword_prefix", trained(models.BPE(unk_token="[UNK]", continuing_subword_prefix="##", fuse_unk=False), trainers.BpeTrainer(vocab_size=3000, continuing_subword_prefix="##", special_tokens=["[UNK]"], limit_alphabet=200, show_progress=False), pre=pre_tokenizers.BertPreTokenizer(), decoder=decoders.WordPiece("##", cleanup=False), texts=texts)
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)]
    for scheme in ("always", "first", "never"):
        yield "metaspace_" + scheme, flagged(trained(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True), trainers.BpeTrainer(vocab_size=3000, special_tokens=special, limit_alphabet=150, show_progress=False), pre=pre_tokenizers.Metaspace(prepend_scheme=scheme, split=scheme != "never"), post=processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)]), decoder=decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme=scheme), decoders.Fuse()]), texts=texts))
    yield "prepend_replace", flagged(trained(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True), trainers.BpeTrainer(vocab_size=3000, special_tokens=special, limit_alphabet=150, show_progress=False), normalizer=normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]), pre=pre_tokenizers.Metaspace(prepend_scheme="never"), decoder=decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]), texts=texts))
    bert = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
    for name, norm in {"uncased": normalizers.BertNormalizer(), "cased": normalizers.BertNormalizer(lowercase=False, handle_chinese_chars=False), "accents": normalizers.BertNormalizer(clean_text=False, strip_accents=False), "strip": normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip()])}.items():
        yield "wordpiece_" + name, flagged(trained(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=30), trainers.WordPieceTrainer(vocab_size=4000, special_tokens=bert, show_progress=False), normalizer=norm, pre=pre_tokenizers.BertPreTokenizer(), post=processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1)), decoder=decoders.WordPiece(), texts=texts))
    unigram = lambda size=3000: trainers.UnigramTrainer(vocab_size=size, unk_token="<unk>", special_tokens=["<unk>", "<s>", "</s>"], show_progress=False, shrinking_factor=0.6)
    yield "unigram_metaspace", flagged(trained(models.Unigram(), unigram(), normalizer=normalizers.NFKC(), pre=pre_tokenizers.Metaspace(), decoder=decoders.Metaspace(), texts=few))
    yield "unigram_nmt", flagged(trained(models.Unigram(), unigram(), normalizer=normalizers.Sequence([normalizers.Nmt(), normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip(right=False)]), pre=pre_tokenizers.Sequence([pre_tokenizers.Digits(), pre_tokenizers.Metaspace(prepend_scheme="first")]), decoder=decoders.Metaspace(prepend_scheme="first"), texts=few))
    u = json.loads(trained(models.Unigram(), unigram(), pre=pre_tokenizers.Metaspace(), decoder=decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()]), texts=few).to_str())
    u["model"]["byte_fallback"] = True
    u["model"]["vocab"] += [[f"<0x{i:02X}>", -20.0] for i in range(256)]
    yield "unigram_bytes", Tokenizer.from_str(json.dumps(u))
    yield "wordlevel", flagged(trained(models.WordLevel(unk_token="<unk>"), trainers.WordLevelTrainer(vocab_size=4000, special_tokens=["<unk>"], show_progress=False), pre=pre_tokenizers.Whitespace(), texts=texts))
    yield "wordlevel_ctc", trained(models.WordLevel(unk_token="<unk>"), trainers.WordLevelTrainer(vocab_size=400, special_tokens=["<unk>", "<pad>", "|"], show_progress=False), pre=pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.FixedLength(length=1)]), decoder=decoders.CTC(), texts=few)


def sentencepiece_cases(texts, folder):
    """Models trained by sentencepiece, and those that mistral-common ships: name, path."""
    import mistral_common
    import sentencepiece as spm

    for path in sorted(glob.glob(os.path.join(os.path.dirname(mistral_common.__file__), "data", "*.model.v*"))):
        yield "spm_mistral_" + path.rsplit(".", 1)[1], path
    lines = [l[:3000] for t in texts for l in t.split("\n") if l.strip()][:12000]
    kinds = {
        "unigram": dict(model_type="unigram", vocab_size=3000),
        "unigram_bytes": dict(model_type="unigram", vocab_size=3000, byte_fallback=True, normalization_rule_name="nfkc_cf", split_digits=True, character_coverage=0.99),
        "unigram_identity": dict(model_type="unigram", vocab_size=2000, normalization_rule_name="identity", remove_extra_whitespaces=False, add_dummy_prefix=False, user_defined_symbols=["<sep>", "foo bar", "▁▁▁", "12"], control_symbols=["<ctl>"]),
        "bpe": dict(model_type="bpe", vocab_size=3000, user_defined_symbols=["<sep>", "import"]),
        "bpe_bytes": dict(model_type="bpe", vocab_size=3000, byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False, character_coverage=0.99, allow_whitespace_only_pieces=True),
        "suffix": dict(model_type="unigram", vocab_size=2000, treat_whitespace_as_suffix=True),
        "char": dict(model_type="char", vocab_size=400),
        "word": dict(model_type="word", vocab_size=2000, hard_vocab_limit=False),
    }
    for name, options in kinds.items():
        model = io.BytesIO()
        spm.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, minloglevel=2, num_threads=1, **options)
        path = os.path.join(folder, name + ".model")
        open(path, "wb").write(model.getvalue())
        yield "spm_" + name, path


def charsmap_case(path):
    """A tokenizer.json with the charsmap of a sentencepiece model, as converted models have."""
    from sentencepiece import sentencepiece_model_pb2 as pb

    m = pb.ModelProto()
    m.ParseFromString(open(path, "rb").read())
    vocab = [(p.piece, p.score) for p in m.pieces]
    t = Tokenizer(models.Unigram(vocab, unk_id=m.trainer_spec.unk_id, byte_fallback=False))
    t.normalizer = normalizers.Sequence([normalizers.Precompiled(m.normalizer_spec.precompiled_charsmap), normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.decoder = decoders.Metaspace()
    return flagged(t)


CONVERSATIONS = [
    [{"role": "user", "content": "hi"}],
    [{"role": "system", "content": "You are  nice.\n"}, {"role": "user", "content": "a <b> & 'c' \"d\""}, {"role": "assistant", "content": "ok"}, {"role": "user", "content": "é 漢\n"}],
    [{"role": "user", "content": "x"}, {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]}, {"role": "tool", "tool_call_id": "1", "content": "42"}, {"role": "user", "content": "and?"}],
    [{"role": "user", "content": "x"}, {"role": "assistant", "content": "<think>\nabc\n</think>\n\ny"}, {"role": "user", "content": "z"}],
    [{"role": "user", "content": "x"}, {"role": "user", "content": "y"}],
]


def chat_templates(folders, path):
    """What Jinja makes of the published chat templates, null where a template refuses."""
    import datetime

    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def refuse(message):
        raise ValueError(message)

    text = lambda token: (token if isinstance(token, str) else (token or {}).get("content")) or ""
    out = []
    for config in sorted(f for parent in folders for f in glob.glob(os.path.join(parent, "*", "models", "tokenizer_config.json"))):
        c = json.load(open(config))
        if not c.get("chat_template"):
            continue
        env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
        env.filters["tojson"] = lambda x, ensure_ascii=False, indent=None, separators=None, sort_keys=False: json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
        env.globals["raise_exception"] = refuse
        env.globals["strftime_now"] = lambda f: datetime.datetime.now().strftime(f)
        template = env.from_string(c["chat_template"])
        for messages in CONVERSATIONS:
            try:
                want = template.render(messages=messages, tools=None, documents=None, add_generation_prompt=True, bos_token=text(c.get("bos_token")), eos_token=text(c.get("eos_token")))
            except Exception:
                want = None
            out.append({"name": config.split(os.sep)[-3], "template": c["chat_template"], "bos": text(c.get("bos_token")), "eos": text(c.get("eos_token")), "messages": messages, "want": want})
    json.dump(out, open(path, "w"))


def texts_for(r, count, tokens, prose):
    """The same kinds of texts for every tokenizer, strewn with its own added tokens."""
    out = CHOSEN + MORE
    while len(out) < count:
        t = random_text(r, True)
        if tokens and r.random() < 0.3:
            at = r.randint(0, len(t))
            t = t[:at] + r.choice(("", " ", "  ", "\n", "x")) + r.choice(tokens) + r.choice(("", " ", "\t ", "y", ".")) + t[at:]
        out.append(t)
    return out + prose


def write(folder, texts, encode, decode):
    with open(os.path.join(folder, "vectors.jsonl"), "w") as f:
        for t in texts:
            ids = encode(t)
            line = {"text": t, "ids": ids}
            back = decode(ids)
            if back != t:
                line["decoded"] = back
            f.write(json.dumps(line, separators=(",", ":")) + "\n")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("out")
    options.add_argument("--count", type=int, default=10000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--published", action="append", default=[], help="folder whose subfolders hold a tokenizer.json")
    options.add_argument("--tiktoken", help="folder of rank files")
    options.add_argument("--only", default="")
    options.add_argument("--templates", help="file to write what Jinja makes of the published chat templates to")
    args = options.parse_args()
    if args.templates:
        chat_templates(args.published, args.templates)
    code = corpus(1_500_000 if args.count >= 5000 else 300_000)
    training = [p for t in code for p in t.split("\n\n")] + foreign(3000 if args.count >= 5000 else 800)
    prose = [t[i : i + 1500] for t in code[::9] for i in range(0, len(t), 1500)][: min(300, args.count)]
    total = [0, 0]

    def case(name):
        if args.only and args.only not in name:
            return None
        folder = os.path.join(args.out, name)
        os.makedirs(folder, exist_ok=True)
        total[0] += 1
        return folder

    def texts(name, tokens):
        out = texts_for(random.Random(f"{args.seed} {name}"), args.count, tokens, prose)
        total[1] += len(out)
        return out

    def huggingface(name, t, path=None):
        folder = case(name)
        if not folder:
            return
        if path:
            shutil.copy(path, os.path.join(folder, "tokenizer.json"))
        else:
            t.save(os.path.join(folder, "tokenizer.json"))
        added = [a.content for a in t.get_added_tokens_decoder().values()]
        list_ = texts(name, (added[:12] + added[-12:]) if len(added) > 24 else added)
        with open(os.path.join(folder, "vectors.jsonl"), "w") as f:
            for at in range(0, len(list_), 2000):
                part = list_[at : at + 2000]
                all_ids = [e.ids for e in t.encode_batch_fast(part, add_special_tokens=False)]
                for one, ids, back in zip(part, all_ids, t.decode_batch(all_ids, skip_special_tokens=False)):
                    line = {"text": one, "ids": ids}
                    if back != one:
                        line["decoded"] = back
                    f.write(json.dumps(line, separators=(",", ":")) + "\n")

    for parent in args.published:
        for path in sorted(glob.glob(os.path.join(parent, "*", "models", "tokenizer.json"))):
            name = "published_" + path.split(os.sep)[-3].removeprefix("tokenizer-")
            if args.only and args.only not in name:
                continue
            huggingface(name, Tokenizer.from_file(path), path)
    if not args.only or not args.only.startswith(("published", "builtin", "tekken", "spm")):
        for name, t in trained_cases(training):
            huggingface(name, t)
    models_folder = os.path.join(args.out, ".models")
    os.makedirs(models_folder, exist_ok=True)
    if not args.only or args.only.startswith(("spm", "charsmap")):
        import sentencepiece as spm

        for name, path in sentencepiece_cases(training, models_folder):
            folder = case(name)
            if folder:
                sp = spm.SentencePieceProcessor(model_file=path)
                shutil.copy(path, os.path.join(folder, "tokenizer.model"))
                write(folder, texts(name, ["<s>", "<sep>", "foo bar", "import", "[INST]", "▁▁▁", "<ctl>"]), lambda t: sp.encode(t), lambda ids: sp.decode(ids))
            if name in ("spm_unigram", "spm_unigram_bytes"):
                huggingface("charsmap_" + name, charsmap_case(path))
    if not args.only or args.only.startswith("tekken"):
        import mistral_common
        from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer

        for path in sorted(glob.glob(os.path.join(os.path.dirname(mistral_common.__file__), "data", "tekken_*.json"))):
            name = os.path.basename(path).removesuffix(".json")
            folder = case(name)
            if folder:
                shutil.copy(path, os.path.join(folder, "tekken.json"))
                k = Tekkenizer.from_file(path)
                write(folder, texts(name, ["[INST]", "<s>", "[IMG]"]), lambda t: k.encode(t, bos=False, eos=False), lambda ids: k.decode(ids, special_token_policy=SpecialTokenPolicy.KEEP))
    if args.tiktoken:
        import base64
        import hashlib
        import tiktoken

        # The library fetches rank files unless its cache has them.
        cache = os.path.join(models_folder, "tiktoken")
        os.makedirs(cache, exist_ok=True)
        os.environ["TIKTOKEN_CACHE_DIR"] = cache
        urls = {"cl100k_base": "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken", "o200k_base": "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken", "p50k_base": "https://openaipublic.blob.core.windows.net/encodings/p50k_base.tiktoken", "r50k_base": "https://openaipublic.blob.core.windows.net/encodings/r50k_base.tiktoken"}
        for name, url in urls.items():
            path = os.path.join(args.tiktoken, name + ".tiktoken")
            shutil.copyfile(path, os.path.join(cache, hashlib.sha1(url.encode()).hexdigest()))
        for name in ("cl100k_base", "o200k_base", "o200k_harmony", "p50k_base", "p50k_edit", "r50k_base"):
            folder = case("builtin_" + name)
            if folder:
                e = tiktoken.get_encoding(name)
                open(os.path.join(folder, "builtin"), "w").write(name)
                write(folder, texts(name, sorted(e.special_tokens_set)[:12]), lambda t: e.encode(t, allowed_special="all"), lambda ids: e.decode(ids))
        # Rank files whose folder says how they split: by the name of the repository's code, or by an expression.
        named = {"[BOS]": 0, "[EOS]": 1, "<|im_end|>": 2, "a b": 7}
        for name, pattern in {"ranks_kimi": PATTERNS["kimi"], "ranks_marks": PATTERNS["marks"], "ranks_words": PATTERNS["words"]}.items():
            folder = case(name)
            if folder:
                ranks = tiktoken.get_encoding("cl100k_base")._mergeable_ranks
                first = 100_300
                special = {text: first + i for text, i in named.items()}
                config = {"added_tokens_decoder": {str(i): {"content": text, "special": True} for text, i in special.items()}, "bos_token": "[BOS]", "eos_token": "[EOS]"}
                if name == "ranks_kimi":
                    first = max(ranks.values()) + 1
                    special = {text: first + i for text, i in named.items()}
                    config["added_tokens_decoder"] = {str(i): {"content": text, "special": True} for text, i in special.items()}
                    config["auto_map"] = {"AutoTokenizer": ["tokenization_kimi.TikTokenTokenizer", None]}
                    special |= {f"<|reserved_token_{i}|>": i for i in range(first, first + 256) if i - first not in named.values()}
                else:
                    config["pat_str"] = pattern
                e = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
                shutil.copyfile(os.path.join(args.tiktoken, "cl100k_base.tiktoken"), os.path.join(folder, "tiktoken.model"))
                json.dump(config, open(os.path.join(folder, "tokenizer_config.json"), "w"))
                write(folder, texts(name, sorted(named) + ["<|reserved_token_100260|>"]), lambda t: e.encode(t, allowed_special="all"), lambda ids: e.decode(ids))
    shutil.rmtree(models_folder)
    print(f"{total[0]} tokenizers, {total[1]} texts")


if __name__ == "__main__":
    main()
