"""Care for a study on its page: its name, pauses, the table of trials, and its end."""

import csv
import io
import json
import re
from urllib.parse import unquote

import pytest
from playwright.sync_api import expect

import mfbai
from support.pages import (
    AWAY,
    IMAGE,
    PHONE,
    REFUSED,
    SCRIPT,
    Refused,
    assert_no_overflow,
    route_to,
    tab_to,
    take_picture,
)

ODD = f'{SCRIPT}/{IMAGE} "?#%\u0639\u062c\u0644\u0629 \U0001f6b2'


def button(page, name):
    return page.get_by_role("button", name=name)


def rename(page, name):
    button(page, "Rename").click()
    page.get_by_label("New name").fill(name)
    button(page, "Save the name").click()


# --- names


def test_a_new_name_is_shown_to_all_and_nothing_typed_is_lost(open_page, server):
    server.create("first name")
    page, other = (open_page(server, route_to("first name"), expected=REFUSED) for _ in range(2))
    button(other, "Ask for a trial").click()
    other.get_by_label("Value").type("0.7")
    rename(page, ODD)
    for each in (page, other):
        expect(each.locator("h1")).to_have_text(ODD)
        assert unquote(each.url).endswith(f"#/study/{ODD}")
    expect(page.locator(".word")).to_have_text(f"Renamed “first name” to “{ODD}”.")
    expect(other.locator(".word")).to_have_text(f"“first name” is now called “{ODD}”.")
    expect(button(page, "Rename")).to_be_focused()
    expect(other.get_by_label("Value")).to_be_focused()
    other.get_by_label("Value").type("5")
    button(other, "Tell").click()
    expect(page.locator(".tile.evaluation strong")).to_have_text("1")
    assert page.locator("main img, main script").count() == 0
    page.reload()
    expect(page.locator("h1")).to_have_text(ODD)
    expect(page.locator(".headline")).not_to_be_empty()


def test_a_name_that_is_taken_is_refused_and_stays_typed(open_page, server):
    for name in ("mine", "theirs"):
        server.create(name)
    page = open_page(server, route_to("mine"), expected=REFUSED)
    rename(page, "theirs")
    expect(page.locator(".rename .error")).to_contain_text("exists already")
    expect(page.get_by_label("New name")).to_be_focused()
    expect(page.get_by_label("New name")).to_have_value("theirs")
    page.keyboard.press("Escape")
    expect(page.locator(".rename")).to_be_hidden()
    expect(button(page, "Rename")).to_be_focused()
    expect(page.locator("h1")).to_have_text("mine")


def test_what_is_no_name_is_refused_in_plain_words(open_page, server):
    server.create("well named")
    page = open_page(server, route_to("well named"))
    for name, said in (
        ("  ", "Type a name."),
        ("-x", "Choose a name that does not begin with “-”."),
        ("x" * 201, "The name is too long: 200 characters at most."),
    ):
        button(page, "Rename").click()
        page.get_by_label("New name").fill(name)
        button(page, "Save the name").click()
        expect(page.locator(".rename .error")).to_have_text(said)
        page.keyboard.press("Escape")
    expect(page.locator("h1")).to_have_text("well named")


def test_a_study_that_was_renamed_while_the_connection_was_broken_is_found(open_page, server):
    server.create("wandering")
    page = open_page(server, route_to("wandering"), expected=r"ERR_|404")
    expect(page.locator(".headline")).not_to_be_empty()
    page.context.set_offline(True)
    page.evaluate("dispatchEvent(new Event('offline'))")
    page.route("**/view*", lambda route: route.abort())
    server.post("wandering", "rename", name="settled")
    server.create("wandering")  # another study has its name by now
    page.context.set_offline(False)
    page.unroute("**/view*")
    expect(page.locator("h1")).to_have_text("settled")
    expect(page.locator("#connection")).to_be_empty()


# --- pauses


def test_a_paused_study_says_so_and_hands_out_nothing_until_it_is_resumed(open_page, server):
    server.create("rests")
    page = open_page(server, route_to("rests"))
    expect(page.locator("h1 + .badge")).to_have_text("● running")
    button(page, "Pause").click()
    expect(page.locator("h1 + .badge")).to_have_text("‖ paused")
    expect(page.locator(".headline")).to_contain_text("Paused: no results yet")
    expect(button(page, "Ask for a trial")).to_be_hidden()
    expect(page.locator(".by-hand .note")).to_contain_text("The study is paused: it hands out no trial")
    with pytest.raises(Refused, match="paused"):
        server.post("rests", "ask")
    button(page, "Resume").click()
    expect(page.locator("h1 + .badge")).to_have_text("● running")
    expect(button(page, "Ask for a trial")).to_be_visible()


def test_a_pause_by_somebody_else_keeps_what_is_typed(open_page, server):
    server.create("interrupted")
    page = open_page(server, route_to("interrupted"))
    button(page, "Ask for a trial").click()
    page.get_by_label("Value").type("0.7")
    server.post("interrupted", "pause")
    expect(page.locator("h1 + .badge")).to_have_text("‖ paused")
    expect(page.get_by_label("Value")).to_be_focused()
    button(page, "Tell").click()
    expect(page.locator(".tile.evaluation strong")).to_have_text("1")


def test_what_is_decided_cannot_be_paused(open_page, server):
    server.create("over")
    server.work("over")
    page = open_page(server, route_to("over"))
    expect(page.locator("h1 + .badge")).to_have_text("✓ decided")
    expect(button(page, "Pause")).to_be_hidden()
    expect(button(page, "Rename")).to_be_visible()


# --- the table of trials


def test_the_table_of_trials_is_downloaded(open_page, server):
    server.create("a/table")
    server.work("a/table", 4)
    page = open_page(server, route_to("a/table"))
    with page.expect_download() as download:
        button(page, "Table of trials").click()
    assert download.value.suggested_filename == "a_table.csv"
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert [row["state"] for row in rows] == ["told"] * 4
    assert {row["fidelity"] for row in rows} == {"coarse"}


def test_the_report_is_one_file_that_verifies(open_page, server):
    server.create("reported")
    server.work("reported")
    page = open_page(server, route_to("reported"))
    with page.expect_download() as download:
        button(page, "Report (one page)").click()
    assert download.value.suggested_filename == "reported.html"
    assert mfbai.verify(download.value.path()).confirmed


# --- the end


def delete_dialog(page):
    button(page, "Delete …").click()
    return page.get_by_role("dialog")


def test_deleting_says_what_is_lost_and_offers_copies(open_page, server):
    server.create("doomed")
    server.work("doomed", 4)
    server.post("doomed", "ask")
    page = open_page(server, route_to("doomed"))
    expect(page.locator(".tile.evaluation")).to_contain_text("1 under way")
    dialog = delete_dialog(page)
    expect(dialog).to_contain_text("Delete “doomed”?")
    expect(dialog).to_contain_text("its 4 results, which cost 0.2")
    expect(dialog).to_contain_text("1 trial under way: its value is lost, too.")
    expect(dialog.get_by_role("button", name="Keep the study")).to_be_focused()
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Download the certificate").click()
    assert mfbai.verify(json.loads(download.value.path().read_text())).confirmed
    dialog.get_by_role("button", name="Delete it for good").click()
    expect(page.get_by_role("heading", name="Studies")).to_be_visible()
    expect(page.locator(".word")).to_have_text("Deleted “doomed”.")
    with pytest.raises(Refused, match="unknown study"):
        server.call("/doomed/status")


def test_a_study_is_kept_unless_one_says_so(open_page, server):
    """Escape and the first button end the dialog, and the focus returns to where it was."""
    server.create("kept on")
    page = open_page(server, route_to("kept on"))
    expect(page.locator(".headline")).not_to_be_empty()
    dialog = delete_dialog(page)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(button(page, "Delete …")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(button(page, "Delete …")).to_be_focused()
    assert server.call("/kept%20on")["name"] == "kept on"


def test_the_question_follows_a_study_that_is_renamed(open_page, server):
    """Nobody deletes a study by a name that it does not have any more."""
    server.create("in question")
    page = open_page(server, route_to("in question"), expected=REFUSED)
    expect(page.locator(".headline")).not_to_be_empty()
    dialog = delete_dialog(page)
    expect(dialog.get_by_role("heading")).to_have_text("Delete “in question”?")
    page.route("**/view*", lambda route: None)  # the page does not hear of it
    server.post("in question", "rename", name="precious")
    dialog.get_by_role("button", name="Delete it for good").click()
    expect(dialog.get_by_role("heading")).to_have_text("Delete “precious”?")
    expect(dialog).to_contain_text("“in question” has just been renamed: it is called “precious” now.")
    assert server.call("/precious")["name"] == "in question"  # its first one
    page.unroute_all()
    server.post("precious", "rename", name="more precious")
    expect(dialog.get_by_role("heading")).to_have_text("Delete “more precious”?")
    dialog.get_by_role("button", name="Delete it for good").click()
    expect(page.locator(".word")).to_have_text("Deleted “more precious”.")


def test_a_study_that_cannot_be_read_is_looked_after_and_deleted(open_page, start_server):
    server = start_server()
    server.create("damaged")
    server.work("damaged", 1)
    server.damage("damaged")
    page = open_page(server, route_to("damaged"), expected=f"status of 500|{AWAY}")
    expect(page.locator(".waiting")).to_contain_text("study 'damaged' cannot be read: event 1 of its journal")
    expect(page.locator("#connection")).to_be_empty()
    expect(page.locator("h1 + .badge")).to_have_text(re.compile("unreadable$"))
    expect(page.locator(".panel:visible h2")).to_have_text(["Note and tags"])
    button(page, "Write a note").click()
    page.get_by_label("Note, in Markdown").fill("the disk was full")
    button(page, "Save the note").click()
    expect(page.locator(".about-it > .markdown")).to_have_text("the disk was full")
    take_picture(page, "unreadable")
    rename(page, "spoilt")
    expect(page.locator("h1")).to_have_text("spoilt")
    expect(page.get_by_role("button", name=re.compile("certificate|table|report", re.I))).to_have_count(0)
    dialog = delete_dialog(page)
    expect(dialog).to_contain_text("Everyone loses it: its journal, its note and its verdict, if it has one.")
    expect(dialog.get_by_text("Keep a copy first")).to_be_hidden()
    dialog.get_by_role("button", name="Delete it for good").click()
    expect(page.locator(".word")).to_have_text("Deleted “spoilt”.")


def test_a_server_with_another_storage_does_not_say_that_a_study_was_deleted(open_page, start_server):
    first, second = start_server(), start_server()
    second.stop()
    first.create("elsewhere")
    page = open_page(first, route_to("elsewhere"), expected=f"{REFUSED}|{AWAY}")
    expect(page.locator(".headline")).not_to_be_empty()
    first.stop()
    second.port = first.port
    second.start()
    expect(page.locator(".waiting")).to_contain_text("or the server has another storage now")
    expect(page.locator("h1 + .badge")).to_have_text(re.compile("gone$"))
    expect(page.locator("#connection")).to_be_empty()


def test_others_hear_that_a_study_was_deleted_and_keep_what_they_typed(open_page, server):
    server.create("watched")
    server.work("watched", 2)
    page = open_page(server, route_to("watched"), expected=REFUSED)
    button(page, "Write a note").click()
    page.get_by_label("Note, in Markdown").type("almost done")
    page.get_by_role("button", name="Delete …").click()
    server.post("watched", "delete", name="watched")
    expect(page.locator(".waiting")).to_contain_text("The server has no such study any more: it was deleted, or")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator("h1 + .badge")).to_have_text(re.compile("gone$"))
    expect(page.locator(".tools")).to_be_hidden()
    expect(page.get_by_label("Note, in Markdown")).to_have_value("almost done")
    expect(page.locator(".headline")).to_be_hidden()  # it is not running
    for what in ("Save the note", "Ask for a trial", "Add tags"):
        expect(button(page, what)).to_be_hidden()
    expect(page.locator("#connection")).to_be_empty()
    page.get_by_role("link", name="To the studies").click()
    expect(page.get_by_role("heading", name="Studies")).to_be_visible()
    page.goto(f"{server.address}/{route_to('watched')}")
    expect(page.get_by_text("unknown study 'watched'")).to_be_visible()


def test_keyboard_alone_renames_pauses_and_deletes(open_page, server):
    server.create("by key")
    page = open_page(server, route_to("by key"))
    expect(page.locator(".headline")).not_to_be_empty()
    tab_to(page, "‖ Pause")
    page.keyboard.press("Enter")
    expect(page.locator("h1 + .badge")).to_have_text("‖ paused")
    expect(button(page, "Resume")).to_be_focused()
    tab_to(page, "Rename")
    page.keyboard.press("Enter")
    page.keyboard.type("by keyboard alone")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("by keyboard alone")
    tab_to(page, "Delete …")
    page.keyboard.press("Enter")
    tab_to(page, "Delete it for good")
    page.keyboard.press("Enter")
    expect(page.locator(".word")).to_have_text("Deleted “by keyboard alone”.")


@pytest.mark.parametrize("device", [{}, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_care_fits_every_screen(open_page, server, device, scheme):
    name = f"care {scheme} {len(device)} with_a_name_that_is_long_and_has_no_space_in_it_at_all"
    server.create(name)
    page = open_page(server, route_to(name), color_scheme=scheme, **device)
    expect(page.locator(".headline")).not_to_be_empty()
    button(page, "Rename").click()
    assert_no_overflow(page)
    dialog = delete_dialog(page)
    expect(dialog).to_be_visible()
    box = dialog.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= page.viewport_size["width"]
    assert_no_overflow(page)
    take_picture(page, f"delete-{scheme}-{'phone' if device else 'desk'}")
    colours = re.findall(r"\d+", dialog.evaluate("node => getComputedStyle(node).backgroundColor"))
    assert (max(map(int, colours[:3])) < 60) == (scheme == "dark")
