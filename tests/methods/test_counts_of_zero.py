import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain


@cases("missing", ["raise", "drop"])
@each_constructor
def test_nulls_in_a_row_with_count_0_are_ignored(constructor, missing):
    frame = constructor({"y": [1, 0, 1], "p": [1, 0, None], "w": [1.0, None, 2.0], "k": [3, 0, 0]})

    options = {"sample_weight": "w", "counts": "k", "missing": missing, "detail": True}
    out = bf.report(frame, "y", "p", metrics="uar", **options)

    dropped = {"n_missing": [0]} if missing == "drop" else {}
    assert plain(out) == {"n": [3], **dropped, "uar": [1.0], "n_labels": [1], "min_support": [3]}
