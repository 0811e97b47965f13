"""Bodies that are sent: what is no JSON, not as described, or too large is refused, and nothing is stored."""

import pytest

from support.servers import kinds, refused

MOST_BYTES = 1 << 20


MALFORMED = [
    b"{",
    b"{}x",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"\xff\xfe",
    '{"n": 1}'.encode("utf-16"),
    b'\xef\xbb\xbf{"n": 1}',
    b'{"n": 01}',
    b'{"n": NaN}',
    b'{"lease": Infinity}',
    b'{"n": 1, "n": 2}',
    b'{"n": ' + b"9" * 5000 + b"}",
    b"{'n': 1}",
    b"\0",
]


@pytest.mark.parametrize("body", MALFORMED, ids=lambda body: ascii(body[:20]))
def test_a_body_that_is_not_json_or_can_be_read_in_two_ways_is_refused(server, study, body):
    refused(server.post(f"{study}/ask", body), 400, "^the body (is not JSON|is nested|has a key twice|holds a number)")
    assert kinds(server, study) == ["create"]


WRONG = [
    (b"", "the body is missing: add it"),
    (b"[]", "the body is .*: it should be"),
    (b"null", "the body is None"),
    ({"n": 0}, "n is 0: it should be greater"),
    ({"n": 1001}, "n is 1001: it should be less than or equal to 1000"),
    ({"n": 1.0}, "n is 1.0: it should be a valid integer"),
    ({"n": True}, "n is True"),
    ({"n": "1"}, "n is '1'"),
    ({"m": 1}, "m is not known: leave it out, or check its spelling"),
    ({"lease": 0}, "lease is 0: it should be greater than 0"),
    ({"lease": 1e10}, "lease is 10000000000.0: it should be less"),
    (b'{"lease": 1e999}', "lease is inf"),
    ({"lease": None}, "lease is None"),
    ({"request": ""}, "request is '': give up to 64 letters"),
    ({"request": "a b"}, "give up to 64 letters"),
    ({"request": "a\n"}, "give up to 64 letters"),
    ({"request": "x" * 65}, "give up to 64 letters"),
    ({"request": "\ud800"}, "it should be a valid string"),
]


@pytest.mark.parametrize(("body", "told"), WRONG)
def test_an_ask_that_is_not_as_described_is_refused(server, study, body, told):
    refused(server.post(f"{study}/ask", body), 422, told, "InvalidInput")
    assert kinds(server, study) == ["create"]


@pytest.mark.parametrize("value", ["1", None, True, [1], 1e100, -1e308, 10**400], ids=repr)
def test_values_that_are_no_numbers_are_refused(server, study, value):
    (trial,) = server.ask(study)
    for what, body in [
        ("tell", {"trial": trial["id"], "value": value}),
        ("add", {"arm": 0, "fidelity": 0, "values": [0.5, value]}),
    ]:
        refused(server.post(f"{study}/{what}", body), 422, "value", "InvalidInput")
    assert kinds(server, study) == ["create", "ask"]


@pytest.mark.parametrize("trial", ["", "1", "0-00000000", "1-0000000g", "1-00000000\n", 1, None, "999999999-00000000"])
def test_trials_that_are_none_are_refused(server, study, trial):
    for what, more in (("tell", {"value": 0.5}), ("fail", {}), ("renew", {}), ("release", {})):
        refused(server.post(f"{study}/{what}", {"trial": trial, **more}), 422, "trial", "InvalidInput")
    assert kinds(server, study) == ["create"]


def test_all_faults_of_a_call_are_told_at_once_with_their_places(server, study):
    answer = server.post(f"{study}/add", {"arm": 0, "values": [0.5, "x", None], "more": 1})
    refused(answer, 422, "4 faults in the call", "InvalidInput")
    assert {fault["field"] for fault in answer.json()["faults"]} == {"fidelity", "values.1", "values.2", "more"}
    answer = server.post(f"{study}/add", {"arm": "wild", "fidelity": 7, "values": [0.5]})
    refused(answer, 422, "did you mean 'wide'", "InvalidInput")


def test_a_batch_has_a_limit(server, study):
    refused(server.post(f"{study}/add", {"arm": 0, "fidelity": 0, "values": [0.5] * 1001}), 422, "at most 1000")
    refused(server.post(f"{study}/add", {"arm": 0, "fidelity": 0, "values": []}), 422, "at least 1")
    assert server.post(f"{study}/add", {"arm": 0, "fidelity": 0, "values": [0.5] * 1000}).status == 200
    assert len(server.ask(study, n=1000)) <= 1000


def chunked(server, path, size):
    head = f"POST /api/v1/studies{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    chunks = (b"8000\r\n" + b" " * 0x8000 + b"\r\n") * (size // 0x8000)
    return server.raw(
        f"{head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n".encode() + chunks + b"2\r\n{}\r\n0\r\n\r\n"
    )


def test_a_body_has_a_limit(server, study):
    assert server.post(f"{study}/ask", b" " * (MOST_BYTES - 2) + b"{}").status == 200
    refused(server.post(f"{study}/ask", b" " * (MOST_BYTES - 1) + b"{}"), 413, "1,048,576 bytes at most")
    assert chunked(server, f"{study}/ask", 0x8000).startswith(b"HTTP/1.1 200 ")
    assert chunked(server, f"{study}/ask", MOST_BYTES).startswith(b"HTTP/1.1 413 ")
    early = "POST /api/v1/studies HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    answer = server.raw(f"{early}Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 413 ")  # before the body is sent
    assert kinds(server, study) == ["create", "ask", "ask"]
