"""HTTP as uvicorn reads it, with a limit on the size of a request's head: the parser itself has none."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 1 << 16  # bytes
TOO_LARGE = "The head of the request is too large: 65,536 bytes at most."


class Protocol(HttpToolsProtocol):
    """A connection. It closes if the head of a request is too large, before the token is checked."""

    _head = 0  # bytes of an incomplete head

    def data_received(self, data: bytes) -> None:
        self._head += len(data)
        super().data_received(data)
        if self._head > LARGEST_HEAD and not self.transport.is_closing():
            self.send_400_response(TOO_LARGE)

    def on_headers_complete(self) -> None:
        self._head = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head = 0
        super().on_message_complete()
