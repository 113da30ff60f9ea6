"""The page as Markdown."""

import re

import pytest
from markdown_it import MarkdownIt

from balframe.audit_page.page import Page
from tests.audit_page.test_render_html import HOSTILE
from tests.support.audits.document_of_all_blocks import sample
from tests.support.cases import cases

HOSTILE_HERE = HOSTILE | {
    "mention": "@someone and @some/team",
    "reference": "#12 GH-12 owner/name#12",
    "commit": "deadbeef0123",
    "address": "https://example.org www.example.org me@example.org mailto:me@example.org",
    "link": "[a](https://example.org) ![b](c) <https://example.org>",
    "emphasis": "*a* _b_ __c__ ~~d~~ **e**",
    "code": "`a` ``b`` ```c",
    "cell": "a|b \\| c \\\\| `d|`",
    "heading": "# a",
    "list": "1. a",
    "rule": "---",
    "math": "$x$ :smile:",
    "newline": "a\n\n# b\n\n| c |",
    "backslash": "a\\",
}


def structure(text):
    """Give the kinds of tokens of a text, with those of code spans as text."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = []
    for token in parser.parse(text):
        inner = ["text" if one.type == "code_inline" else one.type for one in token.children or ()]
        merged = [
            one for at, one in enumerate(inner) if one != "text" or inner[at - 1 : at] != ["text"]
        ]
        tokens.append((token.type, token.tag, tuple(merged)))
    return tokens


def rendered(text):
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)


@pytest.fixture(scope="module")
def markdown():
    return Page(sample()).markdown()


def test_markdown_has_the_sentences_and_tables_of_the_page(markdown):
    lines = markdown.splitlines()

    assert lines[0] == "# Less than 25"
    assert lines[4:8] == [
        "- **Auditor**: Less than 25",
        "- **Less than 25**:",
        "  - Two",
        f"  - Less than 25 (`SHA-256 {'0f' * 32}`)",
    ]
    assert "People **7,214** · Groups **Less than 25**" in lines
    assert "1. 7,214 people; “Less than 25” had p \\<.001. (§ 1)" in lines
    assert "3. From 15% for Other to 45% for “Less than 25”. (§ 2)" in lines
    assert "## 2 Which errors are made?" in lines
    assert "- **65%** (64 to 66) of “Less than 25” are right" in lines
    assert "| Group | Number and share |  | Wrong |" in lines
    assert "| Less than 25 (or “Less than 25”) | 7 | 7% | 1 |" in lines
    assert "| **Other** | 93 | 93% | 2 |" in lines
    assert "| Group | People | Score (95% limits) |" in lines
    assert "| *Less than 25* | 32 | **79%** (61 to 91) |" in lines
    assert "| **All people** | 7,214 | 65% (64 to 66) |" in lines
    assert "| Was “Less than 25” | 1,216 (37%, wrong) | 2,035 (63%) |" in lines
    assert "| Less than 25 | 0.61 (0.57 to 0.66) | not met |" in lines
    assert "At 5: “Less than 25” 60%." in lines
    assert "- **Recall**: sum\\_k TP\\_k / n" in lines
    assert "- **Prediction**: Such as “Less than 25”." in lines
    assert lines.count("````") == 2


def test_markdown_tables_and_code_blocks_are_parsed_as_such(markdown):
    html = rendered(markdown)

    assert html.count("<table>") == 6
    assert html.count("<pre>") == 1
    assert "by=['&lt;b&gt;'])  # ``` *all*" in html
    assert '<td style="text-align:right">1,395</td>' in html
    assert html.count("<h2>") == 4


@cases("name", HOSTILE_HERE.values())
def test_names_from_the_data_are_escaped(markdown, name):
    hostile = Page(sample(name)).markdown()

    assert structure(hostile) == structure(markdown)
    html = rendered(hostile)
    assert not re.search("<(a|img|del|script|style|iframe)\\b", html)
    text = re.sub("<code>.*?</code>|<pre>.*?</pre>", "", html, flags=re.DOTALL)
    assert not re.search(r"[@#](?!\N{WORD JOINER})\w|www\.|https?:|deadbeef|GH-1|:smile:", text)
    assert hostile.encode()
    assert len(hostile) < 20_000


@cases("name", ["a|b", "`a`", "<b>", "@someone", "a\\", "x_y_z", "Zoë", "R&D"])
def test_names_are_displayed_verbatim(name):
    html = rendered(Page(sample(name)).markdown())

    shown = name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub("</?code>|[\N{WORD JOINER}\u2068\u2069]", "", html)
    assert f"<td><em>{shown}</em></td>" in text


def test_same_document_gives_the_same_markdown(markdown):
    assert Page(sample()).markdown() == markdown


def test_right_to_left_name_is_isolated_from_its_sentence():
    hebrew = "\u05e9\u05dc\u05d5\u05dd"

    markdown = Page(sample(hebrew)).markdown()

    assert f"From 15% for Other to 45% for \u2068{hebrew}\u2069. (§ 2)" in markdown
