#!/usr/bin/env bash
# check.sh with 10,000 texts for each tokenizer, and the tokenizers and chat templates of published models.
COUNT=${COUNT:-10000} PUBLISHED=1 exec bash "$(dirname "$0")/check.sh"
