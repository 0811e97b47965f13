"""From the list of studies to the verdict: by mouse, by touch, by keyboard, and when the server is away."""

import json
import re
import threading

from playwright.sync_api import expect

import mfbai
from support.pages import (
    AWAY,
    IMAGE,
    PHONE,
    REFUSED,
    SCRIPT,
    SPEC,
    assert_no_overflow,
    create_by_form,
    evaluate_by_hand,
    panels,
    route_to,
    tab_to,
)
from support.servers import TOKEN


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


CHARTS = {"evidence", "intervals", "risk-chart", "evidence-chart", "spend", "shares"}
PANELS = CHARTS | {"verdict", "reopen", "about-it", "find", "by-hand", "recent", "numbers"}


def test_every_panel_follows_a_study_to_its_verdict(open_page, server):
    page = open_page(server, viewport={"width": 1400, "height": 900})
    before, after = find_verdict(page, server, "journey")
    assert before.keys() == after.keys() == PANELS
    assert {name for name in PANELS if before[name] == after[name]} == {
        "reopen",
        "find",
        "about-it",
    }  # for alarms, for many arms, for people
    expect(page.locator(".headline")).to_contain_text("'deep'")
    expect(page.locator(".evidence [data-state=reached]")).to_have_count(2)
    expect(page.locator(".recent li").first).to_contain_text("verdict")
    page.get_by_role("link", name="Studies", exact=True).click()
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
    assert {name for name in PANELS if before[name] == after[name]} == {
        "reopen",
        "find",
        "about-it",
    }  # for alarms, for many arms, for people
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
    expect(page.locator("canvas")).to_have_count(3)
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
    for arm in ("baseline", "wide"):  # in a race all arms have a value before one leads
        server.post(name, "add", arm=arm, fidelity=SCRIPT, values=[0.5])
    server.post(name, "ask")
    page = open_page(server)
    page.get_by_text(name).click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    expect(page.locator(".tile.leader strong")).to_have_text(IMAGE)
    for panel in ("evidence", "intervals", "spend"):
        expect(page.locator(f".{panel}")).to_contain_text(IMAGE)
    expect(page.locator(".spend")).to_contain_text(SCRIPT)
    assert page.locator("main img, main script").count() == 0


def test_lost_connection_is_told_and_found_again(open_page, start_server):
    server = start_server()
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


def test_token_is_asked_for_and_kept(open_page, start_server):
    server = start_server(TOKEN)
    server.create("secret")
    page = open_page(server, route_to("secret"), expected=f"{REFUSED}|{AWAY}")
    for wrong in ("a wrong one", "\N{BULLET}" * 16, "\u0442\u043e\u043a\u0435\u043d"):
        page.get_by_label("Token", exact=True).fill(wrong)
        page.get_by_role("button", name="Continue").click()
        expect(page.locator(".token .error")).to_contain_text("not accepted")
        expect(page.get_by_label("Token", exact=True)).to_have_value("")
        expect(page.locator("#connection")).to_be_empty()
    page.get_by_label("Token", exact=True).fill(TOKEN)
    page.get_by_role("button", name="Continue").click()
    expect(page.locator(".headline")).not_to_be_empty()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the certificate").click()
    assert download.value.suggested_filename == "secret.json"
    page.reload()
    expect(page.locator(".headline")).not_to_be_empty()
    assert page.locator("form.token").count() == 0
