"""Writes a repository of models for Triton's Python backend.

    python triton_models.py DIR

text      says as many words as max_tokens asks for, 8 without it, after 10 ms and 2 ms a word
stream    the same, word by word: 20 ms before the first, 5 ms between them
limited   text with one instance and a queue of 4
batched   text with a batch dimension, as TensorRT-LLM's models have it; max_tokens must be there
cached    text with the response cache
embed     16 numbers for each text
rank      a number for each passage
"""

import sys
from pathlib import Path

INPUTS = """
input [ { name: "text_input" data_type: TYPE_STRING dims: [ 1 ] },
        { name: "max_tokens" data_type: TYPE_INT32 dims: [ 1 ] optional: true },
        { name: "stream" data_type: TYPE_BOOL dims: [ 1 ] optional: true } ]
output [ { name: "text_output" data_type: TYPE_STRING dims: [ -1 ] } ]
"""

HEAD = """
import threading
import time

import numpy as np
import triton_python_backend_utils as pb


def words_of(request):
    asked = pb.get_input_tensor_by_name(request, "max_tokens")
    return 8 if asked is None else int(asked.as_numpy().reshape(-1)[0])


def texts(*values, shape=None):
    return pb.Tensor("text_output", np.array(values, dtype=object).reshape(shape or -1))

"""

TEXT = """
class TritonPythonModel:
    def execute(self, requests):
        return [self.reply(r) for r in requests]

    def reply(self, request):
        shape = pb.get_input_tensor_by_name(request, "text_input").as_numpy().shape
        n = words_of(request)
        time.sleep(0.010 + 0.002 * n)
        reply = " ".join(f"word{i}" for i in range(n)).encode()
        return pb.InferenceResponse([texts(reply, shape=shape)])
"""

STREAM = """
class TritonPythonModel:
    def execute(self, requests):
        for r in requests:
            threading.Thread(target=self.reply, args=(words_of(r), r.get_response_sender()), daemon=True).start()

    def reply(self, n, sender):
        time.sleep(0.020)
        for i in range(n):
            if i:
                time.sleep(0.005)
            sender.send(pb.InferenceResponse([texts(f" word{i}".encode())]))
        sender.send(flags=pb.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
"""

NUMBERS = """
class TritonPythonModel:
    def execute(self, requests):
        return [self.reply(r) for r in requests]

    def reply(self, request):
        n = pb.get_input_tensor_by_name(request, "INPUT").as_numpy().size
        time.sleep(0.002)
        return pb.InferenceResponse([pb.Tensor("OUTPUT", np.ones(SHAPE, dtype=np.float32))])
"""

EMBED = """
input [ { name: "text_input" data_type: TYPE_STRING dims: [ -1 ] } ]
output [ { name: "embedding" data_type: TYPE_FP32 dims: [ -1, 16 ] } ]
"""

RANK = """
input [ { name: "query" data_type: TYPE_STRING dims: [ 1 ] }, { name: "passages" data_type: TYPE_STRING dims: [ -1 ] } ]
output [ { name: "scores" data_type: TYPE_FP32 dims: [ -1 ] } ]
"""


def numbers(source, output, shape):
    return NUMBERS.replace("INPUT", source).replace("OUTPUT", output).replace("SHAPE", shape)


def model(root, name, code, tensors=INPUTS, instances=1, batch=0, more=""):
    folder = Path(root, name, "1")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.py").write_text(HEAD + code)
    (folder.parent / "config.pbtxt").write_text(f"""name: "{name}"
backend: "python"
max_batch_size: {batch}
instance_group [ {{ kind: KIND_CPU count: {instances} }} ]
{tensors}{more}
""")


def main(root):
    model(root, "text", TEXT, instances=4)
    model(root, "stream", STREAM, more="model_transaction_policy { decoupled: true }")
    model(root, "limited", TEXT, more="dynamic_batching { default_queue_policy { max_queue_size: 4 } }")
    model(root, "batched", TEXT, tensors=INPUTS.replace("TYPE_INT32 dims: [ 1 ] optional: true", "TYPE_INT32 dims: [ 1 ]"), batch=8)
    model(root, "cached", TEXT, more="response_cache { enable: true }")
    model(root, "embed", numbers("text_input", "embedding", "(n, 16)"), tensors=EMBED)
    model(root, "rank", numbers("passages", "scores", "n"), tensors=RANK)


if __name__ == "__main__":
    main(*sys.argv[1:])
