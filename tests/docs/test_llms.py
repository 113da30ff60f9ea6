"""The texts for language models: which pages they list, and what they say of them."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import balframe as bf
from docs.generators import llms, made_pages
from tests.support.cases import cases

pytestmark = pytest.mark.any_version

ROOT = Path(__file__).parents[2]
NAV = [{"Home": "index.md"}, {"Guides": [{"A": "how-to/a.md"}, {"More": [{"B": "b.md"}]}]}]
TEXTS = {
    "index.md": "# Home { #home }\n\nThis is [a\nname](b.md#x). And more.\n",
    "how-to/a.md": "# A\n\n<!-- chart: c | A caption. -->\n\n- a list\n\nWhat is A?\n\n"
    "[b](../b.md)\n",
    "b.md": "# passed { #passed }\n\nCall it.\n\n::: balframe.methods.gates.require.passed\n",
}


def test_pages_are_listed_by_section_with_their_first_sentences():
    every = list(llms.pages(NAV, TEXTS))

    assert llms.listed("name", "About it.", every, "https://a.b/").splitlines() == [
        "# name",
        "",
        "> About it.",
        "",
        "All pages are in one text: [llms-full.txt](https://a.b/llms-full.txt).",
        "",
        "## General",
        "",
        "- [Home](https://a.b/index.html): This is a name.",
        "",
        "## Guides",
        "",
        "- [A](https://a.b/how-to/a.html): What is A?",
        "",
        "## Guides: More",
        "",
        f"- [B](https://a.b/b.html): {bf.passed.__doc__.splitlines()[0]}",
    ]


def test_the_full_text_has_docstrings_captions_and_links_to_the_site():
    text = llms.full("name", "About it.", list(llms.pages(NAV, TEXTS)), "")

    home, a, b = re.split(r"^# (?:Home|A|passed)$", text, flags=re.MULTILINE)[1:]
    assert home.strip() == "This is [a\nname](b.html#x). And more."
    assert a.split("\n\n")[1:4] == ["*Figure: A caption.*", "- a list", "What is A?"]
    assert a.strip().endswith("[b](b.html)")
    assert "```text\npassed(verdicts, " in b
    assert "Parameters\n----------\n" in b
    assert ":::" not in b


@cases(
    ("text", "found"),
    [
        ("# A\n\nOne, e.g.this, of 0.5: two.\n", "One, e.g.this, of 0.5."),
        ("# A\n\n## B\n\n```text\nx\n```\n\n`b` is code. Yes.\n", "`b` is code."),
        ("# A\n\n| a | b |\n", ""),
        ("# A\n\nNo end", "No end."),
    ],
)
def test_first_sentence_is_that_of_the_first_prose(text, found):
    assert llms.sentence(text) == found


@pytest.fixture
def listed(site):
    """Read what the site lists: addresses and descriptions."""
    text = (site / llms.LIST).read_text(encoding="utf-8")
    return dict(re.findall(r"^- \[[^\]]+\]\(([^)]+)\)(?:: (.*))?$", text, re.MULTILINE))


@pytest.mark.browser
@pytest.mark.xdist_group("site")
def test_the_site_lists_every_page_of_the_navigation(site, listed):
    nav = (ROOT / "docs" / "mkdocs.yml").read_text(encoding="utf-8").partition("\ntheme:")[0]
    pages = re.findall(r": ([\w/-]+)\.md$", nav, re.MULTILINE)
    pages += [page.path.removesuffix(".md") for page in made_pages.every()]

    assert len(pages) > 100
    assert sorted(listed) == sorted(f"{page}.html" for page in pages)
    assert [link for link in listed if not (site / link).is_file()] == []
    assert [link for link, about in listed.items() if not about] == []


@pytest.mark.browser
@pytest.mark.xdist_group("site")
def test_the_full_text_of_the_site_has_all_pages_as_they_are_shown(site, listed):
    text = (site / llms.FULL).read_text(encoding="utf-8")
    prose = re.sub(r"^[ \t]*```.*?^[ \t]*```$", "", text, flags=re.MULTILINE | re.DOTALL)
    targets = {urlsplit(link).path for link in re.findall(r"\]\((?!\w+:)([^)\s]+)\)", prose)}

    assert len(re.findall(r"^# ", prose, re.MULTILINE)) == len(listed) + 1
    assert not re.search(r"^:::|<!--", prose, re.MULTILINE)
    assert targets
    assert [link for link in targets if not (site / link).is_file()] == []
