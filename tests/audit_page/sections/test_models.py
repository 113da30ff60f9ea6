"""How several models differ: each sentence with both outcomes."""

import pytest

from audit_page.figures_by_hand import asked, audited, difference, model, plain
from balframe.audit_page.measured_models import Pair
from balframe.audit_page.results import LeftOut
from balframe.audit_page.sections.models import finding, models

MINUS = "\N{MINUS SIGN}"
NOT = difference(1, -0.5, 3, 0.2)


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (difference(6, 2, 10, 0.01), "p is right more often than q: +6 points (2 to 10)."),
        (
            difference(-1, -3, -0.2, 0.01),
            f"p is right less often than q: {MINUS}1 point ({MINUS}3 to {MINUS}0.2).",
        ),
        (
            difference(1, -2, 4, 0.5),
            "p and q: no difference in accuracy is shown; the data leave room for up to 4 points.",
        ),
        (
            difference(0, -1, 0.4, 0.5),
            "p and q: no difference in accuracy is shown; the data leave room for up to 1 point.",
        ),
        (difference(None), "p and q: no difference in accuracy is shown."),
    ],
)
def test_one_model_is_shown_to_be_right_more_often_or_not(of, said):
    assert plain(finding(Pair("p", "q", [of, NOT]), asked())) == said


def test_the_brief_has_three_pairs_and_the_section_all():
    pairs = [Pair("p", name, [difference(6, 2, 10, 0.01), NOT]) for name in "qrst"]
    section = models(audited(model(), model(), pairs=pairs))
    assert [plain(one) for one in section.brief] == [
        f"p is right more often than {name}: +6 points (2 to 10)." for name in "qrs"
    ]
    assert [table.caption for table in section.blocks[-2:]] == ["Accuracy", "Balanced accuracy"]
    rows = section.blocks[-2].groups[0].rows
    assert plain(rows[0].heading) == "p less q"
    assert (rows[0].cells[0].text, rows[0].cells[0].limits, rows[0].cells[2].text) == (
        "+6",
        "2 to 10",
        ".010",
    )
    assert [table.groups[0].rows[0].differs for table in section.blocks[-2:]] == [True, False]


def test_the_section_needs_two_models_on_the_same_rows():
    assert models(audited(model())).why == "one model was given"
    cells = models(audited(model(), model()))
    assert isinstance(cells, LeftOut)
    assert cells.why == "cells were given, which do not say what two models call one row"
