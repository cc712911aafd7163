"""What the Python servers say: replies of the OpenAI shape, each word of which is one token, and a tally of them."""

import json

WORDS = ["the", "of", "and", "to", "in", "is", "that", "for"]

connections = set()
counts = {"requests": 0, "prompt_tokens": 0, "completion_tokens": 0}


def seen(peer):
    connections.add(tuple(peer))


def tally():
    return counts | {"connections": len(connections)}


def words(asked):
    return [" " + WORDS[i % len(WORDS)] for i in range(asked["max_completion_tokens"])]


def usage(asked):
    prompt, completion = sum(len(m["content"].split()) for m in asked["messages"]), asked["max_completion_tokens"]
    counts["requests"] += 1
    counts["prompt_tokens"] += prompt
    counts["completion_tokens"] += completion
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def reply(asked):
    return {
        "id": "1", "object": "chat.completion", "created": 1, "model": asked["model"], "usage": usage(asked),
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "".join(words(asked))}, "finish_reason": "stop"}],
    }


def events(asked):
    def event(**more):
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": asked["model"]} | more
        return f"data: {json.dumps(chunk)}\n\n".encode()

    for word in words(asked):
        yield event(choices=[{"index": 0, "delta": {"content": word}, "finish_reason": None}])
    yield event(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}])
    yield event(choices=[], usage=usage(asked))
    yield b"data: [DONE]\n\n"
