"""Values are written with their column where they alone do not say which column they are of."""

from datetime import date
from decimal import Decimal

from balframe.api.value_naming import ValueNaming
from tests.support.cases import cases

SEX = ["F", "M"]


@cases(
    ("values", "is_named"),
    [
        ([True, False], True),
        (["yes", "no"], True),
        (["Yes ", None], True),
        (["yes", "no", "unknown"], True),
        (["false"], True),
        (["y", "n"], True),
        (["x", "y"], False),
        (["n", "e", "s", "w"], False),
        ([1, 2], True),
        ([0.5], True),
        ([Decimal(1)], True),
        (["18", "35"], True),
        (["1,250", "2.5%", "-3"], True),
        (["18 to 25", "under 18"], False),
        (["Asian", "Other"], False),
        (["F", "X"], True),  # as sex has "F" too
        ([date(2024, 1, 1)], False),
        ([None], False),
        ([], False),
    ],
)
def test_columns_are_named_whose_values_may_be_of_any_column(values, is_named):
    naming = ValueNaming.of({"sex": SEX, "other": values})

    assert ("other" in naming.columns) == is_named
    assert ("sex" in naming.columns) == ("F" in values)


def test_all_values_of_such_a_column_and_all_nulls_are_written_with_the_column():
    naming = ValueNaming.of({"sex": [*SEX, None], "insured": ["yes", "unknown"]})

    assert naming.text("insured", "insured", "yes", "yes") == "insured=yes"
    assert naming.text("insured", "insured", "unknown", "unknown") == "insured=unknown"
    assert naming.text("sex", "sex", "F", "F") == "F"
    assert naming.text("sex", "sex", None, "(missing)") == "sex=(missing)"


def test_values_of_one_column_stand_alone():
    naming = ValueNaming.of({"insured": ["yes", "no", None]})

    assert naming.text("insured", "insured", "yes", "yes") == "yes"
    assert naming.text("insured", "insured", None, "(missing)") == "(missing)"
