"""What the site leaves out of a page, and how charts get into it."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from mkdocs.exceptions import PluginError

from docs.generators import charts, hooks, made_pages
from tests.support.cases import cases

pytestmark = pytest.mark.any_version

CODE = """
```python
import altair as alt
import polars as pl

one = alt.Chart(pl.DataFrame({"x": ["</script>"]})).mark_bar().encode(x="x")
two = one.mark_point()
```
"""
MARKERS = ['<!-- chart: one | Bars of "x" < 3. -->', "<!-- chart: two | Points. -->"]


PAGES = Path(__file__).parents[2] / "docs" / "pages"


@pytest.fixture
def page(tmp_path):
    """Write a page: what the hook is given of it."""

    def written(text):
        path = tmp_path / "page.md"
        path.write_text(text)
        file = SimpleNamespace(abs_src_path=str(path), src_uri="how-to/page.md")
        return SimpleNamespace(file=file, url="how-to/page.html")

    return written


def test_charts_take_the_places_of_their_markers(page):
    html = f"<p>a</p>{MARKERS[0]}<p>b</p><p>{MARKERS[1]}</p>"

    shown = hooks.on_page_content(html, page=page("\n\n".join([CODE, *MARKERS])))

    assert re.findall(r'"mark": \{"type": "(\w+)"', shown) == ["bar", "point"]
    assert shown.startswith('<p>a</p><figure class="chart">')
    assert 'role="img" aria-label="Bars of &quot;x&quot; &lt; 3."' in shown
    assert "<figcaption>Points.</figcaption></figure><script" in shown
    assert shown.endswith(f'<script src="../{charts.SCRIPT}"></script>')
    assert shown.count("</script>") == 3  # of two charts and of what draws them


def test_table_is_embedded_in_a_shadow_root(page):
    code = """
```python
from great_tables import GT
import polars as pl

rows = GT(pl.DataFrame({"x": [7]}))
```
"""
    marker = "<!-- chart: rows | A table. -->"

    shown = hooks.on_page_content(marker, page=page(f"{code}\n{marker}"))

    assert re.match('<figure class="table">.*<template shadowrootmode="open">.*<table', shown, re.S)
    assert shown.endswith("</template></div></div><figcaption>A table.</figcaption></figure>")


def test_a_page_without_charts_stays_as_it_is(page):
    assert hooks.on_page_content("<p>a</p>", page=page("```python\n1 / 0\n```")) == "<p>a</p>"


@cases(
    ("text", "message"),
    [
        (f"```python\n1 / 0\n```\n{MARKERS[0]}", "how-to/page.md: division by zero"),
        (f"```pycon\n>>> 1\n2\n```\n{MARKERS[0]}", "line 2, column 1 did not evaluate as expected"),
        (MARKERS[0], "line 1: there is no chart 'one'"),
        (f"{CODE}\n<!-- chart: one -->", "has to be <!-- chart: name | A caption, which is a"),
    ],
)
def test_invalid_chart_fails_the_build(page, text, message):
    with pytest.raises(PluginError) as error:
        hooks.on_page_content(MARKERS[0], page=page(text))
    assert message in str(error.value)


def test_page_with_a_notebook_links_to_it_below_its_title(page):
    shown = page("text")
    shown.file.src_uri = "how-to/audit.md"

    html = hooks.on_page_content("<h1>A</h1>\n<h1>B</h1>", page=shown)

    link = '<p><a href="audit.ipynb" download>Download this page as a notebook</a></p>'
    assert html == f"<h1>A</h1>\n{link}\n<h1>B</h1>"


def test_only_what_mike_builds_has_a_switch_of_versions(monkeypatch):
    config = SimpleNamespace(nav=[], extra={})

    monkeypatch.delenv("MIKE_DOCS_VERSION", raising=False)
    assert hooks.on_config(config).extra == {}
    monkeypatch.setenv("MIKE_DOCS_VERSION", "1.0")
    assert hooks.on_config(config).extra == {"version": {"provider": "mike"}}


def test_sitemap_lists_the_folder_of_the_version():
    places = "<loc>https://a.b/1.0/{}</loc><loc>https://a.b/1.0/how-to/index.html</loc>"
    options = {"config": SimpleNamespace(site_url="https://a.b/1.0"), "template_name": "404.html"}

    before = places.format("index.html")
    assert hooks.on_post_template(before, **options) == before
    options["template_name"] = "sitemap.xml"
    assert hooks.on_post_template(before, **options) == places.format("")


def test_hidden_blocks_are_left_out_of_the_page():
    hidden = "<!--\n```python\nx = 1  # -->\n```\n-->"
    tab = "    <!--\n    ```sh\n    true\n    ```\n    -->"

    shown = hooks.on_page_markdown(f"a\n\n{hidden}\n\nb\n\n{tab}\n\n{MARKERS[0]}\n")

    assert shown.split() == ["a", "b", *MARKERS[0].split()]


def test_links_to_overviews_lead_to_the_pages_of_the_site():
    shown = hooks.on_page_markdown(
        "[`diff`](../methods.md) [`plot.roc`](a/plots.md) [`x`](plots.md)"
    )

    assert shown == "[`diff`](../methods/diff.md) [`plot.roc`](a/plots/roc.md) [`x`](plots.md)"


def test_a_part_of_the_site_replaces_what_a_file_shows():
    brief = "-->\n\nIn brief.\n\n<!-- end -->\n\nText."

    shown = hooks.on_page_markdown(
        f"<!-- generated: docstring: bf.long\n    options: {{}}\n{brief}"
    )

    assert re.sub("\n\n+", "\n\n", shown) == "\n::: bf.long\n    options: {}\n\nText."


def test_generated_table_is_a_separate_block():
    shown = hooks.on_page_markdown("A text.\n<!-- generated: presets -->\nMore text.\n")

    before, table, after = shown.strip().split("\n\n")
    assert (before, after) == ("A text.", "More text.")
    assert table.startswith("| preset | metrics |\n| --- | --- |\n")


def test_new_method_has_a_generated_page_and_navigation_entry(toy_method):
    path = f"reference/methods/{toy_method.name}.md"

    (made,) = (page for page in made_pages.every() if page.path == path)
    shown = hooks.on_page_markdown(made.text)
    (nav,) = made_pages.navigation([{"Methods": "reference/methods.md"}])

    assert shown.startswith("# error_count { #error_count }")
    assert "\n::: balframe.methods.scores.error_count.error_count\n" in shown
    assert "| `errors` | integers |  |" in shown
    assert {"error_count": path} in nav["Methods"]


@cases("folder", ["methods", "plots", "metrics", "commands"])
def test_handwritten_page_includes_the_generated_part(folder):
    made = {page.path: page.text for page in made_pages.every()}

    for path in (PAGES / "reference" / folder).glob("*.md"):
        (marker,) = re.findall("<!-- generated: .+ -->", path.read_text(encoding="utf-8"))
        assert marker in made[path.relative_to(PAGES).as_posix()]


def test_generated_pages_follow_their_overview_in_the_navigation():
    nav = made_pages.navigation([{"A": "a.md"}, {"B": [{"Metrics": "reference/metrics.md"}]}])

    a, b = nav
    (metrics,) = b["B"]
    assert a == {"A": "a.md"}
    assert metrics["Metrics"][0] == {"Overview": "reference/metrics.md"}
    assert {"Accuracies": "reference/metrics/accuracies.md"} in metrics["Metrics"]
