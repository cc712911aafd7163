"""Benchmarks real HTTP servers over every connection strategy and compares our files with what the servers counted."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

aiperf, cache, nginx, extent = sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = f"{cache}/venv/bin/python"
REQUESTS, CONCURRENCY, TOKENS, SESSIONS = 300, 16, 8, 100
processes = []


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(command, port, **more):
    processes.append(subprocess.Popen(command, cwd=HERE, stdout=subprocess.DEVNULL, stderr=open(f"{cache}/servers.log", "a"), **more))
    for _ in range(1200):
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"{command[0]} does not listen: see {cache}/servers.log")


def app_server(name):
    port = free_port()
    start({
        "uvicorn": [PYTHON, "-m", "uvicorn", "asgi_server:app", "--port", str(port), "--no-access-log"],
        "hypercorn": [PYTHON, "-m", "hypercorn", "asgi_server:app", "--bind", f"127.0.0.1:{port}"],
        "aiohttp": [PYTHON, "aiohttp_server.py", str(port)],
        "node": ["node", "server.mjs", str(port)],
        "net/http": [f"{cache}/server", str(port)],
    }[name], port, env=os.environ | {"PYTHONPYCACHEPREFIX": f"{cache}/pycache"})
    url = f"http://127.0.0.1:{port}"

    def tally():
        return json.load(urllib.request.urlopen(url + "/tally"))

    return url, tally


def proxy():
    ports = {name: free_port() for name in ["MOCK", "BUFFERED", "PLAIN", "SECURE"]}
    start([aiperf, "mock-server", "--port", str(ports["MOCK"]), "--fast"], ports["MOCK"])
    work = f"{cache}/nginx-run"
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=elsewhere.test",
                    "-keyout", f"{work}/key.pem", "-out", f"{work}/cert.pem"], check=True, stderr=subprocess.DEVNULL)
    config = open(f"{HERE}/nginx.conf").read().replace("DIR", work)
    for name, port in ports.items():
        config = config.replace(f":{name}", f":{port}")
    open(f"{work}/nginx.conf", "w").write(config)
    start([nginx, "-c", f"{work}/nginx.conf", "-e", f"{work}/error.log", "-p", work], ports["SECURE"])
    for name, log in [("BUFFERED", "buffered"), ("PLAIN", "unbuffered"), ("SECURE", "secure")]:

        def tally(path=f"{work}/{log}.log"):
            rows = [line.split() for line in open(path)]
            assert all(status == "200" for _, status, _ in rows), f"{path} has other replies than 200"
            return {"requests": len(rows), "connections": len({row[0] for row in rows})}

        yield f"nginx {log}", f"http{'s' if name == 'SECURE' else ''}://127.0.0.1:{ports[name]}", tally


# The fewest and most connections that a strategy may open, where the server closes one after so many requests.
def connections(strategy, requests_each):
    if strategy == "never":
        return REQUESTS, REQUESTS
    if strategy == "sticky-user-sessions":
        return SESSIONS, SESSIONS
    if requests_each:
        return REQUESTS // requests_each, REQUESTS // requests_each + CONCURRENCY
    return 1, CONCURRENCY


# The ports of the client that a server knows: most servers tell connections by them, and the system uses a port again.
known = {}


def check(name, url, tally, strategy, streaming, requests_each):
    label = f"{name} {strategy} {'stream' if streaming else 'unary'}"
    run = f"{cache}/run"
    shutil.rmtree(run, ignore_errors=True)
    before = tally()
    began = time.time()
    done = subprocess.run(
        [aiperf, "profile", "--model", "m", "--tokenizer", "builtin", "--url", url, "--endpoint-type", "chat", "--concurrency", str(CONCURRENCY),
         "--isl", "32", "--osl", str(TOKENS), "--random-seed", "1", "--ui", "none", "--no-server-metrics",
         "--no-gpu-telemetry", "--connection-reuse-strategy", strategy, "--export-http-trace", "--artifact-dir", run, "--extra-inputs", "ignore_eos:true",
         "--conversation-num", str(SESSIONS), "--conversation-turn-mean", str(REQUESTS // SESSIONS), "--conversation-turn-stddev", "0"]
        + ["--streaming"] * streaming, env=os.environ | {"AIPERF_HTTP_SSL_VERIFY": "false"}, capture_output=True, text=True)
    assert done.returncode == 0, f"{label}: aiperf ended with {done.returncode}\n{done.stdout}{done.stderr}"
    summary = json.load(open(f"{run}/profile_export_aiperf.json"))
    records = [json.loads(line) for line in open(f"{run}/profile_export.jsonl")]
    time.sleep(0.05)
    after = tally()
    seen = {key: after[key] - before[key] for key in after}

    def total(tag):
        return sum(r["metrics"][tag]["value"] for r in records)

    assert not summary["error_summary"], f"{label}: {summary['error_summary']}"
    assert summary["request_count"]["avg"] == len(records) == seen["requests"] == REQUESTS, f"{label}: the server saw {seen}, we {len(records)}"
    assert total("output_sequence_length") == total("usage_completion_tokens") == REQUESTS * TOKENS, f"{label}: {total('output_sequence_length')} output tokens"
    if "completion_tokens" in seen:
        assert seen["completion_tokens"] == total("usage_completion_tokens"), f"{label}: the server counted {seen}"
        assert seen["prompt_tokens"] == total("usage_prompt_tokens"), f"{label}: the server counted {seen}"
    else:
        assert total("usage_prompt_tokens") == total("input_sequence_length"), f"{label}: prompt tokens differ"
    least, most = connections(strategy, requests_each)
    fresh = REQUESTS - total("http_req_connection_reused")
    assert least <= fresh <= most, f"{label}: {fresh} connections, want {least} to {most}"
    if requests_each:
        want = fresh
    else:
        ports = {r["trace_data"]["local_port"] for r in records}
        want = len(ports - known.setdefault(url, set()))
        known[url] |= ports
        assert len(ports) <= fresh, f"{label}: {len(ports)} ports, {fresh} connections"
    assert want == seen["connections"], f"{label}: {want} connections by our records, {seen['connections']} by the server's"
    print(f"{label:44} {fresh:4.0f} connections, {time.time() - began:.1f} s")


def main():
    targets = [(name, *app_server(name), None) for name in ["uvicorn", "hypercorn", "aiohttp", "node", "net/http"]]
    targets += [(*target, 10) for target in proxy()]
    cases = [(strategy, streaming) for strategy in ["pooled", "never", "sticky-user-sessions"] for streaming in [False, True]]
    for i, (name, url, tally, requests_each) in enumerate(targets):
        # Quickly, two of the six for each server, streaming and not, so that all of them come in turn.
        chosen = [cases[(2 * i) % 6], cases[(2 * i + 3) % 6]] if extent == "quick" else cases
        for strategy, streaming in chosen:
            check(name, url, tally, strategy, streaming, requests_each)


try:
    main()
finally:
    for p in processes:
        p.terminate()
    for p in processes:
        p.wait(10)
