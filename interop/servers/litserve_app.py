"""A LitServe server with its OpenAI API: a model that says the number of words it is asked for.

    python litserve_app.py PORT
"""

import sys

import litserve


class Words(litserve.LitAPI):
    def setup(self, device):
        pass

    def predict(self, prompt, context):
        for i in range(int(context.get("max_completion_tokens") or context.get("max_tokens") or 16)):
            yield f" word{i % 10}"


if __name__ == "__main__":
    api = Words(spec=litserve.OpenAISpec())
    server = litserve.LitServer(api, accelerator="cpu", workers_per_device=1, timeout=120)
    server.run(host="127.0.0.1", port=int(sys.argv[1]), generate_client_file=False, num_api_servers=1)
