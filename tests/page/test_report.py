"""A report in a browser: it opens from a file and asks for nothing, shows all trials, and notices what was changed."""

import base64
import contextlib
import csv
import io
import itertools
import json
import re

import numpy as np
import pytest
from playwright.sync_api import expect

import mfbai
from mfbai.study.journal import canonical
from mfbai.study.report.making import make_report
from support.certificates import run
from support.pages import PHONE, assert_no_overflow
from support.reports import ODD, ODD_NAME, long_study, odd_study, with_block

PATIENCE = 120  # seconds for anything to be seen, on a busy machine
DESKTOP = {"viewport": {"width": 1280, "height": 900}}


@pytest.fixture(scope="module")
def study():
    """Finished, with a failure, imported values and a late result."""
    made = run(late=True)
    made.set_note("# Why\n<b>not bold</b> </script>")
    made.set_tags(["first", "second"])
    return made


@pytest.fixture(scope="module")
def html(study):
    return study.report()


@pytest.fixture
def open_report(browser, tmp_path):
    """Opens a text as a file. A complaint of the console, a dialog, or a request for anything else fails the test; a
    damaged program may complain."""
    complaints = []
    with contextlib.ExitStack() as stack:

        def opened(text, name="report.html", damaged=False, **settings):
            path = tmp_path / name
            path.write_text(text, encoding="utf-8", newline="")
            context = browser.new_context(**{**DESKTOP, **settings})
            stack.callback(context.close)
            context.set_default_timeout(1000 * PATIENCE)
            page = context.new_page()
            page.on("console", lambda said: damaged or complaints.append(said.text))
            page.on("pageerror", lambda error: damaged or complaints.append(str(error)))
            page.on("dialog", lambda dialog: complaints.append(dialog.message))
            page.on(
                "request",
                lambda made: made.url.startswith((path.as_uri(), "data:", "blob:")) or complaints.append(made.url),
            )
            page.goto(path.as_uri())
            return page

        expect.set_options(timeout=1000 * PATIENCE)
        yield opened
    assert complaints == []


def checked(page):
    """Wait until the whole file was read and checked."""
    expect(page.locator("#report[data-done]")).to_be_attached()
    return page


def with_module(html, name, before, after):
    """The report with another text in a module of its program."""
    address = re.search(rf'"mfbai/{re.escape(name)}":"data:text/javascript;base64,([^"]+)"', html)[1]
    text = base64.b64decode(address).decode()
    assert before in text
    return html.replace(address, base64.b64encode(text.replace(before, after).encode()).decode())


def drop(page, name, text, kind="application/json", others=0):
    """Drop a file on the page, or several of which it is the first."""
    page.evaluate(
        """([name, text, kind, others]) => {
             const data = new DataTransfer();
             data.items.add(new File([text], name, {type: kind}));
             for (let n = 0; n < others; n++) data.items.add(new File(["{}"], `other ${n}`, {type: kind}));
             for (const what of ["dragover", "drop"])
               document.body.dispatchEvent(new DragEvent(what, {dataTransfer: data, bubbles: true, cancelable: true}));
           }""",
        [name, text, kind, others],
    )


# --- what it shows


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("settings", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_report_opens_from_a_file_and_shows_everything(open_report, html, settings, scheme):
    page = checked(open_report(html, color_scheme=scheme, **settings))
    expect(page.locator("h1:visible")).to_have_text("s")
    expect(page.locator(".headline:visible")).to_contain_text("The best is 'b': the risk is 0.05 at most")
    expect(page.locator(".grounds")).to_contain_text("The noise is normal with the stated variances.")
    expect(page.locator(".grounds")).to_contain_text("'fidelity 1' is off by 0.1 at most.")
    expect(page.locator(".grounds .bears")).to_contain_text("It stands even if every bias bound is")
    expect(page.locator(".evidence-rows li")).to_have_count(3)
    expect(page.locator(".interval-rows li")).to_have_count(3)
    expect(page.locator(".plot canvas")).to_have_count(3)
    expect(page.locator(".checks li[data-state=good]")).to_have_count(2)
    expect(page.locator(".checks")).to_contain_text("mfbai study verify report.html")
    expect(page.locator(".written .markdown h3")).to_have_text("Why")
    expect(page.locator(".written .markdown")).to_contain_text("<b>not bold</b> </script>")
    expect(page.locator(".written")).to_contain_text("Tags: first, second")
    expect(page.locator(".table .note")).to_have_text("30 trials. 2 values were added from elsewhere.")
    expect(page.locator(".warning")).to_be_hidden()
    assert_no_overflow(page)
    shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", shade))) < 200) == (scheme == "dark")


def test_the_answer_can_be_read_without_scripts(open_report, html):
    page = open_report(html, java_script_enabled=False, **PHONE)
    expect(page.locator("#answer")).to_be_visible()
    expect(page.locator("#answer .headline")).to_contain_text("The best is 'b'")
    expect(page.locator("#answer")).to_contain_text("Breakdown factor")
    expect(page.locator(".warning")).to_be_visible()
    expect(page.locator(".warning")).to_contain_text("need a browser that runs scripts")
    width = page.locator("html").bounding_box()["width"]
    assert width <= PHONE["viewport"]["width"]


def test_names_are_shown_as_they_are(open_report):
    page = checked(open_report(odd_study().report()))
    expect(page.locator("h1:visible")).to_have_text(ODD_NAME)
    assert page.locator(".evidence-rows .arm").all_inner_texts() == ODD
    page.get_by_label("Find arms").fill("</script>")
    expect(page.locator(".trial-rows .row:not(.head):visible .of-arm").first).to_have_text(ODD[0])
    expect(page.locator(".trial-rows .row:not(.head):visible .of-worker").first).to_have_text('a "worker", </script>')
    expect(page.locator(".checks li[data-state=good]")).to_have_count(2)


def test_of_many_arms_it_says_which_are_shown(open_report):
    problem = mfbai.Problem(1000, [0.1, 1.0], [0.1, 0.0], mfbai.Gaussian(0.04))
    study = mfbai.create_study(problem, 0.05, name="many", storage="sqlite://")
    study.tell_many([(trial, 0.1) for trial in study.ask_many(1000)])
    page = checked(open_report(study.report(), **PHONE))
    expect(page.locator(".some")).to_contain_text("Of 1,000 arms, the pictures show the 20 that matter most")
    expect(page.locator(".table .note")).to_have_text("1,000 trials.")
    assert_no_overflow(page)


def test_a_study_that_runs_has_a_report(open_report):
    study = mfbai.create_study(mfbai.Problem(2, [1.0], [0.0], mfbai.Gaussian(1.0)), 0.05, storage="sqlite://")
    page = checked(open_report(study.report()))
    expect(page.locator(".badge")).to_have_text("● running")
    expect(page.locator(".table .note")).to_have_text("0 trials.")
    study.ask()
    page = checked(open_report(study.report()))
    expect(page.locator(".trial-rows .of-state").last).to_have_text("under way")


def test_a_paused_study_is_said_to_be_paused(open_report):
    study = mfbai.create_study(mfbai.Problem(2, [1.0], [0.0], mfbai.Gaussian(1.0)), 0.05, storage="sqlite://")
    study.pause()
    text = study.report()
    page = checked(open_report(text))
    expect(page.locator(".badge")).to_have_text("‖ paused")
    expect(page.locator(".headline:visible")).to_contain_text("Paused: ")
    page = open_report(text, java_script_enabled=False)
    expect(page.locator(".headline:visible")).to_contain_text("Paused: ")


# --- the table


@pytest.fixture(scope="module")
def long_html():
    return long_study(5000).report()


def first_row(page):
    return page.locator(".trial-rows .body .row:visible").first


def test_of_many_trials_those_in_view_are_in_the_page(open_report, long_html):
    page = checked(open_report(long_html))
    rows = page.locator(".trial-rows .body .row")
    assert rows.count() < 60
    table = page.get_by_role("table", name="Trials")
    expect(table).to_have_attribute("aria-rowcount", "5001")
    table.focus()
    page.keyboard.press("End")
    last = page.locator('.trial-rows .row[aria-rowindex="5001"]')
    expect(last).to_be_in_viewport()
    expect(last.locator(".of-trial")).to_have_text("5000")
    assert rows.count() < 60
    page.keyboard.press("Home")
    expect(page.locator('.trial-rows .row[aria-rowindex="2"] .of-trial')).to_have_text("1")
    page.keyboard.press("PageDown")
    expect(page.locator('.trial-rows .row[aria-rowindex="2"]')).not_to_be_in_viewport()


@pytest.fixture(scope="module")
def names_html():
    """Names that differ in their middle or at their ends, and nobody's trials."""
    arms = [f"design number {n} with a long name" for n in range(6)]
    arms += [f"{'the same beginning ' * 5}of {n}" for n in range(2)]
    problem = mfbai.Problem(arms, [0.1, 1.0], [0.1, 0.0], mfbai.Gaussian(1.0), fidelities=["a quick simulation", "b"])
    study = mfbai.create_study(problem, 1e-300, storage="sqlite://", strategy="uniform")
    for n in range(100):
        study.tell(study.ask(), n / 100)
    made = make_report(study)
    return made._replace(beside={**made.beside, "workers": [], "worker_of": []}).html


@pytest.mark.parametrize("settings", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_names_in_the_table_are_told_apart(open_report, names_html, settings):
    page = checked(open_report(names_html, **settings))
    table = page.get_by_role("table", name="Trials")
    table.focus()
    page.keyboard.press("End")
    expect(page.locator('.trial-rows .row[aria-rowindex="101"]')).to_be_in_viewport()
    page.get_by_label("Find arms").fill("beginning of 1")
    name = first_row(page).locator(".of-arm")
    expect(name).to_have_text(re.compile("^the same beginning .* … .* beginning of 1$"))
    expect(name).to_have_attribute("title", f"{'the same beginning ' * 5}of 1")
    page.get_by_label("Find arms").fill("")
    expect(page.locator(".table .note")).to_have_text("100 trials.")
    cells = page.locator(".trial-rows .body .row:visible :is(.of-arm, .of-fidelity)")
    assert cells.evaluate_all("cells => cells.every((cell) => cell.scrollHeight <= cell.clientHeight + 1)")
    rows = page.locator(".trial-rows .body .row:visible")
    assert rows.evaluate_all("rows => rows.every((row) => row.scrollHeight <= row.clientHeight + 1)")
    boxes = sorted((row.bounding_box()["y"], row.bounding_box()["height"]) for row in rows.all())
    assert all(abs(below[0] - above[0] - above[1]) < 1 for above, below in itertools.pairwise(boxes))
    expect(page.locator(".trial-rows .of-worker:visible")).to_have_count(0)
    head = page.locator(".trial-rows .head .of-state")
    if head.is_visible():
        assert head.bounding_box()["x"] == first_row(page).locator(".of-state").bounding_box()["x"]
    assert_no_overflow(page)


def test_trials_are_sorted_and_found_by_keyboard(open_report, long_html):
    page = checked(open_report(long_html))
    header = page.get_by_role("columnheader", name="value")
    header.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(header).to_have_attribute("aria-sort", "ascending")
    least = float(first_row(page).locator(".of-value").inner_text().replace("\N{MINUS SIGN}", "-"))
    page.keyboard.press("Enter")
    expect(header).to_have_attribute("aria-sort", "descending")
    most = float(first_row(page).locator(".of-value").inner_text())
    assert least < -2 < 2 < most
    page.get_by_label("Find arms").fill("fine arm 1")
    expect(page.locator(".table .note")).to_have_text(re.compile(r"^1,375 of 5,000 trials\.$|of 5,000 trials\.$"))
    expect(first_row(page).locator(".of-fidelity")).to_have_text("fine")
    page.get_by_label("Find arms").fill("no such arm")
    expect(page.locator(".table .note")).to_have_text("0 of 5,000 trials.")
    expect(page.locator(".trial-rows .body .row:visible")).to_have_count(0)


def test_trials_are_chosen_by_state(open_report, html):
    page = checked(open_report(html))
    for state, count in {"late": 1, "failed": 1, "told": 28, "under way": 0}.items():
        page.get_by_label("State", exact=True).select_option(state)
        expect(page.locator(".table .note")).to_contain_text(f"{count} of 30 trials.")


@pytest.mark.parametrize("make", [lambda: run(late=True), odd_study], ids=["finished", "odd"])
def test_the_csv_is_that_of_the_library(open_report, make):
    study = make()
    page = checked(open_report(study.report()))
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download as CSV").click()
    saved = waiting.value.path().read_bytes().decode("utf-8")
    assert saved == study.to_csv()
    assert len(list(csv.reader(io.StringIO(saved, newline="")))) == len(study.rows()) + 1


def test_a_phone_shows_every_entry_of_a_trial(open_report, html):
    page = checked(open_report(html, **PHONE))
    row = first_row(page)
    row.scroll_into_view_if_needed()
    for name in ("trial", "arm", "fidelity", "seed", "value", "cost", "asked", "told", "worker", "state"):
        cell = row.locator(f".of-{name}")
        expect(cell).to_be_visible()
        assert cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth + 1"), name
    assert_no_overflow(page)


def test_a_printed_report_says_how_many_trials_it_has(open_report, long_html):
    page = checked(open_report(long_html))
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    expect(page.locator(".printed")).to_have_text(re.compile("^The first 50 of 5,000 rows."))
    expect(page.locator(".trial-rows .body .row:visible")).to_have_count(50)
    assert len(page.pdf()) > 10_000
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".trial-rows .body .row:visible").count() < 50


# --- the check


def test_python_and_the_page_write_the_same_text(open_report, html):
    """The text that is hashed, of values of every kind."""
    rng = np.random.default_rng(2)
    numbers = [
        *rng.normal(size=200),
        *10.0 ** rng.uniform(-320, 308, 400),
        1e16,
        1e15,
        123456789012345680.0,
        1e-4,
        9.9e-5,
    ]
    numbers += [0.0, -0.0, 5e-324, 1.7976931348623157e308, 1.0, -3.0, 2.5e-7, 1e22, 1e21, 0, -7, 2**53 + 1, 10**30]
    texts = ["", "a", '\x00\x1f\x7f\x80\n\t"\\/', "\u2028\ud800", "\U0001f600", "</script>", "\u00e9"]
    keys = ["b", "a", "a b", "a!", 'a"', "", "\uffff", "\U0001f600", "\u00e9", "Z", "a\\"]
    value = {
        key: {"numbers": list(map(_plain, numbers)), "texts": texts, "rest": [True, False, None, {}, []]}
        for key in keys
    }
    page = checked(open_report(html))
    for written in (json.dumps(value), json.dumps(value, indent=3, ensure_ascii=False).replace("\ud800", "\\ud800")):
        found = page.evaluate(
            'async (text) => new (await import("mfbai/report/exact.js")).Reader(text).value()', written
        )
        assert found == canonical(value)


def _plain(number):
    return number if isinstance(number, int) else float(number)


def test_a_changed_event_is_named(open_report, html, study):
    seal = study.journal()[20].hash
    before = f'"hash": "{seal}"}},\n'
    assert html.count(before) == 1
    page = checked(open_report(html.replace(before, before.replace(seal[-4:], "0000"))))
    expect(page.locator(".warning")).to_contain_text("Do not rely on this file. Event 20: its hash does not fit")
    expect(page.locator(".checks li[data-state=bad]").first).to_contain_text(
        "its hash does not fit: it, or an event before it"
    )


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("The best is &#x27;b", "The best is &#x27;a", "the answer in plain text"),
        ('"sentence":"The best is \'b', '"sentence":"The best is \'c', "the numbers of the pictures"),
        ('"note":"# Why', '"note":"# What', "the note, tags and workers"),
        ('"machine": "', '"machine": "x', "the certificate"),
        ("--blue: #0072b2", "--blue: #0072b3", "the styles of this page"),
        ('<p class="headline">', '<p class="headlime">', "the answer in plain text"),
        ("<title>s ·", "<title>t ·", "the markup around the parts"),
        ("base-uri 'none'", "base-uri 'self'", "the markup around the parts"),
        ("image/svg+xml;base64,PHN2", "image/svg+xml;base64,PHN3", "the markup around the parts"),
        ('<html lang="en">', '<html lang="an">', "the markup around the parts"),
        ('class="top"', 'class="tip"', "the markup around the parts"),
        ("All terms explained", "All terms explaimed", "the markup around the parts"),
        ("</head>\n<body>", "</head>\na<body>", "the markup around the parts"),
        ("<!doctype html>", "<!doctype htmm>", "the markup around the parts"),
        ('"events": 63', '"events": 64', "the events that the certificate states is not that of its journal"),
        ('"study": "s"', '"study": "t"', "the study that the certificate states is not that of its journal"),
    ],
)
def test_a_change_beside_the_journal_is_noticed(open_report, html, before, after, told):
    assert html.count(before) == 1
    page = checked(open_report(html.replace(before, after)))
    expect(page.locator(".warning")).to_contain_text("Do not rely on this file.")
    expect(page.locator(".warning")).to_contain_text(told)


def test_a_changed_program_is_noticed(open_report, html):
    """One that still runs."""
    name, text = re.search(r'"(mfbai/report/offline\.js)":"data:text/javascript;base64,([^"]+)"', html).groups()
    page = checked(open_report(html.replace(text, "ZXhwb3J0IGNvbnN0IGZpbmRBcm1zID0gMTs=")))
    assert name
    expect(page.locator(".warning")).to_contain_text("Changed since the file was written: the program of this page.")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<script type="importmap">{', '<script type="importmap">['),
        ("data:text/javascript;base64,", "data:text/javascript;base64,%"),
        ('import "mfbai/report/main.js"', 'import "mfbai/report/main.jz"'),
        ('<script type="module">', '<script type="modulo">'),
    ],
)
def test_a_program_that_does_not_start_leaves_a_warning(open_report, html, before, after):
    assert before in html
    page = open_report(html.replace(before, after), damaged=True)
    expect(page.locator(".warning")).to_be_visible()
    expect(page.locator(".warning")).to_contain_text("this warning stays, the file was damaged: do not rely on it.")
    expect(page.locator(".badge")).to_have_count(0)


@pytest.mark.parametrize(
    ("module", "before", "after", "told"),
    [
        (
            "report/checks.js",
            "checkChain(certificate)",
            "checkChair(certificate)",
            "A check did not finish: checkChair",
        ),
        (
            "report/sha256.js",
            "export function* sha256InSteps(",
            "export function* sha256InSteps(a=b,",
            "did not finish",
        ),
        ("report/checks.js", "await judge(", "await fudge(", "Its program failed: fudge is not defined"),
        ("report/checks.js", "async run(", "async runs(", "Its program failed: checks.run is not a function"),
        ("report/trials.js", "this.length += 1", "this.length += one", "cannot be shown as a table"),
        ("panels/evidence.js", "update(", "updade(", "A picture cannot be drawn."),
        ("report/main.js", "show(source);", "shown(source);", "its program failed: shown is not a function"),
        ("report/main.js", "showOwn();\n", "showOwm();\n", "Its program failed: showOwm is not defined"),
    ],
)
def test_a_program_that_fails_later_is_noticed(open_report, html, module, before, after, told):
    page = open_report(with_module(html, module, before, after), damaged=True)
    expect(page.locator(".warning")).to_be_visible()
    expect(page.locator(".warning")).to_contain_text("Do not rely on this file")
    expect(page.locator(".warning")).to_contain_text(told)
    expect(page.locator(".badge", has_text="decided")).to_have_count(0)


def test_a_report_looks_proven_only_after_the_checks(open_report, html):
    page = open_report(with_module(html, "report/slices.js", "for (;;) {", "await new Promise(() => {}); for (;;) {"))
    expect(page.locator(".badge")).to_have_text("… being checked")
    expect(page.locator(".checks li[data-state=good]")).to_have_count(0)
    page = checked(open_report(html))
    expect(page.locator(".badge")).to_have_text("✓ decided")


@pytest.mark.parametrize(
    ("digests", "told"), [("null", "Changed since the file was written: "), ("{", "its part “digests” is not JSON")]
)
def test_a_page_without_its_digests_is_not_whole(open_report, html, digests, told):
    page = open_report(with_block(html, "digests", digests))
    expect(page.locator(".warning")).to_contain_text("Do not rely on this file")
    expect(page.locator(".warning")).to_contain_text(told)


def test_a_file_that_does_not_fit_loses_its_badge(open_report, html):
    page = checked(open_report(html.replace("The best is &#x27;b", "The best is &#x27;a")))
    expect(page.locator(".badge")).to_have_text("⚠ not reliable")


def test_a_second_certificate_is_noticed(open_report, html):
    begin = '<script type="application/json" id="certificate">'
    page = open_report(html.replace(begin, f"{begin}{{}}</script>{begin}"))
    expect(page.locator(".warning")).to_contain_text("Do not rely on this file: it has 2 parts")
    expect(page.locator("#answer")).to_be_visible()


def test_a_journal_that_ends_too_early_is_noticed(open_report, html):
    page = open_report(html[: int(0.97 * len(html))])
    expect(page.locator("#answer")).to_be_visible()
    expect(page.locator(".warning")).to_be_visible()
    expect(page.locator(".checks li[data-state=good]")).to_have_count(0)


# --- other files


def test_a_certificate_is_shown_that_is_dropped(open_report, html):
    other = long_study(300, arms=4)
    page = checked(open_report(html))
    drop(page, "other.json", json.dumps(other.export()))
    expect(page.locator("h1:visible")).to_have_text("long")
    checked(page)
    expect(page.locator(".headline:visible")).to_have_text("The journal has no verdict.")
    expect(page.locator(".grounds")).to_contain_text("“coarse” is off by 0.1 at most.")
    expect(page.locator(".table .note")).to_have_text("300 trials.")
    expect(page.locator(".checks li[data-state=good]")).to_have_count(1)
    expect(page.locator(".checks")).to_contain_text("mfbai study verify other.json")
    means = other.status().means
    cells = page.locator(".numbers tbody tr").first.locator("td").all_inner_texts()
    assert float(cells[0].split()[0].replace("\N{MINUS SIGN}", "-")) == pytest.approx(means[0, 0], rel=1e-4)


def test_a_verdict_of_a_dropped_certificate_is_shown(open_report, long_html, study, tmp_path):
    study.export(tmp_path / "it's.json")
    page = checked(open_report(long_html, **PHONE))
    page.locator("input[type=file]").set_input_files(tmp_path / "it's.json")
    expect(page.locator("h1:visible")).to_have_text("s")
    checked(page)
    expect(page.locator(".headline:visible")).to_contain_text("The best is “b”: the risk is 0.05 at most")
    expect(page.locator(".bears")).to_contain_text("It stands even if every bias bound is")
    expect(page.locator(".command")).to_have_text("mfbai study verify 'it'\\''s.json'")
    expect(page.locator(".badge")).to_have_text("✓ decided")
    assert_no_overflow(page)


def test_a_report_is_shown_that_is_dropped(open_report, html, long_html):
    page = checked(open_report(long_html))
    drop(page, "other.html", html, "text/html")
    expect(page.locator("h1:visible")).to_have_text("s")
    checked(page)
    expect(page.locator(".evidence-rows li")).to_have_count(3)
    expect(page.locator(".plot canvas")).to_have_count(3)
    expect(page.locator(".checks li[data-state=good]")).to_have_count(2)
    drop(page, "forged.html", html.replace('"sentence":"The best is \'b', '"sentence":"The best is \'c'), "text/html")
    expect(page.locator(".warning")).to_contain_text("the numbers of the pictures")


def test_a_certificate_is_pasted(open_report, html):
    page = checked(open_report(html))
    page.evaluate(
        """(text) => {
             const data = new DataTransfer();
             data.setData("text/plain", text);
             document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true}));
           }""",
        json.dumps(long_study(20, arms=3).export()),
    )
    expect(page.locator("h1:visible")).to_have_text("long")


def test_a_changed_certificate_is_named_by_its_event(open_report, html, study):
    made = study.export()
    made["journal"][7]["at"] += 1
    page = checked(open_report(html))
    drop(page, "changed.json", json.dumps(made, indent=2))
    expect(page.locator(".warning")).to_contain_text("Event 7: its hash does not fit")


EVIL = '<!doctype html><script>alert(1)</script><img src=x onerror="alert(2)">'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "it is not a certificate: it is not a JSON object"),
        ("hello", "it is not a certificate: it is not a JSON object"),
        ("[]", "it is not a certificate"),
        ("{}", "it is not JSON"),
        ('{"a": 1}', 'does not say "format"'),
        ('{"format": "mfbai certificate 1"}', "it has no journal"),
        ('{"format": "mfbai certificate 1", "journal": []}', "it is not JSON"),
        ('{"a": 1, "a": 2}', "a key twice"),
        ("[" * 100_000, "it is not a certificate"),
        ('{"a":' * 100_000, "nested too deeply"),
        (EVIL, "it is a web page, but no report"),
    ],
)
def test_what_is_no_certificate_is_refused_and_what_is_shown_stays(open_report, html, text, told):
    page = checked(open_report(html))
    drop(page, "odd <b>.json", text)
    expect(page.locator(".opener .error")).to_contain_text("“odd <b>.json” cannot be shown")
    expect(page.locator(".opener .error")).to_contain_text(told)
    expect(page.locator("h1:visible")).to_have_text("s")


@pytest.mark.parametrize("journal", [[3], [{}], [{"kind": "create"}], [[]], ["<img src=x onerror=alert(1)>"], [None]])
def test_a_journal_may_say_anything(open_report, html, study, journal):
    page = checked(open_report(html))
    drop(page, "odd.json", json.dumps({**study.export(), "journal": journal}))
    expect(page.locator(".error:not(:empty), .warning:visible").first).to_be_visible()


@pytest.mark.parametrize(
    "shown", ["null", "3", "{}", '{"view": {}}', '{"view": {"status": {}}, "grounds": {}, "facts": []}']
)
def test_numbers_of_a_report_may_say_anything(open_report, html, shown):
    page = checked(open_report(html))
    drop(page, "odd.html", with_block(html, "shown", shown), "text/html")
    expect(page.locator(".error:not(:empty), .warning:visible").first).to_be_visible()


@pytest.mark.parametrize(
    ("entry", "value", "told"),
    [
        ("verdict", "x", "it is not a certificate: its verdict is not as mfbai writes one"),
        ("verdict", {"state": "decided"}, "it is not a certificate: its verdict is not as mfbai writes one"),
        ("journal", [None], "it is not a certificate: its journal does not begin with the creation of a study"),
        ("journal", [{"kind": "create"}], "its first event does not say what the study is about"),
    ],
)
def test_what_is_wrong_with_a_certificate_is_said_in_words(open_report, html, study, entry, value, told):
    page = checked(open_report(html))
    drop(page, "odd.json", json.dumps({**study.export(), entry: value}))
    expect(page.locator(".opener .error")).to_have_text(
        re.compile(f"^“odd.json” cannot be shown: .*{re.escape(told)}\\.$")
    )
    expect(page.locator("h1:visible")).to_have_text("s")


def test_of_several_files_the_page_says_that_it_shows_one(open_report, html):
    page = checked(open_report(html))
    drop(page, "first.json", json.dumps(long_study(20, arms=3).export()), others=1)
    expect(page.locator(".lead:visible")).to_contain_text(
        "From the file “first.json”, opened here; 1 other file that came with it was not opened: open one at a time."
    )
    drop(page, "odd.json", "{}", others=2)
    expect(page.locator(".opener .error")).to_contain_text(
        "Nor was any other of the 3 files opened: open one at a time."
    )


def test_a_file_is_opened_by_keyboard(open_report, html, tmp_path):
    (tmp_path / "other.json").write_text(json.dumps(long_study(20, arms=3).export()))
    page = open_report(html)
    page.on("filechooser", lambda chooser: None)  # the browser must hear of it before the key: nothing waits for that
    checked(page)
    button = page.get_by_role("button", name="Choose a file")
    button.focus()
    with page.expect_file_chooser() as waiting:
        page.keyboard.press("Enter")
    waiting.value.set_files(tmp_path / "other.json")
    expect(page.locator("h1:visible")).to_have_text("long")
    expect(page.locator("h1:visible")).to_be_focused()
