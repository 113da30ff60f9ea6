"""Counts of more rows than 32 bits or a float hold, up to the last of 64 bits, and past it."""

import pyarrow as pa
import pytest

import balframe as bf
from tests.support.constructors import plain

pytestmark = pytest.mark.any_version
MOST = 2**63 - 1


def rows_of(counts):
    """Give each of three segments three rows: the second is wrong."""
    columns = {"y": [1, 0, 1], "p": [1, 1, 1], "s": [0.75, 0.75, 0.75]}
    rows = {name: values * 3 for name, values in columns.items()}
    return {**rows, "g": [*"aaabbbccc"], "k": pa.array(counts, pa.int64())}


FITS = [2**62, 2**61, 1, 2**60 - 1, 2**60 - 1, 0, 0, 2**53 + 1, 2**31]
FITS[0] -= 2**53 + 1 + 2**31  # so that all are the most
EXCEEDS = {
    "in a cell": [2**62, 0, 2**62, 0, 0, 0, 0, 0, 0],
    "past it once round": [MOST, 1, MOST, 2, 1, 1, 1, 1, 1],  # 64 bits that wrap have few left
}
REFUSED = "the largest 64-bit integer; process the data in parts"


def test_totals_of_counts_up_to_64_bits_are_exact(engine):
    options = {"by": "g", "counts": "k", "margins": "overall", "metrics": "accuracy"}
    report = plain(bf.report(engine(rows_of(FITS)), "y", "p", **options))

    sizes = [*(sum(FITS[i : i + 3]) for i in (0, 3, 6)), MOST]
    wrong = [*FITS[1::3], sum(FITS[1::3])]
    assert report["n"] == sizes
    assert report["accuracy"] == [
        pytest.approx((n - missed) / n, rel=1e-15) for n, missed in zip(sizes, wrong, strict=True)
    ]


@pytest.mark.parametrize("counts", EXCEEDS.values(), ids=EXCEEDS)
def test_totals_past_64_bits_are_refused(counts, engine):
    with pytest.raises(bf.InvalidInputError, match=REFUSED):
        bf.report(engine(rows_of(counts)), "y", "p", by="g", counts="k")


def test_totals_of_scores_are_exact_or_refused(engine):
    fits, exceeds = (engine(rows_of(one)) for one in (FITS, EXCEEDS["in a cell"]))

    curve = plain(bf.curve(fits, "y", "s", counts="k", thresholds=[0.5], metrics="precision"))
    missed = sum(FITS[1::3])
    assert (curve["n"], curve["precision"]) == ([MOST], [pytest.approx(1 - missed / MOST)])
    with pytest.raises(bf.InvalidInputError, match=REFUSED):
        bf.curve(exceeds, "y", "s", counts="k", thresholds=[0.5])
