"""The page in several tabs of one browser, which opens six connections to a server at most."""

from playwright.sync_api import expect

from support.pages import REFUSED, route_to

MANY = 8


def tabs(first, server, name, count):
    """That many tabs of one browser at a study, with the first."""
    opened = [first]
    for _ in range(count - 1):
        page = first.context.new_page()
        page.goto(f"{server.address}/{route_to(name)}")
        opened.append(page)
    return opened


def test_any_number_of_tabs_follow_a_study(open_page, server):
    server.create("in many tabs")
    opened = tabs(open_page(server, route_to("in many tabs")), server, "in many tabs", MANY)
    for page in opened:
        expect(page.locator(".headline")).not_to_be_empty()
    opened[-1].get_by_role("button", name="Pause").click()
    for page in opened:
        expect(page.locator("h1 + .badge")).to_have_text("‖ paused")
    server.post("in many tabs", "resume")
    server.work("in many tabs", 1)
    for page in opened:
        expect(page.locator(".tile.evaluation strong")).to_have_text("1")


def test_what_a_tab_does_is_shown_at_once(open_page, server):
    """It does not wait for its next look: here, no pause ever ends."""
    server.create("at once")
    page = open_page(server)
    page.add_init_script(
        "const wait = setTimeout; window.setTimeout = (act, pause) => pause >= 1000 ? 0 : wait(act, pause);"
    )
    page.goto(f"{server.address}/{route_to('at once')}")
    page.reload()
    expect(page.locator(".headline")).not_to_be_empty()
    page.get_by_role("button", name="Ask for a trial").click()
    expect(page.locator(".tile.evaluation")).to_contain_text("1 under way")


def test_two_renames_in_a_row_lead_every_tab_to_the_present_name(open_page, server):
    """Also back to the name that it had before."""
    server.create("there and back")
    page = open_page(server, route_to("there and back"), expected=REFUSED)
    other = tabs(page, server, "there and back", 2)[1]
    for name in ("there", "there and back", "there", "there and back"):
        page.get_by_role("button", name="Rename").click()
        page.get_by_label("New name").fill(name)
        page.get_by_role("button", name="Save the name").click()
        expect(page.locator("h1")).to_have_text(name)
        expect(other.locator("h1")).to_have_text(name)
    for name in ("there", "there and back"):
        server.post(page.locator("h1").inner_text(), "rename", name=name)
        for each in (page, other):
            expect(each.locator("h1")).to_have_text(name)
    other.get_by_role("button", name="Ask for a trial").click()
    expect(page.locator(".tile.evaluation")).to_contain_text("1 under way")


def test_a_call_that_is_answered_with_a_new_name_goes_on_there(open_page, server):
    server.create("called before")
    page = open_page(server, route_to("called before"), expected=REFUSED)
    expect(page.locator(".headline")).not_to_be_empty()
    page.route("**/view*", lambda route: None)  # it never hears of the name by looking
    server.post("called before", "rename", name="called now")
    server.create("called before")
    page.get_by_role("button", name="Ask for a trial").click()
    expect(page.locator("h1")).to_have_text("called now")
    expect(page.locator(".trials.mine li")).to_have_count(1)
    assert server.call("/called%20now/status")["pending"] == 1
    assert server.call("/called%20before/status")["pending"] == 0
