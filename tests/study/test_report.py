"""Reports: one file, the same from the same journal, which `verify` confirms, and in which a changed byte is found."""

import json
import random
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import mfbai
from mfbai import InvalidInput, create_study, load_study, verify
from mfbai.study.certificate import lines_of
from mfbai.study.report.making import make_report
from mfbai.study.report.reading import blocks_of, digests_of
from support.certificates import PROBLEM, resealed, run
from support.controlled import controlled, finish
from support.reports import odd_study, remade, with_block


@pytest.fixture(scope="module")
def parts():
    """A finished study's report: certificate, shown, beside."""
    return make_report(run(late=True))


@pytest.fixture(scope="module")
def html(parts):
    return parts.html


@pytest.fixture
def check(tmp_path):
    """Verifies a text that is written to a file."""

    def checked(text):
        path = tmp_path / "report.html"
        path.write_text(text, encoding="utf-8", newline="")
        return verify(path)

    return checked


# --- true ones


def test_the_report_of_a_study_is_confirmed_with_its_verdict(storage_url, tmp_path):
    study = run(storage_url)
    text = study.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == text
    found = verify(tmp_path / "report.html")
    assert found.reason == "every event follows from those before it"
    assert (found.confirmed, found.study, found.verdict) == (True, "s", study.result)


def test_a_report_is_the_same_from_another_process(tmp_path):
    url = f"sqlite:///{tmp_path / 's.db'}"
    study = run(url)
    code = f"from mfbai import load_study; load_study('s', storage={url!r}).report('other.html')"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert (tmp_path / "other.html").read_text(encoding="utf-8") == study.report()


def test_a_report_holds_the_text_of_the_certificate(parts, html):
    inside = blocks_of(html)["certificate"]
    assert inside.replace("\\u003c", "<") == "".join(lines_of(parts.certificate))
    assert json.loads(inside) == parts.certificate


def running():
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    study.ask_many(2)
    return study


def undecided():
    study = create_study(PROBLEM, 1e-9, max_cost=1.0, storage="sqlite://")
    while study.result is None:
        study.tell(study.ask(), 0.5)
    return study


def alarmed():
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    study.add("a", 0, [2.0] * 20)
    study.add("a", 1, [0.7] * 20)
    assert study.result.state == "alarm"
    return study


def paused():
    study = running()
    study.pause()
    return study


def alike():
    study = create_study(PROBLEM, 0.05, storage="sqlite://", seeds="common", strategy="race")
    for n in range(12):
        study.tell(study.ask(), n / 10)
    return study


def with_parts():
    study = create_study(controlled(), 0.05, storage="sqlite://")
    return finish(study, 30)


def empty():
    return create_study(PROBLEM, 0.05, storage="sqlite://")


@pytest.mark.parametrize("make", [empty, running, undecided, alarmed, paused, alike, with_parts, odd_study])
def test_the_report_of_any_study_is_confirmed(make, check):
    study = make()
    found = check(study.report())
    assert found, found.reason
    assert found.verdict == study.result


def test_the_report_of_a_paused_study_says_so(check):
    text = paused().report()
    assert check(text)
    shown = json.loads(blocks_of(text)["shown"])
    assert shown["view"]["sentence"].startswith("Paused: ")
    assert shown["facts"][0] == ["State", "paused"]
    assert '<p class="headline">Paused: ' in text
    before = '"paused":true'
    assert "'view.status.paused'" in check(text.replace('"paused":true,"workers"', '"paused":false,"workers"')).reason
    assert before in text


def test_a_report_of_many_arms_is_confirmed(check):
    many = mfbai.Problem(1000, [0.1, 1.0], [0.1, 0.0], mfbai.Gaussian(0.04))
    study = create_study(many, 0.05, storage="sqlite://")
    study.tell_many([(trial, 0.1) for trial in study.ask_many(50)])
    assert check(study.report())


def test_what_is_beside_the_journal_is_in_the_report(tmp_path, check):
    url = f"sqlite:///{tmp_path / 's.db'}"
    study = run(url)
    study.set_note("# Why\n<b>because</b> </script>")
    study.set_tags(["first", "second"])
    study.rename("another name")
    made = make_report(load_study("another name", storage=url))
    assert made.beside["name"] == "another name"
    assert made.beside["note"] == "# Why\n<b>because</b> </script>"
    assert made.beside["tags"] == ["first", "second"]
    assert made.certificate["study"] == "s"
    assert len(made.beside["worker_of"]) == sum(event["kind"] == "ask" for event in made.certificate["journal"])
    assert len(made.beside["workers"]) == 1
    assert check(made.html)


def test_the_answer_can_be_read_without_scripts(html):
    body = html.partition('<section id="answer"')[2].partition("</section>")[0]
    text = re.sub(r"<[^>]+>", "\n", body)
    for words in (
        "The best is &#x27;b&#x27;: the risk is 0.05 at most",
        "The noise is normal with the stated variances.",
        "The bias bounds hold.",
        "&#x27;fidelity 1&#x27; is off by 0.1 at most.",
        "It stands even if every bias bound is",
        "mfbai study verify",
    ):
        assert words in text


class Elements(HTMLParser):
    """Counts what a browser would load or run."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.addresses, self.titles = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "script":
            self.scripts.append(dict(attributes).get("type"))
        self.addresses += [value for name, value in attributes if name in ("src", "href")]


@pytest.mark.parametrize("make", [run, odd_study])
def test_a_report_has_its_own_scripts_alone_and_no_address_but_its_own(make):
    found = Elements(make().report())
    assert found.scripts == ["importmap", *["application/json"] * 4, "module"]
    assert [address.partition(",")[0] for address in found.addresses] == ["data:image/svg+xml;base64", "#main"]


def test_the_policy_of_a_report_allows_no_request(html):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
    assert "connect-src" not in policy


def test_the_licence_of_what_is_in_a_report_is_in_it(html):
    assert "Leon Sorokin" in html


def test_reports_need_nothing_of_the_server():
    code = (
        "import sys; sys.modules['fastapi'] = sys.modules['uvicorn'] = sys.modules['pandas'] = None; "
        "from mfbai import Gaussian, Problem, create_study; "
        "print(len(create_study(Problem(2, [1.0], [0.0], Gaussian(1.0)), 0.1, storage='sqlite://').report()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 10_000


# --- changed ones


def test_a_changed_byte_anywhere_is_found(html, check):
    rng = random.Random(5)
    places = rng.sample(range(len(html)), 150)
    for place in places:
        sign = rng.choice([sign for sign in 'a7 <"\n\u00e9' if sign != html[place]])
        found = check(html[:place] + sign + html[place + 1 :])
        assert not found, (place, html[place - 20 : place + 20], sign)
        assert found.reason.isprintable()


@pytest.mark.parametrize(
    ("before", "after", "part"),
    [
        ("The best is &#x27;b", "The best is &#x27;a", "answer in plain HTML"),
        ("default-src 'none'", "default-src *", "head"),
        ("<style>", "<style>.warning { display: none }", "styles"),
        ('"digests">{"style":"', '"digests">{"style":"0', "digests"),
        ('"workers":["', '"workers":["evil ', "digests"),
        ("data:text/javascript;base64,", "data:text/javascript;base64,YWxlcnQoMSk7", "program"),
        ('<div id="report">', '<script>alert(1)</script><div id="report">', "frame"),
        ("</body>", "<p>More.</p></body>", "end"),
    ],
)
def test_the_part_that_was_changed_is_named(html, check, before, after, part):
    assert before in html
    found = check(html.replace(before, after, 1))
    assert not found
    assert f"its part '{part}' was changed, at character" in found.reason
    assert found.verdict is None


def test_what_is_added_after_the_end_is_found(html, check):
    assert "added after its end" in check(html + "\n").reason
    assert "added after its end" in check(html + "<script>alert(1)</script>").reason


def test_a_forged_picture_is_found_though_the_page_fits(parts, check):
    def forged(change):
        shown = json.loads(json.dumps(parts.shown))
        change(shown)
        return check(remade(parts.certificate, shown, parts.beside))

    assert forged(lambda shown: None)
    for change, path in [
        (lambda shown: shown["view"].update(sentence="The best is 'a'."), "view.sentence"),
        (lambda shown: shown["view"]["status"].update(risk=1e-9), "view.status.risk"),
        (lambda shown: shown["view"]["status"]["evidence"].__setitem__(0, 50.0), "view.status.evidence"),
        (lambda shown: shown["view"]["history"]["cost"].pop(), "view.history.cost"),
        (lambda shown: shown["view"].update(more=1), "view"),
        (lambda shown: shown["grounds"].update(bears="It rests on no bias bound."), "grounds.bears"),
        (lambda shown: shown["facts"][0].__setitem__(1, "proven"), "facts"),
        (lambda shown: shown["view"].pop("match"), "view"),
        (lambda shown: shown["view"]["status"].update(told=1.0), "view.status.told"),
    ]:
        found = forged(change)
        assert not found
        assert f"'{path}' in what the report shows is not what follows from its journal" in found.reason


def test_a_forged_event_is_found_though_hashes_and_page_fit(parts, check):
    journal = json.loads(json.dumps(parts.certificate["journal"]))
    n = next(event["n"] for event in journal if event["kind"] == "verdict")
    journal[n]["arm"] = 0
    found = check(remade(resealed(parts.certificate, journal), parts.shown, parts.beside))
    assert not found
    assert found.event == n
    assert "the verdict's arm is 0, the replay gives 1" in found.reason


def test_a_second_block_is_found(html, parts, check):
    begin = '<script type="application/json" id="certificate">'
    twice = html.replace(begin, f"{begin}{{}}</script>\n{begin}", 1)
    assert "has its 'certificate' 2 times" in check(twice).reason


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.99])
def test_a_file_that_ends_too_early_is_rejected(html, check, share):
    found = check(html[: int(share * len(html))])
    assert not found
    assert found.reason.startswith("this is not a certificate")


def test_a_report_without_its_last_line_is_rejected(html, check):
    assert "its part 'end' was changed" in check(html.removesuffix("</html>\n")).reason


@pytest.mark.parametrize(
    "text", ["<!doctype html><p>hello", "<html></html>", "<!DOCTYPE html>" + "<p>" * 100_000, "<!doctype html>\0"]
)
def test_a_web_page_that_is_no_report_is_rejected(check, text):
    assert "it is a web page, but no report" in check(text).reason


@pytest.mark.parametrize("name", ["certificate", "shown", "beside"])
@pytest.mark.parametrize("text", ["", "{", "null", "[]", "{}", "[" * 100_000, "3", '{"a":1,"a":2}', '{"name":NaN}'])
def test_a_block_may_say_anything_and_verify_says_no(html, check, name, text):
    found = check(with_block(html, name, text))
    assert not found
    assert found.reason.isprintable()


@pytest.mark.parametrize("entry", ["name", "note", "tags", "workers", "worker_of", "paused"])
def test_what_is_beside_the_journal_says_no_more_than_it_would(parts, check, entry):
    for odd in (None, 3, {"a": 1}, ["x", 3], "\ud800"):
        beside = {**parts.beside, entry: odd}
        assert not check(with_block(parts.html, "beside", json.dumps(beside))), odd
    assert not check(remade(parts.certificate, parts.shown, {**parts.beside, "more": 1}))


# --- of other versions


def by_another_version(parts, change=lambda shown: None, version="0.1.1"):
    """A report that says that it is another version's, with digests that fit."""
    certificate = {**parts.certificate, "versions": {**parts.certificate["versions"], "mfbai": version}}
    shown = json.loads(json.dumps(parts.shown))
    change(shown)
    text = with_block(remade(certificate, parts.shown, parts.beside), "shown", json.dumps(shown))
    return with_block(text, "digests", json.dumps(digests_of(text)))


def test_of_another_version_only_the_journal_is_confirmed(parts, check):
    found = check(by_another_version(parts))
    assert not found
    assert (found.confirmed, found.unchecked, found.event) == (False, True, None)
    assert found.reason == (
        f"only the journal is confirmed: mfbai 0.1.1 made the page, and this is {mfbai.__version__}, "
        "which cannot check it; verify it with that version"
    )
    assert found.verdict == verify(parts.certificate).verdict


@pytest.mark.parametrize("version", ["2.1.0", "0.1.0rc1", "0.1.0.dev3+g1a2b.d2026", "0.1.0.post1", "1.0+"])
def test_another_version_looks_like_one(parts, check, version):
    assert check(by_another_version(parts, version=version)).unchecked


@pytest.mark.parametrize(
    "version", ["0,1.0", "", "x", "1", "0.1.0 ", "0.1.0 <b>", "0.1.", "\u0660.\u0661.\u0660", "1.0" + "1" * 40]
)
def test_what_is_no_version_is_rejected(parts, check, version):
    found = check(by_another_version(parts, version=version))
    assert (found.confirmed, found.unchecked) == (False, False)
    assert "the versions that it was made with are not as they would be written" in found.reason


def test_a_changed_byte_of_the_version_is_found(html, check):
    before = f'"versions": {{\n    "mfbai": "{mfbai.__version__}"'
    assert html.count(before) == 1
    found = check(html.replace(before, before.replace(mfbai.__version__, "0.1.1")))
    assert (found.confirmed, found.unchecked) == (False, False)
    assert "its part 'certificate' was changed: the digest in the file is another" in found.reason


@pytest.mark.parametrize(
    ("before", "after", "part"),
    [
        ("The best is &#x27;b", "The best is &#x27;a", "answer"),
        ("--blue: #0072b2", "--blue: #0072b3", "style"),
        ('"worker_of":[', '"worker_of": [', "beside"),
        ('"view": {', '"view":  {', "shown"),
        ("data:text/javascript;base64,", "data:text/javascript;base64,YWxlcnQoMSk7", "program"),
        ("default-src 'none'", "default-src *", "frame"),
        ("</body>", "<script>alert(1)</script></body>", "frame"),
        ('"digests">{', '"digests">{}{', None),
        ('"frame": "', '"frame": "0', "frame"),
    ],
)
def test_digests_of_another_version_are_checked(parts, check, before, after, part):
    text = by_another_version(parts)
    assert before in text
    found = check(text.replace(before, after, 1))
    assert (found.confirmed, found.unchecked) == (False, False)
    assert (f"its part '{part}' was changed" if part else "its part 'digests' cannot be read") in found.reason


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda shown: shown.clear(), "everything"),
        (lambda shown: shown["view"].pop("status"), "view"),
        (lambda shown: shown["view"].pop("sentence"), "view"),
        (lambda shown: shown["view"]["status"].update(risk=1e-9), "view.status.risk"),
        (lambda shown: shown["view"]["status"].update(leader="a"), "view.status.leader"),
        (lambda shown: shown["view"]["status"].update(leader=None), "view.status.leader"),
        (lambda shown: shown["view"]["status"]["result"].update(arm="a"), "view.status.result.arm"),
        (lambda shown: shown["view"]["status"]["arms"].reverse(), "view.status.arms"),
        (lambda shown: shown["view"]["fidelities"][0].update(name="true"), "view.fidelities.name"),
        (lambda shown: shown["view"]["history"]["cost"].pop(), "view.history.cost"),
    ],
)
def test_what_follows_from_the_journal_is_in_a_page_of_any_version(parts, check, change, path):
    found = check(by_another_version(parts, change))
    assert (found.confirmed, found.unchecked) == (False, False)
    assert f"'{path}' in what the report shows is not what follows from its journal" in found.reason


@pytest.mark.parametrize(
    "change",
    [
        lambda shown: shown["view"].update(sentence="The answer is 'b'."),
        lambda shown: shown["view"].update(more=1),
        lambda shown: shown["facts"].pop(),
    ],
)
def test_another_version_has_words_and_entries_of_its_own(parts, check, change):
    assert check(by_another_version(parts, change)).unchecked


def test_a_certificate_of_another_version_is_confirmed(parts):
    versions = {**parts.certificate["versions"], "mfbai": "0.1.1"}
    assert verify({**parts.certificate, "versions": versions})


# --- files


@pytest.mark.parametrize("name", ["certificate", "shown", "beside", "digests"])
def test_the_part_of_a_report_that_cannot_be_read_is_named(html, check, name):
    found = check(with_block(html, name, '{"a": '))
    told = f"this is not a certificate: the report was damaged: its part '{name}' cannot be read: it is not JSON: "
    assert found.reason.startswith(told)


def test_an_open_file_is_verified_in_either_mode(html, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(html, encoding="utf-8", newline="")
    with open(path, "rb") as file:
        assert verify(file)
    with open(path, encoding="utf-8", newline="") as file:
        assert verify(file)
    path.write_bytes(b"<!doctype html>\xff")
    with open(path, "rb") as file:
        assert verify(file).reason == "this is not a certificate: it is not text"


def test_a_report_is_written_as_a_whole_or_not_at_all(tmp_path):
    study = running()
    with pytest.raises(InvalidInput, match="it is a folder"):
        study.report(tmp_path)
    with pytest.raises(InvalidInput, match="cannot be written"):
        study.report(tmp_path / "missing" / "report.html")
    assert list(Path(tmp_path).iterdir()) == []
