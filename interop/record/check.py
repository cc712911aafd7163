"""Clients through aiperf record. Usage: check.py clients DIRECT RECORDER | rows DIR REQUESTS | bytes DIRECT RECORDER |
outcomes DIR"""
import collections
import glob
import gzip
import http.client
import json
import os
import socket
import sys
import urllib.parse

PROMPT = "Say something about the weather in five words."
EXACT = {"ignore_eos": True}
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "The weather of a place.",
                                           "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}}}]


def same(what, got, want):
    if got != want:
        raise AssertionError(f"{what}: {got!r}, want {want!r}")


def conversation(url):
    """All that the packages say to a server, as texts that can be compared."""
    import anthropic
    import openai
    client = openai.OpenAI(base_url=url + "/v1", api_key="secret-key", max_retries=0)
    claude = anthropic.Anthropic(base_url=url, api_key="secret-key", max_retries=0)
    said = []
    ask = dict(model="m", messages=[{"role": "user", "content": PROMPT}], max_tokens=8, extra_body=EXACT)
    said.append(client.chat.completions.create(**ask).choices[0].message.content)
    said.append("".join(c.choices[0].delta.content or "" for c in client.chat.completions.create(**ask, stream=True) if c.choices))
    said.append(client.completions.create(model="m", prompt=PROMPT, max_tokens=8, extra_body=EXACT).choices[0].text)
    said.append(client.responses.create(model="m", input=PROMPT, max_output_tokens=8, extra_body=EXACT).output_text)
    said.append(repr(client.embeddings.create(model="m", input=["one", "two three"]).data[1].embedding[:4]))
    ask = dict(model="m", max_tokens=12, system="Be brief.", messages=[{"role": "user", "content": PROMPT}], extra_body=EXACT)
    said.append(claude.messages.create(**ask).content[-1].text)
    with claude.messages.stream(**ask) as stream:
        said.append("".join(stream.text_stream))
    try:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}], extra_headers={"X-Mock-Fault": "status=429"})
    except openai.RateLimitError as e:
        said.append(f"error {e.status_code} {e.message}")
    # An agent of a few lines: four turns, each after the result of a tool.
    messages = [{"role": "system", "content": "You are an agent."}, {"role": "user", "content": "What is the weather in Kyiv, Київ?"}]
    for turn in range(4):
        r = client.chat.completions.create(model="m", messages=messages, tools=TOOLS, max_tokens=10, extra_body=EXACT).choices[0].message
        said.append(str(r.content))
        call = {"id": f"call_{turn}", "type": "function", "function": {"name": "weather", "arguments": '{"place":"Kyiv"}'}}
        messages += [{"role": "assistant", "content": r.content, "tool_calls": [call]},
                     {"role": "tool", "tool_call_id": call["id"], "content": f"{turn} degrees"}]
    return said


def clients(direct, recorder):
    want, got = conversation(direct), conversation(recorder)
    same("what the packages read", got, want)
    print(f"{len(got)} requests of the packages: the same texts through the recorder")


def rows_of(folder):
    rows = []
    for name in sorted(glob.glob(os.path.join(folder, "traffic*.jsonl"))):
        rows += [json.loads(line) for line in open(name)][1:]
    return rows


def rows(folder, requests):
    asked = [json.loads(line) for line in open(requests)]
    asked = [r for r in asked if r["path"] != "/metrics"]
    half = len(asked) // 2
    for a, b in zip(asked[:half], asked[half:]):
        same("body of " + a["path"], b.get("body"), a.get("body"))
        heads = [{k.lower(): v for k, v in r["headers"].items() if k.lower() not in ("host", "connection")} for r in (a, b)]
        same("header fields of " + a["path"], heads[1], heads[0])
    list_ = rows_of(folder)
    same("rows", len(list_), half)
    same("endpoints", collections.Counter(r["endpoint"] for r in list_),
         collections.Counter(chat=7, completions=1, responses=1, embeddings=1, messages=2))
    same("outcomes", collections.Counter(r["outcome"] for r in list_), collections.Counter(ok=11, error=1))
    for r in list_:
        if r.get("usage_completion_tokens"):
            same("length of " + json.dumps(r), r["output_length"] + r.get("reasoning_length", 0), r["usage_completion_tokens"])
    agent = [r for r in list_ if r.get("tools")]
    same("turns of the agent", [(r["turn"], bool(r.get("after_tools"))) for r in agent], [(0, False), (1, True), (2, True), (3, True)])
    same("sessions of the agent", len({r["session_id"] for r in agent}), 1)
    for r, later in zip(agent, agent[1:]):
        same("blocks", later["hash_ids"][:1], r["hash_ids"][:1])
    for name in glob.glob(os.path.join(folder, "*")):
        text = open(name, encoding="utf-8").read() if os.path.isfile(name) else ""
        for word in ("secret-key", "weather", "Київ", "degrees", "Be brief"):
            if word in text:
                raise AssertionError(f"{name} has {word!r}")
    print(f"{half} requests arrived as they do directly, header fields and bodies; {len(list_)} rows")


def exchange(url, path, body, headers):
    u = urllib.parse.urlsplit(url)
    c = http.client.HTTPConnection(u.hostname, u.port, timeout=20)
    c.request("POST", path, body, headers)
    r = c.getresponse()
    hop = ("connection", "transfer-encoding", "keep-alive", "trailer")
    head = sorted((k.lower(), v) for k, v in r.getheaders() if k.lower() not in hop)
    return r.status, head, r.read()


def bytes_(direct, recorder):
    n = 0
    for path in ("/plain/v1/chat/completions", "/gzip/v1/chat/completions", "/stream/v1/chat/completions"):
        for body, headers in ((b'{"messages":[]}', {}), (gzip.compress(b'{"messages":[]}'), {"Content-Encoding": "gzip"}),
                              (b'{"prompt":"' + b"x" * 1_000_000 + b'"}', {})):
            headers = {"Content-Type": "application/json", "Accept-Encoding": "gzip"} | headers
            same(path, exchange(recorder, path, body, headers), exchange(direct, path, body, headers))
            n += 1
    print(f"{n} replies of the same bytes")
    u = urllib.parse.urlsplit(recorder)
    with socket.create_connection((u.hostname, u.port), timeout=20) as s:
        s.sendall(b"GET /v1/realtime HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                  b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        head = b""
        while b"\r\n\r\n" not in head:
            head += s.recv(1)
        if b" 101 " not in head or b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" not in head:
            raise AssertionError(head)
        for frame in (b"\x81\x85\x01\x02\x03\x04iginm", b"\x82\xfe\x40\x00" + bytes(4) + bytes(range(256)) * 64):
            s.sendall(frame)
            back = b""
            while len(back) < len(frame):
                back += s.recv(len(frame) - len(back))
            same("frame", back, frame)
    print("WebSocket frames pass")


def outcomes(folder):
    list_ = rows_of(folder)
    if not list_ or any(r["outcome"] != "ok" or not r["usage_completion_tokens"] for r in list_):
        raise AssertionError(list_)
    print(f"{os.path.basename(folder)}: {len(list_)} rows")


{"clients": clients, "rows": rows, "bytes": bytes_, "outcomes": outcomes}[sys.argv[1]](*sys.argv[2:])
