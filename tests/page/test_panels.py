"""What the panels of a study say."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from mfbai.text import digits
from support.pages import MINUS, PHONE, QUALITY, REFUSED, SPEC, answer_with, assert_no_overflow, route_to, show

ROOT = Path(__file__).parents[2]
PANELS = ROOT / "src/mfbai/web/static/panels"
SKELETON = ROOT / "docs/developer/skeletons/panel.js"


def test_of_some_arms_those_that_matter_are_shown_first(open_page, server):
    cheap = "".join(f'[[fidelity]]\nname = "grid {i}"\ncost = 0.0{i}\nbias = 0.1\n' for i in range(1, 5))
    arms = SPEC.replace('["baseline", "wide", "deep"]', "20")
    server.create("some", arms.replace("[[fidelity]]", f"{cheap}[[fidelity]]", 1))
    for arm in range(20):
        server.post("some", "add", arm=arm, fidelity="coarse", values=[arm / 20, arm / 20])
    page = open_page(server, route_to("some"))
    rows = page.locator(".evidence-rows li")
    expect(rows).to_have_count(12)
    expect(rows.first).to_contain_text("arm 20")
    expect(rows.first).to_contain_text("leads")
    expect(page.get_by_role("search")).to_be_hidden()
    page.locator(".evidence").get_by_role("button", name="Show all 20 arms").click()
    for listed in (".evidence-rows li", ".interval-rows li", ".spend tbody tr"):
        expect(page.locator(listed)).to_have_count(20)
    page.set_viewport_size(PHONE["viewport"])
    page.get_by_text("Show the table").click()
    assert_no_overflow(page)


def test_bias_alarm_is_explained(open_page, server):
    server.create("alarming")
    page = open_page(server, route_to("alarming"))
    expect(page.locator(".headline")).not_to_be_empty()
    expect(page.locator(".alarms.bias")).to_be_hidden()
    server.post("alarming", "add", arm="wide", fidelity="coarse", values=[2.0] * 20)
    server.post("alarming", "add", arm="wide", fidelity="fine", values=[0.7] * 20)
    expect(page.locator(".alarms.bias")).to_contain_text("'coarse' is off by more than was stated for 'wide'")
    expect(page.locator("h1 + .badge")).to_have_text("⚠ alarm")
    expect(page.locator(".headline")).to_contain_text("Stopped by an alarm, without an answer; it cost 0.")
    expect(page.locator(".intervals li").filter(has_text="wide")).to_contain_text("no value fits")
    expect(page.locator(".recent")).to_contain_text("20 values from elsewhere: 'wide' at 'fine'")
    page.get_by_text("Show the table").click()
    expect(page.locator(".numbers tr").filter(has_text="wide")).to_contain_text("no value fits")
    expect(page.get_by_text("Connection lost")).to_be_hidden()
    page.get_by_role("link", name="Studies", exact=True).click()
    expect(page.get_by_role("listitem").filter(has_text="alarming")).to_contain_text("⚠ 1 bias alarm")


def test_study_can_be_reopened_with_wider_bounds(open_page, server):
    server.create("too narrow")
    page = open_page(server, route_to("too narrow"))
    expect(page.locator(".headline")).not_to_be_empty()
    expect(page.locator(".reopen")).to_be_hidden()
    server.post("too narrow", "add", arm="wide", fidelity="coarse", values=[2.0] * 20)
    server.post("too narrow", "add", arm="wide", fidelity="fine", values=[0.7] * 20)
    form = page.locator(".reopen")
    form.get_by_role("button", name="Reopen the study").click()
    expect(form.locator(".error")).to_contain_text("Change at least one bound")
    form.get_by_label("Name of the new study").fill("wide enough")
    form.get_by_label("Bound of “coarse”").fill("\u22120.1 to 1.5")
    form.get_by_role("button", name="Reopen the study").click()
    expect(page.get_by_role("heading", name="wide enough")).to_be_visible()
    expect(page.locator(".verdict")).to_contain_text("40 imported")
    expect(page.locator(".reopen")).to_be_hidden()


def test_variance_alarm_is_explained(open_page, server):
    server.create("varied", on_alarm="continue")
    page = open_page(server, route_to("varied"))
    expect(page.locator(".headline")).not_to_be_empty()
    expect(page.locator(".alarms.variance")).to_be_hidden()
    server.post("varied", "add", arm="wide", fidelity="coarse", values=[0.4, 1.1] * 5)
    panel = page.locator(".alarms.variance")
    expect(panel).to_contain_text("All results, taken together, vary more than was stated")
    expect(panel).to_contain_text("The results of 'wide' at 'coarse' vary more than was stated")
    expect(page.locator(".alarms.bias")).to_be_hidden()
    server.work("varied")
    expect(page.locator(".headline")).to_contain_text("VARIANCE ALARM: results vary more than was stated; take")
    page.get_by_role("link", name="Studies", exact=True).click()
    expect(page.get_by_role("listitem").filter(has_text="varied")).to_contain_text("variance alarm")


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


def test_legends_say_what_to_reach_before_anything_was_spent(open_page, server):
    server.create("unspent")
    page = open_page(server, route_to("unspent"))
    expect(page.locator(".risk-chart .u-legend")).to_contain_text(re.compile(r"goal\s*0\.05$"))
    expect(page.locator(".evidence-chart .u-legend")).to_contain_text(re.compile(r"needed\s*3$"))


def test_risk_beyond_the_axis_is_told_as_such(open_page, server):
    server.create("sure")
    view = server.call("/sure/view")
    view["history"] = {"cost": [1, 2], "risk": [0.5, 1e-40], "evidence": [1, 90], "leader": ["deep", "deep"]}
    page = open_page(server)
    show(page, server, "sure", view)
    expect(page.locator(".risk-chart .note")).to_contain_text(f"a risk of < 1e{MINUS}12;")
    expect(page.locator(".risk-chart .u-legend")).to_contain_text(f"< 1e{MINUS}12")


def test_goal_beyond_the_axis_is_told_as_such(open_page, server):
    server.create("very sure", delta=1e-60)
    server.work("very sure", 3)
    page = open_page(server, route_to("very sure"))
    expect(page.locator(".risk-chart .u-legend")).to_contain_text(f"goal< 1e{MINUS}12")
    expect(page.locator(".risk-chart .note")).to_contain_text(f"the goal is 1e{MINUS}60.")
    drawn = "node => node.querySelector('canvas').clientWidth > 0.8 * node.clientWidth"
    assert page.locator(".risk-chart .plot").evaluate(drawn)


def test_tolerance_is_told_where_something_is_claimed(open_page, server):
    server.create("tolerant", tolerance=0.02)
    view = server.call("/tolerant/view")
    view["status"]["tolerance"] = 0.02
    page = open_page(server)
    show(page, server, "tolerant", view)
    expect(page.locator(".settings")).to_contain_text("Tolerance: 0.02.")
    claim = "is not better than the leader by more than the tolerance, 0.02."
    expect(page.locator(".evidence .about")).to_contain_text(claim)


@pytest.mark.parametrize("device", [{}, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("direction", ["maximise", "minimise"])
def test_rivals_show_by_how_much_they_are_behind(open_page, server, device, direction):
    """As a difference of true values in the table, and in the direction that is sought beside the bars."""
    name = f"{direction} {len(device)}"
    server.create(name, direction=direction, strategy="frugal")
    for arm, quality in QUALITY.items():
        server.post(name, "add", arm=arm, fidelity="coarse", values=[quality] * 9)
    page = open_page(server, route_to(name), **device)
    leader, rival = ("deep", "baseline") if direction == "maximise" else ("baseline", "deep")
    rows = page.locator(".interval-rows li")
    expect(rows.filter(has_text=leader).locator(".behind")).to_be_empty()
    expect(rows.filter(has_text=rival).locator(".behind")).to_have_text(re.compile(r"^behind by 0\.\d+ to 0\.\d+$"))
    page.get_by_text("Show the table").click()
    cells = page.locator(".numbers tbody tr").filter(has_text=rival).locator("td")
    sign = "" if direction == "maximise" else MINUS
    expect(cells.nth(3)).to_have_text(re.compile(rf"^{sign}0\.\d+ to ({sign}0\.\d+|0\.00)$"))  # no minus zero
    assert_no_overflow(page)


def test_other_rules_are_named(open_page, server):
    server.create("other", stopping="stylised")
    server.create("own", strategy="lucb")
    page = open_page(server, route_to("other"))
    expect(page.locator(".bar .done")).to_have_text("the rule 'stylised' decides, not the proof")
    expect(page.locator(".evidence .note")).to_contain_text("This study stops by the rule 'stylised'")
    page.goto(f"{server.address}/{route_to('own')}")
    expect(page.locator(".bar .done")).to_have_text("the strategy's own rule decides, not the proof")
    expect(page.locator(".settings")).to_contain_text("Stopping: the strategy's own rule.")


def test_fresh_study_and_none(open_page, server):
    server.create("fresh")
    page = open_page(server, route_to("fresh"), expected=REFUSED)
    expect(page.locator(".recent .note")).to_have_text("1 event in all.")
    page.goto(f"{server.address}/{route_to('nowhere')}")
    expect(page.get_by_text("unknown study 'nowhere'")).to_be_visible()
    expect(page.get_by_role("button", name="Download the certificate")).to_be_hidden()
    expect(page.locator(".badge")).to_be_hidden()


def test_cost_after_the_verdict_is_told_apart(open_page, server):
    server.create("late", strategy="frugal")  # values from elsewhere count before the trial under way
    (trial,) = server.post("late", "ask")["trials"]
    for arm, quality in QUALITY.items():
        server.post("late", "add", arm=arm, fidelity="fine", values=[quality] * 50)
    server.post("late", "tell", trial=trial["id"], value=0.7)
    page = open_page(server, route_to("late"))
    expect(page.locator(".tile.evaluation")).to_contain_text("1 late")
    expect(page.locator(".tile.cost")).to_contain_text(f"{digits(trial['cost'])} of it after the verdict")


# --- a panel is one file


def test_every_file_of_a_panel_is_in_the_list():
    """A panel that is written is shown."""
    files = {file.stem for file in PANELS.glob("*.js")} - {"list"}
    assert set(re.findall(r'^  "(\w+)",$', (PANELS / "list.js").read_text(), re.M)) == files


def test_a_panel_is_one_file_and_one_line(open_page, server):
    """The skeleton of the documentation, put into the folder and into the list, is drawn and follows the study."""
    files = {
        "list": (PANELS / "list.js").read_text().replace('  "numbers",\n', '  "numbers",\n  "skeleton",\n'),
        "skeleton": SKELETON.read_text(),
    }
    server.create("with a panel")
    page = open_page(server)
    for name, text in files.items():
        answer_with(page, f"**/panels/{name}.js", "text/javascript", text)
    page.goto(f"{server.address}/{route_to('with a panel')}")
    page.reload()
    panel = page.locator(".panels > .panel.fidelity-counts")
    expect(panel.locator("li")).to_have_text(["coarse: 0 results", "fine: 0 results"])
    server.post("with a panel", "add", arm="wide", fidelity="coarse", values=[0.7, 0.8])
    expect(panel.locator("li")).to_have_text(["coarse: 2 results", "fine: 0 results"])
    expect(panel.locator(".note")).to_have_text("“with a panel” shows 3 of 3 arms.")


NAMED = ".evidence-rows .arm, .interval-rows .arm, .spend tbody th, .shares .legend .arm"


@pytest.mark.parametrize("device", [{"viewport": {"width": 1280, "height": 900}}, PHONE], ids=["desktop", "phone"])
def test_long_names_that_begin_alike_are_told_apart(open_page, server, device):
    arms = [f"design number {k} with a long name" for k in range(7)]
    name = f"alike {len(device)}"
    server.create(name, SPEC.replace('["baseline", "wide", "deep"]', json.dumps(arms)))
    server.post(name, "tell", trial=server.post(name, "ask")["trials"][0]["id"], value=0.5)
    page = open_page(server, route_to(name), **device)
    expect(page.locator(".spend tbody th")).to_have_count(len(arms))
    for panel in NAMED.split(", ")[:3]:
        shown = page.locator(panel).all_inner_texts()
        assert sorted(text.removeprefix("★ ") for text in shown) == arms
    cut = "all => all.filter((n) => n.scrollWidth > n.clientWidth || n.scrollHeight > n.clientHeight).length"
    assert page.locator(NAMED).evaluate_all(cut) == 0
    assert_no_overflow(page)


def test_short_names_leave_the_room_to_the_bars(open_page, server):
    server.create("briefly called")
    page = open_page(server, route_to("briefly called"), viewport={"width": 1280, "height": 900})
    expect(page.locator(".evidence-rows .arm")).to_have_count(3)
    assert page.locator("[data-wide-names]").count() == 0
    name, track = (page.locator(f".evidence-rows {part}").first.bounding_box() for part in (".arm", ".track"))
    assert (name["width"], track["x"] - name["x"]) == pytest.approx((152, 164), abs=1)


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["plain", "wide"], ["plain", "wide"]),
        (["a" * 30, "b"], ["a" * 9 + "…", "b"]),
        (["a" * 30 + "b", "a" * 30 + "c"], ["aaaa…aaaab", "aaaa…aaaac"]),
        (["a" * 20 + "1" + "z" * 40, "a" * 20 + "2" + "z" * 40], ["…aa1zzzzz…", "…aa2zzzzz…"]),
        (["\U0001f6b2" * 12, "b"], ["\U0001f6b2" * 9 + "…", "b"]),
        (["a" * 60, "a" * 20 + "y" + "a" * 39, "a" * 40 + "z" + "a" * 19], None),
    ],
)
def test_names_are_cut_only_where_they_still_differ(open_page, server, names, shown):
    page = open_page(server, "#/new")
    cut = 'async (names) => (await import("/static/names.js")).shortNames(names, 10)'
    found = page.evaluate(cut, names)
    assert found == (shown or names)
