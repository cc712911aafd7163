"""Writes the tokenizer of the tiny models as a Hugging Face directory.

    python make_tokenizer.py DIR

A byte-level BPE trained on text that is generated here, with a chat template that adds the same tokens to every prompt of a
kind: the parts of the template are special tokens or end in a line break, so nothing merges across their borders.
"""

import json
import os
import random
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}<|im_start|>{{ m['content'] }}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant<|im_start|>{% endif %}"
)


# The mock server answers in common English words, and asks of a tokenizer that some of them are tokens.
ENGLISH = (
    "the time people year way day thing man woman life child world school state family student group country problem hand part "
    "place case week company system question work number night point home water room area money story fact month book word side"
)


def sentences(count):
    """Sentences of words that are made of syllables, so that there is something to merge, and between them common words."""
    draw = random.Random(1)
    syllables = [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "an", "er", "is")]
    words = ["".join(draw.choice(syllables) for _ in range(draw.randint(1, 3))) for _ in range(1500)]
    for _ in range(count):
        yield " ".join(draw.choice(words) for _ in range(12)).capitalize() + ". " + ENGLISH


def main(directory):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        sentences(4000),
        trainers.BpeTrainer(
            vocab_size=4096,
            special_tokens=SPECIAL,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    os.makedirs(directory, exist_ok=True)
    tokenizer.save(f"{directory}/tokenizer.json")
    with open(f"{directory}/tokenizer_config.json", "w") as f:
        json.dump(
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "eos_token": "<|im_end|>",
                "pad_token": "<|endoftext|>",
                "chat_template": TEMPLATE,
                "clean_up_tokenization_spaces": False,
                "model_max_length": 4096,
            },
            f,
            indent=1,
        )
    print(f"{directory}: {tokenizer.get_vocab_size()} tokens")


if __name__ == "__main__":
    main(*sys.argv[1:])
