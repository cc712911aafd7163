"""Triton's own client package against the mock server, and aiperf against a server made of that package's messages.

Usage: check.py MOCK_HOST:PORT AIPERF DIRECTORY"""
import base64
import concurrent.futures
import json
import os
import queue
import subprocess
import sys

import grpc
import numpy as np
import tritonclient.grpc as triton
from tritonclient.grpc import service_pb2, service_pb2_grpc
from tritonclient.utils import InferenceServerException, deserialize_bytes_tensor, serialize_byte_tensor

mock, aiperf, directory = sys.argv[1:]
PROMPT = "Say something about the weather in five words."
EXACT = {"max_tokens": 6, "ignore_eos": True}


def same(what, got, want):
    if got != want:
        raise AssertionError(f"{what}: {got!r}, want {want!r}")


def text(name, *values):
    t = triton.InferInput(name, [len(values)], "BYTES")
    t.set_data_from_numpy(np.array([v.encode() for v in values], dtype=np.object_))
    return t


def client_reads_the_mock():
    client = triton.InferenceServerClient(mock)
    same("server", client.is_server_ready(), True)
    same("model", client.is_model_ready("m"), True)
    whole = client.infer("m", [text("text_input", PROMPT)], parameters=EXACT).as_numpy("text_output")[0].decode()
    answers = queue.Queue()
    client.start_stream(lambda result, error: answers.put((result, error)))
    client.async_stream_infer("m", [text("text_input", PROMPT)], parameters=EXACT)
    pieces = []
    for _ in range(6):
        result, error = answers.get(timeout=10)
        same("error", error, None)
        pieces.append(result.as_numpy("text_output")[0].decode())
    client.stop_stream()
    same("text", "".join(pieces), whole)
    same("embeddings", client.infer("embedder", [text("text_input", "a", "b")]).as_numpy("embedding").shape, (2, 768))
    scores = client.infer("m", [text("query", "q"), text("passages", "a", "b", "c")]).as_numpy("scores")
    same("scores", scores.shape, (3,))
    same("images", client.infer("diffusion", [text("prompt", "a cat")]).as_numpy("image").shape, (1,))
    try:
        client.infer("m", [text("text_input", PROMPT)], headers={"x-mock-fault": "status=429"})
        raise AssertionError("a refusal is no error")
    except InferenceServerException as e:
        same("status", e.status(), "StatusCode.RESOURCE_EXHAUSTED")
    client.close()


class Server(service_pb2_grpc.GRPCInferenceServiceServicer):
    """Replies with raw contents, as Triton does."""

    def __init__(self):
        self.asked, self.metadata = [], []

    def note(self, request, context):
        assert isinstance(request, service_pb2.ModelInferRequest)
        self.asked.append(request)
        self.metadata.append(dict(context.invocation_metadata()))

    def reply(self, *values):
        r = service_pb2.ModelInferResponse(model_name="m", model_version="1")
        r.outputs.add(name="text_output", datatype="BYTES", shape=[len(values)])
        r.raw_output_contents.append(serialize_byte_tensor(np.array([v.encode() for v in values], dtype=np.object_)).item())
        return r

    def ServerReady(self, request, context):
        return service_pb2.ServerReadyResponse(ready=True)

    def ModelReady(self, request, context):
        return service_pb2.ModelReadyResponse(ready=request.name == "m")

    def ModelInfer(self, request, context):
        self.note(request, context)
        if request.model_name == "bad":
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no such thing")
        if request.model_name == "numbers":
            r = service_pb2.ModelInferResponse()
            r.outputs.add(name="embedding", datatype="FP32", shape=[1, 4])
            r.raw_output_contents.append(np.zeros(4, np.float32).tobytes())
            return r
        return self.reply(" one two three")

    def ModelStreamInfer(self, requests, context):
        for request in requests:
            self.note(request, context)
            for word in (" one", " two", " three"):
                yield service_pb2.ModelStreamInferResponse(infer_response=self.reply(word))
            if request.model_name == "fails":
                yield service_pb2.ModelStreamInferResponse(error_message="out of memory")
                continue
            last = service_pb2.ModelInferResponse(model_name="m")
            last.parameters["triton_final_response"].bool_param = True
            yield service_pb2.ModelStreamInferResponse(infer_response=last)


def profile(url, model, api, *flags):
    out = os.path.join(directory, "-".join([model, api, *[f for f in flags if f.startswith("--")]]))
    code = subprocess.run([aiperf, "profile", "--model", model, "--tokenizer", "builtin", "--endpoint-type", api, "--url", url, "--isl", "12", "--osl", "5",
                           "--request-count", "4", "--concurrency", "2", "--ui", "none", "--no-server-metrics", "--artifact-dir", out, *flags],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).returncode
    with open(os.path.join(out, "profile_export.jsonl")) as f:
        return code, [json.loads(line) for line in f]


def aiperf_reads_the_server():
    servicer = Server()
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
    service_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(servicer, server)
    url = f"grpc://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    for flags in ([], ["--streaming"], ["--streaming", "--wait-for-model-timeout", "5", "--wait-for-model-mode", "models"]):
        servicer.asked.clear()
        code, lines = profile(url, "m", "kserve_v2_infer", *flags, "--extra-inputs", "temperature:0.5", "--header", "X-Team:blue")
        same("exit code", code, 0)
        same("requests", (len(lines), len(servicer.asked)), (4, 4))
        for line in lines:
            same("output tokens", line["metrics"]["output_sequence_length"]["value"], 3)
            same("streaming", "time_to_first_token" in line["metrics"], "--streaming" in flags)
            if "--streaming" in flags:
                same("gaps", len(line["metrics"]["inter_chunk_latency"]["value"]), 2)
        for request in servicer.asked:
            same("input", (request.model_name, request.inputs[0].name, request.inputs[0].datatype, list(request.inputs[0].shape)), ("m", "text_input", "BYTES", [1]))
            same("contents", len(request.inputs[0].contents.bytes_contents), 1)
            same("parameters", (request.parameters["max_tokens"].int64_param, request.parameters["temperature"].double_param), (5, 0.5))
        same("metadata", servicer.metadata[-1]["x-team"], "blue")
    servicer.asked.clear()
    code, lines = profile(url, "m", "kserve_v2_vlm", "--streaming", "--image-width-mean", "8", "--image-height-mean", "8",
                          "--extra-inputs", '{"stream": {"datatype": "BOOL", "data": [true]}, "top_k": {"datatype": "INT32", "data": [[7]], "shape": [1, 1]}}')
    same("pictures", (code, len(servicer.asked)), (0, 4))
    for request in servicer.asked:
        same("inputs", [i.name for i in request.inputs], ["text_input", "image", "stream", "top_k"])
        same("picture", base64.b64decode(request.inputs[1].contents.bytes_contents[0], validate=True)[:4] in (b"\x89PNG", b"\xff\xd8\xff\xe0", b"\xff\xd8\xff\xdb"), True)
        same("tensors", (list(request.inputs[2].contents.bool_contents), list(request.inputs[3].contents.int_contents), list(request.inputs[3].shape)), ([True], [7], [1, 1]))
    code, lines = profile(url, "numbers", "kserve_v2_embeddings")
    same("embeddings", (code, [line["error"] for line in lines if line.get("error")]), (0, []))
    for model, flags, want in (("bad", [], ("INVALID_ARGUMENT", 400, "no such thing")), ("fails", ["--streaming"], ("StreamResponseError", 502, "out of memory"))):
        code, lines = profile(url, model, "kserve_v2_infer", *flags)
        same("exit code", code, 1)
        for line in lines:
            error = line["error"]
            same("error", (error.get("type") or None, error.get("code"), error["message"]), want)
    server.stop(None)


for check in (client_reads_the_mock, aiperf_reads_the_server):
    check()
    print("ok", check.__name__)
