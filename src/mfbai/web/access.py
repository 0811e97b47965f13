"""Where the server listens, and the token that callers need. Imports nothing heavy: mistakes are reported at once."""

from __future__ import annotations

import ipaddress
import os
import socket
from pathlib import Path

from mfbai.errors import Fault, InvalidInput

TOKEN = "MFBAI_TOKEN"
SHORTEST_TOKEN = 16  # characters: no shorter one is a secret


def find_token(file: Path | None) -> str | None:
    """The token in a file, or in the environment; None if there is none."""
    where = f"token file {str(file)!r}" if file is not None else TOKEN
    if file is not None:
        try:
            token = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            cause = error.strerror if isinstance(error, OSError) else "it is not text"
            raise InvalidInput([Fault(where, f"cannot be read: {cause}; check the path")]) from None
    elif TOKEN in os.environ:
        token = os.environ[TOKEN].strip()
    else:
        return None
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        told = f"holds no token: give one line of {SHORTEST_TOKEN} or more letters, digits and signs, without spaces"
        raise InvalidInput([Fault(where, told)])
    return token


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int, token: str | None) -> socket.socket:
    """A socket to serve at; refused if others could reach it without a token."""
    if token is None and not is_loopback(host):
        told = f"is {host!r}, which others can reach: give them a token, by --token-file FILE or in {TOKEN}"
        raise InvalidInput([Fault("--host", told)])
    if not 0 <= port <= 65535:
        raise InvalidInput([Fault("--port", f"is {port}: give a number from 1 to 65535, or 0 for any that is free")])
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)  # asyncio sends small answers at once only if it is TCP
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
        except OSError:
            made.close()
            raise
    except (OSError, UnicodeError) as error:
        cause = getattr(error, "strerror", None) or error
        told = f"cannot be used ({cause}): choose another with --port or --host, or end what uses it"
        raise InvalidInput([Fault(f"address {host}:{port}", told)]) from None
    return made


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
