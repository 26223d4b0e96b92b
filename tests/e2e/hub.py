"""A Hugging Face hub on the loopback, for the tests that fetch from it."""
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from program import TALES, ProgramCase, spelled

COMMIT = "89abcdef" * 5
NAME = "a-school/tiny-tales"


class Hub(BaseHTTPRequestHandler):
    """Serves one model; the weights are on the same server, behind a redirect."""
    protocol_version = "HTTP/1.1"
    files = {}
    asked = []

    def log_message(self, *_):
        pass

    def reply(self, status, headers=(), body=b""):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.server.asked.append((self.command, self.path, dict(self.headers)))
        if self.server.moved:
            return self.reply(302, [("Location", self.server.moved + self.path)])
        if self.path == f"/api/models/{NAME}/revision/main?blobs=true":
            siblings = [{"rfilename": name, "size": len(body), **self.hashes(name, body)}
                        for name, body in self.server.files.items()]
            return self.reply(200, body=json.dumps({"sha": COMMIT, "siblings": siblings}).encode())
        prefix = f"/{NAME}/resolve/{COMMIT}/"
        name = self.path.removeprefix(prefix).removeprefix("/store/")
        if name not in self.server.files:
            return self.reply(401, [("X-Error-Code", "RepoNotFound")])
        body = self.server.files[name]
        if self.path.startswith(prefix) and name == "model.safetensors":
            return self.reply(302, [("Location", "/store/" + name)])
        if asked := self.headers.get("Range"):
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            return self.reply(206, [("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")], body[start:])
        return self.reply(200, body=body)

    @staticmethod
    def hashes(name, body):
        if name == "model.safetensors":
            return {"blobId": "0" * 40, "lfs": {"sha256": hashlib.sha256(body).hexdigest(), "size": len(body)}}
        return {"blobId": hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()}


class HubCase(ProgramCase):
    """A test with such a hub and an empty cache."""

    def setUp(self):
        super().setUp()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
        self.server.daemon_threads = True
        self.server.files = {file.name: file.read_bytes() for file in TALES.iterdir() if file.suffix != ".py"}
        self.server.asked = []
        self.server.moved = None  # where everything is redirected to
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.env = {"HF_HOME": spelled(self.folder / "home"), "HF_ENDPOINT": f"http://127.0.0.1:{self.server.server_port}",
                    "HF_TOKEN": "", "HF_HUB_CACHE": "", "HF_HUB_OFFLINE": "", "no_proxy": "127.0.0.1"}
        self.snapshot = self.folder / "home/hub" / ("models--" + NAME.replace("/", "--")) / "snapshots" / COMMIT
