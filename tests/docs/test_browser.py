"""Every page of the built site, opened in Chromium."""

from pathlib import Path

import pytest

from docs.generators import made_pages

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site")]

PAGES_OF_DOCS = Path(__file__).parents[2] / "docs" / "pages"
FILES = {path.relative_to(PAGES_OF_DOCS).as_posix() for path in PAGES_OF_DOCS.rglob("*.md")}
PAGES = sorted(
    Path(path).with_suffix(".html").as_posix()
    for path in FILES | {page.path for page in made_pages.every()}
)
LOOKS = 0.02  # seconds between two looks at what is waited for
WIDTHS = {1280: 20_000, 390: 25_000}  # and how tall a page may be
SHOWN = {  # and how many pixels its sides have at least
    "figure.chart :is(svg, canvas)": 80,
    "figure.table .chart-scroll > div": 80,
    "table": 20,
}
MEASURE = """
const sizes = [];
for (const element of document.querySelectorAll(arguments[0])) {
  let block = element.closest(".tabbed-block");
  while (block) {
    const number = [...block.parentElement.children].indexOf(block);
    block.closest(".tabbed-set").querySelectorAll(":scope > input")[number].checked = true;
    block = block.parentElement.closest(".tabbed-block");
  }
  const box = element.getBoundingClientRect();
  sizes.push([box.width, box.height]);
}
return sizes;
"""


def resize(browser, width):
    """Give the window a width, and wait until the page has moved into it."""
    from selenium.webdriver.support.wait import WebDriverWait

    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    needed = "return document.documentElement.scrollWidth"
    WebDriverWait(browser, 5, LOOKS).until(
        lambda _: browser.execute_script(needed) <= width, f"wider than {width} pixels"
    )


@pytest.fixture
def opened(browser, address_without_index):
    """Open a page, and wait until its charts are drawn."""
    from selenium.webdriver.support.wait import WebDriverWait

    def open_page(page):
        browser.get_log("browser")
        browser.get(f"{address_without_index}/{page}")
        figures = browser.execute_script("return document.querySelectorAll('figure.chart').length")
        drawn = "return document.querySelectorAll('figure.chart :is(svg, canvas)').length"
        WebDriverWait(browser, 20, LOOKS).until(lambda _: browser.execute_script(drawn) == figures)
        return browser

    return open_page


@pytest.mark.parametrize("page", PAGES)
def test_pages_load_locally_without_errors_and_fit_the_screen(opened, address_without_index, page):
    browser = opened(page)

    assert [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"] == []
    loaded = browser.execute_script("return performance.getEntries().map((entry) => entry.name)")
    elsewhere = [name for name in loaded if not name.startswith(address_without_index)]
    assert [name for name in elsewhere if name.startswith("http")] == []
    for width, most in WIDTHS.items():
        resize(browser, width)
        assert browser.execute_script("return document.documentElement.scrollHeight") <= most
        for selector, least in SHOWN.items():
            sizes = browser.execute_script(MEASURE, selector)
            assert [size for size in sizes if min(size) < least] == []
        resize(browser, width)  # with all tabs opened


def test_copied_code_has_neither_prompts_nor_output(opened):
    browser = opened("index.html")

    copied = browser.execute_script(
        "const code = document.querySelector('.language-pycon code');"
        "code.setAttribute('data-md-copying', '');"
        "return code.innerText"
    )

    assert copied.startswith("import balframe as bf, pandas as pd, polars as pl\n")
    assert ">>>" not in copied
    assert "\n0  African-American" not in copied
    compile(copied, "copied", "exec")


@pytest.fixture
def searched(browser):
    """Search the site: the addresses of what is found."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.wait import WebDriverWait

    def found(start, word):
        browser.get(f"{start}?q={word}")
        results = By.CSS_SELECTOR, ".md-search-result__item a"
        WebDriverWait(browser, 20, LOOKS).until(lambda _: browser.find_elements(*results))
        return [link.get_attribute("href") for link in browser.find_elements(*results)]

    return found


@pytest.mark.parametrize("from_file", [False, True])
def test_the_search_finds_a_method(searched, address, site, from_file):
    start = (site / "index.html").as_uri() if from_file else f"{address}/index.html"

    links = searched(start, "best_threshold")

    assert any("reference/methods/best_threshold.html" in link for link in links)


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("margins", "how-to/margins.html"),
        ("mlflow", "how-to/recipes-mlflow.html"),
        ("airflow", "how-to/recipes-pipelines.html#airflow"),
    ],
)
def test_the_search_finds_a_guide(searched, address, word, page):
    links = searched(f"{address}/index.html", word)

    assert any(page in link for link in links)
