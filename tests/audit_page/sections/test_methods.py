"""How a page was computed: the terms of its sections, and what it takes to repeat it."""

from balframe.audit_page.document import Terms
from balframe.audit_page.sections.methods import section
from tests.support.audits.figures import WORDS, audit, model, plain


def terms(keys=(), **changes):
    """Return the meaning of every term."""
    blocks = section(audit(model(), **changes), keys).blocks
    items = [item for block in blocks if isinstance(block, Terms) for item in block.items]
    return {term: plain(meaning) for term, meaning in items}


def test_methods_cover_only_the_included_sections():
    assert "Rules" in terms(["rules"])
    assert "Rules" not in terms(["chance"])
    assert "Confidence interval of a rate" in terms()


def test_columns_and_options_are_stated():
    stated = terms(by=["race", "sex"], min_support=1)
    assert stated["Columns used"] == "y, race, sex, p"
    assert stated["Smallest group that is compared"] == "1 row in a denominator"
    assert stated["Confidence level"] == "95%"
    assert stated["Comparisons adjusted together"] == "2 (2 of rates of groups)"
    assert stated["Level of intervals of differences"] == "97.5%"
    assert stated["Fingerprint of the counts"] == f"sha256 {'0' * 64}"
    assert stated["False positive rate"] == "FP / (FP + TN)"
    with_counts = terms(options={"counts": "n"})
    assert with_counts["Columns used"] == "y, race, p, n"
    assert terms(min_support=30)["Smallest group that is compared"] == "30 rows in a denominator"


def test_one_row_has_the_singular_unit():
    assert WORDS.rows(1) == "1 person"
