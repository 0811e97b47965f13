"""What every answer has, and what a server makes of odd requests."""

import json
import socket

import pytest

import mfbai
from support.servers import PATIENCE, kinds, refused

MOST_BYTES = 1 << 20
HEADERS = {
    "content-security-policy": "default-src 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def test_every_answer_has_the_headers_that_keep_browsers_in_check(server, study):
    answers = [
        server.call("GET", "/"),
        server.call("GET", "/static/index.html"),
        server.call("GET", "/openapi.json"),
        server.get(""),
        server.get(study),
        server.get("/nobody"),
        server.call("GET", "/nothing"),
        server.post(f"{study}/ask", b"{"),
        server.post(f"{study}/ask", {"n": 0}),
        server.post(f"{study}/ask", {}),
        server.post(f"{study}/ask", b"", headers={"Content-Type": "text/plain"}),
        server.post(f"{study}/ask", b" " * (MOST_BYTES + 1)),
        server.get("", host="evil.example"),
        server.get("", headers={"Origin": "http://evil.example"}),
        server.call("DELETE", "/api/v1/studies"),
    ]
    assert [answer.status for answer in answers] == [200] * 5 + [404, 404, 400, 422, 200, 415, 413, 421, 403, 405]
    for answer in answers:
        for name, value in HEADERS.items():
            assert value in answer.headers[name]
        assert "server" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers
    policy = answers[0].headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(server, study, method):
    for path in ("/api/v1/studies", f"/api/v1/studies{study}", "/", "/static/index.html"):
        refused(server.call(method, path), 405, "another method is needed: see /openapi.json")
    refused(server.call(method, "/nothing"), 404, "there is nothing here: see /openapi.json")


@pytest.mark.parametrize(
    "path",
    [
        "%2e%2e/app.py",
        "../app.py",
        "..%2fapp.py",
        "/etc/passwd",
        "%2fetc/passwd",
        "%00",
        "",
        "a" * 5000,
        "./../app.py",
        "..\\app.py",
        "%2e/index.html",
    ],
)
def test_no_file_is_served_but_those_of_the_page(server, path):
    refused(server.call("GET", f"/static/{path}"), 404, "nothing here")


def test_many_requests_may_come_at_once_on_one_connection(server, study):
    ask = f"POST /api/v1/studies{study}/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    last = b"GET /api/v1/studies HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answer = server.raw(f"{ask}Content-Length: 2\r\n\r\n{{}}".encode() * 5 + last)
    assert answer.count(b"HTTP/1.1 200 OK") == 6
    assert kinds(server, study).count("ask") == 5


NO_HTTP = [
    b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
    b"hello\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
]


@pytest.mark.parametrize("garbage", NO_HTTP, ids=lambda garbage: ascii(garbage)[:40])
def test_what_is_no_http_is_refused_with_the_same_headers(server, garbage):
    head = server.raw(garbage).partition(b"\r\n\r\n")[0].decode()
    assert head.startswith("HTTP/1.1 400 ")
    for name, value in HEADERS.items():
        assert f"{name}: {value}" in head


@pytest.mark.parametrize("start", ["GET / HTTP/1.1\r\nX: ", "GET /", "GET / HTTP/1.1\r\nHost: localhost\r\n"])
def test_a_head_without_end_is_cut_off_before_a_token_is_asked_for(locked, start):
    """It would fill the memory."""
    line = b"X: a\r\n" if start.endswith("localhost\r\n") else b"a"
    with socket.create_connection(("127.0.0.1", locked.port), timeout=PATIENCE) as connection:
        connection.sendall(start.encode())
        with pytest.raises(ConnectionError):  # noqa: PT012
            for _ in range(200):
                connection.sendall(line * (65536 // len(line)))
    assert locked.get("").status == 200


def test_a_version_is_described(server):
    assert server.call("GET", "/openapi.json").json()["info"]["version"] == mfbai.__version__
    assert json.loads(server.call("GET", "/openapi.json").body)["openapi"].startswith("3.")


def test_the_description_names_all_calls_and_how_they_are_refused(server):
    described = server.call("GET", "/openapi.json").json()
    calls = {(method, path) for path, methods in described["paths"].items() for method in methods}
    one = "/api/v1/studies/{name}"
    words = ("ask", "tell", "tell-many", "fail", "renew", "release", "add", "reopen")
    words += ("rename", "note", "tags", "pause", "resume", "delete")
    reads = (
        "status",
        "result",
        "view",
        "arms",
        "trials",
        "journal",
        "export",
        "events",
        "label",
        "trials.csv",
        "report",
    )
    assert calls == {
        ("get", "/api/v1/choices"),
        ("get", "/api/v1/studies"),
        ("post", "/api/v1/studies"),
        ("get", one),
        *(("post", f"{one}/{word}") for word in words),
        *(("get", f"{one}/{word}") for word in reads),
    }
    for path, method in ((path, method) for method, path in calls):
        responses = described["paths"][path][method]["responses"]
        assert {"401", "403", "421", "422", "503"} <= responses.keys()
        assert responses["401"]["content"].keys() == {"application/problem+json"}
