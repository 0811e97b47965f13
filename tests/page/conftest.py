"""A real browser, and a real server. No page may complain, or ask for anything from elsewhere."""

import contextlib
import re

import pytest
from playwright.sync_api import expect

from support.pages import Site

PATIENCE = 300  # seconds for anything to be seen: kernels may have to compile, on a busy machine


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    running = Site(tmp_path_factory.mktemp("server"))
    yield running
    running.stop()


@pytest.fixture
def start_server(tmp_path_factory):
    """Starts a server of the test's own. It stops after all pages are closed: one that still polls would complain."""
    with contextlib.ExitStack() as stack:

        def started(token=None):
            running = Site(tmp_path_factory.mktemp("own"), token)
            stack.callback(running.stop)
            return running

        yield started


@pytest.fixture
def open_page(browser, start_server):  # a page is closed before its server stops
    """Opens the page at a route. What its console says fails the test, unless `expected`; so do foreign requests."""
    complaints = []
    with contextlib.ExitStack() as stack:

        def opened(server, route="#/", expected=r"\b\B", **settings):
            context = browser.new_context(**settings)
            stack.callback(context.close)
            context.set_default_timeout(1000 * PATIENCE)
            page = context.new_page()
            page.on("console", lambda said: re.search(expected, said.text) or complaints.append(said.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("dialog", lambda dialog: re.search(expected, dialog.type) or complaints.append(dialog.message))
            page.on("request", lambda made: is_ours(made.url, server) or complaints.append(made.url))
            page.goto(f"{server.address}/{route}")
            return page

        expect.set_options(timeout=1000 * PATIENCE)
        yield opened
    assert complaints == []


def is_ours(url, server):
    return url.startswith((f"{server.address}/", f"blob:{server.address}/", "data:"))
