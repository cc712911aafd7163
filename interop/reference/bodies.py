"""The cases of bodies.sh: their files, their settings, and the comparison of the requests that both sent.

A difference without an entry in EXPLAINED ends with exit code 1.
"""

import base64
import json
import re
import struct
import sys
import zlib

URI = "data:image/png;base64,"


def png(colour):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    return base64.b64encode(data + chunk(b"IDAT", zlib.compress(b"\0" + colour)) + chunk(b"IEND", b"")).decode()


def wav():
    sound = b"\0\0" * 80
    head = b"RIFF" + struct.pack("<I", 36 + len(sound)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16)
    return "wav," + base64.b64encode(head + b"data" + struct.pack("<I", len(sound)) + sound).decode()


RED, BLUE = URI + png(b"\xff\0\0"), URI + png(b"\0\0\xff")
HARD = "a \"q\" <b> & 'c' \\ / é € 😀 \u2028 \t end\n"
TEXTS = [{"text": "What is rain?"}, {"text": HARD}, {"text": "  blanks around  "}]
LISTS = [{"texts": ["one", "two"]}, {"texts": [{"name": "text", "contents": ["three", "four"]}]}]
IMAGES = [{"text": "what is this", "image": RED}, {"text": "compare", "images": [RED, BLUE]}]
RANKED = [{"texts": [{"name": "query", "contents": ["What is rain?"]}, {"name": "passages", "contents": ["Water.", HARD, "Ice."]}]},
          {"texts": [{"name": "query", "contents": ["q"]}, {"name": "passages", "contents": ["p"]}]}]
TALK = [{"session_id": "s", "turns": [{"text": "Say one."}, {"text": "Say <two>."}, {"text": "Say three."}]}]

FILES = {
    "texts": TEXTS,
    "lists": TEXTS + LISTS,
    "media": TEXTS[:1] + IMAGES + [{"image": BLUE}, {"text": "listen", "audio": wav()},
                                   {"text": "watch", "video": "data:video/mp4;base64,AAAA"}],
    "heard": TEXTS[:1] + IMAGES + [{"text": "listen", "audio": wav()}],
    "images": TEXTS[:1] + IMAGES,
    "pairs": [{"texts": ["a"], "images": [RED]}, {"texts": ["a", "b"], "images": [RED, BLUE]}],
    "pictures": [{"image": RED}, {"images": [RED, BLUE]}],
    "edits": IMAGES[:1],
    "sounds": [{"audio": wav()}],
    "ranked": RANKED,
    "talk": TALK,
    "payloads": [{"model": "m", "messages": [{"role": "user", "content": HARD}], "top_p": 1.0, "seed": None}, {"messages": [], "model": "other"}],
}

EXTRA = ["--extra-inputs", '{"temperature": 0.7, "stop": ["x", "y"], "logit_bias": {"50256": -100}, "n": 1, "seed": null, "top_p": 1.0}']
# The mock server thinks 250 tokens long under this name.
THINKS = ["--model", "qwen3", "--osl", "260", "--extra-inputs", "ignore_eos:true"]
ONLY_THINKS = ["--model", "qwen3", "--osl", "100", "--extra-inputs", "ignore_eos:true"]
TEMPLATE = ('{"q": {{ text|tojson }}, "all": {{ texts|tojson }}, "n": {{ max_tokens|tojson }}, "m": {{ model|tojson }}, '
            '"s": {{ stream|lower }}, "l": [{% for t in texts %}{{ t|upper|tojson }}{{ "," if not loop.last }}{% endfor %}]}')

# name: (endpoint type, file, further arguments)
CASES = {
    "chat": ("chat", "media", ["--osl", "7"]),
    "chat-streaming": ("chat", "lists", ["--streaming", "--osl", "7", *EXTRA]),
    "chat-server-counts": ("chat", "texts", ["--streaming", "--use-server-token-count"]),
    "chat-legacy": ("chat", "texts", ["--use-legacy-max-tokens", "--osl", "7", "--extra-inputs", "a:true", "b:007", "c:1.50", "d:null", "e:-3", "f:1e5"]),
    "chat-replaced": ("chat", "texts", ["--osl", "7", "--extra-inputs", '{"model": "other", "max_completion_tokens": 9, "z": 1}']),
    "chat-headers": ("chat", "texts", ["--header", "X-A:b c", "--header", "User-Agent:me", "--header", "Accept:text/plain", "--api-key", "sk-not-secret"]),
    "chat-path": ("chat", "texts", ["--custom-endpoint", "/v1/chat/completions?api-version=2"]),
    "chat-talk": ("chat", "talk", ["--osl", "7"]),
    "chat-talk-streaming": ("chat", "talk", ["--streaming", "--osl", "7"]),
    "completions": ("completions", "lists", ["--osl", "7"]),
    "completions-streaming": ("completions", "lists", ["--streaming", "--osl", "7", *EXTRA]),
    "chat-thinking": ("chat", "talk", THINKS),
    "chat-thinking-streaming": ("chat", "talk", ["--streaming", *THINKS]),
    "chat-only-thinking": ("chat", "talk", ONLY_THINKS),
    "chat-only-thinking-streaming": ("chat", "talk", ["--streaming", *ONLY_THINKS]),
    "responses": ("responses", "heard", ["--osl", "7"]),
    "responses-streaming": ("responses", "texts", ["--streaming", "--osl", "7", *EXTRA]),
    "responses-server-counts": ("responses", "texts", ["--streaming", "--use-server-token-count"]),
    "responses-talk": ("responses", "talk", ["--osl", "7"]),
    "responses-talk-streaming": ("responses", "talk", ["--streaming", "--osl", "7"]),
    "responses-thinking": ("responses", "talk", THINKS),
    "responses-thinking-streaming": ("responses", "talk", ["--streaming", *THINKS]),
    "responses-only-thinking": ("responses", "talk", ONLY_THINKS),
    "responses-only-thinking-streaming": ("responses", "talk", ["--streaming", *ONLY_THINKS]),
    "messages": ("messages", "images", ["--osl", "7", "--api-key", "sk-not-secret"]),
    "messages-streaming": ("messages", "lists", ["--streaming", *EXTRA]),
    "messages-talk": ("messages", "talk", ["--osl", "7"]),
    "messages-talk-streaming": ("messages", "talk", ["--streaming", "--osl", "7"]),
    "messages-thinking": ("messages", "talk", THINKS),
    "messages-thinking-streaming": ("messages", "talk", ["--streaming", *THINKS]),
    "messages-only-thinking": ("messages", "talk", ONLY_THINKS),
    "messages-only-thinking-streaming": ("messages", "talk", ["--streaming", *ONLY_THINKS]),
    "huggingface": ("huggingface_generate", "lists", ["--osl", "7"]),
    "huggingface-streaming": ("huggingface_generate", "lists", ["--streaming", *EXTRA]),
    "embeddings": ("embeddings", "lists", EXTRA),
    "chat-embeddings": ("chat_embeddings", "images", []),
    "nim-embeddings": ("nim_embeddings", "pairs", []),
    "nim-embeddings-texts": ("nim_embeddings", "lists", EXTRA),
    "nim-rankings": ("nim_rankings", "ranked", EXTRA),
    "cohere-rankings": ("cohere_rankings", "ranked", EXTRA),
    "hf-tei-rankings": ("hf_tei_rankings", "ranked", EXTRA),
    "image-generation": ("image_generation", "texts", ["--extra-inputs", "size:256x256"]),
    "image-generation-streaming": ("image_generation", "texts", ["--streaming"]),
    "image-edit": ("image_edit", "edits", ["--extra-inputs", "size:256x256"]),
    "image-retrieval": ("image_retrieval", "pictures", []),
    "video-generation": ("video_generation", "texts", ["--extra-inputs", "seconds:2"]),
    "video-generation-form": ("video_generation", "texts", ["--request-content-type", "multipart/form-data", "--extra-inputs", "seconds:2"]),
    "audio-transcription": ("audio_transcription", "sounds", ["--extra-inputs", "language:en"]),
    "solido-rag": ("solido_rag", "lists", EXTRA),
    "template": ("template", "lists", ["--osl", "7", "--custom-endpoint", "/v1/custom-multimodal", "--extra-inputs",
                                       json.dumps({"payload_template": TEMPLATE, "temperature": 0.5})]),
    "raw": ("raw", "payloads", ["--custom-endpoint", "/v1/chat/completions"]),
    "template-named": ("template", "lists", ["--custom-endpoint", "/v1/custom-multimodal", "--extra-inputs", '{"payload_template": "nv-embedqa"}']),
}

# Differences with a reason, by case and beginning; docs/compatibility.md gives the reason.
REPLY = r"body\.input\[[13]\]\.(content|id|status): "
EXPLAINED = {
    "chat-thinking-streaming": r"body\.messages\[[13]\]\.content: ",
    "responses-talk-streaming": REPLY,
    "responses-thinking-streaming": REPLY,
    "responses-only-thinking": r"body\.input: ",
    "raw": "form of the JSON: ",
    "video-generation": "header content-type: 'multipart/|body: '--",
}

# Formats of the files; the others are single turns.
FORMATS = {"talk": "multi_turn", "payloads": "raw_payload"}

# Types that refuse a tokenizer.
NO_TOKENS = {"image_retrieval", "audio_transcription"}

# Headers that differ from run to run; whether they are there is compared.
OWN = {"x-request-id", "x-correlation-id", "x-session-affinity", "host", "content-length", "x-case"}


def turns(name):
    rows = FILES[CASES[name][1]]
    return sum(len(row.get("turns", [row])) for row in rows)


def arguments(folder, name, url, who):
    kind, file, more = CASES[name]
    talk = file == "talk"
    limit = ["--num-sessions", "1"] if talk else ["--request-count", str(turns(name))]
    model = [] if "--model" in more else ["--model", "mock-model"]
    tokenizer = [] if kind in NO_TOKENS else ["--tokenizer", "builtin"]
    return [*model, *tokenizer, "--url", url, "--ui", "none", "--no-server-metrics", "--no-gpu-telemetry",
            "--endpoint-type", kind, "--input-file", f"{folder}/{file}.jsonl", "--custom-dataset-type", FORMATS.get(file, "single_turn"),
            "--dataset-sampling-strategy", "sequential", "--concurrency", "1", *limit, "--header", f"X-Case:{who}-{name}", *more]


def requests(folder, case):
    """The requests of a case, polls that repeat themselves once."""
    found = []
    with open(f"{folder}/requests.jsonl") as lines:
        for line in lines:
            r = json.loads(line)
            if r["headers"].get("x-case") != case:
                continue
            path = re.sub(r"/videos/[^/?]+", "/videos/ID", r["path"])
            if r["method"] == "GET" and found and (found[-1]["method"], found[-1]["path"]) == ("GET", path):
                continue
            found.append({"method": r["method"], "path": path, "headers": r["headers"], "body": r["body"]})
    return found


def headers(given):
    seen = {}
    for key, value in given.items():
        value = re.sub(r"boundary=.*", "boundary=B", value)
        if key == "user-agent":
            value = re.sub(r"aiperf/.*", "aiperf/VERSION", value)
        seen[key] = "…" if key in OWN else value
    return seen


def bare(request):
    """The body; the boundary of a form is always the same."""
    boundary = re.search(r"boundary=\"?([^\";]+)", request["headers"].get("content-type", ""))
    return request["body"].replace(boundary.group(1), "B") if boundary else request["body"]


def differences(a, b):
    """Lines that tell how request b of ours differs from request a of the original."""
    for key in ("method", "path"):
        if a[key] != b[key]:
            yield f"{key}: {a[key]} there, {b[key]} here"
    theirs, ours = headers(a["headers"]), headers(b["headers"])
    for key in sorted(set(theirs) | set(ours)):
        if theirs.get(key) != ours.get(key):
            yield f"header {key}: {theirs.get(key)!r} there, {ours.get(key)!r} here"
    theirs, ours = bare(a), bare(b)
    if theirs == ours:
        return
    try:
        x, y = json.loads(theirs), json.loads(ours)
    except ValueError:
        yield f"body: {theirs!r} there, {ours!r} here"
        return
    if x == y:
        yield f"form of the JSON: {a['body']} there, {b['body']} here"
    else:
        yield from members("body", x, y)


def members(path, x, y):
    if isinstance(x, dict) and isinstance(y, dict):
        for key in list(x) + [k for k in y if k not in x]:
            yield from members(f"{path}.{key}", x.get(key, "absent"), y.get(key, "absent"))
        if list(x) != list(y) and set(x) == set(y):
            yield f"{path}: order {list(x)} there, {list(y)} here"
    elif isinstance(x, list) and isinstance(y, list) and len(x) == len(y):
        for k, (one, other) in enumerate(zip(x, y)):
            yield from members(f"{path}[{k}]", one, other)
    elif x != y or type(x) is not type(y):
        yield f"{path}: {json.dumps(x, ensure_ascii=False)} there, {json.dumps(y, ensure_ascii=False)} here"


def compare(folder, name):
    a, b = requests(folder, f"theirs-{name}"), requests(folder, f"ours-{name}")
    same = sum(bare(x) == bare(y) for x, y in zip(a, b))
    failures, explained = [], 0
    if len(a) != len(b) or not a:
        failures.append(f"{len(a)} requests there, {len(b)} here")
    for k, (x, y) in enumerate(zip(a, b)):
        for text in differences(x, y):
            if name in EXPLAINED and re.match(EXPLAINED[name], text):
                explained += 1
            else:
                failures.append(f"request {k}: {text}")
    print(f"{name}: {len(a)} requests, {same} bodies equal byte for byte, {explained} explained differences, {len(failures)} others")
    for text in failures:
        print("  " + text[:1000])
    return 1 if failures else 0


def main():
    command, *rest = sys.argv[1:]
    if command == "files":
        for name, rows in FILES.items():
            with open(f"{rest[0]}/{name}.jsonl", "w") as out:
                out.writelines(json.dumps(row) + "\n" for row in rows)
    elif command == "names":
        print("\n".join(CASES))
    elif command == "arguments":
        sys.stdout.write("".join(a + "\0" for a in arguments(*rest)))
    elif command == "compare":
        sys.exit(compare(*rest))


main()
