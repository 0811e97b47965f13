"""The form for a new study, and the form of a trial."""

import re

import pytest
from playwright.sync_api import expect

from mfbai.model.families import FAMILIES
from mfbai.stopping import RULES
from mfbai.strategies import STRATEGIES
from mfbai.study.status import trial_from_dict
from support.controlled import controlled, values_of
from support.pages import AWAY, PHONE, QUALITY, REFUSED, SPEC, assert_no_overflow, create_by_form, route_to


def test_form_says_what_is_wrong_and_keeps_what_was_typed(open_page, server):
    page = open_page(server, "#/new", expected=REFUSED)
    page.get_by_label("Name", exact=True).fill("kept")
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
    page.get_by_role("link", name="Studies", exact=True).click()
    page.get_by_role("link", name="New study").last.click()
    expect(page.get_by_label("Problem")).to_have_value("[problem]\narms = [")
    expect(page.get_by_label("Name", exact=True)).to_have_value("kept")
    page.get_by_label("Problem").fill(SPEC)
    button.click()
    expect(page.get_by_role("heading", name="kept")).to_be_visible()
    page.get_by_role("link", name="New study").click()
    page.get_by_label("Name", exact=True).fill("kept")
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


def test_minimising_study_prefers_small_values(open_page, server):
    page = open_page(server)
    create_by_form(page, "smallest", Direction="minimise")
    for arm, quality in QUALITY.items():
        server.post("smallest", "add", arm=arm, fidelity="coarse", values=[quality] * 20)
    expect(page.locator(".tile.leader strong")).to_have_text("baseline")
    expect(page.locator(".tile.leader")).to_contain_text("the smallest value is sought")
    expect(page.locator(".intervals .better")).to_have_text("← smaller is better")


@pytest.mark.parametrize("device", [{}, PHONE], ids=["desktop", "phone"])
def test_study_with_common_seeds_shows_how_far_the_leader_is_ahead(open_page, server, device):
    """From the form to the verdict: the panel and the table have differences, and no intervals of single arms."""
    name = f"shared on a {'phone' if device else 'desk'}"
    page = open_page(server, **device)
    create_by_form(page, name, Seeds="common")
    expect(page.locator(".settings")).to_contain_text("Strategy: race. Stopping: the rule 'contrasts'. Seeds: common.")
    server.work(name)
    expect(page.locator(".headline")).to_contain_text("if differences at the same seed are symmetric")
    panel = page.locator(".intervals")
    expect(panel).to_contain_text("The bar holds how much better the leader is than the arm")
    expect(panel.locator("li").filter(has_text="deep")).to_contain_text("leads")
    expect(panel.locator(".dot:visible")).to_have_count(0)
    page.get_by_text("Show the table").click()
    head = page.locator(".numbers th[scope=col]")
    expect(head).to_have_text(["arm", "coarse", "fine", "difference to the leader", "evidence"])
    assert_no_overflow(page)


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


def test_trials_with_parts_show_them_and_take_their_values(open_page, server):
    server.create("parts", spec=controlled().to_dict())
    while (trial := server.post("parts", "ask")["trials"][0])["fidelity"] != "paired":
        server.post("parts", "tell", trial=trial["id"], value=values_of(trial_from_dict(trial)))
    server.post("parts", "release", trial=trial["id"])
    page = open_page(server, route_to("parts"), expected=REFUSED)
    page.get_by_role("button", name="Ask for a trial").click()
    row = page.locator(".trials.mine .trial")
    wanted = [f"{part['fidelity']} seed {part['seed']}" for part in trial["parts"]]
    expect(row.locator(".parts li")).to_have_text(wanted)
    box = row.get_by_label("Values of 6, in this order")
    expect(box).to_be_focused()
    values = [repr(value) for value in values_of(trial_from_dict(trial))]
    for typed, hint in (("0.5 much", "“much” is not a number"), ("0.5", "takes 6 values")):
        box.fill(typed)
        row.get_by_role("button", name="Tell").click()
        expect(row.locator(".error")).to_contain_text(hint)
    box.fill("\n".join(values))
    row.get_by_role("button", name="Tell").click()
    expect(page.locator(".said")).to_contain_text("Told 6 values for")
    expect(row).to_have_count(0)
    assert_no_overflow(page)
    told = [event for event in server.call("/parts/journal")["events"] if event["kind"] == "tell"]
    assert [repr(part) for part in told[-1]["parts"]] == values


def test_lease_must_be_a_plain_number(open_page, server):
    server.create("leased")
    page = open_page(server, route_to("leased"))
    for minutes, hint in {"1,000": "write 1000", "0x10": "is not a number", "0": "is not a number of minutes"}.items():
        page.locator(".lease input").fill(minutes)
        page.get_by_role("button", name="Ask for a trial").click()
        expect(page.locator(".by-hand > .error")).to_contain_text(hint)
    expect(page.locator(".trials.mine .trial")).to_have_count(0)


# --- what can be chosen


def offered(page, label):
    return page.get_by_label(label, exact=True).locator("option").all_inner_texts()


def test_the_form_offers_what_the_registries_have(open_page, server):
    """All strategies that need no truth, all rules, all families; at first the server chooses."""
    page = open_page(server, "#/new")
    page.get_by_text("More settings").click()
    usable = [name for name in STRATEGIES if name != "oracle"]
    assert offered(page, "Strategy") == ["chosen for the problem", *usable]
    assert offered(page, "Stopping rule") == ["chosen for the problem", *RULES]
    assert offered(page, "Direction") == ["as the problem says", "maximise", "minimise"]
    assert offered(page, "Seeds") == ["as the problem says", "independent", "common"]
    for label in ("Strategy", "Stopping rule"):
        expect(page.get_by_label(label, exact=True)).to_have_value("chosen for the problem")
    expect(page.locator("#new-strategy-hint")).to_have_text("The cheapest that the problem allows.")
    example = page.get_by_label("Problem").input_value()
    named = re.search(r'name = "(\w+)" +# or (.*)', example)
    assert {named[1], *named[2].split(", ")} == set(FAMILIES)


def test_the_form_says_what_is_special_about_a_strategy_and_asks_for_its_options(open_page, server):
    """Options of the strategy and of the rule, unless the strategy stops by its own."""
    page = open_page(server, "#/new")
    page.get_by_text("More settings").click()
    strategy, rule = (page.get_by_label(label, exact=True) for label in ("Strategy", "Stopping rule"))
    expect(page.locator(".options input")).to_have_count(0)
    strategy.select_option("grad-const")
    expect(page.locator("#new-strategy-hint")).to_have_text(
        "The same at a constant rate; evaluates at the top fidelity alone."
    )
    expect(page.get_by_label("Option “rate”")).to_be_visible()
    expect(page.locator(".options")).to_contain_text("Left empty, it is 0.25.")
    rule.select_option("theorem")
    expect(page.get_by_label("Option “constant”")).to_be_visible()
    strategy.select_option("lucb")
    expect(page.locator("#new-strategy-hint")).to_contain_text("stops by a rule of its own")
    expect(rule).to_be_hidden()
    expect(page.locator(".options input")).to_have_count(0)


def test_options_are_sent_and_what_is_wrong_with_them_is_said_beside_them(open_page, server):
    page = open_page(server, "#/new", expected=REFUSED)
    page.get_by_text("More settings").click()
    page.get_by_label("Strategy", exact=True).select_option("uniform")
    page.get_by_label("Stopping rule", exact=True).select_option("theorem")
    page.get_by_role("button", name="Create the study").click()
    expect(page.locator("#new-option-constant-fault")).not_to_be_empty()
    page.get_by_label("Option “constant”").fill("1,000")
    page.get_by_role("button", name="Create the study").click()
    expect(page.locator("#new-option-constant-fault")).to_contain_text("write 1000")
    page.get_by_label("Option “constant”").fill("2.5")
    page.get_by_label("Name", exact=True).fill("of theorem")
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_role("heading", name="of theorem")).to_be_visible()
    settings = server.call("/of%20theorem")
    assert (settings["strategy"], settings["stopping"], settings["options"]) == (
        "uniform",
        "theorem",
        {"constant": 2.5},
    )


def test_a_form_that_could_not_be_loaded_is_loaded_at_the_next_visit(open_page, server):
    page = open_page(server, expected=AWAY)
    page.route("**/api/v1/choices", lambda route: route.abort())
    page.get_by_role("link", name="New study").last.click()
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    page.unroute("**/api/v1/choices")
    page.get_by_role("link", name="Studies", exact=True).click()
    page.get_by_role("link", name="New study").last.click()
    expect(page.get_by_label("Problem")).to_be_visible()
