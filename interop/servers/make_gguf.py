"""Writes a tiny Llama model with random weights as a GGUF file.

    python make_gguf.py DIR MODEL.gguf

DIR holds the tokenizer that the model gets (make_tokenizer.py). The model says nothing sensible; it is there so that an
inference server that nobody here wrote counts tokens with a vocabulary that both sides know.
"""

import json
import sys

import gguf
import numpy as np

DIM, LAYERS, HEADS, FEED_FORWARD, CONTEXT = 64, 2, 4, 128, 4096


def main(directory, out_path):
    tokenizer = json.load(open(f"{directory}/tokenizer.json"))
    config = json.load(open(f"{directory}/tokenizer_config.json"))
    vocabulary = tokenizer["model"]["vocab"]
    merges = [m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]]
    special = {t["id"] for t in tokenizer["added_tokens"]}
    tokens = [token for token, _ in sorted(vocabulary.items(), key=lambda item: item[1])]
    size = len(tokens)
    types = [int(gguf.TokenType.CONTROL if i in special else gguf.TokenType.NORMAL) for i in range(size)]

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
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(vocabulary[config["pad_token"]])
    writer.add_eos_token_id(vocabulary[config["eos_token"]])
    writer.add_add_bos_token(False)
    writer.add_chat_template(config["chat_template"])

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
