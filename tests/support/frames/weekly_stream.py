"""A stream of weeks for the faces of `monitor`, as counts: two sites, of which one gets worse.

Each week has 400 rows a site, half of them of each label, on Monday and Thursday. The first 26
weeks are the baseline. In the last four weeks of 46, the recalls of the north are 0.75 rather than
0.9. The 36th week has no rows.
"""

from datetime import date, timedelta

import polars as pl

import balframe as bf

UNTIL = "2025-07-06"  # the last day of week 26
FIRST, LAST, GAP = date(2025, 1, 6), date(2025, 11, 17), date(2025, 9, 8)
WORSE = date(2025, 10, 27)
ASKED = {"time": bf.period("when", "1w"), "counts": "n", "baseline": {"until": UNTIL}}
_WEEKS = [FIRST + timedelta(weeks=week) for week in range(46)]


def _rows():
    for week in _WEEKS:
        for site in ("north", "south"):
            right = 75 if site == "north" and week >= WORSE else 90
            for day in (week, week + timedelta(days=3)):
                for y in (1, 0):
                    yield day, site, y, y, right if week != GAP else 0
                    yield day, site, y, 1 - y, 100 - right if week != GAP else 0


STREAM = pl.DataFrame(_rows(), schema=["when", "site", "y", "yhat", "n"], orient="row").filter(
    pl.col("n") > 0
)
