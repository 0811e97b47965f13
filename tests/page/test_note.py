"""The note of a study and its tags: read, written, and changed by two at once."""

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from support.pages import AWAY, IMAGE, PHONE, REFUSED, SCRIPT, assert_no_overflow, route_to, show, tab_to, take_picture

NOTE = """# Why

Compares **three designs** for [the inlet](https://example.org/inlet).

- coarse: `run --grid 1`
- fine

> Asked for by the *pilot* team.
"""


@pytest.fixture
def note_page(open_page, server, request):
    """The page of a new study, and the study's name."""
    name = request.node.name

    def opened(expected=REFUSED, **settings):
        server.create(name)
        page = open_page(server, route_to(name), expected=expected, **settings)
        expect(page.locator(".headline")).not_to_be_empty()
        return page, name

    return opened


def area(page):
    return page.get_by_label("Note, in Markdown")


def button(page, name):
    return page.get_by_role("button", name=name)


def note_of(server, name):
    return server.call(f"/{quote(name, safe='')}/label")["note"]


def test_a_note_is_previewed_saved_and_shown_to_all(note_page, open_page, server):
    page, name = note_page()
    other = open_page(server, route_to(name))
    button(page, "Write a note").click()
    expect(area(page)).to_be_focused()
    area(page).fill(NOTE)
    expect(page.locator(".preview h3")).to_have_text("Why")
    expect(page.locator(".editor .count")).to_have_text(f"{len(NOTE)} of 20,000 characters")
    button(page, "Save the note").click()
    for each in (page, other):
        expect(each.locator(".about-it > .markdown li")).to_have_text(["coarse: run --grid 1", "fine"])
        expect(each.locator(".about-it > .markdown a")).to_have_attribute("href", "https://example.org/inlet")
    expect(button(page, "Edit the note")).to_be_focused()
    assert note_of(server, name) == NOTE


def test_cancelling_keeps_the_note_as_it_was(note_page, server):
    page, name = note_page()
    server.post(name, "note", text="old", before="")
    expect(page.locator(".about-it > .markdown")).to_have_text("old")
    button(page, "Edit the note").click()
    area(page).fill("new")
    button(page, "Cancel").click()
    expect(page.locator(".about-it > .markdown")).to_have_text("old")
    expect(button(page, "Edit the note")).to_be_focused()
    assert note_of(server, name) == "old"


def test_of_two_writers_none_overwrites_the_other_unknowingly(note_page, server):
    page, name = note_page()
    button(page, "Write a note").click()
    area(page).fill("mine")
    server.post(name, "note", text="theirs", before="")
    expect(page.locator(".changed pre:visible")).to_have_text("theirs")
    expect(area(page)).to_have_value("mine")
    server.work(name, 1)
    expect(page.locator(".tile.evaluation strong")).to_have_text("1")
    expect(area(page)).to_have_value("mine")
    button(page, "Save mine instead").click()
    expect(page.locator(".about-it > .markdown")).to_have_text("mine")
    assert note_of(server, name) == "mine"


def test_a_change_that_the_page_has_not_seen_yet_is_not_overwritten(open_page, server):
    """The server refuses: the page says why, keeps what was typed, and shows the other note when it comes."""
    server.create("unseen")
    page = open_page(server, expected=REFUSED)
    show(page, server, "unseen", server.call("/unseen/view"))  # as it is now, for ever
    button(page, "Write a note").click()
    area(page).fill("mine")
    server.post("unseen", "note", text="theirs", before="")
    button(page, "Save the note").click()
    expect(page.locator(".editor .error").first).to_contain_text("was changed by somebody else")
    expect(area(page)).to_have_value("mine")
    assert note_of(server, "unseen") == "theirs"
    page.unroute_all()
    expect(page.locator(".changed pre:visible")).to_have_text("theirs")
    button(page, "Save mine instead").click()
    expect(page.locator(".about-it > .markdown")).to_have_text("mine")


def test_a_broken_connection_loses_nothing(note_page):
    page, _ = note_page(expected=AWAY)
    button(page, "Write a note").click()
    area(page).fill("precious")
    page.route("**/note*", lambda route: route.abort())
    button(page, "Save the note").click()
    expect(page.locator(".editor .error").first).to_contain_text("cannot be reached")
    expect(area(page)).to_have_value("precious")
    page.unroute("**/note*")
    button(page, "Save the note").click()
    expect(page.locator(".about-it > .markdown")).to_have_text("precious")


def test_a_draft_is_still_there_when_one_comes_back(note_page):
    page, _ = note_page()
    button(page, "Write a note").click()
    area(page).fill("a draft")
    page.get_by_role("link", name="Studies").click()
    expect(page.get_by_role("heading", name="Studies")).to_be_visible()
    page.go_back()
    expect(area(page)).to_have_value("a draft")


def test_a_draft_is_not_that_of_another_study_of_the_same_name(note_page, server):
    page, name = note_page()
    button(page, "Write a note").click()
    area(page).fill("about the first")
    page.get_by_role("link", name="Studies").click()
    expect(page.get_by_role("heading", name="Studies")).to_be_visible()
    server.post(name, "rename", name=f"{name}, the first")
    server.create(name)
    page.goto(f"{server.address}/{route_to(name)}")
    expect(button(page, "Write a note")).to_be_visible()
    expect(area(page)).to_be_hidden()
    page.goto(f"{server.address}/{route_to(f'{name}, the first')}")
    expect(area(page)).to_have_value("about the first")


def test_the_browser_asks_before_what_was_typed_is_lost(note_page):
    page, _ = note_page(expected="beforeunload")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    button(page, "Write a note").click()
    area(page).type("unsaved")
    page.evaluate("location.reload()")
    expect(area(page)).to_have_value("unsaved")
    assert asked == ["beforeunload"]


def test_a_note_that_is_too_long_stays_typed(note_page):
    page, _ = note_page()
    button(page, "Write a note").click()
    area(page).fill("x" * 20_001)
    expect(page.locator(".editor .count")).to_have_text("20,001 of 20,000 characters")
    button(page, "Save the note").click()
    expect(page.locator(".editor .error").first).to_have_text("The note is too long: 20,000 characters at most.")
    expect(area(page)).to_have_value("x" * 20_001)


def test_notes_and_tags_that_look_like_scripts_are_text(note_page, server):
    page, name = note_page()
    server.post(name, "note", text=f"{SCRIPT}\n{IMAGE} [x](javascript:alert(1))", before="")
    server.post(name, "tags", tags=[SCRIPT, IMAGE])
    expect(page.locator(".about-it > .markdown")).to_contain_text(IMAGE)
    expect(page.locator(".about-it .tag")).to_have_text([SCRIPT, IMAGE])
    assert page.locator("main img, main script, .about-it > .markdown a").count() == 0


def test_tags_are_edited_and_lead_to_the_studies_that_have_them(note_page):
    page, name = note_page()
    button(page, "Add tags").click()
    tags = page.get_by_label("Tags, with commas between them")
    expect(tags).to_be_focused()
    expect(page.locator(".editor .hint")).to_have_text("20 tags of 40 characters at most.")
    tags.fill("x" * 41)
    page.keyboard.press("Enter")
    expect(page.locator(".editor .error").last).to_contain_text("40 characters at most")
    expect(tags).to_have_value("x" * 41)
    tags.fill(" edited here , another,, edited here")
    page.keyboard.press("Enter")
    expect(page.locator(".about-it .tag")).to_have_text(["edited here", "another"])
    expect(button(page, "Edit the tags")).to_be_focused()
    page.get_by_role("link", name="edited here").click()
    expect(page.locator(".study .name")).to_have_text([name])
    expect(page.get_by_label("Tag", exact=True)).to_have_value("edited here")


def test_of_two_writers_of_tags_none_overwrites_the_other_unknowingly(note_page, server):
    page, name = note_page()
    button(page, "Add tags").click()
    tags = page.get_by_label("Tags, with commas between them")
    tags.fill("mine")
    server.post(name, "tags", tags=["theirs", "and more"])
    expect(page.locator(".changed pre:visible")).to_have_text("theirs, and more")
    expect(tags).to_have_value("mine")
    button(page, "Save mine instead").click()
    expect(page.locator(".about-it .tag")).to_have_text(["mine"])


def test_a_change_of_the_tags_that_the_page_has_not_seen_yet_is_not_overwritten(open_page, server):
    server.create("retagged")
    page = open_page(server, expected=REFUSED)
    show(page, server, "retagged", server.call("/retagged/view"))
    button(page, "Add tags").click()
    page.get_by_label("Tags, with commas between them").fill("mine")
    server.post("retagged", "tags", tags=["theirs"])
    button(page, "Save the tags").click()
    expect(page.locator(".editor .error").last).to_contain_text("was changed by somebody else")
    assert server.call("/retagged/label")["tags"] == ["theirs"]


def test_keyboard_alone_writes_a_note(note_page):
    page, _ = note_page()
    tab_to(page, "Write a note")
    page.keyboard.press("Enter")
    page.keyboard.type("typed")
    tab_to(page, "Save the note")
    page.keyboard.press("Enter")
    expect(page.locator(".about-it > .markdown")).to_have_text("typed")


@pytest.mark.parametrize("device", [{}, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_editor_fits_every_screen(note_page, device, scheme):
    page, _ = note_page(color_scheme=scheme, **device)
    button(page, "Write a note").click()
    area(page).fill(NOTE + "\n" + "x" * 300)
    button(page, "Add tags").click()
    assert_no_overflow(page)
    take_picture(page, f"note-{scheme}-{'phone' if device else 'desk'}")
    button(page, "Save the note").click()
    expect(page.locator(".about-it > .markdown h3")).to_have_text("Why")
    assert_no_overflow(page)
