"""Reports over HTTP, and by the client: the same file as the library writes."""

import mfbai
from mfbai import Client, verify
from support.servers import SPEC, Server


def test_a_server_gives_the_report_that_the_library_writes(tmp_path):
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    server = Server(url)
    try:
        server.call("POST", "/api/v1/studies", {"name": "a </b>", "delta": 0.05, "spec": SPEC})
        remote = Client(server.address).load_study("a </b>")
        remote.tell(remote.ask(), 0.5)
        answer = server.call("GET", "/api/v1/studies/a%20%3C%2Fb%3E/report")
        text = remote.report(tmp_path / "report.html")
    finally:
        server.stop()
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-disposition"].startswith("attachment; filename=report.html")
    assert answer.body.decode() == text == mfbai.load_study("a </b>", storage=url).report()
    assert verify(tmp_path / "report.html")
