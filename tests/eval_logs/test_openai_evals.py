"""Records that OpenAI evals 3.0.1 wrote of made-up sums, by openai_evals/generate.py."""

from pathlib import Path

import balframe as bf

LOGS = Path(__file__).parent / "openai_evals"


def test_matches_are_read_with_targets_and_answers():
    frame = bf.read_eval(LOGS / "sums_careful.jsonl", backend="polars").sort("item")

    assert frame["item"].to_list() == [f"sums/sums.dev.{i}" for i in range(6)]
    assert frame["passed"].to_list() == [True, True, True, False, True, False]
    columns = ["model", "metric", "target", "answer"]
    assert frame.select(columns).row(3) == ("careful", "match", "81", "82")


def test_numbers_of_an_event_are_metrics_and_its_texts_categories():
    frame = bf.read_eval(LOGS / "grades_careful.jsonl", metric="close", backend="polars")

    rows = frame.sort("item").select("category", "score", "passed").rows()
    assert rows[2:4] == [("hard", 1.0, True), ("hard", 0.5, None)]
