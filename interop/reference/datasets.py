"""Writes the data files of datasets.sh, and compares what the two programs sent of them.

Texts that the files give must be equal, byte for byte; of generated texts the lengths in tokens and the shared beginnings
must. Bodies are compared with the order of their keys. A difference that is not listed in EXPLAINED ends with exit code 1.
"""

import base64
import json
import os
import struct
import sys
import zlib

# Differences with a reason; docs/compatibility.md gives it.
EXPLAINED = {
    ("payloads", "request 0"): "the model of --model is added to bodies with messages",
    ("payloads", "request 2"): "the model of --model is added to bodies with messages",
    ("raw_payload", "request 0"): "the model of --model is added to bodies with messages",
    ("delta", "request 1"): "0.13 does not know message_mode",
    ("delta", "request 2"): "0.13 does not know message_mode",
    ("chats", "request 1"): "the recorded length counts the history already",
}

# Cases whose texts are generated.
GENERATED = {"bailian_trace", "chats", "burst", "synthetic", "prefixes", "contexts", "pairs"}
# Cases whose contents are drawn: each request must be a possible draw.
DRAWN = {"random_pool", "random_pool-batch", "pools", "pairs", "synthetic", "prefixes", "contexts"}


def generated(name):
    return name in GENERATED or name.startswith("mooncake_trace")


# --- files


def lines(path, rows):
    with open(path, "w") as f:
        for row in rows:
            f.write(json.dumps(row, ensure_ascii=False) + "\n")


def png(width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes((x * 9 + y * 5) % 256 for x in range(3 * width)) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


def wav(samples):
    data = b"".join(struct.pack("<h", (i * 37) % 2000) for i in range(samples))
    return b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 16000, 32000, 2, 16) + b"data" + struct.pack(
        "<I", len(data)) + data


def files(folder):
    os.makedirs(folder)
    os.chdir(folder)
    lines("single_turn.jsonl", [
        {"text": "Alpha?", "output_length": 16},
        {"session_id": "s1", "text": "Beta"},
        {"texts": ["Gamma", "Delta"], "image": "https://host/x.png"},
        {"session_id": "s1", "text": "Epsilon", "role": "assistant"},
        {"texts": [{"name": "a", "contents": ["Zeta", "Eta"]}, {"name": "b", "contents": ["Theta"]}]},
        {"type": "single_turn", "text": 'é "quoted" <b> & \u2028 \\ \t end', "extra": {"temperature": 0.5, "model": "other"}},
        {"images": ["https://host/1.png", "https://host/2.png"], "text": "Two"},
    ])
    lines("multi_turn.jsonl", [
        {"session_id": "a", "turns": [{"text": "Hi", "output_length": 8}, {"text": "More", "delay": 20}, {"text": "Done", "output_length": 3}]},
        {"turns": [{"text": "One", "role": "user"}, {"texts": ["Two", "Three"]}]},
        {"session_id": "a", "turns": [{"text": "Again", "extra": {"top_k": 3}}]},
        {"turns": [{"text": "Look", "image": "https://host/x.png"}, {"text": "And?"}]},
    ])
    with open("p.png", "wb") as f:
        f.write(png(5, 4))
    with open("s.wav", "wb") as f:
        f.write(wav(100))
    lines("media.jsonl", [
        {"text": "local", "image": "p.png"},
        {"text": "encoded", "image": "data:image/png;base64," + base64.b64encode(png(2, 2)).decode()},
        {"text": "sound", "audio": "s.wav"},
        {"text": "encoded sound", "audio": "wav," + base64.b64encode(wav(3)).decode()},
        {"text": "video", "video": "https://host/v.mp4"},
    ])
    picture = "https://host/a.png"
    lines("uuids.jsonl", [
        {"session_id": "s", "text": "twice", "images": [{"name": "n", "contents": [picture, picture], "uuids": ["U1", "U1"]}]},
        {"session_id": "s", "text": "again", "images": [{"contents": ["https://host/b.png", picture], "uuids": ["U2", "U1"]}]},
        {"session_id": "s", "text": "no id", "images": [{"contents": [picture]}]},
        {"session_id": "s", "text": "other content", "images": [{"contents": ["https://host/c.png"], "uuids": ["U2"]}]},
        {"session_id": "t", "text": "reference", "images": [{"uuids": ["U1"]}]},
        {"session_id": "t", "text": "first", "images": [{"contents": [picture], "uuids": ["U1"]}]},
        {"session_id": "t", "text": "empty", "images": [{"contents": [""], "uuids": ["U1"]}]},
        {"text": "alone", "images": [{"contents": [picture], "uuids": ["U1"]}]},
    ])
    lines("timed.jsonl", [{"text": "third", "timestamp": 90}, {"text": "first", "timestamp": 30}, {"text": "second", "timestamp": 60}])
    lines("mooncake_trace.jsonl", [
        {"timestamp": 0, "input_length": 1200, "output_length": 52, "hash_ids": [0, 1, 2]},
        {"timestamp": 105, "input_length": 1800, "output_length": 26, "hash_ids": [0, 3, 4, 5]},
        {"timestamp": 200, "input_length": 700, "hash_ids": [0, 6]},
        {"session_id": "x", "timestamp": 300, "input_length": 64, "output_length": 8},
        {"session_id": "x", "delay": 40, "input_length": 32, "output_length": 8},
        {"timestamp": 500, "input_length": 1024, "output_length": 3, "hash_ids": [0, 7], "group_id": 4},
    ])
    message = {"role": "user", "content": "U"}
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    lines("given.jsonl", [
        {"timestamp": 0, "text_input": "Hello there", "output_length": 3},
        {"timestamp": 50, "messages": [{"role": "system", "content": "S"}, message], "tools": [tool], "output_length": 5},
        {"timestamp": 100, "text_input": "No limit", "extra": {"top_k": 1}},
        {"session_id": "h", "timestamp": 150, "messages": [message]},
        {"session_id": "h", "delay": 10, "messages": [message, {"role": "assistant", "content": "A"}, {"role": "user", "content": "V"}]},
        {"timestamp": 250, "payload": {"messages": [message], "model": "p", "max_tokens": 2, "b": 1, "a": 1.0}},
    ])
    lines("delta.jsonl", [
        {"session_id": "d", "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "1"}], "message_mode": "delta", "tools": [tool]},
        {"session_id": "d", "messages": [{"role": "user", "content": "2"}], "message_mode": "delta", "delay": 10},
        {"session_id": "d", "messages": [{"role": "user", "content": "3"}], "message_mode": "delta"},
    ])
    lines("random_pool.jsonl", [{"type": "random_pool", "text": "a", "image": "https://h/a"}, {"type": "random_pool", "text": "b", "image": "https://h/b"}])
    os.mkdir("pools")
    lines("pools/q.jsonl", [{"text": "Q1"}])
    lines("pools/p.jsonl", [{"text": "P1"}])
    bodies = [
        {"messages": [{"role": "user", "content": "one"}], "temperature": 1},
        {"temperature": 1.0, "messages": [{"role": "user", "content": "two é"}], "model": "x", "max_tokens": 3, "z": None},
        {"messages": [{"role": "user", "content": "three"}]},
    ]
    lines("raw_payload.jsonl", bodies[:2])
    os.mkdir("payloads")
    lines("payloads/b.jsonl", bodies[2:])
    lines("payloads/a.jsonl", bodies[:2])
    with open("inputs.json", "w") as f:
        json.dump({"data": [{"session_id": "k", "payloads": bodies[:2]}, {"session_id": "l", "payloads": bodies[2:]}]}, f, indent=2)
    def chat(number, parent, seconds, tokens, ids, turn=1):
        return {"chat_id": number, "parent_chat_id": parent, "timestamp": seconds, "input_length": tokens, "output_length": number % 7 + 1,
                "type": "text", "turn": turn, "hash_ids": ids}

    lines("bailian_trace.jsonl", [chat(7, -1, 1.5, 20, [1, 2]), chat(20, 99, 1.7, 40, [1, 5, 6]), chat(21, -1, 1.614, 33, [1, 5, 7]),
                                  chat(22, 21, 1.9, 16, [9], turn=2), chat(23, 23, 2.0, 48, [1, 5, 10])])
    lines("chats.jsonl", [chat(7, -1, 1.5, 16, [1]), chat(8, 7, 1.6, 32, [1, 2], turn=2)])
    with open("burst.csv", "w") as f:
        f.write("Timestamp,Model,Request tokens,Response tokens\n0.25,x,10,3\n0.35,\"a,b\",200,7\n0.5,x,33,1\n")
    lines("sagemaker_data_capture.jsonl", [{
        "captureData": {"endpointInput": {"mode": "INPUT", "encoding": encoding, "data": data(json.dumps(body))}},
        "eventMetadata": {"eventId": str(i), "inferenceTime": f"2025-01-01T00:00:{10 + i / 10:06.3f}Z"}, "eventVersion": "0",
    } for i, (encoding, data, body) in enumerate([
        ("BASE64", lambda s: base64.b64encode(s.encode()).decode(), {"messages": [message], "max_tokens": 9, "temperature": 0.3}),
        ("JSON", str, {"messages": [{"role": "user", "content": "second"}], "max_completion_tokens": 6, "tools": [tool]}),
        ("JSON", str, {"messages": [{"role": "user", "content": "third"}], "model": "recorded"}),
    ])])
    lines("dag_jsonl.jsonl", [
        {"session_id": "r", "turns": [{"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "plan"}], "forks": ["a"], "max_tokens": 5}]},
        {"session_id": "a", "turns": [{"messages": [{"role": "user", "content": "A"}]}, {"messages": [{"role": "user", "content": "A2"}], "extra": {"top_k": 2}}]},
    ])
    parquet("baseten.parquet")


def parquet(path):
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({
        "timestamp_start_unix_ms": [1_700_000_000_000, 1_700_000_000_060, 1_700_000_000_150, 1_700_000_000_200],
        "prompt": ["first é", "second", "third", "fourth"], "input_tokens": [2, 1, 1, 1], "output_tokens": [4, 3, 2, 0],
        "provided_session_id": ["a", "b", "a", None], "duration_e2e_ms": [10.0, 20.0, 5.0, 1.0],
        "total_hashes": [[1, 2], [1, 3], [1, 2, 4], [5]], "block_size": [64, 64, 64, 64],
    }), path)


# --- comparison


def compare(work):
    requests, failed = {}, []
    with open(f"{work}/requests.jsonl") as f:
        for line in f:
            r = json.loads(line)
            requests.setdefault(r["headers"]["x-case"], []).append(r)
    if os.path.exists(f"{work}/failed"):
        failed = open(f"{work}/failed").read().splitlines()
    wrong, used = 0, set()
    names = sorted({d.split("-", 1)[1] for d in os.listdir(work) if d.startswith(("theirs-", "ours-")) and not d.endswith(".log")}
                   | {key.split("-", 1)[1] for key in requests})
    for name in names:
        found = [text for text in failed if f" {name}: " in text]
        theirs, ours = (requests.get(f"{who}-{name}", []) for who in ("theirs", "ours"))
        found += differences(name, theirs, ours)
        for text in found:
            key = name, text.split(":")[0]
            why = EXPLAINED.get(key)
            used.add(key)
            if why is None:
                wrong += 1
            print(f"  {name}: {text}" + (f" ({why})" if why else " DIFFERS"))
        print(f"{name}: {len(theirs)} requests there, {len(ours)} here, {len(found)} differences")
    if not os.environ.get("CASES"):
        for name, text in EXPLAINED.keys() - used:
            print(f"{name}: {text!r} is explained, but did not occur")
            wrong += 1
    return wrong


def differences(name, theirs, ours):
    theirs, ours = ([shape(name, json.loads(r["body"])) for r in sorted(list_, key=lambda r: r["arrival_ns"])] for list_ in (theirs, ours))
    if name in DRAWN:  # contents are drawn: the kinds of request that occur are compared
        kinds = [sorted(set(json.dumps(anyone(name, body)) for body in bodies)) for bodies in (theirs, ours)]
        return [] if kinds[0] == kinds[1] and len(theirs) == len(ours) else [f"{len(theirs)} × {kinds[0]} there, {len(ours)} × {kinds[1]} here"]
    out = []
    if len(theirs) != len(ours):
        out.append(f"{len(theirs)} requests there, {len(ours)} here")
    for i, (a, b) in enumerate(zip(theirs, ours)):
        if json.dumps(a) != json.dumps(b):
            out.append(f"request {i}: {describe(a, b)}")
    if generated(name):
        pairs = [shared(name, list_) for list_ in (requests_texts(theirs), requests_texts(ours))]
        if pairs[0] != pairs[1]:
            out.append(f"shared blocks {pairs[0]} there, {pairs[1]} here")
    return out


class Text(str):
    """A generated text: it is shown as its length."""


def tokens(text):
    import tiktoken

    return tiktoken.get_encoding("o200k_base").encode(text, allowed_special="all")


TEXTS = {}


def shape(name, body):
    """The body with generated texts replaced by their lengths; the texts are kept beside."""
    if name == "media":
        pixels(body)
    if not generated(name):
        return body
    texts = []

    def length(text):
        texts.append(text)
        return f"<{len(tokens(text))} tokens>"

    for message in body.get("messages", []):
        if isinstance(message["content"], str):
            message["content"] = length(message["content"])
        else:
            for part in message["content"]:
                if "text" in part:
                    part["text"] = length(part["text"])
    TEXTS[id(body)] = (body, texts)
    return body


def pixels(body):
    """Replaces pictures by what they show: the original encodes them again."""
    import hashlib
    import io

    from PIL import Image

    for message in body["messages"]:
        for part in message["content"]:
            if part["type"] == "image_url":
                head, data = part["image_url"]["url"].split(",")
                image = Image.open(io.BytesIO(base64.b64decode(data)))
                part["image_url"]["url"] = f"{head} {image.size} {hashlib.sha256(image.convert('RGB').tobytes()).hexdigest()}"


def requests_texts(bodies):
    return [TEXTS[id(body)][1] for body in bodies]


def shared(name, requests):
    """For each pair of requests the whole blocks with which their last texts begin alike."""
    block = 16 if name in ("bailian_trace", "chats") else 500 if name.endswith("block") else 512
    ids = [tokens(texts[-1]) for texts in requests]
    out = []
    for i, a in enumerate(ids):
        for j, b in enumerate(ids[:i]):
            n = next((k for k, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            if n >= block:
                out.append((j, i, n // block))
    return out


def anyone(name, body):
    """A body without what is drawn at random."""
    if name.startswith("random_pool"):
        text = json.dumps(body)
        for x in "ab":
            text = text.replace(f'"{x}"', '"*"').replace(f"https://h/{x}", "https://h/*")
        return json.loads(text)
    return body


def describe(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        parts = [f"{key} only there" for key in a if key not in b] + [f"{key}={json.dumps(b[key])[:120]} only here" for key in b if key not in a]
        parts += [f"{key}: {describe(a[key], b[key])}" for key in a if key in b and json.dumps(a[key]) != json.dumps(b[key])]
        if not parts:
            parts = [f"order of keys {list(a)} there, {list(b)} here"]
        return "; ".join(parts)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return "; ".join(f"[{i}] {describe(x, y)}" for i, (x, y) in enumerate(zip(a, b)) if json.dumps(x) != json.dumps(y))
    return f"{json.dumps(a)[:150]} there, {json.dumps(b)[:150]} here"


if __name__ == "__main__":
    if sys.argv[1] == "files":
        files(sys.argv[2])
    else:
        wrong = compare(sys.argv[2])
        print(f"{wrong} differences without a reason")
        sys.exit(1 if wrong else 0)
