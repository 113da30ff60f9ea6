import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.core.safe_divide import ratio
from balframe.methods import declarations
from balframe.stats.metric_intervals import Proportion
from tests.support.cases import cases
from tests.support.method_arguments import METHODS_WITH_BY, example_arguments

ROWS = {"y": [0, 1, 0, 1], "p": [0, 1, 1, 1], "q": [0, 0, 1, 1], "s": [0.1, 0.4, 0.3, 0.8]}
WEIGHTED = [one for one in METHODS_WITH_BY if "sample_weight" in declarations()[one].parameters]
WITH_MARGINS = [one for one in METHODS_WITH_BY if "margins" in declarations()[one].parameters]
each_method = cases("method", WITH_MARGINS)


def ask(method, frame, **options):
    return getattr(bf, method)(frame, **example_arguments(method, **options))


@each_method
def test_a_column_may_be_called_margin_or_model(method):
    frame = pl.DataFrame(ROWS | {"g": list("aabb")})
    name = "grouped_by" if method == "compare" else "model"

    out = ask(method, frame.rename({"g": name}), by=name)

    expected = ask(method, frame, by="g")
    assert out.rows() == expected.rows()


@each_method
def test_a_column_called_margin_beside_margins_raises(method):
    frame = pl.DataFrame(ROWS | {"grouped_by": list("aabb")})

    with pytest.raises(bf.InvalidInputError, match="'grouped_by'"):
        ask(method, frame, by="grouped_by", margins="overall")


@cases("method", WEIGHTED)
@cases("weight", [0.0, 1e-300, 1e300])
def test_extreme_weights_raise_no_warning(method, weight):
    frame = pl.DataFrame(ROWS | {"g": list("aabb"), "w": [weight] * 4})

    assert ask(method, frame, by="g", sample_weight="w").height > 0


@pytest.fixture
def precision_of_two():
    def parts(c):
        at = c.label == 2
        return c.sum(np.where(at, c.correct, 0)), c.sum(np.where(at, c.predicted, 0))

    @bf.metric(range=(0, 1), interval=Proportion(parts))
    def precision_of_two(c):
        """Share of the rows called 2 that are: TP / (TP + FP)."""
        return ratio(*parts(c))


@pytest.mark.usefixtures("precision_of_two")
def test_a_metric_of_a_third_label_has_no_paired_limits():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({name: rng.integers(0, 3, 60) for name in ("y", "p", "q")})

    (found,) = bf.compare(
        frame, "y", ["p", "q"], metrics="precision_of_two", detail=True
    ).to_dicts()

    assert (found["lower"], found["upper"], found["p_value"]) == (None, None, None)


def test_a_metric_without_paired_limits_has_none_where_the_positive_label_is_absent():
    frame = pl.DataFrame({"y": [0] * 9, "p": [0] * 9, "q": [0] * 9})

    out = bf.compare(frame, "y", ["p", "q"], metrics=["npv", "specificity"])

    assert out["lower"].is_null().to_list() == [True, False]


def test_a_metric_without_paired_limits_has_none_where_no_other_label_occurs():
    frame = pl.DataFrame({"y": [1] * 9, "p": [1] * 9, "q": [1] * 9})

    out = bf.compare(frame, "y", ["p", "q"], metrics=["precision", "recall"])

    assert out["lower"].is_null().to_list() == [True, False]


@pytest.mark.parametrize("k", [10, 2**54])
def test_the_plateau_does_not_depend_on_the_number_of_rows(k):
    frame = pl.DataFrame({"y": [0, 1, 1], "s": [0.1, 0.3, 0.4], "k": [1, k, k]})

    out = bf.best_threshold(frame, "y", "s", counts="k", min_support=0, detail=True)

    assert out.select("threshold", "plateau_lower", "midpoint").row(0) == (0.3, 0.1, 0.2)


def test_an_unused_category_named_rest_does_not_change_the_reference():
    group = pl.Series(list("aabb"), dtype=pl.Enum(["a", "b", "rest"]))

    out = bf.gaps(pl.DataFrame(ROWS).with_columns(g=group), "y", "p", by="g", detail=True)

    assert out["reference"].unique().to_list() == ["rest"]


def test_a_reference_of_several_values_raises():
    frame = pl.DataFrame(ROWS | {"g": [1, 1, 2, 2]})

    with pytest.raises(bf.InvalidInputError, match="is not a single value"):
        bf.gaps(frame, "y", "p", by="g", reference={"g": np.array([1, 2])}, detail=True)
    assert (
        bf.gaps(frame, "y", "p", by="g", reference=np.int64(2), detail=True)["reference"][0] == "2"
    )
