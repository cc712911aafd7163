"""Writes a tiny Llama model with random weights into a Hugging Face directory that holds a tokenizer.

    python make_llama.py DIR
"""

import sys

import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM


def main(directory):
    tokenizer = AutoTokenizer.from_pretrained(directory)
    torch.manual_seed(1)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=256,
            intermediate_size=256,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=4096,
            bos_token_id=tokenizer.pad_token_id,
            eos_token_id=None,  # a reply has exactly the length that was asked for
            pad_token_id=tokenizer.pad_token_id,
            tie_word_embeddings=False,
        )
    )
    with torch.no_grad():
        # Neither special tokens nor pieces of characters: some servers show nothing of a reply that has only those.
        for token in range(len(tokenizer)):
            text = tokenizer.decode([token], skip_special_tokens=True)
            if not text or "\ufffd" in text:
                model.lm_head.weight[token] = 0
    model.save_pretrained(directory)


if __name__ == "__main__":
    main(*sys.argv[1:])
