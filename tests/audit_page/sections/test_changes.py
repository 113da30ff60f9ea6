"""What has changed since the baseline: the differences of gaps, and each sentence."""

import random

import polars as pl
import pytest

import balframe as bf
from balframe.audit_page.numbers import points
from balframe.audit_page.queries import by_name
from balframe.audit_page.sections import changes, rules
from balframe.errors import InvalidInputError, UnknownNameError, UnsupportedTypeError
from tests.support.audits.figures import plain, texts
from tests.support.audits.small_audits import audit_of
from tests.support.cases import cases

RNG = random.Random(11)
RULES = ["recall >= baseline - 0.1", "accuracy >= 0.5"]


def made(n, rates):
    """Make rows of three groups, each with its share of wrong predictions."""
    groups = RNG.choices(list(rates), k=n)
    truth = [RNG.choice([0, 1]) for _ in range(n)]
    wrong = [RNG.random() < rates[g] for g in groups]
    return pl.DataFrame(
        {
            "g": groups,
            "y": truth,
            "p": [1 - y if w else y for y, w in zip(truth, wrong, strict=True)],
            "w": [RNG.choice([0.5, 1.0, 2.0]) for _ in range(n)],
            "id": [RNG.randrange(n // 4) for _ in range(n)],
        }
    )


NOW, THEN = made(900, {"a": 0.1, "b": 0.2, "c": 0.3}), made(700, {"a": 0.4, "b": 0.2, "c": 0.3})
BOTH = pl.concat([NOW.with_columns(when=pl.lit("now")), THEN.with_columns(when=pl.lit("then"))])


@pytest.fixture(scope="module")
def changed():
    return audit_of(NOW, baseline=THEN, rules=RULES, min_support=10)


def of(audited):
    (own,) = audited.of(changes)
    return own


def expected_difference(rows, metric, level, **options):
    """Return the row of gaps on the rows of both."""
    options = {"by": "when", "reference": "then", "metrics": metric, **options}
    found = bf.gaps(rows, "y", "p", adjust=None, detail=True, level=level, **options)
    return found.filter(when="now").row(0, named=True)


@cases("options", [{}, {"sample_weight": "w"}, {"cluster": "id"}])
def test_differences_are_those_of_gaps_on_both_data_sets(options):
    audited = audit_of(NOW, baseline=THEN, min_support=10, options=options)
    level, own = audited.audit.adjustment.level, of(audited)
    pairs = [(own.overall, BOTH)]
    pairs += [(change, BOTH.filter(g=change.now.value)) for change in own.columns[0]]
    for change, rows in pairs:
        assert change.differences
        for rate, difference in change.differences.items():
            row = expected_difference(rows, rate.metric, level, **options)
            expected = [row[name] for name in ("difference", "lower", "upper", "p_value")]
            assert [*difference.estimate[:3], difference.p] == pytest.approx(expected, rel=1e-8)


def test_rates_then_are_those_of_report_on_the_baseline(changed):
    own = of(changed)
    names = ["accuracy", "false_positive_rate", "precision"]
    for change in [own.overall, *own.columns[0]]:
        rows = THEN if change.now.column is None else THEN.filter(g=change.now.value)
        row = bf.report(rows, "y", "p", metrics=names, interval=True).row(0, named=True)
        for name in names:
            rate = changed.model.rates.by_metric(name)
            expected = [row[f"{name}{end}"] for end in ("", "_lower", "_upper")]
            assert list(change.before.rates[rate][:3]) == expected


def test_p_values_are_adjusted_with_all_others(changed):
    alone = audit_of(NOW, min_support=10)
    n_own = len([*changes.differences(changed.of(changes))])
    assert n_own == 6 + 3 * 2  # accuracy, precision, selections, prevalence, errors; errors
    assert changed.audit.adjustment.n_tests == alone.audit.adjustment.n_tests + n_own
    for difference in changes.differences(changed.of(changes)):
        lower, upper = difference.estimate.lower, difference.estimate.upper
        assert difference.is_significant == (lower > 0 or upper < 0)


def test_sentences_name_established_changes(changed):
    own = of(changed)
    assert plain(changes.summary(changed.model, own)).startswith(
        "Since the baseline: \N{LEFT DOUBLE QUOTATION MARK}right predictions, of all"
        "\N{RIGHT DOUBLE QUOTATION MARK} +"
    )
    error = changed.model.rates.errors[0]
    said = plain(changes.group_sentence(changed.model, own, error))
    assert said.startswith("less often than then for a (g), \N{MINUS SIGN}")
    assert "b (g)" not in said
    tests = [change.differences[error] for change in own.columns[0]]
    others = [test.estimate for test in tests if not test.is_significant]
    furthest = max(max(abs(one.lower), abs(one.upper)) for one in others)
    rest = f"{len(others)} other group{'s' * (len(others) > 1)} no change is established"
    assert said.endswith(f"; for {rest}; it may be up to {points(furthest)}")
    same = audit_of(NOW, baseline=NOW, min_support=10)
    assert changes.group_sentence(same.model, of(same), error).startswith(
        "no change in a group is established; it may be up to "
    )
    assert changes.summary(same.model, of(same)).startswith(
        "Since the baseline, no change in a rate of all rows is established; it may be up to "
    )


def test_groups_that_are_new_or_gone_are_named_and_not_compared():
    now = pl.concat([NOW.filter(pl.col("g") != "c"), NOW.head(40).with_columns(g=pl.lit("new"))])
    audited = audit_of(now, baseline=THEN, min_support=10)
    said = [plain(text) for text in texts(audited.document)]
    assert "By g, only the baseline has rows of c." in said
    assert "By g, there were none of new." in said
    by_value = {change.now.value: change for change in of(audited).columns[0]}
    assert by_value["new"].before is None
    assert by_value["new"].differences == {}


def test_groups_with_few_rows_then_are_not_compared():
    then = pl.concat([THEN.filter(pl.col("g") != "c"), THEN.filter(g="c").head(12)])
    own = of(audit_of(NOW, baseline=then, min_support=10))
    compared = {change.now.value: bool(change.differences) for change in own.columns[0]}
    assert compared == {"a": True, "b": True, "c": False}


def test_withheld_groups_are_withheld_then_and_now():
    then = pl.concat([THEN.filter(pl.col("g") != "c"), THEN.filter(g="c").head(9)])
    audited = audit_of(NOW, baseline=then, min_support=10, suppress=5)
    (section,) = [one for one in audited.document.sections if one.key == "changes"]
    rows = {
        plain(row.heading): [cell.text for cell in row.cells]
        for row in section.blocks[-1].blocks[0].groups[0].rows
    }
    assert rows["c"][0] == "withheld"
    assert set(rows["c"][1:]) == {""}
    assert [name for name, cells in rows.items() if "withheld" in cells] == ["a", "c"]


def test_rules_are_judged_as_by_check_with_the_cells_of_the_baseline(changed):
    (judgements,) = changed.of(rules)
    cells = bf.confusion(THEN, "y", "p", by="g")
    options = {"by": "g", "rules": RULES, "min_support": 10, "baseline": cells}
    found = {(one.row[by_name(0)], one.rule.text): one.row for one in judgements}
    verdicts = bf.check(NOW, "y", "p", **options)
    assert len(judgements) == verdicts.height == 6
    for row in verdicts.iter_rows(named=True):
        own = found[row["g"], row["rule"]]
        assert own["status"] == row["status"]
        expected = [row[name] for name in ("estimate", "lower", "upper")]
        assert [own[name] for name in ("estimate", "lower", "upper")] == pytest.approx(expected)
    said = " ".join(texts(changed.document))
    assert "Of a rule that compares with the baseline, the number is the difference from it." in (
        said
    )


def page(frame, baseline, **options):
    text = bf.audit(frame, "y", "p", by="g", baseline=baseline, **options).markdown()
    return text.partition("### To repeat it")[0]


@cases("options", [{}, {"sample_weight": "w"}, {"cluster": "id"}])
def test_rows_and_cells_as_baseline_give_the_same_page(options):
    expected = page(NOW, THEN, **options)
    assert "What has changed since the last audit?" in expected
    cells = bf.confusion(THEN, "y", "p", by="g", **options)
    assert page(NOW, cells, **options) == expected
    assert page(NOW.to_pandas(), cells.to_pandas(), **options) == expected
    assert page(NOW.lazy(), THEN.to_arrow(), **options) == expected
    assert page(NOW, THEN.sample(fraction=1, shuffle=True, seed=1), **options) == expected


def test_cells_of_several_models_are_read_by_their_names():
    now, then = (frame.with_columns(q=1 - pl.col("p")) for frame in (NOW, THEN))
    cells = bf.confusion(then, "y", ["p", "q"], by="g")
    of_rows = audit_of(now, y_pred=("p", "q"), baseline=then).of(changes)
    of_cells = audit_of(now, y_pred=("p", "q"), baseline=cells).of(changes)
    assert [one.overall for one in of_cells] == [one.overall for one in of_rows]
    assert of_rows[0].overall != of_rows[1].overall


def test_labels_that_only_the_baseline_has_do_not_matter_to_others():
    words = pl.col("y", "p").replace_strict({0: "x", 1: "y"})
    third = pl.DataFrame({"g": ["a"] * 30, "y": ["z"] * 30, "p": ["z"] * 30})
    now, then = (frame.select("g", "y", "p").with_columns(words) for frame in (NOW, THEN))
    audited = audit_of(
        pl.concat([now, third.with_columns(y=pl.lit("v"))]), baseline=pl.concat([then, third])
    )
    accuracy = audited.model.rates.by_metric("accuracy")
    right = (THEN["y"] == THEN["p"]).sum() + 30
    before = of(audited).overall.before
    assert before.rates[accuracy].value == pytest.approx(right / (THEN.height + 30))


def test_numeric_columns_of_the_baseline_are_cut_as_those_of_the_data():
    ages = [RNG.randrange(18, 80) for _ in range(NOW.height)]
    now, then = NOW.with_columns(age=pl.Series(ages)), THEN.with_columns(age=pl.lit(40))
    options = {"by": bf.bins("age", [30, 50]), "baseline": then}
    evidence = bf.audit(now, "y", "p", **options).evidence()
    changes_by_age = [
        one["group"]["age"]
        for one in evidence["comparisons"]
        if one["section"] == "changes" and one["group"] is not None
    ]
    assert changes_by_age == ["30 to 50"] * 2
    text = then.with_columns(pl.col("age").cast(pl.String))
    with pytest.raises(InvalidInputError) as error:
        bf.audit(now, "y", "p", **options | {"baseline": text})
    assert str(error.value) == (
        "in baseline: column 'age' has no numbers, but bf.bins cuts the numbers that it has in "
        "the data. Cast it to the type of the other."
    )


def test_call_names_the_baseline_without_its_values():
    text = bf.audit(NOW, "y", "p", baseline=THEN).markdown()
    assert "\n    baseline=baseline,\n" in text
    assert "Baseline **700 rows**" in text


def test_section_is_not_listed_as_left_out_without_a_baseline():
    audited = audit_of(NOW)
    left_out = audited.section(changes)
    assert (left_out.reason, left_out.is_listed) == ("no baseline was given (`baseline`)", False)


@cases(
    ("baseline", "options", "kind", "message"),
    [
        (
            THEN.drop("g"),
            {"by": "g"},
            UnknownNameError,
            "in baseline: column 'g' not found. Columns: y, p, w, id.",
        ),
        (THEN.clear(), {}, InvalidInputError, "in baseline: there are no rows, so there is"),
        (
            THEN.with_columns(pl.col("y", "p").cast(pl.String)),
            {},
            InvalidInputError,
            "in baseline: ",
        ),
        (
            bf.confusion(THEN, "y", "p"),
            {"sample_weight": "w"},
            InvalidInputError,
            "in baseline: the data have weights and the baseline has none. Weight both or neither.",
        ),
        (
            bf.confusion(THEN, "y", "p", sample_weight="w"),
            {},
            InvalidInputError,
            "in baseline: the baseline has weights and the data have none. Weight both or neither.",
        ),
        (
            bf.confusion(THEN, "y", "p"),
            {"cluster": "id"},
            UnknownNameError,
            "in baseline: the cells have no column 'id', so it is unknown which rows belong",
        ),
        ("p", {}, UnsupportedTypeError, "in baseline: "),
    ],
)
def test_baselines_that_cannot_be_compared_are_refused(baseline, options, kind, message):
    with pytest.raises(kind) as error:
        bf.audit(NOW, "y", "p", baseline=baseline, **options)
    assert str(error.value).startswith(message)
