"""The list of studies: searched, filtered, sorted, bookmarked; some of them ticked."""

import re
import time

import pytest
from playwright.sync_api import expect

from support.pages import IMAGE, PHONE, QUALITY, SCRIPT, Site, assert_no_overflow, tab_to, take_picture

MANY = 200
MARKUP = f"{IMAGE}/{SCRIPT}"
WHEEL = "\u0639\u062c\u0644\u0629 \U0001f6b2"  # from right to left


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """Five studies in several states, with tags and notes."""
    server = Site(tmp_path_factory.mktemp("list"))
    try:
        for name in ("wing", "prompt", "concrete", MARKUP, WHEEL):
            server.create(name)
        server.work("wing")
        server.work("prompt", 8)
        server.post("concrete", "add", arm="wide", fidelity="coarse", values=[2.0] * 20)
        server.post("concrete", "add", arm="wide", fidelity="fine", values=[0.7] * 20)
        server.post("prompt", "pause")
        server.post("wing", "tags", tags=["aero", SCRIPT])
        server.post("prompt", "tags", tags=["language"])
        server.post("concrete", "note", text="about the **bridge**")
        yield server
    finally:
        server.stop()


def expect_names(page, *wanted):
    expect(page.locator(".study .name")).to_have_text(list(wanted))


def test_a_row_says_where_its_study_stands(open_page, studies):
    page = open_page(studies)
    wing, prompt, concrete = (
        page.get_by_role("listitem").filter(has_text=name) for name in ("wing", "prompt", "concrete")
    )
    expect(wing.locator(".badge")).to_have_text("✓ decided")
    expect(wing).to_contain_text("Answer: deep")
    expect(wing.locator(".facts")).to_have_text(re.compile(r"risk 0.05, goal 0.05 · cost [\d.]+, \d+ results"))
    expect(wing.locator(".tag")).to_have_text(["aero", SCRIPT])
    expect(prompt.locator(".badge")).to_have_text("‖ paused")
    expect(concrete.locator(".badge")).to_have_text("⚠ alarm")
    expect(concrete.locator(".alarm-mark")).to_have_text("⚠ 1 bias alarm")
    active = wing.locator("time")
    expect(active).to_have_text(re.compile(r"active (just now|\d+ minutes? ago)"))
    stamp = active.get_attribute("datetime")
    found = next(study for study in studies.call("?search=wing")["studies"] if study["name"] == "wing")
    assert stamp.startswith(time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(found["active"])))
    assert page.locator("main img, main script").count() == 0


def test_the_controls_offer_what_the_server_has(open_page, studies):
    page = open_page(studies)
    expect(page.get_by_label("Sort by").locator("option")).to_have_count(6)
    offered = studies.choices()["list"]
    values = "all => all.map((option) => option.value)"
    assert page.get_by_label("State").locator("option").evaluate_all(values) == ["", *offered["states"]]
    assert page.get_by_label("Sort by").locator("option").evaluate_all(values) == offered["sorts"]
    assert page.get_by_label("Tag").locator("option").evaluate_all(values) == ["", SCRIPT, "aero", "language"]


def test_what_is_chosen_is_in_the_address_and_survives_coming_back(open_page, studies):
    page = open_page(studies)
    expect(page.locator(".study")).to_have_count(5)
    page.get_by_label("Sort by").select_option("name")
    expect(page.get_by_role("button", name="A to Z")).to_be_visible()
    expect_names(page, MARKUP, "concrete", "prompt", "wing", WHEEL)
    page.get_by_role("button", name="A to Z").click()
    expect(page.locator(".study .name").nth(1)).to_have_text("wing")
    page.get_by_label("State").select_option("paused")
    expect_names(page, "prompt")
    expect(page.locator(".counted")).to_have_text("1 study matches.")
    assert page.url.endswith("#/?state=paused&sort=name&descending=true")
    page.locator(".study").click()
    expect(page.locator(".headline")).to_contain_text("Paused:")
    page.go_back()
    expect_names(page, "prompt")
    expect(page.get_by_label("State")).to_have_value("paused")
    page.locator(".study").click()
    expect(page.locator(".headline")).to_contain_text("Paused:")
    page.get_by_role("link", name="Studies", exact=True).click()
    expect_names(page, "prompt")
    page.reload()
    expect_names(page, "prompt")
    expect(page.get_by_label("Sort by")).to_have_value("name")
    page.get_by_role("button", name="Show all").click()
    expect(page.locator(".study")).to_have_count(5)
    expect(page.get_by_label("Search")).to_be_focused()


def test_studies_are_found_by_name_note_leader_and_tag(open_page, studies):
    page = open_page(studies, "#/?tag=language")
    expect_names(page, "prompt")
    page.get_by_role("button", name="Show all").click()
    search = page.get_by_label("Search")
    for text, found in {"BRIDGE": "concrete", WHEEL[:3]: WHEEL, "onerror": MARKUP}.items():
        search.fill(text)
        expect_names(page, found)
    search.fill("nothing of the kind")
    expect(page.locator(".counted")).to_have_text("No study matches.")
    expect(search).to_be_focused()


def test_ticks_lead_to_the_comparison_and_stay(open_page, studies):
    page = open_page(studies)
    for name in ("wing", MARKUP):
        page.get_by_label(f"Compare {name}", exact=True).check()
    page.get_by_label("Search").fill("prompt")
    expect_names(page, "prompt")
    page.get_by_role("link", name="Compare 2 ticked").click()
    expect(page.locator(".compared thead a")).to_have_text(["wing", MARKUP])
    page.go_back()
    expect_names(page, "prompt")
    page.get_by_role("button", name="Show all").click()
    expect(page.get_by_label("Compare wing")).to_be_checked()
    page.get_by_role("button", name="Untick all").click()
    expect(page.get_by_label("Compare wing")).not_to_be_checked()
    assert page.locator("main img, main script").count() == 0


def test_the_navigation_leads_to_the_comparison_of_what_is_ticked(open_page, studies):
    page = open_page(studies)
    page.get_by_label("Compare wing").check()
    page.get_by_label("Compare prompt").check()
    page.get_by_role("navigation").get_by_role("link", name="Compare").click()
    expect(page.locator(".compared thead a")).to_have_text(["wing", "prompt"])
    page.get_by_role("button", name="Leave out wing").click()
    page.get_by_role("link", name="New study").click()
    page.get_by_role("navigation").get_by_role("link", name="Compare").click()
    expect(page.locator(".compared thead a")).to_have_text(["prompt"])
    page.get_by_role("link", name="Studies", exact=True).click()
    expect(page.get_by_label("Compare prompt")).to_be_checked()


def test_ticks_of_studies_that_are_gone_are_dropped(open_page, server):
    """What is only filtered out stays ticked."""
    for name in ("kept tick", "deleted tick", "renamed tick"):
        server.create(name)
    page = open_page(server, "#/?search=kept&with=kept+tick&with=deleted+tick&with=renamed+tick&with=never+there")
    expect(page.locator(".chosen .button")).to_have_text("Compare 3 ticked")
    server.post("deleted tick", "delete", name="deleted tick")
    server.post("renamed tick", "rename", name="tick called otherwise")
    page.reload()
    expect(page.locator(".chosen .button")).to_have_text("Compare 1 ticked")
    assert page.url.endswith("#/?search=kept&with=kept+tick")
    page.get_by_label("Search").fill("another study")
    expect(page.locator(".counted")).to_have_text("No study matches.")
    expect(page.locator(".chosen .button")).to_have_text("Compare 1 ticked")
    server.post("kept tick", "delete", name="kept tick")
    expect(page.locator(".chosen .button")).to_have_text("Compare studies")


def test_keyboard_alone_filters_ticks_and_opens(open_page, studies):
    page = open_page(studies)
    expect(page.locator(".study")).to_have_count(5)
    tab_to(page, "Search")
    page.keyboard.type("wing")
    expect_names(page, "wing")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    expect(page.locator(".study")).to_have_count(5)
    tab_to(page, "Sort by")
    page.keyboard.type("name")
    expect(page.get_by_label("Sort by")).to_have_value("name")
    tab_to(page, "↑ A to Z")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Z to A")).to_be_focused()
    page.get_by_label("Compare wing").focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Compare prompt")).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="prompt")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Compare wing")).to_be_checked()


def test_the_focus_stays_with_a_row_that_moves(open_page, server):
    for name in ("moves 1", "moves 2"):
        server.create(name)
    page = open_page(server, "#/?search=moves&sort=active&descending=true")
    expect_names(page, "moves 2", "moves 1")
    page.get_by_label("Compare moves 1").focus()
    server.post("moves 1", "add", arm="wide", fidelity="coarse", values=[QUALITY["wide"]])
    expect_names(page, "moves 1", "moves 2")
    expect(page.get_by_label("Compare moves 1")).to_be_focused()


@pytest.mark.parametrize("device", [{}, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_scrolls_sideways(open_page, studies, device, scheme):
    page = open_page(studies, "#/?sort=state&descending=true", color_scheme=scheme, **device)
    expect(page.locator(".study")).to_have_count(5)
    page.get_by_label("Compare wing").check()
    assert_no_overflow(page)
    take_picture(page, f"list-{scheme}-{'phone' if device else 'desk'}")


def test_the_navigation_breaks_no_word_on_a_narrow_screen(open_page, studies):
    page = open_page(studies, viewport={"width": 320, "height": 600})
    heights = page.locator("nav a").evaluate_all("all => all.map((link) => link.clientHeight)")
    assert len(heights) == 3
    assert max(heights) < 45  # one line
    assert_no_overflow(page)


def test_two_hundred_studies_are_listed_quickly(open_page, start_server):
    """The page needs little of the time between two looks to redraw them all, in another order."""
    server = start_server()
    for k in range(MANY):
        server.create(f"study {k:03}")
    page = open_page(server, "#/?sort=name&descending=false")
    expect(page.locator(".counted")).to_have_text(f"{MANY} studies; the first 100 are shown.")
    page.get_by_role("button", name="Show more").press("Enter")
    expect(page.locator(".study")).to_have_count(MANY)
    expect(page.locator(".study", has_text="study 100")).to_be_focused()  # the button is gone
    expect(page.locator(".study .facts").last).to_contain_text("3 arms")
    answer = server.call(f"?limit={MANY}&sort=name&descending=true")
    redraw = """async (answer) => {
        const { syncRows } = await import("/static/dom.js");
        const { makeRow } = await import("/static/list_row.js");
        const ticks = { has: () => false, full: () => false, set() {} };
        const list = document.createElement("ul");
        document.querySelector("main").append(list);
        const rows = new Map();
        const draw = (studies) => {
          const began = performance.now();
          syncRows(list, rows, studies, ({ name }) => name, (study) => makeRow(study, ticks), ticks);
          list.getBoundingClientRect();
          return performance.now() - began;
        };
        draw(answer.studies);
        return [draw(answer.studies), draw(answer.studies.toReversed())];
    }"""
    same, reversed_ = page.evaluate(redraw, answer)
    assert same < 500, "ms, on a busy machine"
    assert reversed_ < 1500, "ms, on a busy machine"
