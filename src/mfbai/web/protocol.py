"""HTTP as uvicorn reads it, with a limit to what comes before a body: the parser itself has none."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 1 << 16  # bytes
TOLD = "The head of the request is too large: 65,536 bytes at most."


class Protocol(HttpToolsProtocol):
    """A connection. Whoever sends a head without end is cut off, before anybody has asked for a token."""

    _head = 0  # bytes of a head that is not complete

    def data_received(self, data: bytes) -> None:
        self._head += len(data)
        super().data_received(data)
        if self._head > LARGEST_HEAD and not self.transport.is_closing():
            self.send_400_response(TOLD)

    def on_headers_complete(self) -> None:
        self._head = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head = 0
        super().on_message_complete()
