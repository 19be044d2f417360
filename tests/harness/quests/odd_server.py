import os, socketserver, sys

ANSWERS = {
    b"/drop": b"",
    b"/nonsense": b"what?\r\n\r\n",
    b"/short": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
    b"/packed": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
    b"/missing": b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
}
FINE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        words = self.rfile.readline().split()
        while self.rfile.readline().strip():
            pass
        path = words[1] if len(words) > 1 else b"/drop"
        if path == b"/end":
            os._exit(1)
        self.wfile.write(ANSWERS.get(path, FINE))

class Server(socketserver.TCPServer):
    allow_reuse_address = True

Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
