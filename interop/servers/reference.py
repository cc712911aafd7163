"""A plain client: sends the bodies of a finished run again and times the replies, with nothing but the standard library.

It is the second opinion on latencies: the same bodies, in the same order, with as many in flight, against the same server.
"""

import http.client
import json
import queue
import threading
import time

LIMIT = 120  # seconds for one request


def exchange(host, path, body, headers):
    """One request on a connection of its own: (seconds to the first content or None, seconds in all)."""
    connection = http.client.HTTPConnection(host, timeout=LIMIT)
    try:
        connection.connect()
        start = time.perf_counter()
        connection.request("POST", path, body, headers)
        reply = connection.getresponse()
        if reply.status != 200:
            raise RuntimeError(f"status {reply.status}: {reply.read(300)!r}")
        first = None
        if "event-stream" not in (reply.getheader("Content-Type") or ""):
            reply.read()
        else:
            while line := reply.readline():
                if first is None and line.startswith(b"data:") and has_content(line[5:]):
                    first = time.perf_counter() - start
        return first, time.perf_counter() - start
    finally:
        connection.close()


def has_content(data):
    if data.strip() == b"[DONE]":
        return False
    choices = json.loads(data).get("choices") or [{}]
    return bool(choices[0].get("text") or (choices[0].get("delta") or {}).get("content"))


def replay(host, path, bodies, concurrency, headers=()):
    """Seconds of each request to the first content (none when nothing streams), and in all."""
    work = queue.SimpleQueue()
    for body in bodies:
        work.put(body)
    done, failed = [], []

    def worker():
        while True:
            try:
                body = work.get_nowait()
            except queue.Empty:
                return
            try:
                done.append(exchange(host, path, body, {"Content-Type": "application/json", **dict(headers)}))
            except Exception as e:
                failed.append(repr(e))

    threads = [threading.Thread(target=worker, daemon=True) for _ in range(concurrency)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failed:
        raise RuntimeError(f"the reference client failed {len(failed)} times: {failed[0]}")
    return [first for first, _ in done if first is not None], [total for _, total in done]
