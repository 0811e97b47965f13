"""A server at full size: `make bench-serve`. 200 clients for a minute with the page open, then kills under load.

The tests in tests/web/test_load.py are the same with fewer clients and kills. Takes about four minutes. The machine
must be quiet: clients, server and browser share its cores.
"""

import multiprocessing
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import mfbai
from support.loads import NEVER, TIED, Survivors, press, told_in
from support.servers import Server

CLIENTS, RATE, SECONDS = 200, 300, 60
KILLS, PATIENT = 20, 40
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def main():
    print(f"{'':44}{'measured':>14}{'target':>14}   note", flush=True)
    for part in (load, kills):
        with tempfile.TemporaryDirectory() as folder:
            for what, measured, target, note in part(f"sqlite:///{folder}/studies.db"):
                print(f"{what:44}{measured:>14}{target:>14}   {note}", flush=True)


def load(storage):
    with Server(storage) as server:
        study = mfbai.Client(server.address).create_study(TIED, NEVER, name="load")
        page = Page(f"{server.address}/#/study/load")
        began = time.monotonic()
        found = press(server.port, "load", CLIENTS, RATE, rounds=RATE * SECONDS // CLIENTS)
        took = time.monotonic() - began
        changes = page.end()
        told = told_in(study)
        began = time.monotonic()
        server.stop()
        stopped = time.monotonic() - began
    yield "tells a second", f"{len(found.tells) / took:.0f}", f"{RATE}", f"{CLIENTS} clients, {took:.0f} s"
    yield "errors", f"{len(found.errors)}", "0", "; ".join(map(str, found.errors[:2]))
    lost = sum(told.get(trial) != value for trial, value in found.acknowledged.items())
    yield "acknowledged tells that are lost", f"{lost}", "0", f"of {len(found.acknowledged)}"
    for name, times in {"tell": found.tells, "ask": found.asks}.items():
        middle, high, highest = 1000 * np.percentile(times, [50, 99, 100])
        target = "250 ms" if name == "tell" else ""
        yield f"{name}, 99 %", f"{high:.0f} ms", target, f"median {middle:.0f} ms, longest {highest:.0f} ms"
    gaps = np.diff(changes) if len(changes) > 1 else np.array([np.inf])
    yield "changes of the page", f"{len(changes)}", "> 30", f"the longest pause was {gaps.max():.1f} s"
    yield "graceful stop", f"{stopped:.2f} s", "3 s", ""


def kills(storage):
    survivors = Survivors(storage, PATIENT)
    try:
        for _ in range(KILLS):
            survivors.kill_and_restart()
    finally:
        survivors.end()
    study = mfbai.load_study("kills", storage=storage)
    told = told_in(study)
    lost = sum(told.get(trial) != value for trial, value in survivors.acknowledged.items())
    yield f"kills of the server, {PATIENT} clients", f"{KILLS}", f"{KILLS}", f"{len(told)} results"
    yield "errors of clients", f"{len(survivors.errors)}", "0", "; ".join(map(str, survivors.errors[:2]))
    yield "acknowledged tells that are lost", f"{lost}", "0", ""
    yield "results that are not some client's", f"{len(told.keys() - survivors.acknowledged.keys())}", "0", ""
    doubled = len(survivors.received) - len(set(survivors.received))
    yield "trials handed out twice, or in vain", f"{doubled + len(study.trials())}", "0", ""
    yield "certificate confirmed", f"{mfbai.verify(study.export()).confirmed}", "True", ""


class Page:
    """A browser that shows a study, and notes when what it shows changes; in a process of its own."""

    def __init__(self, address):
        context = multiprocessing.get_context("spawn")
        ready, self._stop, self._changes = context.Event(), context.Event(), context.Queue()
        self._process = context.Process(target=watch, args=(address, ready, self._stop, self._changes))
        self._process.start()
        ready.wait(60)

    def end(self):
        self._stop.set()
        found = self._changes.get()
        self._process.join()
        return found


def watch(address, ready, stop, changes):
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser")
    found, before = [], ""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector("main h1")
        ready.set()
        while not stop.is_set():
            text = page.text_content("main")
            if text != before:
                found.append(time.monotonic())
            before = text
            page.wait_for_timeout(250)
        browser.close()
    changes.put(found)


if __name__ == "__main__":
    main()
