"""The page in Chromium, on paper, and before validators."""

import base64
import shutil
import subprocess

import pytest

from balframe.audit_page.page import Page
from tests.audit_page.test_render_html import HOSTILE
from tests.support.audits.document_of_all_blocks import sample
from tests.support.programs import missing

pytest.importorskip("jinja2")
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("audit page")]

AXE, VALIDATOR = "axe-core@4.14.1", "vnu-jar@26.9.27"
WIDTHS = (1280, 390)


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


def test_page_prints_to_pdf(browser, saved):
    browser.get((saved / "Less than 25.html").as_uri())

    printed = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})

    content = base64.b64decode(printed["data"])
    assert content.startswith(b"%PDF-")
    assert content.count(b"/Type /Page\n") > 0


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
    command = [java, "-jar", str(jar), *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert files
    assert (done.returncode, done.stderr) == (0, "")
