"""The site as people see it: in a browser, at phone and desktop width, light and dark."""

import contextlib
import importlib.util
import json
import re
from pathlib import Path

import pytest

import mfbai
from support.programs import load

ROOT = Path(__file__).parents[2]
CHOSEN = re.compile(r"Changed to (light|dark|auto) mode\.")
WIDTHS = {"phone": {"width": 390, "height": 844}, "desktop": {"width": 1280, "height": 900}}
# The gallery's build takes a minute or two on a free machine, and kernels may have to compile.
pytestmark = pytest.mark.timeout(2400)


@pytest.fixture
def open_page(browser, site):
    """Opens a page of the site. Nothing may come from elsewhere, and the console stays empty, but for what the theme
    says when light or dark is chosen."""
    complaints = []
    with contextlib.ExitStack() as stack:

        def opened(name, **settings):
            context = browser.new_context(**settings)
            stack.callback(context.close)
            page = context.new_page()
            page.on("console", lambda said: CHOSEN.fullmatch(said.text) or complaints.append(f"{name}: {said.text}"))
            page.on("pageerror", lambda error: complaints.append(f"{name}: {error}"))
            page.on("request", lambda made: is_ours(made.url, site) or complaints.append(f"{name}: {made.url}"))
            page.goto((site / name).as_uri())
            return page

        yield opened
    assert complaints == []


def is_ours(url, site):
    return url.startswith((f"{site.as_uri()}/", "data:"))


def names(site):
    return sorted(page.relative_to(site).as_posix() for page in site.rglob("*.html"))


def gallery_pages():
    return sorted(page.stem for page in (ROOT / "docs" / "gallery").glob("*.md") if page.name != "README.md")


def test_every_link_leads_somewhere(site):
    links = load("tools/links.py")
    assert len(names(site)) > 40
    assert links.faults(site) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_fit_ask_for_nothing_and_complain_of_nothing(site, open_page, width, scheme):
    """All pages at all widths in light; the dark ones differ in colours only, so that a few will do."""
    shown = (
        names(site) if scheme == "light" else ["index.html", "docs/gallery/README.html", "docs/theory/guarantee.html"]
    )
    page = open_page("index.html", viewport=WIDTHS[width], color_scheme=scheme)
    for name in shown:
        page.goto((site / name).as_uri())
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, f"{name} is {wide} pixels wider than the screen"
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        red = int(re.search(r"\d+", ground)[0])
        assert (red > 128) == (scheme == "light"), (name, ground)
        broken = (
            "[...document.images].filter((one) => one.loading !== 'lazy' && !one.naturalWidth).map((one) => one.src)"
        )
        assert page.evaluate(broken) == []


def test_people_find_what_they_search_for(open_page):
    page = open_page("search.html")
    page.get_by_role("textbox").first.fill("staffing plan")
    page.get_by_role("textbox").first.press("Enter")
    page.locator("ul.search").get_by_role("link", name="Which staffing plan?").first.wait_for()


def test_the_first_page_leads_to_a_problem_like_ones_own(open_page):
    page = open_page("index.html", viewport=WIDTHS["desktop"])
    page.locator(".sidebar-tree").get_by_role("link", name="Gallery").click()
    page.get_by_role("link", name="Which staffing plan?").first.click()
    page.wait_for_load_state()
    assert "staffing" in page.url
    assert page.get_by_role("link", name="notebook", exact=True).is_visible()


def test_pictures_of_comparisons_are_as_wide_as_those_of_cells(open_page):
    page = open_page("docs/gallery/staffing.html", viewport=WIDTHS["desktop"])
    pictures = "[...document.querySelectorAll('.content img')].map((one) => one.clientWidth)"
    widths = page.evaluate(pictures)
    assert len(widths) >= 2
    assert set(widths) == {36 * 16}


def test_light_and_dark_can_be_chosen(open_page):
    page = open_page("index.html", viewport=WIDTHS["desktop"], color_scheme="light")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    for _ in range(3):  # of the system, light, dark
        page.locator(".theme-toggle:visible").first.click()
        if page.evaluate("getComputedStyle(document.body).backgroundColor") != before:
            return
    pytest.fail("the page stays light")


@pytest.mark.parametrize("name", gallery_pages())
def test_a_page_of_the_gallery_is_complete(site, name):
    """Pictures with words for those who do not see them, a comparison, and downloads that are programs."""
    text = (site / "docs" / "gallery" / f"{name}.html").read_text()
    alts = re.findall(r'<img [^>]*alt="([^"]*)"', text)
    assert len(alts) >= 2
    assert [alt for alt in alts if len(alt) < 30 or alt.endswith(".png")] == []
    assert "wrong answers" in text
    assert "make bench-gallery" not in text  # a comment, for those who write the page
    assert "output stderr" not in text
    tool = load("tools/gallery.py")
    download = site / "docs" / "gallery" / tool.download(Path(name))
    notebook = json.loads(download.with_suffix(".ipynb").read_text())
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    script = download.with_suffix(".py").read_text()
    compile(script, name, "exec")
    assert len(code) >= 3
    assert [cell for cell in code if tool.shown(cell) not in script] == []
    assert importlib.util.find_spec(download.name) is None  # or a file of that name would be imported in its place


def test_llms_txt_names_every_page_of_the_menu(site):
    text = (site / "llms.txt").read_text()
    assert text.startswith("# mfbai\n\n> ")
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert [target for target in targets if not (site / target).is_file()] == []
    for name in ("docs/guides/pilot", "docs/theory/guarantee", *(f"docs/gallery/{page}" for page in gallery_pages())):
        assert any(name in target for target in targets), name
    told = (site / "api.txt").read_text()
    assert [name for name in mfbai.__all__ if f"## mfbai.{name}" not in told] == []


def test_every_public_name_has_a_place_on_the_pages_of_the_api(site):
    shown = "".join(page.read_text() for page in (site / "docs" / "api").glob("*.html"))
    assert [name for name in mfbai.__all__ if shown.count(f'id="mfbai.{name}"') != 1] == []
    assert shown.count('id="mfbai.Study.ask"') == 1
