"""The page as HTML: one file that is inert, accessible, and the same each time."""

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from balframe.audit_page.document import (
    Axis,
    Bar,
    Code,
    Heading,
    Line,
    Paragraph,
    RowGroup,
    StepChart,
    Terms,
)
from balframe.audit_page.page import Page
from balframe.audit_page.render_html import draw_chart, draw_mark
from balframe.audit_page.text import value_text
from tests.support.audits.document_of_all_blocks import forest, sample
from tests.support.cases import cases

jinja2 = pytest.importorskip("jinja2")

HOSTILE = {
    "markup": "</style><script>alert(1)</script>",
    "attribute": '"><img src=x onerror=alert(1)>',
    "title": "</title><iframe src=//example.org>",
    "template": "{{ 7 * 7 }}{% raw %}",
    "entity": "&lt;b&gt;&#60;",
    "right to left": "\u202eabc\u2066\u2069\u2068",
    "hebrew": "\u05e9\u05dc\u05d5\u05dd",
    "emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "long": "ab" * 500_000,
    "long word": "x" * 1000,
    "controls": "a\0b\x1b[31m\n\n\tc",
    "surrogate": "a\ud800b",
    "path": "../../etc/passwd#in-brief",
    "empty": "",
}


class Elements(HTMLParser):
    """What a page is made of."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.texts = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.texts.append(data)

    def of(self, tag):
        return [attributes for name, attributes in self.found if name == tag]

    def all(self, attribute):
        return [values[attribute] for _, values in self.found if attribute in values]


@pytest.fixture(scope="module")
def html():
    return Page(sample()).html()


@pytest.fixture(scope="module")
def elements(html):
    return Elements(html)


def test_there_is_no_script_and_nothing_is_loaded(html, elements):
    tags = {tag for tag, _ in elements.found}
    names = {name for _, values in elements.found for name in values}

    assert not tags & {"script", "link", "iframe", "object", "embed", "img", "base", "form"}
    assert not {name for name in names if name.startswith("on")} | names & {"src", "srcset"}
    assert {address[:1] for address in elements.all("href")} == {"#"}
    assert "url(" not in html
    assert "@import" not in html
    assert "http:" not in html
    assert "https:" not in html


def test_content_security_policy_forbids_loading(elements):
    policies = [one["content"] for one in elements.of("meta") if "http-equiv" in one]

    assert policies == [
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    ]


def test_head_has_language_viewport_generator_and_title(html, elements):
    names = {one["name"]: one["content"] for one in elements.of("meta") if "name" in one}

    assert html.startswith("<!DOCTYPE html>\n")
    assert elements.of("html") == [{"lang": "en"}]
    assert {"charset": "utf-8"} in elements.of("meta")
    assert names["viewport"] == "width=device-width, initial-scale=1"
    assert re.fullmatch(r"balframe \d+\.\d+\S*", names["generator"])
    assert "<title>Less than 25</title>" in html
    assert len(elements.of("style")) == 1


def test_links_have_targets_and_ids_are_unique(elements):
    ids = elements.all("id")
    pointers = elements.all("href") + [
        f"#{one}" for name in ("aria-labelledby", "aria-describedby") for one in elements.all(name)
    ]

    assert Counter(ids).most_common(1)[0][1] == 1
    assert {one.removeprefix("#") for one in pointers} <= set(ids)


def test_every_sentence_of_the_summary_links_to_its_section(html, elements):
    links = [one for one in elements.of("a") if one.get("aria-label", "").startswith("§")]

    assert [one["href"] for one in links] == ["#examined", "#examined", "#errors"]
    assert links[2]["aria-label"] == "§ 2: Which errors are made?"
    brief = html[html.index('id="in-brief"') : html.index("<nav")]
    assert brief.count("<li>") == 3
    assert "<li>From 15% for Other to 45% for “<bdi>Less than 25</bdi>”." in brief
    assert "too few were examined." in brief


def test_term_is_linked_to_its_explanation_where_it_first_stands(html, elements):
    links = [one for one in elements.of("a") if one.get("class") == "term"]

    assert [one["href"] for one in links] == ["#term-predictions"]
    assert '65% of the <a class="term" href="#term-predictions">predictions</a> were right' in html
    assert (
        '<div id="term-predictions"><dt>Prediction</dt><dd>Such as “<bdi>Less than 25</bdi>”.</dd>'
        in html
    )


def test_no_term_is_linked_in_headings_code_and_names_of_the_data():
    document = sample()
    blocks = [Heading("Predictions"), Code("predictions"), Terms([("Predictions", "predictions")])]
    section = replace(
        document.sections[0], question="Calls?", blocks=blocks, brief=["Of \u2068calls\u2069."]
    )
    last = document.sections[-1]

    html = Page(replace(document, sections=[section, last], subtitle="calls")).html()

    assert 'class="term"' not in html


def test_page_title_is_a_safe_string_in_the_style():
    style = Page(sample("</style>\"a\\b' }\n\u05e9 é")).html()

    (line,) = re.findall(r"@top-left \{ content: (.*?); font", style)
    assert line == r'"\3c \2f style\3e \22 a\5c b\27  \7d  ש é"'


def test_very_long_title_is_shortened_for_the_margin_of_a_sheet():
    title = Page(replace(sample(), title="\u2068" + "ab" * 100 + "\u2069")).html()

    (line,) = re.findall(r"@top-left \{ content: \"(.*?)\"; font", title)
    assert line == "ab" * 30 + r"\2026 " + "b" + "ab" * 14


def test_short_row_groups_are_kept_on_one_sheet_and_long_ones_are_not(html):
    row = forest("a").groups[0].rows[0]
    groups = [RowGroup("Short", [row] * 7), RowGroup("Long", [row] * 8)]
    document = sample()
    tables = [replace(forest("a"), groups=groups), replace(forest("a"), groups=groups[:1])]
    section = replace(document.sections[0], blocks=tables)

    html = Page(replace(document, sections=[section])).html()

    starts = re.findall(r'<(figure|tbody)( class="\w+")?>', html)
    short, last = ' class="short"', ' class="last"'
    assert starts == [
        ("figure", ""),
        ("tbody", short),
        ("tbody", ""),
        ("tbody", last),
        ("figure", short),
        ("tbody", short),
        ("tbody", last),
    ]


def test_tables_have_captions_and_scopes(html, elements):
    n_tables = len(elements.of("table"))

    assert n_tables == len(elements.of("caption")) == 6
    assert {one.get("scope") for one in elements.of("th")} == {"col", "colgroup", "row", "rowgroup"}
    assert '<th scope="colgroup" colspan="2" class="number">Number and share</th>' in html
    assert '<th colspan="4" scope="rowgroup"><bdi>Less than 25</bdi></th>' in html


def test_table_regions_are_focusable_and_uniquely_named(elements):
    regions = [one for one in elements.of("div") if one.get("role") == "region"]

    assert len(regions) == len(elements.of("table"))
    assert {one["tabindex"] for one in regions} == {"0"}
    assert len({one["aria-label"] for one in regions}) == len(regions)


def test_table_rows_have_css_classes_for_their_role(html):
    assert '<tr class="small differs"><th scope="row"><bdi>Less than 25</bdi></th>' in html
    assert '<tr class="total"><th scope="row">All people</th>' in html
    assert '<tr class="here"><th scope="row">Other</th>' in html
    assert '<span class="verdict not-met">not met</span>' in html
    assert "<b>79%</b> <small>(61 to 91)</small>" in html


def test_mark_is_drawn_at_its_estimate_and_limits():
    found = draw_mark(Bar(0.4061, 0.36, 0.45))

    assert found.line == ("36%", "45%")
    assert found.point == "40.6%"
    assert not found.is_cut_low
    assert not found.is_cut_high


@cases(
    ("bar", "line", "point", "cut"),
    [
        (Bar(0.65, -0.2, 1.3), ("0%", "100%"), "65%", (True, True)),
        (Bar(1.66, None, None), None, None, (False, True)),
        (Bar(-0.5, -0.9, -0.1), None, None, (True, False)),
        (Bar(0.5, None, None), None, "50%", (False, False)),
        (Bar(None, 0.1, 0.2), ("10%", "20%"), None, (False, False)),
        (Bar(0.0, float("-inf"), 1.0000001), ("0%", "100%"), "0%", (True, False)),
        (Bar(float("nan"), None, None), None, None, (False, False)),
        (Bar(None, None, None), None, None, (False, False)),
    ],
)
def test_marks_beyond_the_axis_are_cut(bar, line, point, cut):
    found = draw_mark(bar)

    assert (found.line, found.point) == (line, point)
    assert (found.is_cut_low, found.is_cut_high) == cut


def test_significant_group_has_a_mark_of_another_shape(html):
    (row,) = re.findall(r'<tr class="small differs">.*?</tr>', html[html.index('id="errors"') :])[
        :1
    ]

    assert '<use href="#shape-differs" x="65%" y="50%"/>' in row
    assert '<use href="#shape-low" y="50%"/>' in row
    assert '<use href="#shape-high" x="100%" y="50%"/>' in row
    assert '<line x1="0%" x2="100%" y1="50%" y2="50%"/>' in row
    assert "<circle" not in row


def test_step_chart_keeps_each_rate_up_to_its_threshold():
    steps = StepChart("", "", [Line("", [(0, 1), (0.5, 0.5), (1, 0)])], [(0.5, "5")], [], "", 0.5)

    chart = draw_chart(steps)

    width, height = chart.right - chart.left, chart.bottom - chart.top
    middle = f"{chart.left + width / 2:g}"
    half = f"{chart.top + height / 2:g}"
    assert chart.paths == [
        f"M{chart.left} {chart.top}V{half}H{middle}V{chart.bottom}H{chart.right}"
    ]
    assert chart.x_ticks == [(middle, "5")]
    assert chart.in_use == middle


def test_charts_have_a_name_and_a_text_description(html, elements):
    charts = [one for one in elements.of("svg") if one.get("role") == "img"]

    assert len(charts) == 2
    for chart in charts:
        name, text = chart["aria-labelledby"], chart["aria-describedby"]
        assert f'<b id="{name}">Rate by threshold</b>' in html
        assert f'<span id="{text}">At 5: “<bdi>Less than 25</bdi>” 60%.</span>' in html
    others = [one for one in elements.of("svg") if "role" not in one]
    assert {one.get("aria-hidden") for one in others} == {"true"}


@cases("name", HOSTILE.values())
def test_names_from_the_data_are_escaped(name):
    hostile = Page(sample(name)).html()

    elements = Elements(Page(sample(re.sub(r"\S", "x", value_text(name)))).html())
    found = Elements(hostile)
    assert [(tag, set(values)) for tag, values in found.found if tag != "bdi"] == [
        (tag, set(values)) for tag, values in elements.found if tag != "bdi"
    ]
    assert len(found.of("bdi")) == len(elements.of("bdi"))
    assert hostile.encode()
    assert len(hostile) < 40_000
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", hostile
    )


def test_names_are_displayed_verbatim():
    name = "</script> & 'b' {{ 7 * 7 }}"

    texts = Elements(Page(sample(name)).html()).texts

    assert name in texts
    assert "49" not in texts


@cases("text", ["\u2068open", "shut\u2069", "\u202eover", "a\x07b", "\ud800"])
def test_control_and_direction_characters_are_removed_from_texts(text):
    document = sample()
    section = replace(document.sections[0], blocks=[Paragraph(f"<i>{text}")], question=text)

    html = Page(replace(document, sections=[section], title=text)).html()

    assert "<p>&lt;i&gt;" in html
    assert not re.search("[\x00-\x08\u202a-\u202e\u2066-\u2069\ud800-\udfff]", html)


def test_template_raises_on_an_unknown_variable():
    from balframe.audit_page.render_html import environment

    with pytest.raises(jinja2.UndefinedError, match="unknown"):
        environment().from_string("{{ unknown }}").render()
    assert environment().from_string("{{ text }}").render(text="<") == "&lt;"


def test_the_same_document_gives_the_same_bytes(html):
    assert Page(sample()).html() == html


def test_page_of_800_rows_is_smaller_than_300_kb():
    document = sample()
    table = forest("Less than 25")
    groups = [RowGroup(f"Column {n}", [table.groups[0].rows[0]] * 20) for n in range(8)]
    section = replace(document.sections[0], blocks=[replace(table, groups=groups)] * 5)

    html = Page(replace(document, sections=[section])).html()

    assert html.count("<tr>") >= 800
    assert len(html.encode()) < 300_000


def test_axis_without_lines_draws_none():
    table = forest("a")
    heads = [*table.heads[:-1], replace(table.heads[-1], axis=Axis([(0.5, "0")]))]
    document = sample()
    section = replace(document.sections[0], blocks=[replace(table, heads=heads)])

    html = Page(replace(document, sections=[section])).html()

    assert 'class="solid"' not in html
    assert 'class="dashed"' not in html
    assert '<text x="50%" y="14">0</text>' in html
