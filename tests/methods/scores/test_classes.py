import numpy as np
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases

SCORES = ["recall", "precision", "specificity", "npv", "f1"]


@cases("scale", [None, 1.0, 1e-200, 1e200])
@cases("method", [True, "exact", "scas"])
def test_scores_of_a_label_equal_a_report_with_that_pos_label(method, scale):
    rng = np.random.default_rng(3)
    columns = {name: rng.integers(0, 3, 90) for name in ("g", "y", "p")}
    frame = pl.DataFrame(columns | {"w": rng.random(90) * (scale or 1.0)})
    options = {"by": "g", "interval": method, "sample_weight": None if scale is None else "w"}

    out = bf.classes(frame, "y", "p", detail=True, **options)

    for label in range(3):
        alone = bf.report(frame, "y", "p", metrics=SCORES, pos_label=label, **options)
        own = out.filter(label=label).select(alone.columns[2:])
        for name in own.columns:
            assert own[name].to_list() == pytest.approx(alone[name].to_list(), rel=1e-12)


def test_a_label_that_does_not_occur_in_a_segment_has_negatives_only():
    frame = pl.DataFrame({"g": ["u", "u", "v"], "y": ["a", "b", "a"], "p": ["a", "a", "a"]})

    (row,) = bf.classes(frame, "y", "p", by="g", detail=True).filter(g="v", label="b").to_dicts()

    counted = {"support": 0, "prevalence": 0.0, "predicted": 0, "correct": 0}
    scores = {"recall": None, "precision": None, "specificity": 1.0, "npv": 1.0, "f1": None}
    assert row == {"g": "v", "label": "b"} | counted | scores
