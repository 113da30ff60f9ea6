"""Audits that tests of sentences share."""

import pytest

import balframe as bf
from balframe.api.settings import settings_of_call
from tests.support.audits.small_audits import COMPAS, audit_of, random_rows
from tests.support.audits.suppressed_pages import make_suppressed_pages


@pytest.fixture
def within_a_call():
    """Let methods take the options of a request as they are, as within a page."""
    with settings_of_call():
        yield


@pytest.fixture(scope="session")
def compas_audit():
    """Audit COMPAS by sex, race and age, with rules that are met, not met and undecided."""
    rules = [
        "recall >= 0.05",
        "difference(false_positive_rate) <= 0.1",
        "n >= 20",
        "precision >= 0.6",
    ]
    people = bf.datasets.compas_by_age_and_sex()
    return audit_of(
        people,
        y_true="reoffended",
        y_pred=["high_risk"],
        by=["sex", "race", "age"],
        words=COMPAS,
        rules=rules,
        options={"counts": "n"},
    )


@pytest.fixture(scope="session")
def random_audits():
    """Audit small random tables: of one outcome, small groups, missing values, two models."""
    audits = []
    for seed in range(60):  # all remainders of 3, 4 and 5
        several = {"y_pred": ("p", "q")} if seed % 5 == 0 else {}
        by = [("g",), ("g", "h"), ()][seed % 3]
        rules = _RULES[: seed % 4 if by else seed % 3]
        least = [30, 5, 1][seed % 7 % 3]
        audits.append(audit_of(random_rows(seed), by=by, min_support=least, rules=rules, **several))
    return audits


@pytest.fixture(scope="session")
def suppressed_pages():
    """Audit random frames, some of whose groups have small counts, which are withheld."""
    return list(make_suppressed_pages(12))


_RULES = ["recall >= 0.7", "n >= 10", "difference(accuracy) <= 0.2"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Run tests of the same audits in the same process, which makes these once.

    Audits of other data, of every library, are made with the oldest versions too.
    """
    for item in items:
        for name in ("random_audits", "random_evidence", "suppressed_pages"):
            if name in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.xdist_group(name))
                item.add_marker(pytest.mark.any_version)
