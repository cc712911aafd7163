"""Official client packages read the mock server. Usage: check.py URL"""
import base64
import io
import sys
import time
import warnings
import wave

import anthropic
import cohere
import huggingface_hub
import openai

warnings.simplefilter("ignore", DeprecationWarning)
url = sys.argv[1]
PROMPT = "Say something about the weather in five words."
checks = []


def check(f):
    checks.append(f)
    return f


def same(what, got, want):
    if got != want:
        raise AssertionError(f"{what}: {got!r}, want {want!r}")


client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
claude = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
EXACT = {"ignore_eos": True}


@check
def openai_chat():
    ask = dict(model="m", messages=[{"role": "user", "content": PROMPT}], max_tokens=6, extra_body=EXACT)
    r = client.chat.completions.create(**ask)
    same("completion tokens", r.usage.completion_tokens, 6)
    pieces, usage = [], None
    for chunk in client.chat.completions.create(**ask, stream=True, stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        pieces += [c.delta.content for c in chunk.choices if c.delta.content]
    same("chunks", len(pieces), 6)
    same("text", "".join(pieces), r.choices[0].message.content)
    same("usage", usage.completion_tokens, 6)


@check
def openai_completions():
    ask = dict(model="m", prompt=PROMPT, max_tokens=6, extra_body=EXACT)
    r = client.completions.create(**ask)
    same("text", "".join(c.choices[0].text for c in client.completions.create(**ask, stream=True)), r.choices[0].text)


@check
def openai_responses():
    for model in ("m", "qwen"):
        ask = dict(model=model, input=PROMPT, instructions="Be brief.", max_output_tokens=120, reasoning={"effort": "low"}, extra_body=EXACT)
        r = client.responses.create(**ask)
        same("output tokens", r.usage.output_tokens, 120)
        same("reasoning tokens", r.usage.output_tokens_details.reasoning_tokens, 100 if model == "qwen" else 0)
        with client.responses.stream(**{k: v for k, v in ask.items()}) as stream:
            text = "".join(e.delta for e in stream if e.type == "response.output_text.delta")
        same("text", text, r.output_text)
        done = [e for e in client.responses.create(**ask, stream=True) if e.type in ("response.completed", "response.incomplete")]
        same("text of the last event", done[0].response.output_text, r.output_text)
        same("usage of the last event", done[0].response.usage.total_tokens, r.usage.total_tokens)


@check
def openai_embeddings():
    r = client.embeddings.create(model="m", input=["one", "two three"])
    same("vectors", [len(d.embedding) for d in r.data], [768, 768])
    plain = client.embeddings.create(model="m", input=["one", "two three"], encoding_format="float")
    if max(abs(a - b) for a, b in zip(r.data[1].embedding, plain.data[1].embedding)) > 1e-6:
        raise AssertionError("base64 and plain vectors differ")
    same("dimensions", len(client.embeddings.create(model="m", input="x", dimensions=5).data[0].embedding), 5)
    same("usage", r.usage.prompt_tokens, r.usage.total_tokens)


@check
def openai_images():
    r = client.images.generate(model="m", prompt="a cat", n=2)
    same("images", [base64.b64decode(d.b64_json)[:2] for d in r.data], [b"\xff\xd8"] * 2)
    same("usage", r.usage.output_tokens, 512)
    kinds = [e.type for e in client.images.generate(model="m", prompt="a cat", stream=True, partial_images=1)]
    same("events", kinds, ["image_generation.partial_image", "image_generation.completed"])
    r = client.images.edit(model="m", prompt="a hat", image=("i.png", b"\x89PNG\r\n\x1a\n", "image/png"))
    same("edited", len(r.data), 1)


@check
def openai_transcriptions():
    sound = io.BytesIO()
    with wave.open(sound, "wb") as w:
        w.setnchannels(1), w.setsampwidth(2), w.setframerate(8000), w.writeframes(b"\0\0" * 80000)
    r = client.audio.transcriptions.create(model="m", file=("a.wav", sound.getvalue()))
    same("words", len(r.text.split()), 20)
    same("seconds", r.usage.seconds, 10)
    text = client.audio.transcriptions.create(model="m", file=("a.wav", sound.getvalue()), response_format="text")
    same("plain text", text.strip(), r.text.strip())


@check
def openai_videos():
    video = client.videos.create(model="m", prompt="a cat")
    deadline = time.time() + 5
    while video.status not in ("completed", "failed") and time.time() < deadline:
        time.sleep(0.02)
        video = client.videos.retrieve(video.id)
    same("status", video.status, "completed")
    same("content", client.videos.download_content(video.id).read()[4:8], b"ftyp")


@check
def openai_errors():
    try:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}], extra_headers={"X-Mock-Fault": "status=429"})
    except openai.RateLimitError as e:
        same("status", e.status_code, 429)
    else:
        raise AssertionError("no error")


@check
def anthropic_messages():
    for model in ("m", "qwen"):
        ask = dict(model=model, max_tokens=256, system="Be brief.", messages=[{"role": "user", "content": PROMPT}], extra_body=EXACT)
        r = claude.messages.create(**ask)
        same("output tokens", r.usage.output_tokens, 256)
        same("blocks", [b.type for b in r.content], ["thinking", "text"] if model == "qwen" else ["text"])
        with claude.messages.stream(**ask) as stream:
            text = "".join(stream.text_stream)
            final = stream.get_final_message()
        same("text", text, r.content[-1].text)
        same("streamed blocks", [b.type for b in final.content], [b.type for b in r.content])
        same("usage", (final.usage.input_tokens, final.usage.output_tokens), (r.usage.input_tokens, 256))
        same("reason", final.stop_reason, "max_tokens")


@check
def anthropic_errors():
    try:
        with claude.messages.stream(model="m", max_tokens=8, messages=[{"role": "user", "content": PROMPT}],
                                    extra_headers={"X-Mock-Fault": "error_200"}) as stream:
            "".join(stream.text_stream)
    except anthropic.APIError as e:
        if "injected" not in str(e):
            raise
    else:
        raise AssertionError("no error")


@check
def cohere_rerank():
    r = cohere.ClientV2(api_key="none", base_url=url).rerank(model="m", query="What is rain?", documents=["Water.", "Ice.", "Light."], top_n=3)
    same("indices", sorted(x.index for x in r.results), [0, 1, 2])
    scores = [x.relevance_score for x in r.results]
    same("order", scores, sorted(scores, reverse=True))
    if not r.meta.tokens.input_tokens > 0:
        raise AssertionError("no usage")


@check
def hugging_face_generation():
    hf = huggingface_hub.InferenceClient(base_url=url + "/generate", token="none")
    text = hf.text_generation(PROMPT, max_new_tokens=6)
    if not text:
        raise AssertionError("no text")
    hf = huggingface_hub.InferenceClient(base_url=url + "/generate_stream", token="none")
    pieces = [e.token.text for e in hf.text_generation(PROMPT, max_new_tokens=6, stream=True, details=True)]
    same("streamed", "".join(pieces), text)


failed = 0
for f in checks:
    try:
        f()
        print("ok  ", f.__name__)
    except Exception as e:
        failed += 1
        print("FAIL", f.__name__, type(e).__name__, str(e)[:400])
sys.exit(f"{failed} of {len(checks)} checks failed" if failed else 0)
