"""Types that an engine holds in its own way: Decimals, dictionaries of Arrow, objects on Dask."""

from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest

import balframe as bf
from tests.engines.conftest import on_engines
from tests.support.constructors import plain
from tests.support.programs import library

pytestmark = pytest.mark.any_version

HALF, ONE, ZERO = Decimal("0.5"), Decimal("1.0"), Decimal("0.0")


def test_decimals_are_labels_scores_weights_and_counts(engine, request):
    if request.node.callspec.params["engine"] in ("dask", "sqlite"):
        pytest.skip("SQLite has no Decimals, and Dask makes texts of the objects that pandas has")
    y, p, s = [1, 0, 1, 0], [1, 0, 0, 0], [0.7, 0.25, 0.7, 0.5]
    rows = {"y": y, "p": p, "s": s, "n": [2, 1, 4, 1], "w": [0.5, 2.0, 1.25, 1.0]}
    exact = {name: pa.array([Decimal(repr(v)) for v in column]) for name, column in rows.items()}
    for method in (
        lambda df: bf.report(df, "y", "p", counts="n", metrics=["accuracy", "recall"]),
        lambda df: bf.report(df, "y", "p", sample_weight="w", metrics="accuracy"),
        lambda df: bf.curve(df, "y", "s", thresholds=[0.25, 0.7]),
        lambda df: bf.report(df, "y", "p", by=bf.bins("s", [0.5]), metrics="accuracy"),
    ):
        assert plain(method(engine(exact))) == plain(method(engine(rows)))
    for options in ({"y_pred": "s"}, {"y_pred": "p", "counts": "s"}):
        with pytest.raises(bf.InvalidInputError, match="'s' h"):
            bf.report(engine(exact), "y", **options)


def test_decimals_are_accepted_as_segments(engine, request):
    if request.node.callspec.params["engine"] in ("dask", "sqlite"):
        pytest.skip("SQLite has no Decimals, and Dask makes texts of the objects that pandas has")
    rows = {"g": pa.array([ONE, HALF, None, ONE]), "y": [1, 0, 1, 1], "p": [1, 1, 0, 0]}
    result = plain(bf.report(engine(rows), "y", "p", by="g"))
    assert result["g"] == [HALF, ONE, None]
    assert (result["n"], result["accuracy"]) == ([1, 2, 1], [0.0, 1 / 2, 0.0])


@pytest.mark.parametrize("name", on_engines(["duckdb", "ibis"]))
@pytest.mark.parametrize("roles", [{"by": "d"}, {"by": "d", "margins": "all"}])
def test_durations_are_refused_as_segments_by_engines_that_cannot_export_them(name, roles, request):
    rows = {"y": [1, 0], "p": [1, 1], "d": pa.array([1, None], pa.duration("us"))}
    frame = request.getfixturevalue(name)(rows)

    with pytest.raises(bf.UnsupportedTypeError, match=r"column 'd' has .* cannot export"):
        bf.report(frame, "y", "p", **roles)


@pytest.mark.parametrize("unit", ["D", "us", "h", "M"])
def test_durations_of_ibis_in_unused_columns_do_not_matter(ibis, unit):
    interval = library("ibis").interval(1, unit)
    frame = ibis({"y": [1, 0], "p": [1, 1]}).mutate(d=interval)

    assert plain(bf.report(frame, "y", "p", metrics="accuracy"))["accuracy"] == [1 / 2]
    for roles in ({"by": "d"}, {"y_true": "d"}, {"sample_weight": "d"}):
        with pytest.raises(bf.UnsupportedTypeError, match=r"column 'd' has the type interval\("):
            bf.report(frame, **{"y_true": "y", "y_pred": "p"} | roles)


@pytest.fixture
def of_pandas(dask_dataframe):
    return lambda frame: dask_dataframe.from_pandas(frame, npartitions=2)


def objects(*values):
    return pd.Series(values, dtype=object)


def test_booleans_in_objects_beside_nulls_are_refused_on_dask(of_pandas):
    truth = objects(True, False, None, True)
    rows = pd.DataFrame({"y": truth, "p": truth, "q": [True, True, False, False]})
    assert plain(bf.report(rows, "y", "p", missing="drop", detail=True))["n_labels"] == [2]
    frame = of_pandas(rows)
    with pytest.raises(bf.InvalidInputError, match=r"'y' has the strings.*'y': 'bool\[pyarrow\]'"):
        bf.report(frame, "y", "p", missing="drop")
    with pytest.raises(bf.InvalidInputError, match=r"'y' has the strings.*'y': 'bool\[pyarrow\]'"):
        bf.report(frame, "y", "q", missing="drop")
    cast = frame.astype({"y": "bool[pyarrow]"})
    result = plain(bf.report(cast, "y", "q", missing="drop", metrics="recall"))
    assert (result["n"], result["n_missing"], result["recall"]) == ([3], [1], [1 / 2])


def test_string_labels_beside_numeric_predictions_are_refused_on_dask(of_pandas):
    frame = of_pandas(pd.DataFrame({"y": ["1", "0"], "p": [1, 0]}))
    with pytest.raises(bf.InvalidInputError, match=r"'y'.*holds strings.*'p'.*holds numbers"):
        bf.report(frame, "y", "p")


def test_booleans_in_objects_beside_integers_are_refused_on_dask(of_pandas):
    frame = of_pandas(pd.DataFrame({"y": objects(1, 0, None), "p": objects(True, None, False)}))
    with pytest.raises(bf.InvalidInputError, match="'p' has the strings 'True' and 'False'"):
        bf.report(frame, "y", "p", missing="drop")


def test_strings_named_in_options_are_labels_on_dask(of_pandas):
    frame = of_pandas(pd.DataFrame({"y": ["True", "False"], "p": ["True", "True"]}))
    for said in ({"labels": ["False", "True"]}, {"pos_label": "True"}):
        assert plain(bf.report(frame, "y", "p", metrics="accuracy", **said))["accuracy"] == [1 / 2]


def test_arrow_dictionaries_are_categories_on_dask(dask_dataframe):
    columns = {
        "g": pa.array(["b", "a", "b", None, "c", "a"]).dictionary_encode(),
        "y": pa.array(["no", "yes", "yes", "no", "no", "no"]).dictionary_encode(),
        "p": pa.array(["no", "yes", "no", "yes", "no", "no"]).dictionary_encode(),
    }
    rows = pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype)
    expected = plain(bf.report(rows, "y", "p", by="g", metrics="accuracy"))
    assert (expected["g"], expected["accuracy"]) == (["a", "b", "c", None], [1.0, 0.5, 1.0, 0.0])
    frame = dask_dataframe.from_pandas(rows, npartitions=2)
    assert plain(bf.report(frame, "y", "p", by="g", metrics="accuracy")) == expected


def test_scores_as_labels_are_refused_before_max_cells(engine):
    scores = [None, -1.75, 1.0, *(at / 32 for at in range(1, 32))]
    frame = engine({"y": [0, 1] * 17, "s": scores})

    with pytest.raises(bf.InvalidInputError, match="'s' holds numbers that are not whole"):
        bf.report(frame, "y", "s", missing="drop", max_cells=4)  # of which one is null


def test_whole_floats_keep_their_values_as_labels(engine):
    y, p = [0.0, 1.0, -3.0, 1e300, None], [1.0, 1.0, -3.0, 1e300, 1.0]
    frame = engine({"y": y, "p": p})

    cells = plain(bf.confusion(frame, "y", "p", missing="drop", backend="polars"))
    counted = {(a, b) for a, b, n in zip(cells["y"], cells["p"], cells["n"], strict=True) if n}
    assert counted == {(0, 1), (1, 1), (-3, -3), (1e300, 1e300)}


def test_predictions_absent_from_the_truth_warn_on_engines(engine):
    frame = engine({"y": [0, 1] * 5, "p": [2, 3] * 5})

    with pytest.warns(bf.BalframeWarning, match="10 of 10 predictions in column 'p'"):
        bf.report(frame, "y", "p", metrics="accuracy", backend="polars")


@pytest.mark.parametrize(
    ("text", "kind"),
    [("infinity", "date"), ("-infinity", "timestamp"), ("24:00", "time"), ("NaN", "decimal")],
)
def test_values_of_postgres_that_python_lacks_are_refused_by_column(postgres, text, kind):
    texts = postgres({"y": [1], "p": [1], "text": [text]})

    with pytest.raises(bf.InvalidInputError, match="a value of column 'g' cannot be read: "):
        bf.report(texts.mutate(g=texts.text.cast(kind)), "y", "p", by="g")


def test_uuids_of_postgres_are_texts(postgres):
    text = "00000000-0000-0000-0000-0000000000ff"
    texts = postgres({"y": [1], "p": [1], "text": [text]})
    result = bf.report(texts.mutate(g=texts.text.cast("uuid")), "y", "p", by="g")

    assert plain(result)["g"] == [text]
