"""Writes a tiny Llama model with random weights and the o200k vocabulary as a GGUF file.

    python make_model.py RANKS.tiktoken MODEL.gguf

The model says nothing sensible; it is there so that an inference server that nobody here wrote counts
prompt tokens with the same vocabulary as the built-in tokenizer.
"""

import base64
import sys

import gguf
import numpy as np

DIM, LAYERS, HEADS, FEED_FORWARD, CONTEXT = 64, 2, 4, 128, 4096
SPECIAL = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}


def byte_letters():
    """The printable stand-ins that byte-level vocabularies use for the 256 bytes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {b: chr(b) for b in plain}
    for n, b in enumerate(b for b in range(256) if b not in letters):
        letters[b] = chr(256 + n)
    return letters


def halves(token, ranks):
    """The two tokens whose merge made this one: byte pair encoding stopped one step before the end."""
    parts = [token[i : i + 1] for i in range(len(token))]
    own = ranks[token]
    while len(parts) > 2:
        rank, at = min(
            (ranks.get(parts[i] + parts[i + 1], 1 << 60), i) for i in range(len(parts) - 1)
        )
        if rank >= own:
            raise ValueError(f"token {own} is not a merge")
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts


def main(ranks_path, out_path):
    ranks = {}
    for line in open(ranks_path, "rb"):
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    letters = byte_letters()
    text = lambda token: "".join(letters[b] for b in token)

    size = max(SPECIAL.values()) + 1
    tokens = [f"<|unused_{i}|>" for i in range(size)]
    types = [int(gguf.TokenType.UNUSED)] * size
    merges = []
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        tokens[rank] = text(token)
        types[rank] = int(gguf.TokenType.NORMAL)
        if len(token) > 1:
            merges.append(" ".join(text(part) for part in halves(token, ranks)))
    for name, number in SPECIAL.items():
        tokens[number] = name
        types[number] = int(gguf.TokenType.CONTROL)

    writer = gguf.GGUFWriter(out_path, "llama")
    writer.add_name("tiny-random")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(DIM)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(DIM // HEADS)
    writer.add_vocab_size(size)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-4o")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(SPECIAL["<|endoftext|>"])
    writer.add_eos_token_id(SPECIAL["<|endoftext|>"])
    writer.add_add_bos_token(False)

    draw = np.random.default_rng(1)
    weight = lambda *shape: (draw.standard_normal(shape) * 0.05).astype(np.float16)
    one = lambda: np.ones(DIM, dtype=np.float32)
    writer.add_tensor("token_embd.weight", weight(size, DIM))
    for layer in range(LAYERS):
        prefix = f"blk.{layer}."
        writer.add_tensor(prefix + "attn_norm.weight", one())
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            writer.add_tensor(f"{prefix}{name}.weight", weight(DIM, DIM))
        writer.add_tensor(prefix + "ffn_norm.weight", one())
        writer.add_tensor(prefix + "ffn_gate.weight", weight(FEED_FORWARD, DIM))
        writer.add_tensor(prefix + "ffn_up.weight", weight(FEED_FORWARD, DIM))
        writer.add_tensor(prefix + "ffn_down.weight", weight(DIM, FEED_FORWARD))
    writer.add_tensor("output_norm.weight", one())
    writer.add_tensor("output.weight", weight(size, DIM))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    print(f"{out_path}: {size} tokens, {len(merges)} merges")


if __name__ == "__main__":
    main(*sys.argv[1:])
