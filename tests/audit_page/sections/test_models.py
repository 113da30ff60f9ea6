"""How several models differ: each sentence with both outcomes."""

import pytest

from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections import models
from balframe.audit_page.sections.models import Pair, result, section
from tests.support.audits.figures import audit, difference, make_request, model, plain
from tests.support.audits.small_audits import audit_of, random_rows
from tests.support.cases import cases

MINUS = "\N{MINUS SIGN}"
NOT = difference(1, -0.5, 3, 0.2)


def pair(second, accuracy):
    return Pair("p", second, {"accuracy": accuracy, "balanced_accuracy": NOT})


@cases(
    ("accuracy", "said"),
    [
        (difference(6, 2, 10, 0.01), "p is right more often than q: +6 points (2 to 10)."),
        (
            difference(-1, -3, -0.2, 0.01),
            f"p is right less often than q: {MINUS}1 point ({MINUS}3 to {MINUS}0.2).",
        ),
        (
            difference(1, -2, 4, 0.5),
            "p and q: no difference in accuracy is established; it may be up to 4 points.",
        ),
        (
            difference(0, -1, 0.4, 0.5),
            "p and q: no difference in accuracy is established; it may be up to 1 point.",
        ),
        (difference(None), "p and q: no difference in accuracy is established."),
    ],
)
def test_pair_sentence_states_which_model_is_more_accurate(accuracy, said):
    assert plain(result(pair("q", accuracy), make_request())) == said


def test_summary_has_three_pairs_and_section_has_all():
    pairs = [pair(name, difference(6, 2, 10, 0.01)) for name in "qrst"]
    differ = section(audit(model(), model()), pairs)
    assert [plain(one) for one in differ.brief] == [
        f"p is right more often than {name}: +6 points (2 to 10)." for name in "qrs"
    ]
    assert [table.caption for table in differ.blocks[-2:]] == ["Accuracy", "Balanced accuracy"]
    rows = differ.blocks[-2].groups[0].rows
    assert plain(rows[0].heading) == "p less q"
    assert (rows[0].cells[0].text, rows[0].cells[0].limits, rows[0].cells[2].text) == (
        "+6",
        "2 to 10",
        ".010",
    )
    assert [table.groups[0].rows[0].differs for table in differ.blocks[-2:]] == [True, False]


def test_section_is_left_out_without_two_models_on_the_same_rows():
    one = section(audit(model()), [])
    assert (one.reason, one.is_listed) == ("one model was given", False)
    cells = section(audit(model(), model()), [])
    assert isinstance(cells, LeftOut)
    assert cells.reason == "cells were given, which do not show what two models predict for one row"


def test_accuracy_difference_equals_that_of_the_rows():
    frame = random_rows(12)
    (only,) = audit_of(frame, y_pred=("p", "q"), by=[]).of(models)
    y, p, q = (frame[name] for name in ("y", "p", "q"))
    expected = ((p == y).mean() - (q == y).mean()) * -1
    assert (only.model, only.baseline) == ("q", "p")
    assert only.differences["accuracy"].estimate.value == pytest.approx(expected)


def test_cells_cannot_be_compared_row_by_row():
    cells = random_rows(12).group_by("y", "p", "q").len("n")
    counts = {"cells": True}
    assert audit_of(cells, y_pred=("p", "q"), by=[], options=counts).of(models) == []
    assert audit_of(random_rows(12), by=[]).of(models) == []
