"""Makes the pictures of the page in docs/images: the studies of `mfbai serve --demo`, in Chromium."""

import random
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from mfbai.errors import NothingToAsk
from mfbai.study import create_study
from mfbai.study.status import proven
from mfbai.web.demo import WORKERS, make_shows
from support.pages import Site, route_to

DESK = {"viewport": {"width": 1400, "height": 925}}
PHONE = {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
WING, CONCRETE, PROMPT = "The wing of least drag", "The strongest concrete", "The best prompt"
SECOND, THIRD = f"{WING}, uniformly", f"{WING}, frugally"
NOTE = """## Which prompt goes into the next release

Five of them, **three ways** to judge; see the [proposal](https://example.org/prompts).

- `small model` is off by up to 0.06: only for the *first* cut
- the panel meets again on the 14th

> If two are still close by then, take the shorter one.
"""


def prepare(storage):
    """The studies of the demonstration, and one of them again under other strategies."""
    shows = {show.name: show for show in make_shows()}
    again = [
        shows[WING]._replace(name=SECOND, strategy="uniform", begun=0.5),
        shows[WING]._replace(name=THIRD, strategy="frugal", begun=0.8),
    ]
    wanted = {PROMPT: 0.5, CONCRETE: 0.0, WING: 1.0}
    for show in (*again, *(shows[name]._replace(begun=begun) for name, begun in wanted.items())):
        study = create_study(show.problem, show.delta, name=show.name, strategy=show.strategy, storage=storage)
        order = random.Random(show.name)
        under_way = []
        while study.result is None and not show.is_ready(study.status()):
            with suppress(NothingToAsk):  # results must come back first
                while len(under_way) < WORKERS:
                    under_way.append(study.ask())
            trial = under_way.pop(order.randrange(len(under_way)))
            study.tell(trial, show.value(trial))
        print(f"{show.name}: {proven(study.status()):.0%} of the proof")
        if show.name == PROMPT:
            study.set_note(NOTE)
            study.pause()
        study.set_tags(["language"] if show.name == PROMPT else ["wings"] if WING in show.name else [])


def main():
    images = Path(__file__).parents[1] / "docs" / "images"
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        prepare(f"sqlite:///{folder}/studies.db")
        server = Site(Path(folder))
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        try:
            for name, (route, part, height, settings) in PICTURES.items():
                page = browser.new_context(**settings).new_page()
                page.goto(f"{server.address}/{route}")
                page.locator(part).first.wait_for()
                page.wait_for_timeout(2500)  # bars have come to rest, and each study was looked at
                if height is None:
                    page.locator(part).screenshot(path=images / f"{name}.png")
                else:
                    page.set_viewport_size({**settings["viewport"], "height": height})
                    page.wait_for_timeout(500)
                    page.screenshot(path=images / f"{name}.png")
                page.close()
        finally:
            browser.close()
            server.stop()


COMPARED = f"#/compare?with={WING}&with={SECOND}&with={THIRD}".replace(" ", "+")
# Each picture: where it is, a part that it waits for, its height (None: that part alone), and the settings.
PICTURES = {
    "list": ("#/?with=" + WING.replace(" ", "+"), ".study", 800, DESK),
    "compare": (COMPARED, ".compare", 1500, DESK),
    "compare-phone": (COMPARED, ".compared-chart canvas", 1180, PHONE),
    "shares": (route_to(WING), ".shares", None, DESK),
    "note": (route_to(PROMPT), ".about-it", None, DESK),
    "page": (route_to(WING), ".shares canvas", 1900, DESK),
    "page-dark": (route_to(SECOND), ".shares canvas", 1400, DESK | {"color_scheme": "dark"}),
    "page-phone": (route_to(WING), ".shares canvas", 1180, PHONE),
    "verdict": (route_to(WING), ".shares canvas", 1040, DESK),
}

if __name__ == "__main__":
    main()
