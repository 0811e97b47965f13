"""The page and its server, as the tests of the page use them."""

import contextlib
import json
import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from support.servers import Server, steady_port

MINUS = "\N{MINUS SIGN}"
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
QUALITY = {
    "baseline": 0.70,
    "wide": 0.75,
    "deep": 0.95,
}  # all values told: a study takes one course
SPEC = """
[problem]
arms = ["baseline", "wide", "deep"]
[[fidelity]]
name = "coarse"
cost = 0.05
bias = 0.03
[[fidelity]]
name = "fine"
cost = 5.0
[family]
name = "gaussian"
variance = 0.01
"""
SCRIPT = "<script>alert(1)</script>"
IMAGE = "<img src=x onerror=alert(1)>"
REFUSED = r"the server responded with a status of (401|404|409|422)"
PICTURES = os.environ.get("MFBAI_PICTURES")  # a folder for pictures of the page, to look at
AWAY = r"Failed to load resource: net::ERR_"


class Refused(Exception):  # noqa: N818
    """A call that was not carried out: its status, and why."""


class Site:
    """A server that can be stopped and started again at the same address."""

    def __init__(self, folder, token=None):
        self._storage = f"sqlite:///{folder / 'studies.db'}"
        self._token = token
        self.port = steady_port()
        self.start()

    def start(self):
        self._server = Server(self._storage, port=self.port, token=self._token)
        self.address, self.port = self._server.address, self._server.port

    def stop(self):
        self._server.stop()

    def call(self, path, body=None):
        answer = self._server.call("GET" if body is None else "POST", f"/api/v1/studies{path}", body)
        if answer.status >= 400:
            raise Refused(answer.status, answer.json()["detail"])
        return answer.json()

    def choices(self):
        return self._server.call("GET", "/api/v1/choices").json()

    def create(self, name, spec=SPEC, **more):
        self.call("", {"spec": spec, "delta": 0.05, "name": name} | more)

    def post(self, study, action, **body):
        return self.call(f"/{quote(study, safe='')}/{action}", body)

    def damage(self, study):
        """Spoil a study's journal, as a failing disk might. The server starts again meanwhile."""
        self.stop()
        with contextlib.closing(sqlite3.connect(self._storage.removeprefix("sqlite:///"))) as database:
            (number,) = database.execute("SELECT id FROM mfbai_studies WHERE name = ?", (study,)).fetchone()
            database.execute("UPDATE mfbai_events SET body = '{garbage' WHERE study = ? AND n > 0", (number,))
            database.commit()
        self.start()

    def work(self, study, most=1000):
        """Ask and tell, as a program would, until the verdict, or `most` times."""
        for _ in range(most):
            try:
                (trial,) = self.post(study, "ask")["trials"]
            except Refused as refusal:
                if refusal.args[0] == 409:  # the study is over
                    return
                raise
            self.post(study, "tell", trial=trial["id"], value=QUALITY[trial["arm"]])


def route_to(study):
    return f"#/study/{quote(study, safe='')}"


def create_by_form(page, name, **choices):
    page.get_by_role("link", name="New study").last.click()
    page.get_by_label("Name", exact=True).fill(name)
    if choices:
        page.get_by_text("More settings").click()
    for label, choice in choices.items():
        page.get_by_label(label, exact=True).select_option(choice)
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    expect(page.locator(".headline")).not_to_be_empty()


def evaluate_by_hand(page):
    """Ask for a trial and tell its value, by the panel's form."""
    told = page.locator(".tile.evaluation strong").inner_text()
    page.get_by_role("button", name="Ask for a trial").click()
    trial = page.locator(".trials.mine .trial")
    trial.get_by_label("Value").fill(str(QUALITY[trial.locator("strong").first.inner_text()]))
    trial.get_by_role("button", name="Tell").click()
    expect(page.locator(".said")).to_contain_text("Told")
    expect(page.locator(".tile.evaluation strong")).not_to_have_text(told)


def panels(page):
    """What each panel shows: its text, where its bars end, and the pixels of its curves."""
    return page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll(".panel:not(.alarms)")].map((panel) => [
             panel.classList.item(2),
             panel.innerText
               + [...panel.querySelectorAll(".fill, .range, .spent")].map((bar) => bar.style.cssText)
               + [...panel.querySelectorAll("progress")].map((bar) => bar.value)
               + [...panel.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL()),
           ]))"""
    )


def assert_no_overflow(page):
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0


def answer_with(page, pattern, kind, text):
    """Have the browser receive this text from addresses of that pattern."""
    page.route(pattern, lambda route: route.fulfill(content_type=kind, body=text))


def show(page, server, study, view):
    """The page of a study whose server sends this view."""
    answer_with(page, f"**/{study}/view*", "application/json", json.dumps(view))
    page.goto(f"{server.address}/{route_to(study)}")


def take_picture(page, name):
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)


def tab_to(page, name):
    """Press Tab until something of that name has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        focus = "document.activeElement.labels?.[0]?.innerText ?? document.activeElement.innerText"
        if page.evaluate(focus).strip() == name:
            return
    pytest.fail(f"the keyboard does not get to {name!r}")
