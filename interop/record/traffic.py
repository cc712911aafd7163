"""Traffic of several kinds: the packages of OpenAI and Anthropic, streamed and not, and a multi-turn agent with tools, in
several sessions at once. Usage: traffic.py URL MODEL SEED [messages]"""
import concurrent.futures
import random
import sys
import time

import openai

url, model, seed = sys.argv[1:4]
client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0, timeout=300)
WORDS = "the old man looks at sea while little boy runs home to tell his mother about it and then a ship sails by".split()
TOOLS = [{"type": "function", "function": {
    "name": name, "description": f"Does {name} with what it is given, and returns what came of it as a line of text.",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}, "query": {"type": "string"}}}}}
    for name in ("read", "write", "search", "run")]


def text(r, n):
    return " ".join(r.choice(WORDS) for _ in range(n))


def plain(number):
    r = random.Random(f"{seed} plain {number}")
    time.sleep(r.uniform(0, 40))
    ask = dict(model=model, messages=[{"role": "user", "content": text(r, r.randint(20, 300))}], max_tokens=r.randint(4, 40), extra_body={"ignore_eos": True})
    if number % 2:
        for _ in client.chat.completions.create(**ask, stream=True, stream_options={"include_usage": True}):
            pass
    else:
        client.chat.completions.create(**ask)


def agent(number):
    r = random.Random(f"{seed} agent {number}")
    time.sleep(r.uniform(0, 25))
    system = text(random.Random(f"{seed} system"), 120)
    messages = [{"role": "system", "content": system}, {"role": "user", "content": text(r, 40)}]
    for turn in range(4):
        ask = dict(model=model, messages=messages, tools=TOOLS, max_tokens=20, extra_body={"ignore_eos": True},
                   stream_options={"include_usage": True})
        said = "".join(c.choices[0].delta.content or "" for c in client.chat.completions.create(**ask, stream=True) if c.choices)
        call = {"id": f"call_{turn}", "type": "function", "function": {"name": "read", "arguments": '{"path":"a/b"}'}}
        messages += [{"role": "assistant", "content": said, "tool_calls": [call]},
                     {"role": "tool", "tool_call_id": call["id"], "content": text(r, 40)}]
        time.sleep(r.uniform(0.2, 2))


def claude(number):
    import anthropic
    r = random.Random(f"{seed} claude {number}")
    time.sleep(r.uniform(0, 25))
    messages = []
    c = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0, timeout=300)
    for turn in range(3):
        messages.append({"role": "user", "content": text(r, 80)})
        with c.messages.stream(model=model, max_tokens=16, system=text(random.Random(f"{seed} claude"), 100), messages=messages) as stream:
            messages.append({"role": "assistant", "content": "".join(stream.text_stream) or "-"})
        time.sleep(r.uniform(0.2, 2))


with concurrent.futures.ThreadPoolExecutor(40) as pool:
    jobs = [pool.submit(plain, i) for i in range(20)] + [pool.submit(agent, i) for i in range(10)]
    if "messages" in sys.argv:
        jobs += [pool.submit(claude, i) for i in range(6)]
for job in jobs:
    job.result()
print(f"{len(jobs)} clients have ended")
