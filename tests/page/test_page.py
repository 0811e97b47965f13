"""The page, in a real browser and from a real server. No page may complain, or ask for anything from elsewhere."""

import contextlib
import json
import random
import re
import shutil
import threading
from urllib.parse import quote

import pytest
from playwright.sync_api import expect, sync_playwright

import mfbai
from mfbai.text import digits
from support.servers import Server

MINUS = "\N{MINUS SIGN}"
PATIENCE = 30_000  # ms: the machine may be busy
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
QUALITY = {"baseline": 0.70, "wide": 0.75, "deep": 0.95}
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
TOKEN = "a-token-for-the-tests"
REFUSED = r"the server responded with a status of (401|404|409|422)"
AWAY = r"Failed to load resource: net::ERR_"


class Refused(Exception):  # noqa: N818
    """A call that was not carried out: its status, and why."""


class Site:
    """A server, which can be stopped and started again where it was."""

    def __init__(self, folder, token=None):
        self._storage = f"sqlite:///{folder / 'studies.db'}"
        self._token = token
        self.port = 0
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

    def create(self, name, spec=SPEC, **more):
        self.call("", {"spec": spec, "delta": 0.05, "name": name, **more})

    def post(self, study, action, **body):
        return self.call(f"/{quote(study, safe='')}/{action}", body)

    def work(self, study, most=1000):
        """Ask and tell, as a program would, until the verdict, or `most` times."""
        for _ in range(most):
            try:
                (trial,) = self.post(study, "ask")["trials"]
            except Refused as refusal:
                if refusal.args[0] == 409:  # the study is over
                    return
                raise
            self.post(study, "tell", trial=trial["id"], value=value_of(trial["arm"], trial["seed"]))


def value_of(arm, seed):
    return QUALITY[arm] + random.Random(seed).gauss(0.0, 0.1)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Site(tmp_path_factory.mktemp("server"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def browser():
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.fail("Chromium is missing: the tests of the page need it; on Debian, apt-get install chromium")
    options = ["no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking"]
    options += ["disable-component-update", "disable-sync"]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=[f"--{option}" for option in options])
        yield running
        running.close()


@pytest.fixture
def open_page(browser):
    """Opens the page at a route. What its console says fails the test, unless `expected`; so do foreign requests."""
    complaints = []
    with contextlib.ExitStack() as stack:

        def opened(server, route="#/", expected=r"\b\B", **settings):
            context = browser.new_context(**settings)
            stack.callback(context.close)
            context.set_default_timeout(PATIENCE)
            page = context.new_page()
            page.on("console", lambda said: re.search(expected, said.text) or complaints.append(said.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("dialog", lambda dialog: complaints.append(dialog.message))
            page.on("request", lambda made: is_ours(made.url, server) or complaints.append(made.url))
            page.goto(f"{server.address}/{route}")
            return page

        expect.set_options(timeout=PATIENCE)
        yield opened
    assert complaints == []


def is_ours(url, server):
    return url.startswith((f"{server.address}/", f"blob:{server.address}/", "data:"))


def route_to(study):
    return f"#/study/{quote(study, safe='')}"


def create_by_form(page, name, **choices):
    page.get_by_role("link", name="New study").last.click()
    page.get_by_label("Name").fill(name)
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
    seed = int(trial.locator("code").inner_text())
    trial.get_by_label("Value").fill(str(value_of(trial.locator("strong").first.inner_text(), seed)))
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


def find_verdict(page, server, name):
    """From the list to the verdict, by the page and by a program at once; returns what was seen before and after."""
    create_by_form(page, name)
    expect(page.locator(".badge")).to_have_text("● running")
    page.get_by_text("Show the table").click()
    empty = panels(page)
    evaluate_by_hand(page)
    program = threading.Thread(target=server.work, args=(name, 6))
    program.start()
    evaluate_by_hand(page)
    evaluate_by_hand(page)
    program.join()
    expect(page.locator(".tile.evaluation strong")).to_have_text("9")
    server.work(name)
    expect(page.locator(".badge")).to_have_text("✓ decided")
    return empty, panels(page)


PANELS = {"verdict", "evidence", "intervals", "risk-chart", "evidence-chart", "spend", "by-hand", "recent", "numbers"}


def test_every_panel_follows_a_study_to_its_verdict(open_page, server):
    page = open_page(server, viewport={"width": 1400, "height": 900})
    before, after = find_verdict(page, server, "journey")
    assert before.keys() == after.keys() == PANELS
    assert {name for name in PANELS if before[name] == after[name]} == set()
    expect(page.locator(".headline")).to_contain_text("'deep'")
    expect(page.locator(".evidence [data-state=reached]")).to_have_count(2)
    expect(page.locator(".recent li").first).to_contain_text("verdict")
    page.get_by_role("link", name="Studies").click()
    expect(page.get_by_role("listitem").filter(has_text="journey")).to_contain_text("Answer: deep")


def test_downloaded_certificate_is_confirmed(open_page, server):
    server.create("a/certificate")
    server.work("a/certificate")
    page = open_page(server, route_to("a/certificate"))
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the certificate").click()
    assert download.value.suggested_filename == "a_certificate.json"
    assert mfbai.verify(json.loads(download.value.path().read_text())).confirmed


def test_phone_shows_everything_and_never_scrolls_sideways(open_page, server):
    page = open_page(server, **PHONE)
    expect(page.get_by_role("heading", name="Studies")).to_be_visible()
    assert_no_overflow(page)
    before, after = find_verdict(page, server, "on a phone, with a name that is rather long, and/or/has/no/space/in/it")
    assert {name for name in PANELS if before[name] == after[name]} == set()
    assert_no_overflow(page)
    page.locator(".verdict").get_by_role("button", name="Risk now").tap()
    expect(page.locator("#tip")).to_contain_text("smallest risk")
    assert_no_overflow(page)
    page.goto(f"{server.address}/#/new")
    page.get_by_text("More settings").tap()
    assert_no_overflow(page)


def test_dark_mode_changes_colours_and_curves(open_page, server):
    server.create("dark")
    server.work("dark", 3)
    page = open_page(server, route_to("dark"), color_scheme="light")
    expect(page.locator("canvas")).to_have_count(2)
    colours = "[document.body, document.querySelector('.card')].map((node) => getComputedStyle(node).backgroundColor)"
    light, curves = page.evaluate(colours), panels(page)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("before => document.querySelector('canvas').toDataURL() !== before", arg=canvas_of(curves))
    dark = page.evaluate(colours)
    assert brightness(light[0]) > 200 > 60 > brightness(dark[0])
    assert brightness(light[1]) > 200 > 60 > brightness(dark[1])
    assert panels(page)["evidence-chart"] != curves["evidence-chart"]


def canvas_of(seen):
    return re.search(r"data:image/png.*", seen["risk-chart"]).group()


def brightness(colour):
    return max(map(int, re.findall(r"\d+", colour)[:3]))


def tab_to(page, name):
    """Press Tab until something of that name has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        focus = "document.activeElement.labels?.[0]?.innerText ?? document.activeElement.innerText"
        if page.evaluate(focus).strip() == name:
            return
    pytest.fail(f"the keyboard does not get to {name!r}")


def test_keyboard_alone_creates_a_study_and_tells_a_value(open_page, server):
    page = open_page(server)
    expect(page.get_by_role("heading", name="Studies")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    tab_to(page, "New study")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="New study")).to_be_visible()
    tab_to(page, "what is this?")
    expect(page.locator("#tip")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#tip")).to_be_hidden()
    tab_to(page, "Name")
    page.keyboard.type("by keyboard")
    tab_to(page, "Create the study")
    page.keyboard.press("Enter")
    expect(page.locator(".headline")).not_to_be_empty()
    tab_to(page, "Ask for a trial")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Value")).to_be_focused()
    page.keyboard.type("0.7")
    page.keyboard.press("Enter")
    expect(page.locator(".said")).to_contain_text("Told 0.7")
    expect(page.get_by_role("button", name="Ask for a trial")).to_be_focused()
    expect(page.locator(".tile.evaluation strong")).to_have_text("1")


def test_names_that_look_like_scripts_are_text(open_page, server):
    name = f'{IMAGE} {SCRIPT} "it\'s"/?#%'
    server.create(name, SPEC.replace('"deep"', json.dumps(IMAGE)).replace('"coarse"', json.dumps(SCRIPT)))
    server.post(name, "add", arm=IMAGE, fidelity=SCRIPT, values=[5.0, 5.0])
    server.post(name, "ask")
    page = open_page(server)
    page.get_by_text(name).click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    expect(page.locator(".tile.leader strong")).to_have_text(IMAGE)
    for panel in ("evidence", "intervals", "spend"):
        expect(page.locator(f".{panel}")).to_contain_text(IMAGE)
    expect(page.locator(".spend")).to_contain_text(SCRIPT)
    assert page.locator("main img, main script").count() == 0


def test_form_says_what_is_wrong_and_keeps_what_was_typed(open_page, server):
    page = open_page(server, "#/new", expected=REFUSED)
    page.get_by_label("Name").fill("kept")
    page.get_by_label("Problem").fill("[problem]\narms = [")
    page.get_by_label("Risk that you accept").fill("about 5 %")
    button = page.get_by_role("button", name="Create the study")
    button.click()
    expect(page.get_by_text("“about 5 %” is not a number")).to_have_count(1)
    expect(page.locator(".create .error")).to_contain_text("“Risk that you accept”")
    expect(page.get_by_label("Risk that you accept")).to_be_focused()
    page.get_by_label("Risk that you accept").fill("0.05")
    button.click()
    expect(page.get_by_text("Problem is not TOML")).to_have_count(1)
    page.get_by_role("link", name="Studies").click()
    page.get_by_role("link", name="New study").last.click()
    expect(page.get_by_label("Problem")).to_have_value("[problem]\narms = [")
    expect(page.get_by_label("Name")).to_have_value("kept")
    page.get_by_label("Problem").fill(SPEC)
    button.click()
    expect(page.get_by_role("heading", name="kept")).to_be_visible()
    page.get_by_role("link", name="New study").click()
    page.get_by_label("Name").fill("kept")
    button.click()
    expect(page.locator(".create")).to_contain_text("exists already")


def test_budget_that_could_be_read_in_two_ways_is_not_sent(open_page, server):
    page = open_page(server, "#/new")
    page.get_by_text("More settings").click()
    page.get_by_label("Budget").fill("1,000")
    page.get_by_text("More settings").click()
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_text("“1,000” has a separator: write 1000, or 1.000")).to_be_visible()
    expect(page.get_by_label("Budget")).to_be_focused()


def test_lost_connection_is_told_and_found_again(open_page, tmp_path):
    server = Site(tmp_path)
    try:
        server.create("lost")
        page = open_page(server, route_to("lost"), expected=AWAY)
        expect(page.locator(".headline")).not_to_be_empty()
        server.stop()
        expect(page.locator("#connection")).to_contain_text("Connection lost, trying again")
        page.get_by_role("button", name="Ask for a trial").click()
        expect(page.locator(".by-hand .error")).to_contain_text("cannot be reached")
        server.start()
        expect(page.locator("#connection")).to_be_empty()
        server.work("lost", 1)
        expect(page.locator(".tile.evaluation strong")).to_have_text("1")
    finally:
        server.stop()


def test_token_is_asked_for_and_kept(open_page, tmp_path):
    server = Site(tmp_path, TOKEN)
    try:
        server.create("secret")
        page = open_page(server, route_to("secret"), expected=REFUSED)
        page.get_by_label("Token", exact=True).fill("a wrong one")
        page.get_by_role("button", name="Continue").click()
        expect(page.locator(".token .error")).to_contain_text("not accepted")
        page.get_by_label("Token", exact=True).fill(TOKEN)
        page.get_by_role("button", name="Continue").click()
        expect(page.locator(".headline")).not_to_be_empty()
        with page.expect_download() as download:
            page.get_by_role("button", name="Download the certificate").click()
        assert download.value.suggested_filename == "secret.json"
        page.reload()
        expect(page.locator(".headline")).not_to_be_empty()
        assert page.locator("form.token").count() == 0
    finally:
        server.stop()


def test_minimising_study_prefers_small_values(open_page, server):
    page = open_page(server)
    create_by_form(page, "smallest", Direction="minimise")
    for arm, quality in QUALITY.items():
        server.post("smallest", "add", arm=arm, fidelity="coarse", values=[quality] * 20)
    expect(page.locator(".tile.leader strong")).to_have_text("baseline")
    expect(page.locator(".tile.leader")).to_contain_text("the smallest value is sought")
    expect(page.locator(".intervals .better")).to_have_text("← smaller is better")


def test_of_many_arms_those_that_matter_are_shown_first(open_page, server):
    cheap = "".join(f'[[fidelity]]\nname = "grid {i}"\ncost = 0.0{i}\nbias = 0.1\n' for i in range(1, 5))
    arms = SPEC.replace('["baseline", "wide", "deep"]', "60")
    server.create("many", arms.replace("[[fidelity]]", f"{cheap}[[fidelity]]", 1))
    for arm in range(60):
        server.post("many", "add", arm=arm, fidelity="coarse", values=[arm / 60, arm / 60])
    page = open_page(server, route_to("many"))
    rows = page.locator(".evidence-rows li")
    expect(rows).to_have_count(12)
    expect(rows.first).to_contain_text("arm 60")
    expect(rows.first).to_contain_text("leads")
    page.locator(".evidence").get_by_role("button", name="Show all 60 arms").click()
    for listed in (".evidence-rows li", ".interval-rows li", ".spend tbody tr"):
        expect(page.locator(listed)).to_have_count(60)
    page.set_viewport_size(PHONE["viewport"])
    page.get_by_text("Show the table").click()
    assert_no_overflow(page)


def test_bias_alarm_is_explained(open_page, server):
    server.create("alarming")
    page = open_page(server, route_to("alarming"))
    expect(page.locator(".headline")).not_to_be_empty()
    expect(page.locator(".alarms")).to_be_hidden()
    server.post("alarming", "add", arm="wide", fidelity="coarse", values=[2.0] * 20)
    server.post("alarming", "add", arm="wide", fidelity="fine", values=[0.7] * 20)
    expect(page.locator(".alarms")).to_contain_text("“coarse” is off by more than was stated for “wide”")
    expect(page.locator(".intervals li").filter(has_text="wide")).to_contain_text("no value fits")
    expect(page.locator(".recent")).to_contain_text("20 values from elsewhere: 'wide' at 'fine'")
    page.get_by_text("Show the table").click()
    expect(page.locator(".numbers tr").filter(has_text="wide")).to_contain_text("no value fits")
    expect(page.get_by_text("Connection lost")).to_be_hidden()
    page.get_by_role("link", name="Studies").click()
    expect(page.get_by_role("listitem").filter(has_text="alarming")).to_contain_text("⚠ 1 bias alarm")


def test_what_is_typed_survives_what_others_do(open_page, server):
    server.create("typing")
    page = open_page(server, route_to("typing"))
    page.get_by_role("button", name="Ask for a trial").click()
    page.get_by_label("Value").type("0.7")
    server.work("typing", 3)
    expect(page.locator(".tile.evaluation strong")).to_have_text("3")
    expect(page.get_by_label("Value")).to_be_focused()
    expect(page.get_by_label("Value")).to_have_value("0.7")
    mine = re.search(r"\d+-[0-9a-f]{8}", page.locator(".trials.mine .what").inner_text()).group()
    server.post("typing", "tell", trial=mine, value=0.8)
    expect(page.locator(".trials.mine .gone")).to_contain_text("someone else told its value")
    expect(page.get_by_label("Value")).to_have_value("0.7")
    page.get_by_role("button", name="Dismiss").click()
    expect(page.locator(".trials.mine .trial")).to_have_count(0)


def test_trials_can_fail_and_be_given_back(open_page, server):
    server.create("given back")
    page = open_page(server, route_to("given back"), expected=REFUSED)
    ask = page.get_by_role("button", name="Ask for a trial")
    ask.click()
    trial = page.locator(".trials.mine .trial")
    first = trial.locator(".what").inner_text()
    page.get_by_label("Value").fill("much")
    page.get_by_role("button", name="Tell").click()
    expect(trial.locator(".error")).to_contain_text("“much” is not a number")
    page.get_by_label("Value").fill("1,000")
    page.get_by_role("button", name="Tell").click()
    expect(trial.locator(".error")).to_contain_text("write 1000, or 1.000")
    page.get_by_label("Value").fill("")
    trial.get_by_text("There is no value").click()
    trial.get_by_role("button", name="Give it back").click()
    expect(page.locator(".said")).to_contain_text("back")
    ask.click()
    expect(trial.locator(".what")).to_have_text(first)
    trial.get_by_text("There is no value").click()
    trial.get_by_label("Reason").fill("the rig broke")
    trial.get_by_role("button", name="It failed").click()
    expect(page.locator(".tile.evaluation")).to_contain_text("1 failed")
    expect(page.locator(".recent li").first).to_contain_text("the rig broke")


def formatted(page, function, *calls):
    """What a function of the page's format.js returns, or the message of its error, for the arguments of each call."""
    return page.evaluate(
        """async ([name, calls]) => {
             const format = await import("/static/format.js");
             const call = (given) => { try { return format[name](...given); } catch (wrong) { return wrong.message; } };
             return calls.map(call);
           }""",
        [function, calls],
    )


def test_only_plain_numbers_are_read(open_page, server):
    page = open_page(server)
    plain = {"1000": 1000, " +1.5 ": 1.5, "-2,5": -2.5, "0,125": 0.125, ".5": 0.5, "5.": 5, "1.000": 1}
    plain |= {f"{MINUS}1e{MINUS}3": -0.001}
    assert formatted(page, "readNumber", *([text] for text in plain)) == list(plain.values())
    separated = {"1,000": "write 1000, or 1.000", "-1,234,567": "write -1234567.", "1,234.5": "write 1234.5."}
    for text, hint in separated.items():
        assert hint in formatted(page, "readNumber", [text])[0]
    wrong = ["", " ", "0x10", "0b1", "Infinity", "∞", "NaN", "1 000", "1_000", "1.2.3", "1,2,3", "1e", "e3", "--1", "٣"]
    for told in formatted(page, "readNumber", *([text] for text in wrong)):
        assert "is not a number" in told
    assert formatted(page, "readNumber", ["1e999"], ["-1e999"]) == ["“1e999” is too large.", "“-1e999” is too large."]


def test_numbers_are_written_as_by_the_server(open_page, server):
    chance = random.Random(1)
    values = [chance.choice((-1, 1)) * chance.uniform(1, 10) * 10 ** chance.randint(-12, 14) for _ in range(500)]
    values += [chance.randint(0, 10**4) / 8 for _ in range(500)]  # many of them are halves of the last digit
    values += [chance.randint(0, 10**4) / 20 for _ in range(500)]
    texts = formatted(open_page(server), "number", *([value] for value in values))
    assert texts == [typographic(digits(value)) for value in values]


def typographic(text):
    return re.sub(r"e([+-])0*(?=\d)", r"e\1", text).replace("e+", "e").replace("-", MINUS)


def read_back(text):
    return [float(end.replace(MINUS, "-").replace(",", "")) for end in text.split(" to ")]


def test_shown_intervals_hold_the_true_ones_and_are_hardly_wider(open_page, server):
    chance = random.Random(2)
    widths = [10 ** chance.uniform(-12, 12) for _ in range(500)]
    lows = [chance.uniform(-1, 1) * width * 10 ** chance.uniform(0, 9) for width in widths]
    ends = [(low, low + width) for low, width in zip(lows, widths, strict=True)]
    page = open_page(server)
    for (low, high), text in zip(ends, formatted(page, "interval", *ends), strict=True):
        first, last = read_back(text)
        assert first <= low < high <= last
        assert last - first <= 1.21 * (high - low)
    assert formatted(page, "interval", [None, None], [None, 3.14159], [-2, None], [2, 2]) == [
        "anything",
        f"{MINUS}∞ to 3.15",
        f"{MINUS}2.00 to ∞",
        "2 to 2",
    ]
    assert formatted(page, "interval", [1e12 - 1e9, 1e12 + 1e9]) == ["0.9990e12 to 1.0010e12"]
    assert formatted(page, "tickTexts", [[1373.1, 1373.15]]) == [["1,373.10", "1,373.15"]]
    assert formatted(page, "tickTexts", [[-5e-10, 0]]) == [[f"{MINUS}5e{MINUS}10", "0"]]


def test_arms_that_are_near_to_each_other_are_told_apart(open_page, server):
    server.create("near", SPEC.replace("variance = 0.01", "variance = 0.0001").replace("bias = 0.03", "bias = 0.001"))
    for arm, value in {"baseline": 1373.12, "wide": 1373.15, "deep": 1373.18}.items():
        server.post("near", "add", arm=arm, fidelity="coarse", values=[value] * 20)
    page = open_page(server, route_to("near"), viewport={"width": 1280, "height": 900})
    expect(page.locator(".interval-rows .value")).to_have_count(3)
    page.get_by_text("Show the table").click()
    expect(page.locator(".numbers tbody tr").first).to_contain_text("1,373.12 (20)")
    for shown in (".interval-rows .value", ".intervals .tick", ".numbers tbody td:nth-child(4)"):
        texts = page.locator(shown).all_inner_texts()
        assert len(texts) == len(set(texts)) > 1
    inside = "nodes => nodes.every(node => node.scrollWidth <= node.clientWidth)"
    assert page.locator(".interval-rows .value").evaluate_all(inside)


def test_undecided_study_does_not_read_as_a_success(open_page, server):
    server.create("poor", max_cost=0.1)
    server.work("poor")
    page = open_page(server, route_to("poor"))
    expect(page.locator(".badge")).to_have_text("? undecided")
    expect(page.locator(".bar .done")).to_contain_text("stopped at")
    expect(page.locator(".tile.remaining strong")).to_have_text("\N{EN DASH}")
    expect(page.locator(".tile.remaining")).to_contain_text("the budget does not allow the next evaluation")
    expect(page.locator(".by-hand .note")).to_contain_text("the budget does not allow the next evaluation")


def test_risk_in_caption_and_legend_is_the_same(open_page, server):
    server.create("promise")
    server.work("promise")
    page = open_page(server, route_to("promise"))
    expect(page.locator(".tile.risk")).to_contain_text("at most, as promised by the verdict")
    proven = page.locator(".risk-chart .u-legend .u-value").nth(1).inner_text()
    caption = f"prove a risk of {proven}; the verdict promises the goal, 0.05."
    expect(page.locator(".risk-chart .note")).to_contain_text(caption)


def test_risk_beyond_the_axis_is_told_as_such(open_page, server):
    server.create("sure")
    view = server.call("/sure/view")
    view["history"] = {"cost": [1, 2], "risk": [0.5, 1e-40], "evidence": [1, 90], "leader": ["deep", "deep"]}
    page = open_page(server)
    show(page, server, "sure", view)
    expect(page.locator(".risk-chart .note")).to_contain_text(f"a risk of < 1e{MINUS}12;")
    expect(page.locator(".risk-chart .u-legend")).to_contain_text(f"< 1e{MINUS}12")


def show(page, server, study, view):
    """The page of a study whose server sends this view."""
    stream = {"content_type": "text/event-stream", "body": f"event: view\ndata: {json.dumps(view)}\n\n"}
    page.route(f"**/{study}/events", lambda route: route.fulfill(**stream))
    page.goto(f"{server.address}/{route_to(study)}")


def test_tolerance_is_told_where_something_is_claimed(open_page, server):
    server.create("tolerant", tolerance=0.02)
    view = server.call("/tolerant/view")
    view["status"]["tolerance"] = 0.02
    page = open_page(server)
    show(page, server, "tolerant", view)
    expect(page.locator(".settings")).to_contain_text("Tolerance: 0.02.")
    claim = "is not better than the leader by more than the tolerance, 0.02."
    expect(page.locator(".evidence .about")).to_contain_text(claim)


def test_other_rules_are_named(open_page, server):
    server.create("other", stopping="stylised")
    server.create("own", strategy="lucb")
    page = open_page(server, route_to("other"))
    expect(page.locator(".bar .done")).to_have_text("the rule “stylised” decides, not the proof")
    page.goto(f"{server.address}/{route_to('own')}")
    expect(page.locator(".bar .done")).to_have_text("the strategy's own rule decides, not the proof")
    expect(page.locator(".settings")).to_contain_text("Stopping rule: the strategy's own rule.")


def test_fresh_study_and_none(open_page, server):
    server.create("fresh")
    page = open_page(server, route_to("fresh"), expected=REFUSED)
    expect(page.locator(".recent .note")).to_have_text("1 event in all.")
    page.goto(f"{server.address}/{route_to('nowhere')}")
    expect(page.get_by_text("unknown study 'nowhere'")).to_be_visible()
    expect(page.get_by_role("button", name="Download the certificate")).to_be_hidden()
    expect(page.locator(".badge")).to_be_hidden()


def test_cost_after_the_verdict_is_told_apart(open_page, server):
    server.create("late")
    (trial,) = server.post("late", "ask")["trials"]
    for arm, quality in QUALITY.items():
        server.post("late", "add", arm=arm, fidelity="fine", values=[quality] * 50)
    server.post("late", "tell", trial=trial["id"], value=0.7)
    page = open_page(server, route_to("late"))
    expect(page.locator(".tile.evaluation")).to_contain_text("1 late")
    expect(page.locator(".tile.cost")).to_contain_text(f"{digits(trial['cost'])} of it after the verdict")


def test_lease_must_be_a_plain_number(open_page, server):
    server.create("leased")
    page = open_page(server, route_to("leased"))
    for minutes, hint in {"1,000": "write 1000", "0x10": "is not a number", "0": "is not a number of minutes"}.items():
        page.locator(".lease input").fill(minutes)
        page.get_by_role("button", name="Ask for a trial").click()
        expect(page.locator(".by-hand > .error")).to_contain_text(hint)
    expect(page.locator(".trials.mine .trial")).to_have_count(0)
