"""Audits of rows of which only some have a true label: rates of all, and what that assumes."""

import math
import re
import warnings

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.errors import BalframeWarning, InvalidInputError
from tests.support.audits.contradictions import find_contradictions
from tests.support.audits.random_frames import random_frame
from tests.support.cases import cases
from tests.support.constructors import CONSTRUCTORS, pandas_numpy

pytestmark = [pytest.mark.any_version, pytest.mark.xdist_group("unlabelled rows")]  # of one page

CALL = re.compile(r"```\n.*?\n```", re.DOTALL)


def drawn_answers(n=3000, seed=5, known=(0.15, 0.4)):
    """Draw answers, a judge's verdict on each, and people's labels, more of those rejected."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    category = rng.choice(["code", "maths", "law"], n, p=[0.5, 0.3, 0.2])
    error = np.where(category == "law", 0.3, 0.12)
    model = np.where(rng.random(n) < error, 1 - truth, truth)
    judge = np.where(rng.random(n) < 0.1, 1 - truth, truth)
    probability = np.where(judge == 1, *known)
    has_label = rng.random(n) < probability
    return pl.DataFrame(
        {
            "category": category,
            "age": rng.integers(18, 90, n),
            "model": model,
            "other": judge,
            "judge": judge,
            "probability": probability,
            "human": pl.Series(truth).set(pl.Series(~has_label), None),
        }
    )


ANSWERS = drawn_answers()
UNIT = {"unit": ("answer", "answers")}
OPTIONS = {"by": "category", "missing": "correct", "words": UNIT}
WORDS = {
    "missing": bf.correct("judge"),
    "words": {**UNIT, "truth": "good", "selected": "accepted"},
}
NO_COMPARISONS = {"min_support": 10_000}  # which take most of the time of a page


def audit(frame=ANSWERS, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error", BalframeWarning)  # a page says itself what matters
        return bf.audit(frame, **{"y_true": "human", "y_pred": "model", **OPTIONS, **options})


@pytest.fixture(scope="module")
def page():
    return audit(**WORDS)


def in_brief(page):
    return [one["text"] for one in page.evidence()["statements"]]


def section(page, key):
    heading = {"examined": "What was examined?", "limits": "What cannot be said from this?"}[key]
    return next(part for part in page.markdown().split("\n## ") if heading in part.split("\n")[0])


# Numbers


def test_the_accuracy_is_added_up_over_strata(page):
    labelled = ANSWERS.drop_nulls("human")
    accuracy = 0.0
    for (_, judge), rows in ANSWERS.group_by("model", "judge"):
        own = labelled.filter(model=rows["model"][0], judge=judge)
        accuracy += rows.height / ANSWERS.height * (own["human"] == own["model"]).mean()

    figure = next(one for one in page.evidence()["figures"] if one["metric"] == "accuracy")

    assert math.isclose(figure["estimate"], accuracy, rel_tol=1e-12)
    assert figure["n"] == labelled.height


def test_rates_of_groups_are_those_of_report(page):
    metrics = ["accuracy", "balanced_accuracy", "false_positive_rate", "precision", "prevalence"]
    expected = bf.report(
        ANSWERS,
        "human",
        "model",
        by="category",
        missing=bf.correct("judge"),
        metrics=metrics,
        interval=True,
        layout="long",
    )
    figures = {
        (one["group"]["category"], one["metric"]): (one["estimate"], one["lower"], one["upper"])
        for one in page.evidence()["figures"]
        if one["group"]
    }

    columns = ("category", "metric", "estimate", "lower", "upper")
    rows = expected.select(columns).rows()
    assert len(rows) == 15
    for category, metric, *numbers in rows:
        assert figures[category, metric] == pytest.approx(tuple(numbers), rel=1e-12)


def test_with_all_labels_every_number_is_that_without_the_option():
    rows = ANSWERS.drop_nulls("human")
    evidence, expected = (
        audit(rows, missing=missing, rules="accuracy >= 0.8").evidence()
        for missing in ("correct", "raise")
    )

    for name in ("figures", "comparisons", "selections", "rules", "confusion"):
        assert evidence[name] == expected[name], name


def test_counts_are_of_all_rows_and_of_those_with_a_label(page):
    examined = page.evidence()["examined"]
    overall = examined[0]
    counts = {
        one["group"]["category"]: (one["n"], one["n_labelled"]) for one in examined if one["group"]
    }

    assert (overall["n"], overall["n_labelled"]) == (3000, ANSWERS["human"].count())
    by_category = ANSWERS.group_by("category").agg(pl.len(), pl.count("human").alias("known"))
    assert counts == {row[0]: row[1:] for row in by_category.rows()}
    positive = next(one for one in overall["labels"] if one["label"] == 1)
    assert positive["n_predicted"] == (ANSWERS["model"] == 1).sum()
    assert positive["n_true"] == (ANSWERS["human"] == 1).sum()


def test_selection_rates_are_those_of_all_rows(page):
    rates = {
        one["group"]["category"]: one["n_measured"] / one["n"]
        for one in page.evidence()["selections"]
    }

    expected = ANSWERS.group_by("category").agg(pl.mean("model"))
    assert rates == pytest.approx(dict(expected.rows()))


def test_known_probabilities_weight_the_labels():
    page = audit(missing=bf.correct(probability="probability"), **NO_COMPARISONS)
    expected = bf.report(
        ANSWERS,
        "human",
        "model",
        missing=bf.correct(probability="probability"),
        metrics="accuracy",
        interval=True,
    )

    figure = page.evidence()["figures"][0]

    assert figure["estimate"] == pytest.approx(expected["accuracy"][0], rel=1e-12)
    assert figure["upper"] == pytest.approx(expected["accuracy_upper"][0], rel=1e-12)
    assert "each with the weight 1 / probability" in in_brief(page)[1]


# What the page says


def test_the_assumption_stands_in_brief_and_below_what_cannot_be_said(page):
    alike = "answers with the same prediction and the same judge"

    assert "of them with a known outcome; " in in_brief(page)[0]
    assert in_brief(page)[1] == (
        "Rates are those of all answers. They are estimated from the known outcomes, which stand "
        f"for those of {alike}."
    )
    limits = section(page, "limits")
    assert "**Whether the known outcomes are like the others.**" in limits
    assert f"which stand for those of {alike}. If anything else" in limits
    assert "How the outcome of everybody is known" not in limits
    assert "the search for combinations needs an outcome of each answer" not in limits  # one column


def test_methods_are_those_of_estimates(page):
    markdown = page.markdown()

    assert (
        "score interval of a share that is added up over strata of the prediction and" in markdown
    )
    assert "Wilson" not in markdown
    assert "**Columns used**: human, category, model, judge" in markdown


def test_few_labels_are_counted():
    page = audit(drawn_answers(known=(0.01, 0.02)))

    assert "In 2 of 3 groups, the outcome of fewer than five answers" in section(page, "examined")
    assert "too small to compare" in in_brief(page)[0]


def test_models_and_combinations_are_not_compared():
    page = audit(y_pred=["model", "other"], by=["category", "judge"], **NO_COMPARISONS)
    limits = section(page, "limits")

    assert "the comparison of models needs an outcome of each answer" in limits
    assert "the search for combinations needs an outcome of each answer" in limits


def test_labels_may_be_more_than_two():
    rows = ANSWERS.with_columns(
        pl.when(pl.col("age") > 60).then(2).otherwise(name).alias(name)
        for name in ("human", "model")
    ).with_columns(human=pl.when(pl.int_range(pl.len()) % 3 > 0).then("human"))

    page = audit(rows)

    assert "The label missed most often" in page.markdown()
    figures = [one for one in page.evidence()["figures"] if one["metric"] == "accuracy"]
    assert len(figures) == 4
    assert all(one["lower"] < one["estimate"] < one["upper"] for one in figures)


def find_contradictions_of(seed):
    frame, options = random_frame(seed)
    options.pop("y_score", None)
    rng = np.random.default_rng(seed)
    known = rng.random(frame.height) < np.where(frame["p"] == 1, *rng.uniform(0.2, 1, 2))
    rows = frame.with_columns(y=pl.when(pl.Series(known)).then("y"))
    options = {"y_pred": "p", "words": {"unit": ("row", "rows")}, **options}
    return find_contradictions(audit(rows, y_true="y", **options).document)


@cases("seed", [1, 3, 6])  # two columns of groups, one, and groups too small to compare
def test_some_pages_have_no_contradictions(seed):
    assert not find_contradictions_of(seed)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, 2, 4, 5, 7])
def test_random_pages_have_no_contradictions(seed):
    assert not find_contradictions_of(seed)


# Every library, and cells


def test_the_page_is_the_same_in_every_library(page):
    rows = ANSWERS.to_dict(as_series=False)
    pages = {audit(make(rows), **WORDS, **NO_COMPARISONS).html() for make in CONSTRUCTORS}

    assert len(pages) == 1
    assert audit(pandas_numpy(rows), **WORDS).html() == page.html()  # and with comparisons


def test_stored_cells_give_the_page_of_their_rows(page):
    cells = bf.confusion(ANSWERS, "human", "model", by=["category", "judge"], missing="keep")

    of_cells = audit(cells, **WORDS)

    assert CALL.sub("", of_cells.markdown()) == CALL.sub("", page.markdown())


def test_a_verdict_may_be_a_group_that_is_cut_into_bins():
    rows = ANSWERS.with_columns(decade=pl.col("age") // 30)
    options = {"missing": bf.correct("decade"), **NO_COMPARISONS}
    page = audit(rows, by=["category", bf.bins("decade", [1])], **options)
    alone = audit(rows, **options)

    figure, expected = (one.evidence()["figures"][0] for one in (page, alone))
    assert figure == expected


# Refusals


@cases(
    ["options", "message"],
    [
        ({"y_score": "probability"}, "y_score cannot be combined with missing='correct'"),
        ({"baseline": ANSWERS}, "baseline cannot be combined"),
        ({"by": bf.period("age", "1w")}, "bf.period cannot be combined"),
        ({"cluster": "age"}, "cluster cannot be combined"),
        ({"sample_weight": "probability"}, "sample_weight cannot be combined"),
        ({"suppress": 5}, "suppress cannot be combined"),
        ({"missing": "bounds"}, "missing='bounds' is not one of the options"),
        ({"rules": "f1 >= 0.5"}, "metric 'f1' cannot be decided"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(InvalidInputError, match=message):
        audit(**{**NO_COMPARISONS, **options})


def test_a_stratum_without_any_label_is_refused():
    rows = ANSWERS.with_columns(human=pl.when(pl.col("model") == 1).then("human"))

    with pytest.raises(InvalidInputError, match="no row has a true label where the pred"):
        audit(rows)


@pytest.mark.filterwarnings("ignore:in . of")
def test_pages_of_text_labels_count_groups_of_few():
    counts = {("yes", "yes", "a"): 50, ("no", "no", "a"): 50, (None, "yes", "b"): 30,
              ("yes", "yes", "b"): 2, ("no", "no", "b"): 2}  # fmt: skip
    rows = [key for key, n in counts.items() for _ in range(n)]
    frame = pl.DataFrame(rows, schema=["y", "p", "g"], orient="row")

    assert bf.audit(frame, "y", "p", by="g", missing="correct").evidence()["statements"]
