"""The bodies that aiperf sends are what the official packages would send: every member is one of the API's own
request, with a value of its type. Usage: bodies.py RECORD (of mock-server --record-requests --record-bodies)"""
import json
import sys
import typing

import anthropic.types
import openai.types
import openai.types.chat
import openai.types.responses
import pydantic

# The class of the request by path; streaming requests have one of their own.
shapes = {
    "/v1/chat/completions": (openai.types.chat.completion_create_params.CompletionCreateParamsNonStreaming,
                             openai.types.chat.completion_create_params.CompletionCreateParamsStreaming),
    "/v1/completions": (openai.types.completion_create_params.CompletionCreateParamsNonStreaming,
                        openai.types.completion_create_params.CompletionCreateParamsStreaming),
    "/v1/responses": (openai.types.responses.response_create_params.ResponseCreateParamsNonStreaming,
                      openai.types.responses.response_create_params.ResponseCreateParamsStreaming),
    "/v1/embeddings": (openai.types.EmbeddingCreateParams,) * 2,
    "/v1/images/generations": (openai.types.image_generate_params.ImageGenerateParamsNonStreaming,
                               openai.types.image_generate_params.ImageGenerateParamsStreaming),
    "/v1/messages": (anthropic.types.message_create_params.MessageCreateParamsNonStreaming,
                     anthropic.types.message_create_params.MessageCreateParamsStreaming),
}


def settle(value):
    """Iterables are checked while they are walked."""
    if isinstance(value, dict):
        return {k: settle(v) for k, v in value.items()}
    if isinstance(value, (str, bytes, int, float)) or value is None:
        return value
    return [settle(v) for v in value]


# The adapters stay alive as long as what they validate lazily.
adapters = {shape: pydantic.TypeAdapter(shape) for pair in shapes.values() for shape in pair}
failed, seen = 0, {}
for line in open(sys.argv[1]):
    record = json.loads(line)
    if record["path"] not in shapes:
        continue
    body = json.loads(record["body"])
    streams = bool(body.get("stream"))
    shape = shapes[record["path"]][streams]
    seen[record["path"], streams] = seen.get((record["path"], streams), 0) + 1
    try:
        settle(adapters[shape].validate_python(body))
        unknown = set(body) - set(typing.get_type_hints(shape))
        if unknown:
            raise ValueError(f"members that the API does not know: {sorted(unknown)}")
    except ValueError as e:
        failed += 1
        print("FAIL", record["path"], "stream" if streams else "", record["body"][:200], "\n", str(e)[:600])
for (path, streams), n in sorted(seen.items()):
    print(f"{n:3d}", path, "stream" if streams else "")
missing = [(p, s) for p in shapes for s in (False, True) if (p, s) not in seen and (p, s) != ("/v1/embeddings", True)]
sys.exit(f"{failed} wrong bodies, not seen: {missing}" if failed or missing else 0)
