"""A collector of OpenTelemetry metrics that accepts every push until the file HELD exists, and then answers none.

Usage: silent.py PORT_FILE HELD
"""
import http.server
import os
import sys
import time


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        while os.path.exists(sys.argv[2]):
            time.sleep(0.1)
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
with open(sys.argv[1], "w") as port:
    port.write(str(server.server_port))
server.serve_forever()
