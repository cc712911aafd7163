"""A server that answers the same bytes to everybody, in pieces: plain, packed, streamed, with trailers; and WebSocket, as an
echo. Prints its address."""
import base64
import gzip
import hashlib
import http.server
import json
import time

EVENTS = [b'data: {"choices":[{"index":0,"delta":{"content":"word %d"}}]}\n\n' % i for i in range(20)] + [b"data: [DONE]\n\n"]
REPLY = json.dumps({"choices": [{"message": {"role": "assistant", "content": "Füße " * 2000}, "finish_reason": "stop"}]}).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def head(self, kind, *fields):
        self.send_response_only(200, "Very Well")
        self.send_header("Date", "Mon, 30 Nov 2026 12:00:00 GMT")
        self.send_header("Content-Type", kind)
        for name, value in fields:
            self.send_header(name, value)
        self.end_headers()

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        digest = hashlib.sha256(body).hexdigest()
        if self.path.startswith("/gzip"):
            data = gzip.compress(REPLY, mtime=0)
            self.head("application/json", ("Content-Encoding", "gzip"), ("Content-Length", str(len(data))), ("X-Body", digest))
            self.wfile.write(data)
        elif self.path.startswith("/stream"):
            self.head("text/event-stream", ("Transfer-Encoding", "chunked"), ("X-Body", digest), ("Trailer", "X-Sum"))
            for event in EVENTS:
                self.chunk(event)
                time.sleep(0.002)
            self.wfile.write(b"0\r\nX-Sum: 7\r\n\r\n")
        else:
            self.head("application/json", ("Content-Length", str(len(REPLY))), ("X-Body", digest), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"))
            for i in range(0, len(REPLY), 5000):
                self.wfile.write(REPLY[i:i + 5000])
                time.sleep(0.002)

    def do_GET(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response_only(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.close_connection = True
        while data := self.connection.recv(65536):
            self.connection.sendall(data)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
