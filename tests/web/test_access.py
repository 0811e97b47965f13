"""Access to a server: tokens, hosts, origins, kinds of content."""

import pytest

from support.servers import SPEC, TOKEN, kinds, refused

API = ["", "/s", "/s/status", "/s/view", "/s/trials", "/s/journal", "/s/export", "/s/events"]


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer x {TOKEN}",
        "Bearer \xe9\xe9",
    ],
)
def test_without_the_token_nothing_is_answered(locked, given):
    headers = {"Authorization": given}
    for path in API:
        answer = locked.get(path, headers=headers)
        told = "a token is needed: send it" if given is None else "the token is wrong: send the server's"
        refused(answer, 401, f"{told} in the header 'Authorization: Bearer TOKEN'", "Unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"
    for path in ("", "/s/ask", "/s/tell", "/s/fail", "/s/renew", "/s/release", "/s/add"):
        assert locked.post(path, {}, headers=headers).status == 401
    for path in ("/openapi.json", "/api/", "/api/nothing", "/api/v1/../v1/studies", "/%61pi/v1/studies"):
        assert locked.call("GET", path, headers=headers).status == 401
    assert locked.call("GET", "/", headers=headers).status == 200  # the page, which asks for it


def test_the_token_opens_from_everywhere_by_any_name(locked):
    made = locked.post("", {"spec": SPEC, "delta": 0.1}, host="mfbai.example.org:8400")
    assert made.status == 201
    assert locked.call("GET", "/openapi.json", host="mfbai.example.org").json()["security"] == [{"token": []}]
    assert locked.get("", headers={"Authorization": f"bearer  {TOKEN}"}).status == 200
    refused(locked.get("", headers={"Origin": "http://evil.example"}), 403, "pages of other sites")


def test_the_token_is_never_shown(locked):
    """Neither in answers nor in the log (see the fixture), of refusals and errors either."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answers = [
        locked.call("GET", f"/{TOKEN}x", headers=headers),
        locked.call("GET", "/openapi.json", headers=headers),
        locked.post("", b"{", headers=headers),
        locked.post("/nobody/ask", {}, headers=headers),
    ]
    assert all(TOKEN.encode() not in answer.body for answer in answers)
    locked.raw(f"GET /\xff HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode("latin-1"))


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.2", "[::1", "0.0.0.0"]
)
def test_without_a_token_it_answers_to_local_names_only(server, host):
    """A page of another site can make its own name lead here."""
    for path in ("/api/v1/studies", "/", "/openapi.json", "/static/index.html"):
        refused(server.call("GET", path, host=host), 421, "answers to localhost, 127.0.0.1, ::1 only, unless")
    answer = server.raw(b"GET /api/v1/studies HTTP/1.0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 421 ")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8400", "[::1]:8400"])
def test_local_names_are_answered_with_any_port(server, host):
    assert server.get("?limit=1", host=host).status == 200
    assert server.get("?limit=1", host=host, headers={"Origin": f"http://{host}"}).status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:1", "file://", "127.0.0.1", ""])
def test_pages_of_other_sites_may_not_call(server, study, origin):
    refused(server.get("", headers={"Origin": origin}), 403, "pages of other sites may not use this server")
    refused(server.post(f"{study}/ask", {}, headers={"Origin": origin}), 403, "pages of other sites")
    assert kinds(server, study) == ["create"]


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonx", "json"])
def test_what_is_not_said_to_be_json_is_refused(server, study, kind):
    """Other kinds a page of another site could send without being asked."""
    answer = server.post(f"{study}/ask", b"{}", headers={"Content-Type": kind})
    refused(answer, 415, "send JSON, with the header 'Content-Type: application/json'")
    assert kinds(server, study) == ["create"]
