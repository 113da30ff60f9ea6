"""The built site: links, what it loads, and what the reference has."""

import inspect
import json
import re
import sys
import tempfile
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import balframe as bf
from balframe.accessor import methods, public_functions
from balframe.methods import declarations as declared
from balframe.metrics.lookup import metric_families, registered_metrics
from balframe.metrics.score_metrics import all_score_metrics
from tests.support.cases import cases

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site")]

ROOT = Path(__file__).parents[2]
LOADING = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}


@dataclass
class Page(HTMLParser):
    """What a page has and what it refers to."""

    path: Path
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self):
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        of = dict(attrs)
        self.anchors |= {of[name] for name in ("id", "name") if of.get(name)}
        if tag == "a" and "href" in of:
            self.links.append(of["href"])
        if LOADING.get(tag) in of:
            self.loads.append(of[LOADING[tag]])


def broken(folder):
    """Find references within a site that lead nowhere."""
    pages = {path: Page(path) for path in folder.rglob("*.html")}
    found = []
    for page in pages.values():
        for reference in page.links + page.loads:
            parts = urlsplit(reference)
            if parts.scheme or parts.netloc:
                continue
            start = folder if parts.path.startswith("/") else page.path.parent
            target = (
                (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else page.path
            )
            if target.is_dir():
                target /= "index.html"
            anchor = unquote(parts.fragment)
            is_there = target.is_file() and (not anchor or anchor in pages[target].anchors)
            if not is_there:
                found.append((page.path.name, reference))
    return found


def test_the_site_has_no_broken_link_anchor_or_image(site):
    assert broken(site) == []


def test_link_check_reports_broken_links_anchors_and_images(tmp_path):
    (tmp_path / "a.html").write_text('<h1 id="x"></h1><a href="b.html#y"></a><a href="#x"></a>')
    (tmp_path / "b.html").write_text(
        '<a href="a.html#x"></a><a href="c.html"></a><img src="i.png"><a href="https://a.b/"></a>'
    )

    assert sorted(broken(tmp_path)) == [
        ("a.html", "b.html#y"),
        ("b.html", "c.html"),
        ("b.html", "i.png"),
    ]


def test_pages_load_nothing_from_elsewhere(site):
    loads = {reference for path in site.rglob("*.html") for reference in Page(path).loads}

    assert any(reference.endswith(".js") for reference in loads)
    assert [reference for reference in loads if urlsplit(reference).netloc] == []


def test_stylesheets_load_nothing_from_elsewhere(site):
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]

    assert styles
    assert not any(
        "url(http" in style or "url(//" in style or "@import" in style for style in styles
    )


def test_pages_contain_no_local_paths(site):
    places = [str(ROOT), sys.prefix, tempfile.gettempdir() + "/tmp"]
    texts = [
        path.read_text(encoding="utf-8") for path in (*site.rglob("*.html"), *site.rglob("*.json"))
    ]

    assert [place for place in places for text in texts if place in text] == []


def test_reference_has_every_public_name_and_metric(site):
    anchors = set().union(*(Page(path).anchors for path in (site / "reference").rglob("*.html")))
    shipped = [*(one for one in registered_metrics() if one.is_shipped), *all_score_metrics()]
    metrics = {one.function.__name__ for one in shipped}

    assert len(metrics) > 30
    assert set(bf.__all__) | metrics | set(metric_families) <= anchors


@cases("method", public_functions())
def test_reference_of_a_method_has_all_its_options(site, method):
    page = (site / "reference" / "methods" / f"{method}.html").read_text(encoding="utf-8")
    signature, described = page.partition('class="doc-section-title">')[::2]
    shown = unescape(re.sub(r"<[^>]+>", "", signature))

    for name, one in inspect.signature(getattr(bf, method)).parameters.items():
        default = "" if one.default is one.empty else f"={one.default!r}".replace("'", '"')
        assert re.search(rf"^ +{name}{re.escape(default)},$", shown, re.MULTILINE), name
        assert f"<b><code>{name}</code></b>" in described


@cases("method", methods())
def test_reference_of_a_method_has_its_columns_and_an_example(site, method):
    page = (site / "reference" / "methods" / f"{method}.html").read_text(encoding="utf-8")
    cells = set(re.findall("<td><code>(.+?)</code></td>", page))

    for columns in declared()[method].layouts.values():
        by = "<by>" if "by" in declared()[method].parameters else "<over>"
        named = [str(one.name).replace("{by}", by) for one in columns]
        names = {name.replace("{", "<").replace("}", ">") for name in named}
        assert names <= set(map(unescape, cells))
    assert 'class="gp">' in page  # a prompt


def test_reference_of_audit_has_the_methods_of_its_page(site):
    page = (site / "reference" / "methods" / "audit.html").read_text(encoding="utf-8")
    shown = unescape(re.sub(r"<[^>]+>", "", page))

    assert Page(site / "reference" / "methods" / "audit.html").anchors >= {"audit", "page"}
    for signature in ("save(path)", "html()", "markdown()"):
        assert signature in "".join(shown.split())


@pytest.mark.parametrize("name", ["compas", "compas-deciles"])
def test_guide_on_audits_links_to_its_example_pages(site, name):
    page = (site / "how-to" / f"{name}.html").read_text(encoding="utf-8")

    assert f"{name}.html" in Page(site / "how-to" / "audit.html").links
    assert "<title>COMPAS" in page
    assert "<script" not in page


def test_reference_of_errors_has_their_public_bases(site):
    page = (site / "reference" / "errors.html").read_text(encoding="utf-8")
    shown = re.sub(r"<[^>]+>", "", page)

    assert "Bases: BalframeError, ValueError" in shown
    assert "_Written" not in shown


def without_code(html):
    """Some commands print Markdown, which pages show as code."""
    return re.sub(r"<pre>.*?</pre>", "", html, flags=re.DOTALL)


def test_markdown_tables_are_rendered_as_html(site):
    texts = {
        path.relative_to(site).as_posix(): without_code(path.read_text(encoding="utf-8"))
        for path in site.rglob("*.html")
    }

    assert any("<table>" in text for text in texts.values())
    assert [page for page, text in texts.items() if "| --- |" in text] == []


@pytest.mark.parametrize("word", ["margins", "mlflow", "airflow"])
def test_a_word_is_in_the_search_index(site, word):
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))

    titles = [entry["title"].lower() for entry in index["docs"] if word in entry["text"].lower()]
    assert any(word in title for title in titles)


def test_only_pages_with_charts_load_the_chart_script(site):
    assert (site / "javascripts" / "charts.js").stat().st_size > 500_000
    for path in site.rglob("*.html"):
        page = Page(path)
        has_charts = '<div class="chart-drawing"' in path.read_text(encoding="utf-8")
        assert any(one.endswith("charts.js") for one in page.loads) == has_charts


def test_search_index_has_text_and_no_chart_specifications(site):
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))

    texts = [entry["text"] for entry in index["docs"]]
    assert any("mean_k TP_k / P_k" in text for text in texts)
    assert not any("$schema" in text for text in texts)
