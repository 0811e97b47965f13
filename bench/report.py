"""A report of 100,000 trials: how long it takes to write, verify, open and scroll. `make bench-report`.

To measure another number of trials, name it: `python bench/report.py 5000`.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from mfbai import verify
from support.reports import long_study

TRIALS = 100_000
OPENINGS = 3
WATCH = """
new MutationObserver(() => {
  const seen = {answer: "#answer", pictures: ".headline", table: ".trial-rows .body .row"};
  for (const [name, selector] of Object.entries(seen))
    if (!(name in watched) && document.querySelector(`${selector}:not(:empty)`)) watched[name] = performance.now();
}).observe(document, {subtree: true, childList: true});
const watched = window.watched = {};
"""
SCROLL = """async () => {
  const table = document.querySelector(".trial-rows");
  const times = [];
  table.scrollIntoView();
  for (let i = 0, last = performance.now(); i < 200; i++) {
    table.scrollTop += i < 100 ? 700 : table.scrollHeight / 110;
    await new Promise(requestAnimationFrame);
    times.push(performance.now() - last);
    last = performance.now();
  }
  return times.sort((a, b) => a - b);
}"""


def main(trials):
    print(f"{'':44}{'measured':>14}{'target':>14}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        study = long_study(trials)
        _, seconds = timed(lambda: study.report(path))
        line(f"write a report of {trials} trials", f"{seconds:.1f} s")
        line("its size", f"{path.stat().st_size / 1e6:.1f} MB")
        found, seconds = timed(lambda: verify(path))
        assert found, found.reason
        line("verify it: replay, and make it again", f"{seconds:.1f} s")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium") or shutil.which("chromium-browser"),
                args=["--no-sandbox", "--disable-gpu"],
            )
            for _ in range(OPENINGS):
                opened(browser, path)
            browser.close()


def opened(browser, path):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(WATCH)
    before = time.perf_counter()
    page.goto(path.as_uri())
    page.locator(".trial-rows .body .row").first.wait_for()
    first = page.evaluate("watched")
    page.locator(".table .note", has_text="trials.").wait_for()
    whole = time.perf_counter() - before
    busy = page.evaluate(SCROLL)
    page.locator("#report[data-done]").wait_for(state="attached", timeout=600_000)
    checked = time.perf_counter() - before
    assert page.locator(".checks [data-state=good]").count() == 2
    idle = page.evaluate(SCROLL)
    line("open it: the answer", f"{first['answer'] / 1000:.2f} s")
    line("  the first rows of the table", f"{first['table'] / 1000:.2f} s", "2 s")
    line("  all rows of the table", f"{whole:.2f} s")
    line("  chain and digests checked", f"{checked:.1f} s")
    line("scroll: a frame, median and 95 %", f"{idle[100]:.0f}, {idle[190]:.0f} ms")
    line("  the same while the chain is checked", f"{busy[100]:.0f}, {busy[190]:.0f} ms")
    page.close()


def timed(work):
    begin = time.perf_counter()
    return work(), time.perf_counter() - begin


def line(what, measured, target=""):
    print(f"{what:44}{measured:>14}{target:>14}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS)
