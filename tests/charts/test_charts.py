import copy
import json
import re
from datetime import date, datetime
from inspect import signature

import altair as alt
import pandas as pd
import polars as pl
import pytest

import balframe as bf
from balframe.frames.engines import registry as engines
from tests.support.cases import cases
from tests.support.chart_specifications import channel, layers_of, rows_of, specification
from tests.support.constructors import each_constructor, head

CHARTS = {
    "report": ("y", "p"),
    "gaps": ("y", "p"),
    "confusion": ("y", "p"),
    "curve": ("y", "s"),
    "roc": ("y", "s"),
}
OPTIONS = {"sample_weight", "counts", "labels", "pos_label", "missing"}
TABLE = {
    "g": ["a", "a", "a", "b", "b", "b"],
    "y": [1, 0, 1, 0, 1, 0],
    "p": [1, 0, 0, 0, 1, 1],
    "s": [0.9, 0.2, 0.4, 0.3, 0.8, 0.6],
    "w": [1.0, 2.0, 1.0, 2.0, 1.0, 2.0],
    "k": [1, 2, 1, 2, 1, 2],
}


@pytest.fixture(params=CHARTS)
def draw(request):
    """Draw one of the charts of a frame by its segments."""

    def drawn(df, by="g", **options):
        return getattr(bf.plot, request.param)(df, *CHARTS[request.param], by=by, **options)

    return drawn


def segments_of(chart):
    return list(dict.fromkeys(row["segment"] for row in rows_of(chart)))


@pytest.mark.parametrize("name", ["report", "gaps", "curve", "roc"])
def test_channels_are_objects_which_altair_does_not_look_up(monkeypatch, name):
    """To look one up, Altair writes the schemas of all of its classes as JSON."""
    texts = []
    from_dict = alt.SchemaBase.from_dict.__func__

    def watched(cls, channel, *arguments, **options):
        texts.append(channel)
        return from_dict(cls, channel, *arguments, **options)

    monkeypatch.setattr(alt.SchemaBase, "from_dict", classmethod(watched))

    for n in (2, 20):  # segments together in a panel, and each in its own
        df = pl.concat([pl.DataFrame(TABLE).with_columns(g=pl.lit(f"{i}")) for i in range(n)])
        getattr(bf.plot, name)(df, *CHARTS[name], by="g")

    assert texts == []


@cases(
    "name",
    ["segment", "panel", "n_", "a.b", "a[0]", "true", "model", "title", "note", "mark", "", "*"],
)
@cases("chart", ["report", "confusion"])
def test_by_accepts_a_column_of_any_name(chart, name):
    drawn = getattr(bf.plot, chart)(pl.DataFrame(TABLE).rename({"g": name}), "y", "p", by=name)

    assert segments_of(drawn) == ["a", "b"]
    assert specification(drawn)["title"]["text"].endswith(f" by {name}")
    assert ("facet" in specification(drawn)) == (chart == "confusion")


def test_by_column_named_model_makes_no_panels(draw):
    chart = draw(pl.DataFrame(TABLE).rename({"g": "model"}), "model")

    assert segments_of(chart) == ["a", "b"]
    assert {row.get("panel", "") for row in rows_of(chart)} == {""}


@pytest.mark.parametrize("name", [1, ("a", "b")])
def test_names_of_pandas_need_not_be_text(draw, name):
    df = pd.DataFrame(TABLE)
    df.columns = pd.Index([name, *df.columns[1:]], tupleize_cols=False)

    assert segments_of(draw(df, name)) == ["a", "b"]
    assert segments_of(draw(df, [name])) == ["a", "b"]


@cases(
    ("values", "texts"),
    [
        ([False, True], ["False", "True"]),
        ([1, 2], ["1", "2"]),
        ([1.5, 2.5], ["1.5", "2.5"]),
        ([date(2024, 1, 1), date(2024, 1, 2)], ["2024-01-01", "2024-01-02"]),
        ([datetime(2024, 1, 1, 3), None], ["2024-01-01 03:00:00", "(missing)"]),
        (["", "(missing)"], ['""', '"(missing)"']),
        (["(all)", "null"], ['"(all)"', "null"]),
        (["(missing)", None], ['"(missing)"', "(missing)"]),
        (["a\nb", "long " * 50], ["a\\nb", "long " * 50]),
        (["<b>&amp;", "אבג"], ["<b>&amp;", "אבג"]),
    ],
)
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_segments_are_named_by_values_of_any_type(library, values, texts):
    df = library({**TABLE, "g": [one for one in values for _ in range(3)]})

    assert segments_of(bf.plot.report(df, "y", "p", by="g")) == texts


def test_categories_keep_their_order(draw):
    names = ["b", "a"]
    of_pandas = pd.DataFrame({**TABLE, "g": pd.Categorical(TABLE["g"], names)})
    of_polars = pl.DataFrame(TABLE, schema_overrides={"g": pl.Enum(names)})

    assert segments_of(draw(of_pandas)) == segments_of(draw(of_polars)) == names


def test_segments_with_equal_names_are_distinguished(draw):
    df = pl.DataFrame({**TABLE, "m": ["m"] * 6, "h": ["z", "z", "z", "y · z", "y · z", "y · z"]})
    df = df.with_columns(g=pl.Series(["x · y"] * 3 + ["x"] * 3))

    chart = draw(df.drop("m"), ["g", "h"])

    assert len({(row["segment"], row.get("panel")) for row in rows_of(chart)}) == 2
    mixed = pd.DataFrame({**TABLE, "g": pd.Series(["1"] * 3 + [1] * 3, dtype=object)})
    assert segments_of(draw(mixed)) == ["1", "'1'"]


def test_values_that_may_be_of_several_columns_are_written_with_theirs():
    """Four segments of two rows, whose models have a panel each."""
    df = pl.DataFrame(
        {
            "smoker": ["yes", "yes", "no", "no"] * 2,
            "insured": [True, True, True, True, False, False, False, False],
            "sex": ["F", "F", "M", "M", "M", "M", None, None],
            "y": [1, 0] * 4,
            "p": [1, 0, 1, 1, 0, 0, 1, 0],
            "q": [1, 1, 1, 0, 0, 1, 1, 0],
        }
    )
    names = [
        "smoker=no · insured=False · sex=(missing)",
        "smoker=no · insured=True · M",
        "smoker=yes · insured=False · M",
        "smoker=yes · insured=True · F",
    ]
    by = ["smoker", "insured", "sex"]

    report = bf.plot.report(df, "y", ["p", "q"], by=by)
    confusion = bf.plot.confusion(df, "y", "p", by=by)
    reference = {"smoker": "yes", "insured": True, "sex": "F"}
    gaps = bf.plot.gaps(df, "y", ["p", "q"], by=by, metrics="accuracy", reference=reference)

    assert sorted(segments_of(report)) == sorted(segments_of(confusion)) == names
    assert sorted(segments_of(gaps)) == names
    title = specification(gaps)["title"]["text"]
    assert title == f"Accuracy: difference from {names[-1]} by smoker, insured and sex"


def test_values_under_the_title_of_their_column_stand_alone():
    """An axis has the values of one column, and the panels have those of the other."""
    df = pl.DataFrame({**TABLE, "smoker": ["no", "yes"] * 3, "insured": ["yes"] * 3 + ["no"] * 3})

    chart = bf.plot.report(df, "y", "p", by=["smoker", "insured"])

    assert sorted(segments_of(chart)) == ["no", "yes"]
    facet = specification(chart)["facet"]
    assert (facet["title"], facet["sort"]) == ("insured", ["no", "yes"])
    models = bf.plot.confusion(df.with_columns(q="p"), "y", ["p", "q"], by="smoker")
    assert sorted(segments_of(models)) == ["no · p", "no · q", "yes · p", "yes · q"]


def test_without_by_all_rows_are_one_segment():
    df = pl.DataFrame(TABLE)
    for name in ("report", "confusion", "curve", "roc"):
        for by in (None, []):
            chart = getattr(bf.plot, name)(df, *CHARTS[name], by=by)

            assert segments_of(chart) == ["(all)"]
            assert " by " not in specification(chart)["title"]["text"]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_every_library_gives_the_same_chart_and_is_not_modified(draw, library):
    df = library(TABLE)
    before = copy.deepcopy(df)

    chart = draw(df, counts="k", sample_weight="w")

    assert rows_of(chart) == rows_of(draw(pl.DataFrame(TABLE), counts="k", sample_weight="w"))
    if isinstance(df, pd.DataFrame):
        pd.testing.assert_frame_equal(df, before)
    else:
        lazy = isinstance(df, pl.LazyFrame)
        assert df.collect().equals(before.collect()) if lazy else df.equals(before)


def test_counts_give_the_same_chart_as_repeated_rows(draw):
    df = pl.DataFrame(TABLE)
    repeated = df.select(pl.all().repeat_by("k").explode())

    assert rows_of(draw(df, counts="k")) == rows_of(draw(repeated))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.LazyFrame])
def test_accessor_draws_the_same_chart_as_the_function(library):
    df = library(TABLE)

    chart = df.bal.plot.gaps("y", "p", by="g", metrics="recall")

    assert chart.to_dict() == bf.plot.gaps(df, "y", "p", by="g", metrics="recall").to_dict()
    for name in CHARTS:
        assert getattr(df.bal.plot, name).__func__ is getattr(bf.plot, name)


def test_charts_can_be_concatenated():
    df = pl.DataFrame(TABLE)
    both = bf.plot.report(df, "y", "p", by="g") | bf.plot.roc(df, "y", "s", by="g")

    names = {one["data"]["name"] for one in both.to_dict()["hconcat"]}
    assert names <= set(both.to_dict()["datasets"])


@each_constructor
def test_frame_without_rows_is_refused(draw, constructor):
    with pytest.raises(bf.InvalidInputError, match="no rows, so there is nothing to draw"):
        draw(head(constructor(TABLE), 0))


@cases("most", [1, 0, -3, 2.0, True, "all", None])
def test_a_wrong_number_of_segments_is_refused(draw, most):
    with pytest.raises(bf.InvalidInputError, match=r"most=.* give 2 or more"):
        draw(pl.DataFrame(TABLE), most=most)


def test_an_unknown_option_is_refused(draw):
    with pytest.raises(bf.UnsupportedTypeError, match=r"option 'sample_weigth' .* 'sample_weight'"):
        draw(pl.DataFrame(TABLE), sample_weigth="w")
    with pytest.raises(bf.UnsupportedTypeError, match=r"option 'margins' not found.*bf\.plot\."):
        draw(pl.DataFrame(TABLE), margins="all")


def test_charts_raise_the_errors_of_their_methods(draw):
    with pytest.raises(bf.UnknownNameError, match="column 'gg' not found"):
        draw(pl.DataFrame(TABLE), "gg")
    with pytest.raises(bf.InvalidInputError, match="has 1 null value"):
        draw(pl.DataFrame(TABLE).with_columns(y=pl.Series([None, 0, 1, 0, 1, 0])))


def test_the_missing_extra_is_named(draw, monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda name: None)

    with pytest.raises(
        bf.MissingExtraError, match=r"charts need altair.*pip install 'balframe\[plot\]'"
    ):
        draw(pl.DataFrame(TABLE))


def test_plot_namespace_lists_its_charts_only():
    others = ["calibration", "gains", "impact", "lift", "monitor", "power", "precision_recall"]
    others += ["compare", "slices", "decision_curve", "pass_curve"]

    assert dir(bf.plot) == sorted([*CHARTS, *others])
    with pytest.raises(AttributeError, match="has no attribute 'histogram'"):
        bf.plot.histogram  # noqa: B018


def test_values_and_names_cannot_close_a_script_element(draw):
    tag = "</script><SCRIPT>alert()</script><!--"
    df = pl.DataFrame({**TABLE, "g": [tag] * 3 + ["b"] * 3}).rename({"g": tag})

    text = json.dumps(draw(df, tag).to_dict(), ensure_ascii=False)

    assert "alert()" in text
    for opening in ("</script", "<script", "<!--"):
        assert opening not in text.lower()


@cases("character", ["\0", "\x1b", "\x9b", "\n", "\u2028", "\u202e", "\ufffe", "\U0001ffff"])
def test_characters_that_renderers_refuse_are_written_out_or_replaced(draw, character):
    name = f"g{character}"
    df = pl.DataFrame({**TABLE, "g": [f"a{character}"] * 3 + ["b"] * 3})

    chart = draw(df, "g").to_dict()
    renamed = draw(df.rename({"g": name}), name).to_dict()

    for text in (json.dumps(chart), json.dumps(renamed)):
        own = text.replace(r"\n3 rows", "")  # a line of the chart itself
        assert json.dumps(character)[1:-1] not in own.replace("\\\\", "")


@cases("character", ["\0", "\n", "\ufffe"])
def test_new_names_of_metrics_are_written_out_too(character):
    metrics = {f"hits{character}": "recall"}
    df = pl.DataFrame(TABLE)

    for chart in (
        bf.plot.report(df, "y", "p", by="g", metrics=metrics),
        bf.plot.curve(df, "y", "s", by="g", metrics=metrics),
    ):
        assert json.dumps(character)[1:-1] not in json.dumps(chart.to_dict()).replace("\\\\", "")


def test_values_that_look_alike_when_written_out_stay_apart():
    df = pl.DataFrame({**TABLE, "g": ["\ufffe"] * 3 + ["\uffff"] * 3})

    segments = {row["segment"] for row in rows_of(bf.plot.report(df, "y", "p", by="g"))}

    assert segments == {r"'\ufffe'", r"'\uffff'"}


@cases("library", ["pandas", "polars"])
def test_days_of_every_library_are_shown_as_dates(draw, library):
    days = [datetime(2024, 1, 1)] * 3 + [datetime(2024, 2, 1)] * 3
    frame = pl.DataFrame({**TABLE, "g": days})

    chart = json.dumps(draw(frame.to_pandas() if library == "pandas" else frame, "g").to_dict())
    assert "2024-01-01" in chart
    assert "00:00" not in chart

    later = frame.with_columns(pl.col("g").dt.offset_by("1h"))
    chart = json.dumps(draw(later.to_pandas() if library == "pandas" else later, "g").to_dict())
    assert "2024-01-01 01:00:00" in chart


def test_rows_are_not_validated_while_a_chart_is_built(monkeypatch):
    written = []
    monkeypatch.setattr(
        alt.InlineData,
        "validate",
        classmethod(lambda kind, *given, **options: written.append(len(given[0]["values"]))),
    )
    df = pl.DataFrame(TABLE)

    bf.plot.roc(df, "y", "s", by="g")

    assert set(written) <= {0}  # the rows come last, and are looked at when they are written


@cases(
    ("counts", "values"),
    [
        ([1, 1], [1]),
        ([3, 4], [4]),
        ([1, 10], [1, 5, 10]),
        ([7, 700], [10, 100, 500]),
        ([3, 3], [3]),
    ],
)
def test_the_legend_of_rows_has_round_numbers(counts, values):
    df = pl.DataFrame({"g": ["a", "b"], "y": [1, 1], "p": [1, 0], "k": counts})

    chart = bf.plot.report(df, "y", "p", by="g", counts="k", min_support=0)

    assert channel(chart, "point", "size")["legend"]["values"] == values
    assert len(layers_of(chart, "point")) == 1


def test_signature_of_a_chart_has_every_option_default_and_description(draw, request):
    name = request.node.callspec.params["draw"]
    chart = getattr(bf.plot, name)
    parameters = signature(chart).parameters
    method = signature({"roc": bf.curve}.get(name) or getattr(bf, name)).parameters

    assert not [one for one in parameters.values() if one.kind is one.VAR_KEYWORD]
    assert parameters.keys() >= OPTIONS
    of_labelled_rows = {"missing"} if name == "confusion" else set()  # which draws their counts
    for option in OPTIONS - of_labelled_rows:
        assert parameters[option] == method[option]
    entries = re.findall(r"^(\w+) : ", chart.__doc__.partition("Returns")[0], re.MULTILINE)
    assert entries == [*parameters, "max_cells"]  # the setting that charts read
    assert "MissingExtraError\n" in chart.__doc__


def test_charts_drop_missing_rows_on_request(draw):
    df = pl.DataFrame(TABLE).with_columns(y=pl.Series([None, 0, 1, 0, 1, 0]))

    drawn, expected = (
        [{name: row[name] for name in row if name != "n_missing"} for row in rows_of(chart)]
        for chart in (draw(df, missing="drop"), draw(df.drop_nulls()))
    )
    assert drawn == expected
