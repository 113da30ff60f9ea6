"""The README's links, its pictures and its measured figures."""

import re
import sys
from html import unescape
from pathlib import Path

import pytest

from benchmarks.proofs.__main__ import PROOFS
from benchmarks.proofs.table import Figures, command_of, put
from docs.generators import generated, hooks, pictures
from tests.support.cases import cases

pytestmark = pytest.mark.any_version

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted((ROOT / "docs" / "pages").rglob("*.md"))


@cases("page", [*ROOT.glob("*.md"), *PAGES])
def test_links_lead_to_files_that_a_code_host_shows(page):
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text(encoding="utf-8"))

    assert [link for link in links if not (page.parent / link).is_file()] == [
        link for link in links if link.endswith(("compas.html", "compas-deciles.html"))
    ]  # which the site alone has


@cases("page", [page for page in PAGES if page.parent.name in ("reference", "methods")])
def test_pages_of_the_reference_show_today_s_methods_without_the_site(page):
    text = page.read_text(encoding="utf-8")

    assert generated.with_brief_parts(text) == text


@pytest.mark.processes
@pytest.mark.parametrize("make", pictures.PICTURES, ids=lambda make: make.__name__)
def test_pictures_show_what_balframe_says(make):
    if make is pictures.gate and sys.platform == "win32":
        pytest.skip("the script of the action needs bash")
    picture = make()

    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", picture.html)).split())
    lines = picture.words.read_text(encoding="utf-8").splitlines()
    assert len(lines) > 5
    assert [line for line in lines if "".join(line.split()) not in "".join(text.split())] == []
    assert picture.file.read_bytes().startswith(b"\x89PNG")
    assert f"docs/pages/images/{picture.file.name}" in README


def test_the_first_screen_is_short():
    assert len(README.splitlines()) < 120


def test_rows_of_measured_figures_name_their_commands():
    for proof in PROOFS:
        assert f"| 1. | `{command_of(proof)}` |" in put(proof, Figures("1"), README)


def test_the_first_page_of_the_site_has_the_measured_figures_of_the_readme():
    index = (ROOT / "docs" / "pages" / "index.md").read_text(encoding="utf-8")

    shown = hooks.on_page_markdown(index)

    rows = [line for line in README.splitlines() if "`python -m benchmarks.proofs" in line]
    assert len(rows) == len(PROOFS)
    assert [row for row in rows if row not in shown] == []
    assert "(how-to/evaluate-llms.md)" in shown


def test_a_proof_without_a_row_is_refused():
    with pytest.raises(SystemExit, match="0 rows"):
        put("speed", Figures("1"), "# Nothing\n")
