"""Holds a run's client token counts against the server's usage and checks that the totals add up."""

import json
import sys
from collections import Counter

endpoint, mode, run = sys.argv[1:]
records = [json.loads(line) for line in open(f"{run}/profile_export.jsonl")]
summary = json.load(open(f"{run}/profile_export_aiperf.json"))
assert len(records) == 40, len(records)
assert summary["request_count"]["avg"] == 40.0, summary["request_count"]
assert not summary["error_summary"], summary["error_summary"]

value = lambda record, tag: record["metrics"].get(tag, {}).get("value")
isl = Counter(value(r, "input_sequence_length") for r in records)
assert set(isl) == {100}, isl
with_usage = [r for r in records if value(r, "usage_prompt_tokens") is not None]
prompt = Counter(value(r, "usage_prompt_tokens") - value(r, "input_sequence_length") for r in with_usage)
output = Counter(value(r, "usage_completion_tokens") - value(r, "output_sequence_length") for r in with_usage)
print(f"{endpoint:12} {mode:12} usage on {len(with_usage)} of 40; server minus client: prompt {dict(prompt)}, output {dict(sorted(output.items()))}")
if endpoint == "completions" and with_usage:
    assert set(prompt) == {0}, "a completion prompt has no template: both counts must agree"
if endpoint == "chat" and with_usage:
    # The template's text may merge with the first or last characters of a prompt.
    assert max(prompt) - min(prompt) <= 2 and min(prompt) > 0, "the chat template adds about the same to every prompt"
