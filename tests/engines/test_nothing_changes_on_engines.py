"""Every engine gives to any question the answer that an eager frame gives."""

from random import Random

import polars as pl
import polars.selectors as cs
import pytest
from drawn import VERBS, questions
from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st
from test_nothing_changes import assert_same
from transformations import LAST, TRANSFORMATIONS
from tried import TRIED

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_this_process")]

OF_SQL = {"duckdb", "ibis", "sqlframe", "spark"}


@settings(suppress_health_check=[*HealthCheck])  # engines take long, and fixtures make frames
@given(data=st.data())
def test_an_engine_changes_no_answer(engine, request, data):
    is_sql = request.node.callspec.params["engine"] in OF_SQL
    question = data.draw(questions(VERBS[data.draw(st.sampled_from(sorted(VERBS)))]))
    random = Random(data.draw(st.integers(0, 2**32)))
    changes = random.sample(TRANSFORMATIONS, random.randint(0, 3))
    changes += [change for change in LAST if random.random() < 0.5]
    note(str([change.__name__ for change in changes]))
    TRIED["inputs"] += 1
    expected = question.answer()
    for change in changes:
        question = change(question, random)
    rows = question.frame
    if is_sql and "" in rows.columns:
        event("no name")  # which SQL does not have
        return
    frame = engine(rows.drop(cs.by_dtype(pl.Null) if is_sql else []).to_arrow())
    assert_same(question.having(frame), expected)
