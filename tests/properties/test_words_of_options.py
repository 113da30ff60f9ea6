"""The words of options are values of by-columns like any others, in every method."""

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.api.option_types import REFERENCE_KEYWORDS
from tests.support.constructors import plain
from tests.support.method_arguments import (
    METHODS_WITH_COLUMNS,
    SEARCH_METHODS,
    days,
    example_arguments,
)
from tests.support.option_words import words_of_options

pytestmark = [
    pytest.mark.any_version,
    pytest.mark.filterwarnings("ignore::balframe.BalframeWarning"),  # of small segments
]

SPELLED_OUT = ("reference", "slice")  # columns of a result with a value of a by-column in a text


WORDS = words_of_options()
TRIPLES = [[*WORDS[i : i + 3], *WORDS][:3] for i in range(0, len(WORDS), 3)]


def rows_with(values):
    """Return rows whose segments are these values, which ascend."""
    rng = np.random.default_rng(20)
    n = 240
    y = rng.integers(0, 2, n)
    predictions = {name: np.where(rng.random(n) < 0.8, y, 1 - y) for name in "pq"}
    scores = {name: np.round(0.5 * y + 0.5 * rng.random(n), 2) for name in "st"}
    g = pl.Series([values[i] for i in rng.integers(0, len(values), n)])
    return pl.DataFrame({"y": y, **predictions, **scores, "g": g, "day": days(n)})


def test_the_words_include_those_of_declared_options():
    assert {"rest", "best", "worst", "overall", "largest", "drop", "skip", "bh"} <= {*WORDS}


@pytest.mark.thorough
@pytest.mark.parametrize("method", METHODS_WITH_COLUMNS)
def test_words_of_options_as_segments_do_not_change_the_result(method):
    """With words for a, b and c, each result has the same rows and numbers."""
    letters = ["a", "b", "c"]
    arguments = example_arguments(method)
    expected = plain(getattr(bf, method)(rows_with(letters), **arguments))
    for triple in TRIPLES:
        words = sorted(triple)
        result = plain(getattr(bf, method)(rows_with(words), **arguments))
        back = dict(zip(words, letters, strict=True))
        by_columns = [name for name in result if {"a", "b", "c"} & {*map(str, expected[name])}]
        for name in by_columns:
            if name not in SPELLED_OUT:
                result[name] = [back.get(value, value) for value in result[name]]
        for name in SPELLED_OUT:
            if method in SEARCH_METHODS or name != "reference":
                result.pop(name, None)
        kept = {name: expected[name] for name in result}
        assert result == kept, words


@pytest.mark.parametrize("word", REFERENCE_KEYWORDS)
def test_only_a_reference_that_is_given_and_a_segment_is_refused(word):
    rows = rows_with(sorted([word, "a", "b"]))

    assert {*bf.gaps(rows, "y", "p", by="g", detail=True)["reference"]} == {"rest"}
    assert bf.plot.gaps(rows, "y", "p", by="g").to_dict()["title"]["text"].endswith("rest by g")
    with pytest.raises(bf.InvalidInputError, match="both an option and a value of column 'g'"):
        bf.gaps(rows, "y", "p", by="g", reference=word, detail=True)
    named = bf.gaps(rows, "y", "p", by="g", reference={"g": word}, detail=True)
    assert {*named["reference"]} == {word}
    assert named.filter(g=word)["difference"].to_list() == [0] * (len(named) // 3)


def test_a_by_column_named_as_the_roll_up_over_all_rows_is_refused_with_roll_ups():
    rows = rows_with(["a", "b", "c"]).rename({"g": "overall"})

    for margins in ("overall", "all"):
        with pytest.raises(bf.InvalidInputError, match="by names a column 'overall', but in the "):
            bf.report(rows, "y", "p", by="overall", margins=margins)
    assert bf.report(rows, "y", "p", by="overall")["overall"].to_list() == ["a", "b", "c"]
    assert {
        *bf.impact(rows, "p", favourable="selected", by="overall", detail=True)["grouped_by"]
    } == {"overall"}


def test_an_audit_of_segments_named_as_options_is_made():
    page = bf.audit(rows_with(["overall", "rest", "worst"]), "y", "p", by="g", y_score="s")

    assert all(word in page.markdown() for word in ("overall", "rest", "worst"))
