import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain
from tests.support.oracles.mean_recalls import difference

ODD = [
    "*",
    "^y.*$",
    "^",
    "",
    " ",
    "a b",
    "a,b",
    "'",
    '"',
    "\n",
    "1",
    "{}",
    "n_low",
    "actual",
    "by0",
]
MANY = 60_000


@cases("name", ODD)
@cases("lazy", [False, True])
@cases("role", ["by", "y", "yhat", "w", "k"])
def test_odd_column_names_are_accepted_in_every_role(name, lazy, role):
    df = pl.DataFrame(
        {
            "by": ["a", "a", "b"],
            "y": [1, 0, 1],
            "yhat": [1, 1, 1],
            "w": [1.0, 3.0, 2.0],
            "k": [2, 1, 1],
        }
    ).rename({role: name})
    column = {one: name if one == role else one for one in ("by", "y", "yhat", "w", "k")}

    out = bf.report(
        df.lazy() if lazy else df,
        column["y"],
        column["yhat"],
        by=column["by"],
        sample_weight=column["w"],
        counts=column["k"],
        metrics="accuracy",
        detail=True,
    )

    # segment a: two rows of weight 1 are right, one row of weight 3 is wrong
    expected = {"n": [3, 1], "accuracy": [2 / 5, 1.0], "n_labels": [2, 1], "min_support": [1, 1]}
    assert plain(out) == {column["by"]: ["a", "b"], **expected}


@pytest.mark.parametrize("name", ["*", "^y.*$"])
def test_polars_patterns_are_plain_names_in_a_large_frame(name):
    df = pl.DataFrame({name: ["a", "b"] * MANY, "y": [1, 1] * MANY, "yhat": [1, 0] * MANY})

    out = df.bal.report("y", "yhat", by=name, metrics="accuracy")

    assert out.get_column("accuracy").to_list() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "parts"}, r"column 'parts' has the type List\(Int64\)"),
        (
            {"by": "g", "sample_weight": "g"},
            "'g' has the type String; scores, counts and",
        ),
        (
            {"by": "g", "counts": "g"},
            "'g' has the type String; scores, counts and",
        ),
    ],
)
def test_errors_name_the_callers_column_in_a_large_frame(options, message):
    df = pl.DataFrame({"g": ["a"] * MANY, "y": [1] * MANY}).with_columns(p="y", parts=pl.lit([1]))

    with pytest.raises(bf.UnsupportedTypeError, match=message):
        df.bal.report("y", "p", **options)


@cases("name", ["overall", "rest", "best", "null"])
def test_a_segment_named_like_a_reference_option_is_accepted(name):
    data = {"g": [name] * 40 + ["b"] * 40, "y": [0, 1] * 40, "yhat": [0, 1] * 20 + [1] * 40}
    *_, expected = difference(([40], [40]), ([20], [40]), [1], 0.95)

    out = bf.gaps(pl.DataFrame(data), "y", "yhat", by="g", reference={"g": name}, detail=True)

    (found,) = out.filter(g="b", metric="accuracy").select("difference", "p_value").rows()
    assert found == (-0.5, pytest.approx(expected, rel=1e-9))
