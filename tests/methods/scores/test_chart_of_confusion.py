import re
from collections import Counter
from datetime import date

import polars as pl
import pytest
import vl_convert

import balframe as bf
from tests.support.cases import cases
from tests.support.chart_specifications import (
    channel,
    layers_of,
    rows_of,
    shown,
    specification,
    subtitle,
)
from tests.support.constructors import each_constructor, plain
from tests.support.frames.partly_labelled import answers

TABLE = {
    "g": ["a", "a", "a", "a", "b", "b", "b", None],
    "y": ["cat", "cat", "cat", "dog", "dog", "cat", "dog", "dog"],
    "p": ["cat", "cat", "dog", "dog", "dog", "cat", "cow", "dog"],
    "q": ["dog"] * 8,
    "w": [1.0, 3.0, 4.0, 1.0, 1.0, 1.0, 3.0, 1.0],
}


def labelled(n_labels, n_segments=1):
    """Each label once in each segment, always found."""
    y = [f"l{i:03d}" for i in range(n_labels)] * n_segments
    g = [f"s{i:03d}" for i in range(n_segments) for _ in range(n_labels)]
    return pl.DataFrame({"g": g, "y": y, "p": y})


def test_counts_and_shares_are_those_of_the_method(constructor):
    df = constructor(TABLE)

    chart = bf.plot.confusion(df, "y", "p", by="g")

    cells = plain(bf.confusion(df, "y", "p", by="g", complete=True, normalize="true"))
    drawn = rows_of(chart)
    assert len(drawn) == 3 * 3 * 3
    assert [row["segment"] for row in drawn] == [name or "(missing)" for name in cells["g"]]
    for field, column in (("actual", "y"), ("predicted", "p"), ("n", "n"), ("share", "share")):
        assert [row[field] for row in drawn] == cells[column]


@pytest.mark.parametrize(
    ("normalize", "share", "words"),
    [
        ("true", 2 / 3, "within each true label"),
        ("pred", 2 / 2, "within each predicted label"),
        ("all", 2 / 4, "of all rows of the segment"),
    ],
)
def test_normalize_sets_the_denominator_of_the_shares(normalize, share, words):
    chart = bf.plot.confusion(pl.DataFrame(TABLE), "y", "p", by="g", normalize=normalize)

    (cell,) = rows_of(chart, segment="a", actual="cat", predicted="cat")
    assert (cell["n"], cell["share"]) == (2, share)
    assert subtitle(chart) == [f"Counts, shaded by the share {words}"]


def test_shares_use_weights_and_counts_do_not():
    chart = bf.plot.confusion(pl.DataFrame(TABLE), "y", "p", by="g", sample_weight="w")

    (cell,) = rows_of(chart, segment="a", actual="cat", predicted="dog")
    assert (cell["n"], cell["share"]) == (1, 4 / 8)


def test_axes_and_tooltip_have_the_expected_fields_and_titles():
    chart = bf.plot.confusion(pl.DataFrame(TABLE), "y", "p", by="g")

    labels = ["cat", "cow", "dog"]
    for name, field, title in (("x", "predicted", "p"), ("y", "actual", "y")):
        encoding = channel(chart, "rect", name)
        assert (encoding["field"], encoding["title"]) == (field, title)
        assert encoding["scale"]["domain"] == labels
    color = channel(chart, "rect", "color")
    assert (color["field"], color["scale"]["domain"]) == ("share", [0, 1])
    counts, shares = (one["encoding"]["text"] for one in layers_of(chart, "text"))
    assert (counts["field"], shares["field"]) == ("n", "share")
    assert shown(chart, "rect") == {
        "segment": "g",
        "actual": "y",
        "predicted": "p",
        "n": "rows",
        "share": None,
    }
    facet = specification(chart)["facet"]
    assert (facet["field"], facet["sort"]) == (
        "title",
        ["a\n4 rows", "b\n3 rows", "(missing)\n1 row"],
    )


def test_labels_are_drawn_in_the_order_of_the_option():
    chart = bf.plot.confusion(pl.DataFrame(TABLE), "y", "p", labels=["dog", "cow", "cat"])

    assert channel(chart, "rect", "x")["scale"]["domain"] == ["dog", "cow", "cat"]
    assert "facet" not in specification(chart)
    assert specification(chart)["title"]["text"] == "Confusion matrix"


@each_constructor
def test_each_model_has_a_separate_matrix(constructor):
    chart = bf.plot.confusion(constructor(TABLE), "y", ["p", "q"], by="g")

    segments = [f"{g} · {model}" for g in ("a", "b", "(missing)") for model in ("p", "q")]
    assert list(dict.fromkeys(row["segment"] for row in rows_of(chart))) == segments
    assert specification(chart)["title"]["text"] == "Confusion matrix by g and model"
    (cell,) = rows_of(chart, segment="b · q", actual="dog", predicted="dog")
    assert cell["n"] == 2
    assert channel(chart, "rect", "x")["title"] == "predicted"


def test_labels_absent_from_a_segment_have_no_share():
    chart = bf.plot.confusion(pl.DataFrame(TABLE), "y", "p", by="g")

    shares = {row["share"] for row in rows_of(chart, segment="(missing)", actual="cat")}
    assert shares == {None}
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    fills = Counter(re.findall(r'aria-roledescription="rect mark"[^>]*fill="([^"]+)"', svg))
    assert fills["#d9d9d9"] == sum(row["share"] is None for row in rows_of(chart)) == 12
    assert ">null<" not in svg


@cases("labels", [[date(2024, 1, 1), date(2024, 1, 2)], [True, False], [0, 1]])
@each_constructor
def test_labels_of_other_dtypes_are_drawn_as_text(constructor, labels):
    df = constructor({"y": labels * 2, "p": labels[:1] * 4})

    chart = bf.plot.confusion(df, "y", "p")

    found = [row["predicted"].removesuffix(" 00:00:00") for row in rows_of(chart)]
    assert found == [str(label) for label in sorted(labels)] * 2


def test_only_segments_with_extreme_balanced_accuracy_are_drawn():
    right = [(f"s{i:02d}", int(j < i)) for i in range(1, 11) for j in range(10)]
    df = pl.DataFrame(right, schema=["g", "p"], orient="row").with_columns(y=1)

    chart = bf.plot.confusion(df, "y", "p", by="g", most=5)

    titles = [f"s{i:02d}\n10 rows" for i in (10, 9, 8, 2, 1)]
    assert specification(chart)["facet"]["sort"] == titles
    assert {row["title"] for row in rows_of(chart)} == set(titles)
    left_out = "The 3 highest and the 2 lowest in balanced accuracy; 5 of 10 segments are left out"
    assert subtitle(chart)[1:] == [left_out]


def test_only_extreme_segments_of_several_models_are_drawn():
    df = pl.DataFrame(TABLE)

    chart = bf.plot.confusion(df, "y", ["p", "q"], by="g", most=2)

    # p finds all of null; recalls of p: a 2/3 and 1, b 1/2 and 1; of q: 0 and 1, in null 1
    assert len({row["segment"] for row in rows_of(chart)}) == 2
    highest, lowest = specification(chart)["facet"]["sort"]
    assert highest in ("(missing) · p\n1 row", "(missing) · q\n1 row")
    assert lowest in ("a · q\n4 rows", "b · q\n3 rows")


@cases(("n_labels", "n_texts", "side"), [(2, 2, 120), (5, 1, 170), (15, 0, 210), (100, 0, 600)])
def test_cells_shrink_and_lose_their_texts_with_many_labels(n_labels, n_texts, side):
    chart = bf.plot.confusion(labelled(n_labels), "y", "p")

    given = specification(chart)
    assert (given["width"], given["height"]) == (side, side)
    assert len(layers_of(chart, "text")) == n_texts


@pytest.mark.thorough
@cases(("n_labels", "n_segments"), [(2, 60), (15, 60), (30, 20), (60, 2)])
def test_many_matrices_stay_on_a_page(n_labels, n_segments):
    chart = bf.plot.confusion(labelled(n_labels, n_segments), "y", "p", by="g")

    given = specification(chart)
    across = given["columns"]
    down = -(-n_segments // across)
    assert across * given["spec"]["width"] <= 800
    assert down * given["spec"]["height"] <= 3500


@pytest.mark.parametrize(("n", "form"), [(9999, ",d"), (10_000, ".3~s")])
def test_counts_of_10000_and_more_are_abbreviated(n, form):
    df = pl.DataFrame({"y": [0, 1], "p": [0, 1], "k": [n, 1]})

    chart = bf.plot.confusion(df, "y", "p", counts="k")

    assert layers_of(chart, "text")[0]["encoding"]["text"]["format"] == form


def test_shares_are_corrected_for_rows_without_a_true_label():
    rows = answers(n=900, share=0.4)
    options = {"by": "category", "missing": bf.correct("model")}

    chart = bf.plot.confusion(rows, "human", "judge", **options)

    cells = bf.confusion(rows, "human", "judge", normalize="true", **options)
    drawn = {
        (r["segment"], r["actual"], r["predicted"]): (r["n"], r["share"]) for r in rows_of(chart)
    }
    for category, truth, prediction, n, _, share in cells.rows():
        assert drawn[category, str(truth), str(prediction)] == (n, share)
    assert subtitle(chart) == [
        "Counts of rows with a true label, shaded by the share within each true label, as "
        "estimated for all rows"
    ]


def test_segments_that_are_drawn_follow_from_corrected_scores():
    rows = answers(n=4000, share=0.3, rejected=0.9).with_columns(g=pl.int_range(pl.len()) % 9)
    options = {"by": "g", "missing": "correct"}

    chart = bf.plot.confusion(rows, "human", "judge", most=2, **options)

    scores = bf.report(rows, "human", "judge", metrics="balanced_accuracy", **options)
    scores = scores.sort("balanced_accuracy")
    ends = {str(scores["g"][0]), str(scores["g"][-1])}
    assert {row["segment"] for row in rows_of(chart)} == ends


@cases(["y", "p"], [("y", "model"), ("model", "p")])
def test_a_column_of_labels_may_be_called_model(y, p):
    rows = pl.DataFrame(TABLE).rename({"y": y, "p": p})

    chart = bf.plot.confusion(rows, y, p, by="g")

    assert rows_of(chart) == rows_of(bf.plot.confusion(pl.DataFrame(TABLE), "y", "p", by="g"))


def test_a_result_on_predictions_called_model_is_drawn():
    rows = pl.DataFrame(TABLE).rename({"p": "model"})
    result = bf.confusion(rows, "y", "model", by="g")

    assert rows_of(bf.plot(result)) == rows_of(bf.plot.confusion(rows, "y", "model", by="g"))
