"""Numbers as the page reads and writes them."""

import random
import re

from playwright.sync_api import expect

from mfbai.text import digits
from support.pages import MINUS, SPEC, route_to


def formatted(page, function, *calls):
    """What a function of the page's format.js returns, or the message of its error, for the arguments of each call."""
    return page.evaluate(
        """async ([name, calls]) => {
             const format = await import("/static/format.js");
             const call = (given) => { try { return format[name](...given); } catch (wrong) { return wrong.message; } };
             return calls.map(call);
           }""",
        [function, calls],
    )


def test_only_plain_numbers_are_read(open_page, server):
    page = open_page(server)
    plain = {"1000": 1000, " +1.5 ": 1.5, "-2,5": -2.5, "0,125": 0.125, ".5": 0.5, "5.": 5, "1.000": 1}
    plain |= {f"{MINUS}1e{MINUS}3": -0.001}
    assert formatted(page, "readNumber", *([text] for text in plain)) == list(plain.values())
    separated = {"1,000": "write 1000, or 1.000", "-1,234,567": "write -1234567.", "1,234.5": "write 1234.5."}
    for text, hint in separated.items():
        assert hint in formatted(page, "readNumber", [text])[0]
    wrong = ["", " ", "0x10", "0b1", "Infinity", "∞", "NaN", "1 000", "1_000", "1.2.3", "1,2,3", "1e", "e3", "--1", "٣"]
    for told in formatted(page, "readNumber", *([text] for text in wrong)):
        assert "is not a number" in told
    assert formatted(page, "readNumber", ["1e999"], ["-1e999"]) == ["“1e999” is too large.", "“-1e999” is too large."]


def test_what_is_short_of_the_whole_does_not_read_as_the_whole(open_page, server):
    texts = {0: "0 %", 1e-12: "< 1 %", 0.002: "< 1 %", 0.01: "1 %", 0.994: "99 %", 0.996: "> 99 %", 0.9999: "> 99 %"}
    texts |= {1 - 1e-12: "100 %", 1: "100 %", 1.2: "120 %"}
    assert formatted(open_page(server), "percent", *([share] for share in texts)) == list(texts.values())


def test_numbers_are_written_as_by_the_server(open_page, server):
    chance = random.Random(1)
    values = [chance.choice((-1, 1)) * chance.uniform(1, 10) * 10 ** chance.randint(-12, 14) for _ in range(500)]
    values += [chance.randint(0, 10**4) / 8 for _ in range(500)]  # many of them are halves of the last digit
    values += [chance.randint(0, 10**4) / 20 for _ in range(500)]
    texts = formatted(open_page(server), "number", *([value] for value in values))
    assert texts == [typographic(digits(value)) for value in values]


def typographic(text):
    return re.sub(r"e([+-])0*(?=\d)", r"e\1", text).replace("e+", "e").replace("-", MINUS)


def read_back(text):
    return [float(end.replace(MINUS, "-").replace(",", "")) for end in text.split(" to ")]


def test_shown_intervals_hold_the_true_ones_and_are_hardly_wider(open_page, server):
    chance = random.Random(2)
    widths = [10 ** chance.uniform(-12, 12) for _ in range(500)]
    lows = [chance.uniform(-1, 1) * width * 10 ** chance.uniform(0, 9) for width in widths]
    ends = [(low, low + width) for low, width in zip(lows, widths, strict=True)]
    page = open_page(server)
    for (low, high), text in zip(ends, formatted(page, "interval", *ends), strict=True):
        first, last = read_back(text)
        assert first <= low < high <= last
        assert last - first <= 1.21 * (high - low)
    assert formatted(page, "interval", [None, None], [None, 3.14159], [-2, None], [2, 2]) == [
        "anything",
        f"{MINUS}∞ to 3.15",
        f"{MINUS}2.00 to ∞",
        "2 to 2",
    ]
    assert formatted(page, "interval", [1e12 - 1e9, 1e12 + 1e9]) == ["0.9990e12 to 1.0010e12"]
    assert formatted(page, "tickTexts", [[1373.1, 1373.15]]) == [["1,373.10", "1,373.15"]]
    assert formatted(page, "tickTexts", [[-5e-10, 0]]) == [[f"{MINUS}5e{MINUS}10", "0"]]


def test_arms_that_are_near_to_each_other_are_told_apart(open_page, server):
    server.create("near", SPEC.replace("variance = 0.01", "variance = 0.0001").replace("bias = 0.03", "bias = 0.001"))
    for arm, value in {"baseline": 1373.12, "wide": 1373.15, "deep": 1373.18}.items():
        server.post("near", "add", arm=arm, fidelity="coarse", values=[value] * 20)
    page = open_page(server, route_to("near"), viewport={"width": 1280, "height": 900})
    expect(page.locator(".interval-rows .value")).to_have_count(3)
    page.get_by_text("Show the table").click()
    expect(page.locator(".numbers tbody tr").first).to_contain_text("1,373.12 (20)")
    for shown in (".interval-rows .value", ".intervals .tick", ".numbers tbody td:nth-child(4)"):
        texts = page.locator(shown).all_inner_texts()
        assert len(texts) == len(set(texts)) > 1
    inside = "nodes => nodes.every(node => node.scrollWidth <= node.clientWidth)"
    assert page.locator(".interval-rows .value").evaluate_all(inside)
