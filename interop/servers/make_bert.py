"""Writes a tiny BERT with random weights, with the tokenizer of make_tokenizer.py, as a Hugging Face directory.

    python make_bert.py TOKENIZER_DIR OUT_DIR embed|rerank
"""

import json
import os
import sys

import torch
from transformers import BertConfig, BertForSequenceClassification, BertModel, PreTrainedTokenizerFast


def main(tokenizer_dir, out, kind):
    end, start, stop = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=f"{tokenizer_dir}/tokenizer.json",
        pad_token=end,
        unk_token=end,
        mask_token=end,
        eos_token=stop,
        cls_token=start,
        sep_token=stop,
        model_max_length=512,
    )
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,  # vLLM on the processor ends at the first request of a model whose heads have 16
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=1024,
        num_labels=1,
    )
    (BertForSequenceClassification if kind == "rerank" else BertModel)(config).save_pretrained(out)
    tokenizer.save_pretrained(out)
    if kind == "embed":  # what sentence-transformers wants to know besides
        os.makedirs(f"{out}/1_Pooling", exist_ok=True)
        module = "sentence_transformers.models."
        modules = [
            {"idx": 0, "name": "0", "path": "", "type": module + "Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": module + "Pooling"},
        ]
        write(f"{out}/modules.json", modules)
        write(f"{out}/1_Pooling/config.json", {"word_embedding_dimension": config.hidden_size, "pooling_mode_mean_tokens": True})
        write(f"{out}/sentence_bert_config.json", {"max_seq_length": 512, "do_lower_case": False})


def write(path, value):
    with open(path, "w") as f:
        json.dump(value, f)


if __name__ == "__main__":
    main(*sys.argv[1:])
