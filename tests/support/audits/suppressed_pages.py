"""Audits of random frames that withhold small counts."""

import polars as pl

import balframe as bf
from balframe.errors import InvalidInputError
from tests.support.audits.random_frames import random_frame

LEAST = 5


def matrices(frame, column):
    """Count the confusion matrix of each group."""
    return {
        group: [
            frame.filter(pl.col(column) == group, pl.col("y") == y, pl.col("p") == p).height
            for y in (0, 1)
            for p in (0, 1)
        ]
        for group in frame[column].unique()
    }


def make_suppressed_pages(n):
    """Make pages of random frames, on which some groups have small counts."""
    n_made = 0
    for seed in range(1_000):
        frame, options = random_frame(seed)
        options.pop("y_pred", None)
        try:
            page = bf.audit(frame, "y", "p", **options, suppress=LEAST, rules=["recall >= 0.6"])
        except InvalidInputError:
            continue
        small = [
            group
            for column in options["by"]
            for group, counts in matrices(frame, column).items()
            if min(counts) < LEAST
        ]
        if small:
            n_made += 1
            yield frame, options, page
        if n_made == n:
            return
