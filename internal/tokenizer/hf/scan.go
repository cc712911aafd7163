package hf

import "aiperf/internal/tokenizer/split"

// gpt2 is the splitter of the ByteLevel pre-tokenizer.
var gpt2 = split.Named(split.GPT2)
