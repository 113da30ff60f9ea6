"""Cells of rows without a true label, which are stored and corrected for later."""

from collections import Counter

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import balframe as bf
from balframe.errors import InvalidInputError
from tests.support.constructors import assert_table, each_constructor, plain
from tests.support.frames.partly_labelled import answers

ANSWERS = answers(seed=3)
NAMES = {"y_true": "human", "y_pred": "judge", "by": "category"}
READ = {**NAMES, "missing": bf.correct("model")}


def kept(frame=ANSWERS, **options):
    """Return cells whose verdicts, needed to correct for them later, are by-columns."""
    return bf.confusion(
        frame, **{**NAMES, "by": ["category", "model"], "missing": "keep", **options}
    )


def test_a_null_true_label_is_counted_behind_the_others():
    cells = kept()

    columns = ["category", "model", "human", "judge"]
    assert cells.columns == [*columns, "n"]
    counts = {row[:-1]: row[-1] for row in cells.rows()}
    assert counts == Counter(ANSWERS.select(columns).rows())
    assert_frame_equal(cells, cells.sort(columns, nulls_last=True))
    assert cells["human"].null_count() > 0


@each_constructor
def test_cells_are_the_same_in_every_library(constructor):
    assert_table(kept(constructor(ANSWERS.to_dict(as_series=False))), plain(kept()))


def test_a_lazy_frame_has_the_columns_of_its_result():
    lazy = kept(ANSWERS.lazy())

    assert lazy.collect_schema() == kept().schema
    assert_frame_equal(lazy.collect(), kept())


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("report", {"metrics": ["accuracy", "recall"], "interval": True, "detail": True}),
        ("gaps", {"metrics": "prevalence"}),
        ("disparity", {"metrics": ["accuracy", "recall"]}),
        ("classes", {}),
        ("check", {"rules": "accuracy >= 0.5", "detail": True}),
        ("confusion", {"normalize": "true"}),
        ("power", {"rules": "accuracy >= 0.5"}),
    ],
)
def test_methods_correct_cells_as_they_do_rows(method, options):
    of_rows, of_cells = (
        getattr(bf, method)(frame, **READ, **options) for frame in (ANSWERS, kept())
    )

    assert_frame_equal(of_cells, of_rows)


def test_cells_of_two_days_are_corrected_as_their_rows_are():
    days = [ANSWERS[:300], ANSWERS[300:]]
    cells = pl.concat([kept(day) for day in days])

    options = {"metrics": "accuracy", "interval": True}
    assert_frame_equal(bf.report(cells, **READ, **options), bf.report(ANSWERS, **READ, **options))


def test_probabilities_are_kept_too():
    rows = ANSWERS.with_columns(chance=pl.when(pl.col("model") == 1).then(0.25).otherwise(0.5))
    cells = kept(rows, by=["category", "model", "chance"])
    missing = bf.correct("model", probability="chance")
    options = {**NAMES, "missing": missing, "metrics": "accuracy", "interval": True}

    assert cells.columns == ["category", "model", "chance", "human", "judge", "n"]
    assert_frame_equal(bf.report(cells, **options), bf.report(rows, **options))


def test_a_verdict_may_be_a_by_column_too():
    cells = kept(by=["model", "category"])
    options = {**READ, "by": ["model", "category"], "metrics": "accuracy", "interval": True}

    assert cells.columns == ["model", "category", "human", "judge", "n"]
    assert_frame_equal(bf.report(cells, **options), bf.report(ANSWERS, **options))


def test_cells_of_labelled_rows_are_those_without_the_option():
    rows = ANSWERS.drop_nulls("human")

    assert_frame_equal(kept(rows, by="category"), bf.confusion(rows, **NAMES))


def test_without_correction_null_true_labels_of_cells_raise():
    with pytest.raises(InvalidInputError, match="column 'human' has 2"):
        bf.report(kept(), **NAMES)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"complete": True}, "complete=True cannot be combined with missing='keep'"),
        ({"normalize": "all"}, "normalize='all' cannot be combined with missing='keep'"),
        ({"y_pred": ["judge", "model"], "by": "category"}, "names 2 models"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(InvalidInputError, match=message):
        kept(**options)


def test_outcomes_have_no_true_labels_to_keep():
    with pytest.raises(InvalidInputError, match="so missing='keep' does not apply"):
        bf.confusion(ANSWERS, outcome="model", missing="keep")


def test_other_methods_do_not_keep_rows():
    with pytest.raises(InvalidInputError, match="missing='keep' is not one of the options"):
        bf.report(ANSWERS, **NAMES, missing="keep")


def test_cells_of_margins_are_refused():
    cells = bf.confusion(ANSWERS.drop_nulls("human"), **NAMES, margins="overall")

    with pytest.raises(InvalidInputError, match="rows would be counted again in the roll-ups"):
        bf.report(cells, missing="correct", **NAMES)
    options = {**NAMES, "by": "grouped_by", "missing": "correct"}
    assert bf.report(cells, **options)["grouped_by"].to_list() == ["category", "overall"]


def test_cells_with_weights_are_refused():
    cells = kept().with_columns(weight=1.0, weight_sq=1.0)

    with pytest.raises(InvalidInputError, match="cannot be combined with missing"):
        bf.report(cells, **READ)
