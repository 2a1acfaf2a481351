"""A small real HTTP server that speaks OpenAI's embeddings, for tests. Misbehaves on request.

Answers are hashed trigrams. `script` holds what the next requests get, one entry each; when it is
empty the server behaves. It listens on a free port of 127.0.0.1.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from remembrancer.embeddings.base import Kind
from remembrancer.embeddings.trigram import TrigramEmbedder


@dataclass(frozen=True)
class Turn:
    """How one request is answered."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    dimension: int | None = None
    """Another length of vector than the server's."""
    body: bytes | None = None
    """These bytes instead of embeddings."""
    drop: int = 0
    """So many embeddings too few."""
    base64: bool = False
    reverse: bool = False
    """The last text's embedding first; `index` still tells."""
    delay: float = 0.0
    """Seconds before the answer."""


class EmbedServer:
    """`with EmbedServer() as server: …`; `server.requests` holds each request's JSON."""

    def __init__(self, *, dimension: int = 32) -> None:
        self.dimension = dimension
        self.script: deque[Turn] = deque()
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.authorizations: list[str | None] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                owner._answer(self)

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        """The base URL, up to `/v1`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> EmbedServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        size = int(handler.headers.get("Content-Length", 0))
        request = json.loads(handler.rfile.read(size))
        self.requests.append(request)
        self.paths.append(handler.path)
        self.authorizations.append(handler.headers.get("Authorization"))
        turn = self.script.popleft() if self.script else Turn()
        time.sleep(turn.delay)
        body = turn.body if turn.body is not None else self._body(request, turn)
        try:
            handler.send_response(turn.status)
            for name, value in turn.headers.items():
                handler.send_header(name, value)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # The client gave up first, as some tests want.

    def _body(self, request: dict[str, Any], turn: Turn) -> bytes:
        texts = request["input"]
        if turn.status != 200:
            return json.dumps({"error": {"message": f"about {texts}"}}).encode()
        vectors = TrigramEmbedder(turn.dimension or self.dimension).embed(texts, Kind.PASSAGE)
        data = []
        for index, vector in enumerate(vectors):
            raw = base64.b64encode(vector.astype("<f4").tobytes()).decode()
            value = raw if turn.base64 else (vector * 3).tolist()
            data.append({"object": "embedding", "index": index, "embedding": value})
        data = data[: len(data) - turn.drop]
        if turn.reverse:
            data.reverse()
        return json.dumps({"object": "list", "model": request["model"], "data": data}).encode()
