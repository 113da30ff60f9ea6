"""Tables of results: cells, bars, headings, notes and colours."""

import re

import polars as pl
import pytest

import balframe as bf
from balframe.cli.text_tables import table_text
from tests.support.cases import cases
from tests.support.constructors import each_constructor
from tests.support.html_tables import GROUPS, MINUS, P, Page, Y, page, segments

pytest.importorskip("great_tables")


@each_constructor
def test_table_of_a_report_is_the_same_in_every_library(constructor):
    out = bf.report(constructor(GROUPS), Y, P, by="g", metrics=["accuracy", "recall"])

    parsed = page(out)

    assert parsed.texts == [
        ["g", "n", "Accuracy", "Recall"],
        ["a", "4", "0.750", "0.500"],
        ["b", "3", "0.667", "1.000"],
        ["(missing)", "1", "1.000", "—"],
    ]
    assert parsed.alone == [
        "Bars run from 0 to 1.",
        "—: undefined.",
    ]


def test_a_bar_is_as_long_as_the_score_in_the_range_of_its_metric():
    rows = {"accuracy": 0.25, "matthews_corrcoef": -0.5, "positive_likelihood_ratio": 3.0}

    parsed = page(
        pl.DataFrame({"g": ["a"], "n": [8]} | {name: [one] for name, one in rows.items()})
    )

    (share,), (coefficient,), (ratio,) = map(
        parsed.column, ("Accuracy", "Matthews correlation", "Positive likelihood ratio")
    )
    assert share.at("circle", "cx") == pytest.approx([0.25], abs=0.01)
    assert share.at("rect", "x") == pytest.approx([0], abs=0.01)
    assert coefficient.at("circle", "cx") == pytest.approx([0.25], abs=0.01)  # of -1 to 1
    assert coefficient.at("rect", "x") == pytest.approx([0.25], abs=0.01)
    assert coefficient.text == f"{MINUS}0.500"
    assert (ratio.text, ratio.shapes) == ("3.000", [])
    assert parsed.alone == [
        f"Bars run from 0 to 1 (Accuracy), from {MINUS}1 to 1 (Matthews correlation)."
    ]


def test_headings_spell_out_metric_names():
    names = ["f1", "npv", "f1_macro", "no_information_rate", "tpr"]

    parsed = page(pl.DataFrame({"n": [1]} | {name: [0.5] for name in names}))
    ranking = page(pl.DataFrame({"roc_auc": [0.5], "n": [1], "ks_statistic": [0.5]}))

    assert parsed.texts[0] == ["n", "F1", "NPV", "F1 macro", "No information rate", "TPR"]
    assert ranking.texts[0] == ["ROC AUC", "n", "KS statistic"]


def test_limits_are_in_the_cell_and_on_the_bar():
    result = segments([0.5, 0.75], accuracy_lower=[0.25, None], accuracy_upper=[0.875, None])

    parsed = page(result, decimals=2)

    with_limits, without = parsed.column("Accuracy")
    assert parsed.texts[0] == ["g", "n", "Accuracy"]
    assert (with_limits.text, without.text) == ("0.50 [0.25, 0.88]", "0.75")
    _, whisker, *ends = zip(with_limits.at("line", "x1"), with_limits.at("line", "x2"), strict=True)
    assert whisker == pytest.approx((0.25, 0.875), abs=0.01)
    assert [x for x, _ in ends] == pytest.approx([0.25, 0.875], abs=0.01)
    assert len(without.drawn("line")) == 1
    assert page(result, bars=False).column("Accuracy")[0].shapes == []


def test_limits_of_renamed_metrics_are_in_the_cell():
    scores = {"hits": [0.5, 0.75], "hits_lower": [0.25, None], "hits_upper": [0.875, None]}
    result = segments([0.5, 0.75], **scores).drop("accuracy")

    parsed = page(result, decimals=2)

    assert parsed.text_of("Hits") == ["0.50 [0.25, 0.88]", "0.75"]
    assert parsed.texts[0][-1] == "Hits"


def test_table_of_disparity_has_a_note_column_only_with_notes():
    compas = bf.datasets.compas()
    options = {"by": "race", "counts": "n"}

    with_note, without = (
        page(
            bf.disparity(compas, "reoffended", "high_risk", metrics=metrics, detail=True, **options)
        )
        for metrics in (["accuracy", "f1"], "accuracy")
    )

    assert with_note.text_of("Note") == ["", "there is no test of all segments"]
    assert "Note" not in without.texts[0]


def test_the_long_layout_has_a_heading_for_each_metric():
    names = ["accuracy", "false_positive_rate"]
    out = bf.report(
        pl.DataFrame(GROUPS),
        Y,
        P,
        by="g",
        metrics=names,
        layout="long",
        interval="exact",
        detail=True,
    )

    parsed = page(out.select("g", "metric", "estimate", "n", "method"))

    assert parsed.texts == [
        ["g", "Estimate", "n"],
        ["a", "0.750", "4"],
        ["b", "0.667", "3"],
        ["(missing)", "1.000", "1"],
        ["a", "0.000", "4"],
        ["b", "0.500", "3"],
        ["(missing)", "0.000", "1"],
    ]
    assert parsed.alone[:2] == ["Accuracy", "False positive rate"]
    assert "Brackets: confidence interval, method exact." in page(out).alone


def test_texts_that_look_like_placeholders_are_quoted():
    df = pl.DataFrame({"g": ["(missing)", "(all)", None], Y: [1] * 3, P: [1] * 3})

    parsed = page(bf.report(df, Y, P, by="g", margins="overall", metrics="accuracy"))
    wrong = df.with_columns(p=pl.Series([1, 1, 0]))
    extremes = page(bf.disparity(wrong, Y, P, by="g", min_support=1, detail=True))

    assert [row[0] for row in parsed.texts[1:]] == ['"(all)"', '"(missing)"', "(missing)", "(all)"]
    assert extremes.text_of("Lowest g")[0] == "(missing)"


def luminance(colour):
    """The relative luminance of WCAG 2.1 of a colour such as #0b4a7d."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_text_has_sufficient_contrast_with_the_background():
    df = pl.DataFrame(GROUPS)
    report = bf.report(df, Y, P, by="g", metrics="accuracy", interval=True, margins="overall")
    check = bf.check(df, Y, P, by="g", rules=["n >= 3", "recall >= 0.9"], detail=True, level=None)

    for out in (report, check, bf.confusion(df, Y, P, by="g", normalize="all")):
        html = bf.table(out, min_support=0).as_raw_html()
        (name,) = re.findall(r'<div id="([\w-]+)"', html)
        texts = re.findall(r'style="[^"]*?(?<![\w-])color: ?(#\w{6})', html)
        assert f"#{name} tr {{ background: transparent; }}" in html
        assert "color: #333333" in html
        assert texts
        for background in ("#ffffff", "#f5f6f8"):  # of the table, and of roll-ups
            for text in {"#333333", *texts}:
                light, dark = luminance(background), luminance(text)
                assert (light + 0.05) / (dark + 0.05) >= 4.5


def in_dark(color):
    """Invert a colour and turn its hue by half a circle, as the filters of CSS do."""
    inverted = [1 - int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    # Filter Effects 1, "hue-rotate", where cos is -1 and sin is 0
    matrix = [[-0.574, 1.430, 0.144], [0.426, 0.430, 0.144], [0.426, 1.430, -0.856]]
    turned = [sum(x * y for x, y in zip(row, inverted, strict=True)) for row in matrix]
    return "#" + "".join(f"{round(255 * min(1, max(0, part))):02x}" for part in turned)


def test_tables_follow_the_dark_theme_of_a_notebook():
    df = pl.DataFrame(GROUPS)
    report = bf.report(df, Y, P, by="g", metrics="accuracy", interval=True, margins="overall")
    check = bf.check(df, Y, P, by="g", rules=["n >= 3", "recall >= 0.9"], level=None)

    for out in (report, check):
        html = bf.table(out, min_support=0).as_raw_html()
        (name,) = re.findall(r'<div id="([\w-]+)"', html)
        (rule,) = re.findall(rf":is\((.*)\) #{name} {{ (.*) }}", html)
        assert 'body[data-jp-theme-light="false"]' in rule[0]
        assert rule[1] == "filter: invert(1) hue-rotate(180deg); mix-blend-mode: screen;"
        texts = re.findall(r'style="[^"]*?(?<![\w-])color: ?(#\w{6})', html)
        for background in ("#ffffff", "#f5f6f8"):
            for text in {"#333333", *texts}:
                light, dark = luminance(in_dark(text)), luminance(in_dark(background))
                assert (light + 0.05) / (dark + 0.05) >= 4.5, text


def test_gaps_have_bars_around_0_and_small_p_values_as_less_than():
    result = pl.DataFrame(
        {
            "g": ["a", "b"],
            "metric": ["recall"] * 2,
            "estimate": [0.5, 0.75],
            "difference": [-0.25, 0.25],
            "lower": [-0.4, None],
            "upper": [-0.1, None],
            "p_adjusted": [0.00002, 0.5],
            "verdict": ["worse", "not decided"],
            "n": [1000, 20],
            "p_value": [0.00001, 0.5],
            "n_tests": [2, 2],
        }
    )

    parsed = page(result)

    difference = f"{MINUS}0.250 [{MINUS}0.400, {MINUS}0.100]"
    assert parsed.texts == [
        ["g", "Recall", "Difference", "Adjusted p", "Verdict", "n", "p", "Tests"],
        ["a", "▼ 0.500", difference, "<0.001", "✗ worse", "1,000", "<0.001", "2"],
        ["b", "0.750", "0.250", "0.500", "? not decided", "20", "0.500", "2"],
    ]
    below, above = parsed.column("Difference")
    place = (0.4 - 0.25) / 0.8  # on the axis from -0.4 to 0.4, the furthest limit
    assert below.at("circle", "cx") == pytest.approx([place], abs=0.01)
    assert above.at("circle", "cx") == pytest.approx([1 - place], abs=0.01)
    spans = f"Bars run from 0 to 1 (Recall), from {MINUS}0.4 to 0.4 (Difference)."
    assert spans in parsed.alone


def test_check_has_signs_for_statuses_and_bounds_on_bars():
    df = pl.DataFrame({"g": ["a"] * 300 + ["b"] * 100, Y: [1] * 400, P: [1] * 300 + [0, 1] * 50})
    rules = ["n >= 200", "recall >= 0.75", "difference(recall) <= 0.5"]

    parsed = page(bf.check(df, Y, P, by="g", rules=rules, detail=True, level=None))

    assert parsed.texts == [
        ["g", "Estimate", "Bound", "Status"],
        ["a", "300", "200", "✓ pass"],
        ["b", "100", "200", "✗ fail"],
        ["a", "1.000", "0.75", "✓ pass"],
        ["b", "0.500", "0.75", "✗ fail"],
        ["(all)", "0.500", "0.5", "✓ pass"],
    ]
    assert parsed.alone[:3] == rules
    estimates = parsed.column("Estimate")
    assert estimates[0].shapes == []
    assert estimates[3].at("line", "x1")[1] == pytest.approx(0.75, abs=0.01)
    assert estimates[3].at("circle", "cx") == pytest.approx([0.5], abs=0.01)
    assert parsed.alone[-1].endswith("The vertical line is the bound.")


def test_without_segments_the_metrics_or_rules_are_the_rows():
    df = pl.DataFrame(GROUPS)  # 6 of 8 right, 2 of 3 positives found

    long = page(bf.report(df, Y, P, layout="long", metrics=["accuracy", "recall"]))
    wide = page(bf.report(df, Y, P, metrics="accuracy"))
    check = page(bf.check(df, Y, P, rules="n >= 3"))

    assert [row[:2] for row in long.texts] == [
        ["Metric", "Estimate"],
        ["Accuracy", "0.750"],
        ["Recall", "0.667"],
    ]
    assert wide.texts[1:] == [["8", "0.750"]]
    assert [[row[0], row[-1]] for row in check.texts[1:]] == [["n >= 3", "✓ pass"]]


def test_an_infinite_threshold_is_the_infinity_sign():
    df = pl.DataFrame({"y": [0, 1], "s": [0.25, 0.5]})

    parsed = page(bf.curve(df, "y", "s", metrics="accuracy"))

    assert parsed.text_of("Accuracy") == ["0.500", "1.000", "0.500"]
    assert [row[0] for row in parsed.texts[1:]] == ["0.25", "0.5", "∞"]


METHODS = ("compare", "disparity", "fairness", "ranking", "best_threshold", "posterior")


@cases("method", METHODS)
@each_constructor
def test_tables_of_other_methods_have_every_row(method, constructor):
    data = {key: values * 3 for key, values in GROUPS.items()}
    data |= {"g": ["a", "b", None] * 8, "q": [0, 1] * 12}
    predicted = {"compare": [P, "q"]}.get(method, P)
    out = getattr(bf, method)(constructor(data), Y, predicted, by="g", backend="polars")
    same = getattr(bf, method)(constructor(data), Y, predicted, by="g")

    parsed = page(same)

    assert len(parsed.rows) - 1 == out.height > 0
    assert parsed.texts == page(out).texts
    assert "nan" not in " ".join(text for row in parsed.texts for text in row).lower()


def test_a_result_without_rows_has_a_header():
    parsed = page(bf.report(pl.DataFrame(GROUPS).clear(), Y, P, by="g", metrics="accuracy"))

    assert parsed.texts == [["g", "n", "Accuracy"]]


def test_tables_can_be_restyled_by_the_numbers_behind_cells():
    from great_tables import loc, style

    table = bf.table(segments([0.25, 0.5], recall=[0.5, 0.25]))
    rows = pl.col("accuracy_value") > 0.4

    parsed = Page(table.tab_style(style.fill("lightyellow"), loc.body(columns="n", rows=rows)))

    assert ["lightyellow" in cell.style for cell in parsed.column("n")] == [False, True]


def test_values_stand_alone_below_the_names_of_their_columns():
    df = pl.DataFrame(
        {
            "smoker": ["yes", "yes", "no", "no"],
            "insured": ["yes", "no", "yes", "no"],
            "y": [1, 1, 0, 0],
            "p": [1, 1, 0, 1],
        }
    )
    by = ["smoker", "insured"]
    report = bf.report(df, "y", "p", by=by)

    shown = page(report)
    values = [shown.text_of(name) for name in by]
    assert values == [["no", "no", "yes", "yes"], ["no", "yes", "no", "yes"]]
    lines = [line.split()[:2] for line in table_text(report).decode().splitlines()[:5]]
    assert lines == [by, ["no", "no"], ["no", "yes"], ["yes", "no"], ["yes", "yes"]]
    headings = page(bf.confusion(df, "y", "p", by=by))
    assert "smoker: no · insured: yes" in headings.alone
