"""Each arm's share of the cost, over the cost."""

import re

import pytest
from playwright.sync_api import expect

from support.pages import IMAGE, PHONE, QUALITY, SPEC, assert_no_overflow, route_to, take_picture

CANVAS = "document.querySelector('.shares canvas').toDataURL()"


def legend(page):
    return page.locator(".shares .legend li")


def test_the_present_shares_are_written_and_follow_the_study(open_page, server):
    server.create("shared out")
    page = open_page(server, route_to("shared out"))
    expect(page.locator(".shares .note")).to_have_text("Nothing was spent yet.")
    expect(page.locator(".shares .plot")).to_have_attribute("aria-label", "Nothing was spent yet.")
    server.work("shared out", 12)
    expect(page.locator(".tile.evaluation strong")).to_have_text("12")
    expect(legend(page)).to_have_count(3)
    spent = [sum(row) for row in server.call("/shared%20out/status")["spent"]]
    shares = {arm: f"{100 * cost / sum(spent):.0f} %" for arm, cost in zip(QUALITY, spent, strict=True)}
    down = list(shares.items())[::-1]  # as the areas are, from the top
    expect(legend(page)).to_have_text([f"{arm}{share}" for arm, share in down])
    words = ", ".join(f"{arm} {share}" for arm, share in down)
    expect(page.locator(".shares .plot")).to_have_attribute("aria-label", f"Shares of the cost: {words}.")
    before = page.evaluate(CANVAS)
    server.work("shared out", 5)
    expect(page.locator(".tile.evaluation strong")).to_have_text("17")
    page.wait_for_function(f"before => {CANVAS} !== before", arg=before)


def test_of_many_arms_the_largest_are_named_and_the_others_together(open_page, server):
    arms = [f"design {k:02}" for k in range(29)] + [IMAGE]
    server.create("thirty", SPEC.replace('["baseline", "wide", "deep"]', str(arms)), strategy="uniform")
    for _ in range(60):
        (trial,) = server.post("thirty", "ask")["trials"]
        server.post("thirty", "tell", trial=trial["id"], value=0.9 if trial["arm"] == IMAGE else 0.5)
    page = open_page(server, route_to("thirty"))
    expect(legend(page)).to_have_count(8)
    expect(legend(page).last).to_have_text(re.compile(r"all others\d+ %"))
    shares = page.locator(".shares .legend .share").all_inner_texts()
    assert sum(int(re.sub(r"\D", "", share)) for share in shares) == pytest.approx(100, abs=5)
    assert page.locator("main img").count() == 0


def test_of_very_many_arms_the_panel_says_that_nothing_is_kept(open_page, server):
    server.create("crowd", SPEC.replace('["baseline", "wide", "deep"]', "250"))
    page = open_page(server, route_to("crowd"))
    expect(page.locator(".shares .note")).to_contain_text("With as many as 250 arms, no record is kept")
    expect(page.locator(".shares .with-legend")).to_be_hidden()


@pytest.mark.parametrize("device", [{}, PHONE], ids=["desktop", "phone"])
def test_the_picture_fits_and_is_redrawn_in_the_dark(open_page, server, device):
    name = f"areas {len(device)}"
    server.create(name)
    server.work(name, 20)
    page = open_page(server, route_to(name), color_scheme="light", **device)
    expect(page.locator(".shares .plot")).to_have_attribute("data-areas", "3")
    assert_no_overflow(page)
    before = page.evaluate(CANVAS)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"before => {CANVAS} !== before", arg=before)
    take_picture(page, f"study-dark-{'phone' if device else 'desk'}")
