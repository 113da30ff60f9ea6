"""Segments that alarm, and then have no rows."""

from datetime import timedelta

import polars as pl
import pytest

import balframe as bf
from tests.support.frames.weekly_stream import ASKED, LAST, STREAM, WORSE

pytestmark = pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")
SECOND, THIRD = WORSE + timedelta(7), WORSE + timedelta(14)
IS_NORTH = pl.col("site") == "north"
OF_ALARM = ["since", "window_n", "window_difference", "window_lower", "window_upper"]


def north(frame, **options):
    out = bf.monitor(frame, "y", "yhat", by="site", detail=True, **ASKED, **options)
    return out.filter(IS_NORTH, pl.col("period") >= WORSE)


def test_an_alarm_is_kept_until_the_segment_has_rows_again():
    is_silent = IS_NORTH & pl.col("when").is_between(SECOND, LAST, closed="left")
    good = STREAM.filter(IS_NORTH, pl.col("when") < WORSE).filter(
        pl.col("when") >= LAST - timedelta(98)
    )
    good = good.with_columns(pl.lit(LAST).alias("when"))
    frame = pl.concat([STREAM.filter(~is_silent, ~(IS_NORTH & (pl.col("when") >= LAST))), good])

    out = north(frame)

    assert out["n"].to_list()[:3] == [400, 0, 0]
    assert out["status"].to_list() == ["alarm", "alarm", "alarm", "ok"]
    assert out["estimate"].is_null().to_list() == [False, True, True, False]
    assert out[OF_ALARM].slice(1, 2).rows() == out[OF_ALARM].rows()[:1] * 2
    assert out["since"].to_list()[:3] == [WORSE] * 3


def test_a_silent_segment_that_did_not_alarm_is_inconclusive():
    frame = STREAM.filter(~(IS_NORTH & (pl.col("when") >= WORSE)))

    out = north(frame)

    assert out["n"].to_list() == [0] * 4
    assert out["status"].to_list() == ["inconclusive"] * 4
    assert out[OF_ALARM].select(pl.col("since").is_null().all()).item()


def test_an_excluded_period_with_rows_does_not_keep_the_alarm_and_does_not_end_it():
    frame = STREAM.filter(~(IS_NORTH & (pl.col("when") >= THIRD)))

    out = north(frame, exclude=[SECOND])

    assert out["n"].to_list() == [400, 400, 0, 0]
    assert out["status"].to_list() == ["alarm", "inconclusive", "alarm", "alarm"]


def test_without_by_no_period_that_is_silent_hides_an_alarm():
    frame = STREAM.filter(IS_NORTH).filter(
        pl.col("when") != SECOND, pl.col("when") != SECOND + timedelta(3)
    )

    out = bf.monitor(frame, "y", "yhat", detail=True, **ASKED).filter(pl.col("period") >= WORSE)

    assert out["n"].to_list() == [400, 0, 400, 400]
    assert out["status"].to_list() == ["alarm"] * 4
