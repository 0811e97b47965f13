"""Studies side by side: what is ticked is what is shown, live."""

import random
import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from support.pages import (
    AWAY,
    IMAGE,
    PHONE,
    QUALITY,
    REFUSED,
    SCRIPT,
    Refused,
    Site,
    assert_no_overflow,
    tab_to,
    take_picture,
)

ODD = f"{SCRIPT}/{IMAGE}?&="
CANVAS = "document.querySelector('.compared-chart canvas').toDataURL()"


def work(server, study, most=1000):
    """As `server.work`, with noise, so that curves differ."""
    noise = random.Random(study)
    for _ in range(most):
        try:
            (trial,) = server.post(study, "ask")["trials"]
        except Refused:
            return
        server.post(study, "tell", trial=trial["id"], value=QUALITY[trial["arm"]] + noise.gauss(0, 0.05))


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """One decided, one running, one with an alarm and an odd name, one without results."""
    server = Site(tmp_path_factory.mktemp("compare"))
    try:
        for name in ("done", "half", ODD, "fresh"):
            server.create(name)
        server.create("strict", delta=0.001)
        work(server, "done")
        work(server, "half", 9)
        work(server, "strict", 30)
        server.post(ODD, "add", arm="wide", fidelity="coarse", values=[2.0] * 20)
        server.post(ODD, "add", arm="wide", fidelity="fine", values=[0.7] * 20)
        yield server
    finally:
        server.stop()


def route_with(*names):
    return f"#/compare?{urlencode([('with', name) for name in names])}"


def heads(page):
    return page.locator(".compared thead a")


def tick(page, name):
    return page.get_by_role("checkbox", name=name)


def fact(page, name):
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name, exact=True)).get_by_role("cell")


def test_what_is_ticked_is_shown_and_nothing_else(open_page, studies):
    page = open_page(studies, "#/compare")
    expect(page.locator(".none")).to_contain_text("No study is ticked")
    expect(page.locator(".compared")).to_be_hidden()
    for name in ("done", "half", ODD):
        tick(page, name).check()
    expect(heads(page)).to_have_text(["done", "half", ODD])
    expect(page.locator(".compared-chart .plot")).to_have_attribute("data-curves", "3")
    expect(fact(page, "State")).to_have_text([re.compile(word) for word in ("decided", "running", "alarm")])
    expect(fact(page, "Leader").first).to_contain_text("deep")
    expect(fact(page, "Alarms")).to_have_text([re.compile(word) for word in ("none", "none", "1 bias alarm")])
    expect(fact(page, "In words").first).to_contain_text("The best is 'deep'")
    view = studies.call("/half/view")
    expect(fact(page, "Spent").nth(1)).to_contain_text(f"{view['status']['cost']:.3g}")
    expect(fact(page, "Where it went").nth(1).locator("li")).to_have_text(["coarse100 %", "fine0 %"])
    tick(page, "half").uncheck()
    expect(heads(page)).to_have_text(["done", ODD])
    page.get_by_role("button", name="Leave out done").click()
    expect(heads(page)).to_have_text([ODD])
    expect(page.get_by_label("Find a study")).to_be_focused()
    page.reload()
    expect(heads(page)).to_have_text([ODD])
    assert page.locator("main img, main script").count() == 0


def test_curves_are_told_apart_by_dashes_and_named(open_page, studies):
    """Each is a part of its own goal, as goals differ; a curve keeps its look when another one goes."""
    page = open_page(studies, route_with("done", "strict", "half"))
    legend = page.locator(".compared-chart .legend li")
    expect(legend).to_have_text([re.compile(f"{name}.* after a cost of ") for name in ("done", "strict", "half")])
    expect(legend.first).to_contain_text("100 % after")
    plot = page.locator(".compared-chart .plot")
    expect(plot).to_have_attribute("aria-label", re.compile("Parts of the proof: done: 100 % after .*; half: "))
    looks = "all => all.map((swatch) => swatch.style.backgroundImage)"
    three = legend.locator(".swatch").evaluate_all(looks)
    assert len(set(three)) == 3
    before = page.evaluate(CANVAS)
    tick(page, "strict").uncheck()
    expect(legend).to_have_count(2)
    assert legend.locator(".swatch").evaluate_all(looks) == [three[0], three[2]]
    assert page.evaluate(CANVAS) != before


def test_the_comparison_is_live(open_page, server):
    for name in ("alive", "idle"):
        server.create(name)
    page = open_page(server, route_with("alive", "idle"))
    expect(fact(page, "Results")).to_have_text([re.compile("0$")] * 2)
    before = page.evaluate(CANVAS)
    work(server, "alive")
    expect(fact(page, "State").first).to_contain_text("decided")
    assert page.evaluate(CANVAS) != before
    server.post("idle", "pause")
    expect(fact(page, "State").last).to_contain_text("paused")


def test_states_in_the_picker_are_those_of_now(open_page, start_server):
    server = start_server()
    for name in ("shown", "offered", "last"):
        server.create(name)
    page = open_page(server, route_with("shown"))
    states = page.locator(".picks li")
    expect(states).to_have_text(["shown● running", "last● running", "offered● running"])
    server.post("shown", "pause")
    expect(fact(page, "State")).to_contain_text(["paused"])
    assert states.first.inner_text().split() == ["shown", "‖", "paused"]
    server.work("offered")
    expect(states).to_have_text(["shown‖ paused", "last● running", "offered✓ decided"])


def test_without_a_study_nobody_is_asked_to_tick_one(open_page, start_server):
    server = start_server()
    page = open_page(server, "#/compare")
    expect(page.locator(".picker .note")).to_have_text("There is no study yet: create some first.")
    expect(page.locator(".none")).to_have_text("No study is ticked.")
    server.create("first of all")
    expect(page.locator(".picks li")).to_contain_text(["first of all"])
    expect(page.locator(".picker .note")).to_have_text("Tick up to 8.")
    page.get_by_label("Find a study").fill("another")
    expect(page.locator(".picker .note")).to_have_text("No study matches.")


def test_studies_that_are_renamed_or_deleted_are_followed(open_page, server):
    for name in ("stays", "wanders", "leaves"):
        server.create(name)
    page = open_page(server, route_with("stays", "wanders", "leaves"), expected=REFUSED)
    expect(fact(page, "Results")).to_have_count(3)
    server.post("wanders", "rename", name="wandered off")
    expect(heads(page)).to_have_text(["stays", "wandered off", "leaves"])
    assert "wandered+off" in page.url
    assert "wanders" not in page.url
    expect(tick(page, "wandered off")).to_be_checked()
    expect(tick(page, "wanders")).to_have_count(0)
    server.post("leaves", "delete", name="leaves")
    expect(page.locator(".missing:visible")).to_contain_text("There is no study of this name")
    expect(page.locator("th[data-missing]")).to_contain_text("leaves")
    page.get_by_role("button", name="Leave out leaves").click()
    expect(heads(page)).to_have_text(["stays", "wandered off"])
    expect(page.locator("#connection")).to_be_empty()


def test_an_address_with_a_study_that_never_was_says_so(open_page, studies):
    page = open_page(studies, route_with("done", "nobody"), expected=REFUSED)
    expect(page.locator("th[data-missing]")).to_contain_text("nobody")
    expect(fact(page, "Leader").first).to_contain_text("deep")


def test_a_study_that_cannot_be_read_says_why_in_its_column(open_page, start_server):
    server = start_server()
    for name in ("whole", "broken"):
        server.create(name)
        server.work(name, 3)
    server.damage("broken")
    page = open_page(server, route_with("whole", "broken"), expected="status of 500")
    why = "study 'broken' cannot be read: event 1 of its journal was damaged"
    expect(page.locator("th[data-missing] .missing")).to_contain_text(why)
    expect(page.locator(".missing:visible")).to_have_count(1)
    expect(fact(page, "Results").first).to_contain_text("3")
    expect(page.locator("#connection")).to_be_empty()


def test_a_very_long_name_leaves_room_for_the_table(open_page, server):
    longest = [f"{'a study that is called so ' * 6}{k:025}" for k in range(2)]
    for name in longest:
        server.create(name)
    page = open_page(server, route_with(*longest))
    expect(heads(page)).to_have_count(2)
    short = heads(page).all_inner_texts()
    assert len(set(short)) == 2
    assert max(map(len, short)) <= 60
    assert page.locator(".compared thead").bounding_box()["height"] < 250
    expect(page.locator(".compared-chart .legend a")).to_have_text(longest)
    assert_no_overflow(page)


def test_no_curve_looks_like_the_line_to_reach(open_page, server):
    page = open_page(server)
    marks = page.evaluate('async () => (await import("/static/marks.js")).MARKS.map(({ colour }) => colour)')
    assert len(set(marks)) == 8
    assert "--muted" not in marks


def test_at_most_eight_are_compared_and_others_are_found_by_name(open_page, start_server):
    server = start_server()
    for k in range(30):
        server.create(f"number {k:02}")
    page = open_page(server, route_with(*(f"number {k:02}" for k in range(12))))
    expect(heads(page)).to_have_count(8)
    expect(page.locator(".picker .note")).to_have_text("8 at most: untick one to tick another.")
    page.get_by_label("Find a study").fill("number 27")
    last = tick(page, "number 27")
    expect(last).to_be_disabled()
    tick(page, "number 03").uncheck()
    last.check()
    expect(heads(page).last).to_have_text("number 27")
    expect(page.locator(".compared-chart .plot")).to_have_attribute("data-curves", "8")
    assert_no_overflow(page)


def test_a_lost_connection_is_told_and_what_is_shown_stays(open_page, studies):
    page = open_page(studies, route_with("done"), expected=AWAY)
    expect(fact(page, "State")).to_contain_text(["decided"])
    page.route("**/view*", lambda route: route.abort())
    expect(page.locator("#connection")).to_contain_text("Connection lost")
    expect(fact(page, "State")).to_contain_text(["decided"])
    page.unroute("**/view*")
    expect(page.locator("#connection")).to_be_empty()


def test_keyboard_alone_chooses_what_is_compared(open_page, studies):
    page = open_page(studies)
    expect(page.locator(".study")).to_have_count(5)
    tab_to(page, "Compare")
    page.keyboard.press("Enter")
    expect(page.locator(".picks li")).to_have_count(5)
    tab_to(page, "Find a study")
    page.keyboard.type("half")
    expect(page.locator(".picks li")).to_have_count(1)
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(heads(page)).to_have_text(["half"])
    expect(tick(page, "half")).to_be_focused()
    tab_to(page, "half")
    page.keyboard.press("Enter")
    expect(page.locator(".headline")).to_contain_text("Running:")


@pytest.mark.parametrize("device", [{}, PHONE], ids=["desktop", "phone"])
def test_side_by_side_on_a_desk_and_stacked_on_a_phone(open_page, studies, device):
    page = open_page(studies, route_with("done", "half", ODD, "strict"), **device)
    cells = fact(page, "Strategy")
    expect(cells).to_have_count(4)
    expect(cells.last).to_contain_text("race")
    left, right = cells.first.bounding_box(), cells.last.bounding_box()
    if device:
        assert right["y"] > left["y"]
        expect(cells.last).to_contain_text("strict")
    else:
        assert right["x"] > left["x"]
        assert right["y"] == left["y"]
    assert_no_overflow(page)


def test_dark_mode_redraws_the_curves(open_page, studies):
    page = open_page(studies, route_with("done", "half"), color_scheme="light")
    expect(page.locator(".compared-chart .plot")).to_have_attribute("data-curves", "2")
    before = page.evaluate(CANVAS)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"before => {CANVAS} !== before", arg=before)
    take_picture(page, "compare-dark")
