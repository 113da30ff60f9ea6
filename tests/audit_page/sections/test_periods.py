"""Whether rates change over time: rates of report, tests of disparity, and each sentence."""

import random
from dataclasses import replace
from datetime import date, timedelta

import polars as pl
import pytest

import balframe as bf
from balframe.audit_page.sections import periods
from balframe.errors import BalframeError
from tests.support.audits.figures import plain, texts
from tests.support.audits.small_audits import audit_of
from tests.support.cases import cases

RNG = random.Random(21)
N = 900
DAYS = [date(2025, 1, 1) + timedelta(days=RNG.randrange(181)) for _ in range(N)]
TRUTH = [RNG.choice([0, 1]) for _ in range(N)]


def is_wrong(day, truth):
    """Draw an error; those on 0 become frequent in May, and others stay as they are."""
    return RNG.random() < (0.6 if truth == 0 and day >= date(2025, 5, 1) else 0.2)


ROWS = pl.DataFrame(
    {
        "g": [RNG.choice("ab") for _ in range(N)],
        "y": TRUTH,
        "p": [1 - y if is_wrong(day, y) else y for day, y in zip(DAYS, TRUTH, strict=True)],
        "s": [RNG.choice([0.25, 0.75]) for _ in range(N)],
        "w": [RNG.choice([0.5, 1.0, 2.0]) for _ in range(N)],
        "id": [RNG.randrange(200) for _ in range(N)],
        "day": DAYS,
    }
)
MONTHS = bf.period("day", "1mo")


@pytest.fixture(scope="module")
def months():
    return audit_of(ROWS, period=MONTHS)


def of(audited):
    (own,) = audited.of(periods)
    return own


@cases("options", [{}, {"sample_weight": "w"}, {"cluster": "id"}])
@cases("every", ["1mo", "2w", "1q"])
def test_rates_are_those_of_report_with_time(options, every):
    audited = audit_of(ROWS, period=bf.period("day", every), options=options)
    names = ["accuracy", "false_positive_rate", "false_negative_rate"]
    rows = bf.report(
        ROWS, "y", "p", by=bf.period("day", every), metrics=names, interval=True, **options
    )
    groups = of(audited).groups
    assert len(groups) == rows.height > 1
    for row, group in zip(rows.iter_rows(named=True), groups, strict=True):
        assert (group.value, group.n) == (row["period"], row["n"])
        for name in names:
            rate = audited.model.rates.by_metric(name)
            expected = [row[f"{name}{end}"] for end in ("", "_lower", "_upper")]
            assert list(group.rates[rate][:3]) == pytest.approx(expected, rel=1e-9)


@cases("options", [{}, {"sample_weight": "w"}, {"cluster": "id"}])
def test_tests_are_those_of_disparity_over_the_periods(options):
    audited = audit_of(ROWS, period=MONTHS, options=options)
    in_column = ROWS.with_columns(month=pl.col("day").dt.truncate("1mo"))
    names = ["accuracy", "false_positive_rate", "false_negative_rate"]
    rows = bf.disparity(in_column, "y", "p", by="month", metrics=names, detail=True, **options)
    expected = dict(rows.select("metric", "p_value_all").iter_rows())
    found = {rate.metric: test.p for rate, test in of(audited).tests}
    assert found == pytest.approx(expected, rel=1e-8)


def test_p_values_are_adjusted_with_all_others(months):
    alone = audit_of(ROWS)
    assert months.audit.adjustment.n_tests == alone.audit.adjustment.n_tests + 3
    assert [*periods.differences(months.of(periods))] == [test for _, test in of(months).tests]
    assert all(test.p_adjusted >= test.p for _, test in of(months).tests)


def test_sentences_say_which_rates_change(months):
    model, own = months.model, of(months)
    said = plain(periods.summary(model, own))
    assert said.startswith("Over 6 periods, a change in ")
    assert said.endswith("no change in false negative rate is established.")
    sentences = [plain(periods.test_sentence(model, own, *pair)) for pair in own.tests]
    assert sentences[2].startswith("False negative rate: no difference between the periods is")
    assert sentences[1].startswith(
        "False positive rate: a difference between the periods is established (adjusted p < .001)."
    )
    shares = (
        ROWS.filter(y=0)
        .group_by(pl.col("day").dt.truncate("1mo"))
        .agg(pl.col("p").mean())
        .sort("p")["day"]
    )
    assert f"the period from {shares[0]}, " in sentences[1]
    assert f"the one from {shares[-1]}, " in sentences[1]
    plain_text = " ".join(plain(text) for text in texts(months.section(periods)))
    assert "The rows are of 6 periods of 1 month, by day." in plain_text


def test_periods_with_few_rows_are_shown_and_not_tested():
    few = pl.DataFrame(
        {"g": ["a"] * 4, "y": [0, 0, 1, 1], "p": [1, 1, 0, 0], "s": [0.25] * 4, "w": [1.0] * 4}
    ).with_columns(id=pl.lit(1, pl.Int64), day=date(2025, 8, 1))
    with_few, without = (
        audit_of(pl.concat([ROWS, few]), period=MONTHS),
        audit_of(ROWS, period=MONTHS),
    )
    assert [test.p for _, test in of(with_few).tests] == [test.p for _, test in of(without).tests]
    table = with_few.section(periods).blocks[-1]
    assert [row.is_small for row in table.groups[0].rows] == [False] * 6 + [True]


def test_rows_without_a_time_are_a_period_of_their_own():
    holes = ROWS.with_columns(day=pl.when(pl.int_range(pl.len()) < 100).then(None).otherwise("day"))
    groups = of(audit_of(holes, period=MONTHS)).groups
    assert (groups[-1].value, groups[-1].n) == (None, 100)


def test_rows_without_a_score_are_not_counted():
    holes = ROWS.with_columns(s=pl.when(pl.int_range(pl.len()) < 100).then(None).otherwise("s"))
    audited = audit_of(holes, y_score="s", period=MONTHS, options={"missing": "drop"})
    assert sum(group.n for group in of(audited).groups) == N - 100 == audited.model.overall.n


@cases("by", [[], ["g"], ["g", "w"], ["w", "id", "g"]])
def test_periods_stand_beside_any_number_of_groups_and_scores(by):
    frame = ROWS.with_columns(pl.col("w", "id").cast(pl.String)).filter(pl.col("id") < "11")
    page = bf.audit(frame, "y", "p", by=[*by, MONTHS], y_score="s")
    assert "2025-06" in page.markdown()


def test_long_series_end_with_the_last_periods():
    table = audit_of(ROWS, period=bf.period("day", "2d")).section(periods).blocks[-1]
    n = bf.report(ROWS, "y", "p", by=bf.period("day", "2d")).height
    assert len(table.groups[0].rows) == 60 < n
    assert table.note.endswith(f" {n - 60} earlier periods not shown.")


def test_small_counts_of_periods_are_withheld():
    audited = audit_of(ROWS, period=MONTHS, suppress=12)
    withheld = [group for group in of(audited).groups if group.is_withheld]
    table = audited.section(periods).blocks[-1]
    assert len(withheld) >= 2
    for row, group in zip(table.groups[0].rows, of(audited).groups, strict=True):
        assert ("withheld" in [cell.text for cell in row.cells]) == group.is_withheld


def test_several_labels_are_followed_in_accuracy_and_balanced_accuracy():
    labels = pl.DataFrame({"y": [RNG.choice("xyz") for _ in range(N)], "day": DAYS})
    rows = labels.with_columns(p=pl.col("y").shuffle(seed=1))
    metrics = [rate.metric for rate, _ in of(audit_of(rows, by=(), period=MONTHS)).tests]
    assert metrics == ["accuracy", "balanced_accuracy"]


@cases(
    ("every", "said"), [("1d", "1 day"), ("2w", "2 weeks"), ("1mo", "1 month"), ("3y", "3 years")]
)
def test_length_of_periods_is_written_in_words(months, every, said):
    assert (
        periods.length_text(replace(months.audit.request, period=bf.period("day", every))) == said
    )


def page(frame, **options):
    return bf.audit(frame, "y", "p", by=["g", MONTHS], **options).markdown()


@cases("options", [{}, {"sample_weight": "w"}, {"cluster": "id"}])
def test_page_is_the_same_on_every_library(options):
    expected = page(ROWS, **options)
    assert "| 2025-01-01 | " in expected
    for frame in (ROWS.to_pandas(), ROWS.lazy(), ROWS.to_arrow()):
        assert page(frame, **options) == expected


def test_stored_cells_with_days_give_the_page_of_their_rows():
    cells = bf.confusion(ROWS, "y", "p", by=["g", "day"])
    stored, expected = page(cells), page(ROWS)
    assert stored.partition("### To repeat it")[0] == expected.partition("### To repeat it")[0]


def test_section_is_left_out_without_time_or_with_one_period():
    audited = audit_of(ROWS)
    left_out = audited.section(periods)
    assert (left_out.reason, left_out.is_listed) == (periods.NO_TIME, False)
    one = audit_of(ROWS, period=bf.period("day", "1y")).section(periods)
    assert (one.reason, one.is_listed) == ("all rows are of one period", True)


@cases(
    ("options", "message"),
    [
        ({"by": bf.period("nope", "1d")}, "column 'nope' not found."),
        ({"by": bf.period("g", "1d")}, "column 'g'"),
        ({"time": "day"}, "option 'time' not found: periods are a value of by: by=bf.period("),
    ],
)
def test_times_that_cannot_be_read_are_refused(options, message):
    with pytest.raises(BalframeError) as error:
        bf.audit(ROWS, "y", "p", **options)
    assert str(error.value).startswith(message)
