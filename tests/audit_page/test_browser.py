"""The page in Chromium, on paper, and before validators."""

import base64
import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from balframe.audit_page.document import RowGroup
from balframe.audit_page.page import Page
from balframe.tables.gt_table import DARK_NOTEBOOKS, LIGHT_NOTEBOOKS
from tests.audit_page.test_render_html import HOSTILE
from tests.support.audits.document_of_all_blocks import forest, sample
from tests.support.pdf_text import page_texts
from tests.support.programs import missing

pytest.importorskip("jinja2")
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("audit page")]

AXE, VALIDATOR = "axe-core@4.14.1", "vnu-jar@26.9.27"
WIDTHS = (1280, 390)
GUESS = ".*appears to be written in.*"  # of the language, from names that are no words
SHEET = 673  # pixels of A4 between the margins


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Save the page, and one with a hostile name."""
    folder = tmp_path_factory.mktemp("audit")
    for name in ("Less than 25", "markup", "long word", "hebrew"):
        Page(sample(HOSTILE.get(name, name))).save(folder / f"{name}.html")
    return folder


@pytest.fixture
def screen(browser):
    """Give the browser a width and a colour scheme, and take both back."""

    def set_up(width, scheme):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    yield set_up
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def print_page(browser):
    """Return the page as PDF."""
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    return base64.b64decode(printed["data"])


@pytest.fixture(scope="session")
def axe(npm_package):
    return (npm_package(AXE) / "axe.min.js").read_text("utf-8")


@pytest.mark.parametrize("name", ["Less than 25", "markup", "long word", "hebrew"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits_the_screen_and_the_console_is_silent(browser, screen, saved, name, width):
    browser.get_log("browser")
    screen(width, "light")

    browser.get((saved / f"{name}.html").as_uri())

    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


@pytest.mark.parametrize("name", ["Less than 25", "long word"])
def test_axe_reports_no_accessibility_violation(browser, screen, saved, axe, name):
    browser.get((saved / f"{name}.html").as_uri())
    browser.execute_script(axe)

    for width in WIDTHS:
        for scheme in ("light", "dark"):
            screen(width, scheme)
            found = browser.execute_async_script(
                "const done = arguments[0]; axe.run().then(done, (error) => done(String(error)))"
            )
            assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
            assert {"color-contrast", "scrollable-region-focusable"} <= {
                one["id"] for kind in ("passes", "inapplicable") for one in found[kind]
            }


@pytest.mark.parametrize("name", ["Less than 25", "long word"])
def test_tables_fit_a_sheet_of_paper(browser, screen, saved, name):
    screen(SHEET, "light")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    browser.get((saved / f"{name}.html").as_uri())

    too_wide = browser.execute_script(
        "return [...document.querySelectorAll('figure')].filter("
        "(figure) => figure.querySelector('table')?.offsetWidth > figure.clientWidth).length"
    )
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})

    assert too_wide == 0


def test_page_prints_to_pdf(browser, saved):
    browser.get((saved / "Less than 25.html").as_uri())

    content = print_page(browser)

    assert content.startswith(b"%PDF-")
    assert content.count(b"/Type /Page\n") > 0


@pytest.mark.parametrize("title", ["Less than 25", "</style><b>\"a\\b' & {é}"])
def test_title_stands_on_every_printed_page(browser, tmp_path, title):
    out = tmp_path / "page.html"
    Page(sample(title)).save(out)
    browser.get(out.as_uri())

    first, *others = page_texts(print_page(browser))

    text = "".join(title.split())
    assert first.replace("1/", "", 1)[1:].startswith(text)  # the heading, below the page number
    assert len(others) > 1
    assert all(page.startswith(text) for page in others)


def test_long_table_goes_on_below_its_head_and_keeps_groups_together(browser, tmp_path):
    table, document, letters = forest("a"), sample(), "STUVWXYZ"
    row = table.groups[0].rows[0]
    groups = [
        RowGroup(f"Column{letter}", [replace(row, heading=f"{letter}{n}") for n in range(7)])
        for letter in letters
    ]
    section = replace(document.sections[0], blocks=[replace(table, groups=groups)])
    out = tmp_path / "page.html"
    Page(replace(document, sections=[section])).save(out)
    browser.get(out.as_uri())

    pages = page_texts(print_page(browser))

    assert "ColumnS" in pages[0]  # on which the table begins, though it does not fit
    with_rows = [page for page in pages if "1,395" in page]
    assert len(with_rows) > 1
    assert all("Score(95%limits)" in page for page in with_rows)
    for letter in letters:
        (page,) = (page for page in pages if f"Column{letter}" in page)
        assert all(f"{letter}{n}1,395" in page for n in range(7))
    assert "Allpeople" in page  # below the last group


@pytest.mark.parametrize("notebooks", [LIGHT_NOTEBOOKS, DARK_NOTEBOOKS])
@pytest.mark.parametrize("system", ["light", "dark"])
def test_page_in_a_notebook_follows_its_theme(browser, screen, tmp_path, notebooks, system):
    screen(1280, system)
    backgrounds = {LIGHT_NOTEBOOKS: "rgb(255, 255, 255)", DARK_NOTEBOOKS: "rgb(20, 23, 27)"}
    for selector in notebooks.split(", "):
        tag, mark = re.fullmatch(r"(html|body)(.*)", selector).groups()
        attribute = f'class="{mark[1:]}"' if mark.startswith(".") else mark[1:-1]
        html, body = ("", attribute) if tag == "body" else (attribute, "")
        out = tmp_path / "notebook.html"
        out.write_text(
            f"<!DOCTYPE html><html {html}><body {body}>{Page(sample())._repr_html_()}", "utf-8"
        )

        browser.get(out.as_uri())
        browser.switch_to.frame(0)
        background = browser.execute_script(
            "return getComputedStyle(document.documentElement).backgroundColor"
        )
        browser.switch_to.default_content()

        assert background == backgrounds[notebooks], selector


def test_notebook_frame_displays_the_page_and_follows_links(browser, tmp_path):
    out = tmp_path / "notebook.html"
    out.write_text(f"<!DOCTYPE html><p>Text{Page(sample())._repr_html_()}", "utf-8")
    browser.get_log("browser")

    browser.get(out.as_uri())
    browser.switch_to.frame(0)

    assert browser.execute_script("return document.querySelector('h1').innerText") == "Less than 25"
    browser.find_element("css selector", "nav a[href='#errors']").click()
    assert browser.execute_script("return document.querySelector('h1').innerText") == "Less than 25"
    browser.switch_to.default_content()
    assert browser.get_log("browser") == []


def test_html_validator_reports_no_error(saved, npm_package):
    java = shutil.which("java")
    if java is None:
        missing("Java 17 or later")
    jar = npm_package(VALIDATOR) / "build" / "dist" / "vnu.jar"

    files = sorted(map(str, saved.glob("*.html")))
    command = [java, "-jar", str(jar), "--filterpattern", GUESS, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert files
    assert (done.returncode, done.stderr) == (0, "")
