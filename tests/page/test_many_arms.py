"""A study of many arms: the page shows those that matter most, counts the others, and finds any of them by name."""

import re

import pytest
from playwright.sync_api import expect

from support.pages import PHONE, SPEC, assert_no_overflow, route_to, take_picture

ARMS = [f"design {k:03}" for k in range(1, 301)]
LISTS = (".evidence-rows li", ".interval-rows li", ".spend tbody tr")


@pytest.fixture(scope="module")
def study(server):
    """300 arms, of which the last leads: more than half are ruled out."""
    server.create("many", SPEC.replace('["baseline", "wide", "deep"]', str(ARMS)), strategy="frugal")
    for arm in range(len(ARMS)):
        server.post("many", "add", arm=arm, fidelity="coarse", values=[arm / 300] * 4)
    return "many"


def names(page, rows=".evidence-rows .arm"):
    return page.locator(rows).all_inner_texts()


def find(page, text):
    page.get_by_label("Find an arm by its name").fill(text)


def result(page):
    return page.get_by_role("region", name="Which arms are shown?").get_by_role("status")


def test_the_twenty_arms_that_matter_most_are_shown_and_the_others_counted(open_page, server, study):
    status = server.call(f"/{study}/status")
    out = [evidence is not None and evidence >= status["needed"] for evidence in status["evidence"]]
    page = open_page(server, route_to(study))
    for listed in LISTS:
        expect(page.locator(listed)).to_have_count(20)
    expect(page.locator(".evidence-rows li").first).to_contain_text("★ leads")
    assert names(page)[:3] == ["design 300", "design 299", "design 298"]
    counts = f"Of 300 arms, the 20 that matter most.* Of the 280 others, {sum(out)} are ruled out."
    expect(page.locator(".find .counts")).to_have_text(re.compile(counts))
    expect(page.locator(".evidence .note")).to_have_text(f"{sum(out)} of 299 rivals are settled.")
    assert 100 < sum(out) < 280
    expect(page.locator(".settings")).to_contain_text("300 alternatives")
    expect(page.get_by_role("button", name=re.compile("Show all"))).to_have_count(0)


def test_a_view_does_not_grow_with_the_number_of_arms(server, study):
    view = server.call(f"/{study}/view")
    status = view["status"]
    tables = [status[name] for name in ("arms", "evidence", "spent", "counts", "means", "intervals", "differences")]
    tables += [view[name] for name in ("shown", "costs", "biases")]
    assert [len(table) for table in tables] == [20] * 10
    assert (view["n_arms"], status["leader_index"], view["shown"][0]) == (300, 299, 299)


def test_arms_that_are_ruled_out_or_not_among_the_first_are_found(open_page, server, study):
    page = open_page(server, route_to(study))
    expect(page.locator(LISTS[0])).to_have_count(20)
    find(page, "DESIGN 042")
    expect(result(page)).to_have_text("1 arm matches “DESIGN 042”: shown below.")
    for listed in LISTS:
        expect(page.locator(listed)).to_have_count(1)
        expect(page.locator(listed)).to_contain_text("design 042")
    expect(page.locator(".evidence-rows li")).to_have_attribute("data-state", "reached")
    expect(page.locator(".interval-rows .behind")).to_have_text(re.compile("^behind by "))
    find(page, "275")
    expect(page.locator(".evidence-rows li")).to_contain_text("design 275")
    expect(page.locator(".evidence-rows li")).to_have_attribute("data-state", "open")
    page.get_by_text("Show the table").click()
    expect(page.locator(".numbers tbody tr")).to_have_count(1)
    expect(page.locator(".numbers tbody tr")).to_contain_text("design 275")


def test_a_search_that_finds_nothing_says_so(open_page, server, study):
    page = open_page(server, route_to(study))
    find(page, "<b>nothing</b>")
    expect(result(page)).to_have_text("No arm matches “<b>nothing</b>”. Those that matter most are shown.")
    expect(page.locator(LISTS[0])).to_have_count(20)


def test_the_search_works_by_keyboard_and_pages_through_many_results(open_page, server, study):
    page = open_page(server, route_to(study))
    expect(page.locator(LISTS[0])).to_have_count(20)
    page.get_by_label("Find an arm by its name").focus()
    page.keyboard.type("design 1")
    page.keyboard.press("Enter")
    expect(result(page)).to_have_text("100 arms match “design 1”: 1 to 20 are shown below.")
    expect(page.locator(".find").get_by_role("button", name="Previous")).to_have_attribute("aria-disabled", "true")
    page.locator(".find").get_by_role("button", name="Next").focus()
    page.keyboard.press("Enter")
    expect(result(page)).to_have_text("100 arms match “design 1”: 21 to 40 are shown below.")
    assert names(page)[0] == "design 120"
    expect(page.locator(".find").get_by_role("button", name="Next")).to_be_focused()
    page.get_by_label("Find an arm by its name").focus()
    page.keyboard.press("Escape")
    expect(result(page)).to_be_empty()
    expect(page.locator(".evidence-rows li").first).to_contain_text("design 300")
    expect(page.get_by_label("Find an arm by its name")).to_have_value("")
    find(page, "042")
    expect(page.locator(LISTS[0])).to_have_count(1)
    page.get_by_role("button", name="Back to those that matter most").click()
    expect(page.locator(LISTS[0])).to_have_count(20)
    expect(page.get_by_label("Find an arm by its name")).to_be_focused()


def test_the_search_stays_while_results_come_in_and_shows_them(open_page, server):
    server.create("growing", SPEC.replace('["baseline", "wide", "deep"]', str(ARMS)), strategy="frugal")
    for arm in (10, 20, 30):
        server.post("growing", "add", arm=arm, fidelity="coarse", values=[0.5])
    page = open_page(server, route_to("growing"))
    find(page, "design 150")
    expect(page.locator(".evidence-rows li")).to_have_count(1)
    page.get_by_text("Show the table").click()
    server.post("growing", "add", arm="design 150", fidelity="coarse", values=[0.25, 0.25])
    expect(page.locator(".numbers tbody td").first).to_have_text("0.25 (2)")
    server.post("growing", "add", arm="design 150", fidelity="coarse", values=[0.25])
    expect(page.locator(".numbers tbody td").first).to_have_text("0.25 (3)")
    expect(page.get_by_label("Find an arm by its name")).to_have_value("design 150")
    expect(page.locator(".evidence-rows li")).to_have_count(1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", [{"viewport": {"width": 1280, "height": 900}}, PHONE], ids=["desktop", "phone"])
def test_many_arms_fit_on_any_screen(open_page, server, study, device, scheme):
    page = open_page(server, route_to(study), color_scheme=scheme, **device)
    kind = f"{'phone' if device is PHONE else 'desktop'}-{scheme}"
    expect(page.locator(LISTS[0])).to_have_count(20)
    assert_no_overflow(page)
    take_picture(page, f"top-{kind}")
    find(page, "design 1")
    expect(result(page)).to_contain_text("100 arms match")
    assert_no_overflow(page)
    take_picture(page, f"found-{kind}")
    labels = page.locator(".find label, .find input, .find button:visible")
    boxes = [box for box in (labels.nth(k).bounding_box() for k in range(labels.count())) if box]
    width = page.evaluate("document.documentElement.clientWidth")
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)


def test_a_forecast_that_is_not_made_is_not_promised(open_page, server):
    server.create("beyond", SPEC.replace('["baseline", "wide", "deep"]', "10_001"), strategy="frugal")
    for trial in server.post("beyond", "ask", n=2)["trials"]:
        server.post("beyond", "tell", trial=trial["id"], value=0.5)
    page = open_page(server, route_to("beyond"))
    expect(page.locator(".spend .note")).to_have_text("The optimal shares are not computed for so many arms.")
    expect(page.locator(".tile.remaining")).to_contain_text("no forecast for so many arms")


def test_names_of_many_arms_can_be_pasted_into_the_form(open_page, server):
    """Ten thousand of them: the form takes them, and the study is created."""
    many = ", ".join(f'"pasted {k}"' for k in range(10_000))
    page = open_page(server, "#/new")
    page.get_by_label("Problem").fill(SPEC.replace('"baseline", "wide", "deep"', many))
    page.get_by_label("Name", exact=True).fill("pasted")
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_role("heading", name="pasted")).to_be_visible()
    expect(page.locator(".find .counts")).to_contain_text("Of 10,000 arms, the 20 that matter most")
    find(page, "pasted 9876")
    expect(page.locator(".evidence-rows .arm")).to_have_text(["pasted 9876"])
