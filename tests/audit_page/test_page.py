"""A page saves and shows itself."""

import json
import re
import sys
from html import unescape
from importlib import metadata, util

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.audit_page.page import Page
from balframe.errors import InvalidInputError, MissingExtraError
from tests.support.audits.document_of_all_blocks import sample
from tests.support.cases import cases


@pytest.fixture
def page():
    return Page(sample())


@pytest.fixture
def without_jinja2(monkeypatch):
    """Act as if jinja2 were not installed."""
    find = util.find_spec
    for module in [name for name in sys.modules if name.partition(".")[0] == "jinja2"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.delitem(sys.modules, "balframe.audit_page.render_html", raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr(
        "balframe.frames.engines.registry.find_spec",
        lambda name: None if name == "jinja2" else find(name),
    )


def test_a_page_is_made_and_saved_without_the_metadata_of_packages(tmp_path, monkeypatch):
    pytest.importorskip("jinja2")
    sys.modules.pop("balframe.audit_page.render_html", None)

    def no_metadata(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata.Distribution, "from_name", no_metadata)
    frame = pl.DataFrame({"y": [0, 1] * 40, "p": [0, 1, 1, 1] * 20, "g": list("aabb") * 20})

    bf.audit(frame, "y", "p", by="g").save(tmp_path / "page.html")

    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count(f"balframe {bf.__version__}") == 2
    assert f"numpy {np.__version__}" in page


@pytest.mark.parametrize("name", ["page.html", "page.HTM"])
def test_a_page_is_saved_as_html(page, tmp_path, name):
    pytest.importorskip("jinja2")

    page.save(tmp_path / name)

    assert (tmp_path / name).read_bytes() == page.html().encode()
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["page.md", "page.markdown"])
def test_a_page_is_saved_as_markdown(page, tmp_path, name, without_jinja2):
    page.save(str(tmp_path / name))

    assert (tmp_path / name).read_bytes() == page.markdown().encode()


def test_a_page_is_saved_as_evidence(tmp_path, without_jinja2):
    frame = pl.DataFrame({"y": [0, 1] * 40, "p": [0, 1, 1, 1] * 20})
    page = bf.audit(frame, "y", "p")

    page.save(tmp_path / "page.JSON")

    text = (tmp_path / "page.JSON").read_text("utf-8")
    assert json.loads(text) == page.evidence()
    assert text.startswith('{\n  "schema": "balframe.audit/1",\n')
    assert text.endswith("}\n")


def test_saved_page_replaces_an_existing_file(page, tmp_path):
    out = tmp_path / "page.md"
    out.write_text("before" * 100_000)

    page.save(out)

    assert "before" not in out.read_text("utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]


@cases("name", ["page.pdf", "page", "page.html.gz", ""])
def test_unknown_file_extensions_are_refused(page, tmp_path, name):
    with pytest.raises(InvalidInputError) as raised:
        page.save(tmp_path / name)

    assert str(raised.value) == (
        f"path={str(tmp_path / name)!r} has none of the extensions that a page can have. Use one "
        "of .html, .htm for HTML, .md, .markdown for Markdown, or .json for the evidence."
    )


def test_a_directory_is_refused(page, tmp_path):
    (tmp_path / "page.md").mkdir()

    with pytest.raises(InvalidInputError, match=r"page\.md' is a directory\. Give the path"):
        page.save(tmp_path / "page.md")


def test_a_missing_folder_is_refused(page, tmp_path):
    with pytest.raises(InvalidInputError, match=r"the directory .*not-there' does not exist"):
        page.save(tmp_path / "not-there" / "page.md")


def test_without_jinja2_the_extra_is_named(page, tmp_path, without_jinja2):
    with pytest.raises(MissingExtraError, match=r"pages of audit need jinja2.*'balframe\[audit\]'"):
        page.save(tmp_path / "page.html")

    assert list(tmp_path.iterdir()) == []
    assert repr(page) == "Page('Less than 25', 3 sections)"


def test_repr_has_title_number_of_sections_and_size(page):
    pytest.importorskip("jinja2")

    size = len(page.html().encode()) / 1000
    assert repr(page) == f"Page('Less than 25', 3 sections, {size:.0f} kB)"


def test_notebook_embeds_the_page_in_a_sandboxed_frame(page):
    pytest.importorskip("jinja2")

    shown = page._repr_html_()

    (srcdoc,) = re.findall('srcdoc="([^"]*)"', shown)
    assert unescape(srcdoc) == page.html()
    assert 'sandbox=""' in shown
    assert 'title="Less than 25"' in shown
    style, end, frame = shown.partition("</style>")
    assert "<" not in style.removeprefix("<style>")
    assert end
    assert "<" not in frame.removeprefix("<iframe ").removesuffix("</iframe>")


def test_title_of_the_notebook_frame_is_escaped():
    pytest.importorskip("jinja2")

    shown = Page(sample('"><script>'))._repr_html_()

    assert 'title="&quot;&gt;&lt;script&gt;"' in shown
