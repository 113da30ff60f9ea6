import pytest

import balframe as bf
from balframe.api.columns import BY, METRIC, PREDICTED, SEGMENT_KEYS, TRUE, Role
from balframe.methods import declarations
from balframe.tables.recognize import recognize_result
from tests.support.cases import cases

DETAILS = ["n_labels", "min_support"]
LONG = ["metric", "estimate", "n", *DETAILS]
LAYOUTS = [
    (name, layout, declared)
    for name, method in declarations().items()
    for layout, declared in method.layouts.items()
]
FILLED = {METRIC: "recall", BY: "g", TRUE: "y", PREDICTED: "p"}


def named(declared, *, without=()):
    """Return the names of a result's columns, by `g` or of the metric recall."""
    return [
        column.name if column.placeholder is None else column.fill(FILLED[column.placeholder]).name
        for column in declared
        if column.only_with not in without
    ]


def read(names, method=None):
    result = recognize_result(names, method)
    return result.method, result.layout, list(result.by)


@cases(("method", "layout", "declared"), LAYOUTS)
def test_every_layout_is_recognized_by_all_or_identifying_columns(method, layout, declared):
    by = ["g"] * (SEGMENT_KEYS[0] in declared)
    options = {column.only_with for column in declared}
    identifying = [column for column in declared if column.identifies]

    assert read(named(declared)) == (method, layout, by)
    assert read(named(declared, without=options - {None})) == (method, layout, by)
    assert read(named([c for c in declared if c.identifies or c.name == BY])) == (
        method, layout, by
    )  # fmt: skip
    assert identifying


@cases(("method", "layout", "declared"), LAYOUTS)
def test_results_are_recognized_without_a_non_identifying_column(method, layout, declared):
    for dropped in declared:
        if not dropped.identifies and dropped.name != BY:
            names = named([column for column in declared if column != dropped])

            assert read(names)[:2] == (method, layout), dropped


def test_recognized_columns_have_roles_and_placeholder_values():
    result = recognize_result(
        [("g", 1), "grouped_by", "model", "n", "tpr", "tpr_lower", "tpr_upper"]
    )

    assert result.by == (("g", 1),)
    assert {name: column.role for name, column in result.columns.items()} == {
        "grouped_by": Role.KEY,
        "model": Role.KEY,
        "n": Role.COUNT,
        "tpr": Role.ESTIMATE,
        "tpr_lower": Role.LIMIT,
        "tpr_upper": Role.LIMIT,
    }
    assert (result.columns["tpr"].placeholder_value, result.columns["tpr_lower"].about) == (
        "tpr",
        "tpr",
    )


@cases(
    "new",
    [
        ["hit rate"],
        ["hit rate", "hit rate_lower", "hit rate_upper"],
        ["hit rate", "hit rate_lower", "hit rate_upper", "mine", "mine_lower", "mine_upper"],
        ["hit rate", "accuracy"],
    ],
)
@cases("by", [[], ["g"], ["hits", "threshold"]])
def test_report_with_renamed_metrics_is_recognized(new, by):
    result = recognize_result([*by, "n", *new, *DETAILS])

    assert (result.method, result.layout, list(result.by)) == ("report", "wide", by)
    scores = [name for name, column in result.columns.items() if column.role is Role.ESTIMATE]
    with_limits = [column.about for column in result.columns.values() if column.role is Role.LIMIT]
    assert scores == [name for name in new if not name.endswith(("_lower", "_upper"))]
    assert with_limits == [name for name in scores if f"{name}_lower" in new for _ in range(2)]


def test_limits_of_renamed_metrics_are_recognized_in_a_curve():
    names = ["threshold", "n", "predicted_positive", "hits", "hits_lower", "hits_upper"]

    assert recognize_result(names).columns["hits_upper"].about == "hits"


def test_columns_of_other_methods_are_not_renamed_metrics():
    names = ["g", "roc_auc", "roc_auc_lower", "roc_auc_upper", "n", "n_positive"]

    assert read(names) == ("ranking", "", ["g"])
    with pytest.raises(bf.InvalidInputError, match="cannot display a frame with"):
        recognize_result(["g", "n", "roc_auc_difference"])


@cases(
    "by",
    [
        ["rule", "status"],
        ["status", "rule"],
        ["threshold", "predicted_positive"],
        ["label", "n_tests"],
        ["label", "support"],
        ["criterion", "measure"],
        ["model", "reference"],
        ["lower", "upper"],
        ["grouped_by", "g"],
        ["recall", "roc_auc"],
    ],
)
def test_by_columns_may_have_the_names_of_columns_of_other_methods(by):
    assert read([*by, "n", "accuracy", *DETAILS]) == ("report", "wide", by)
    assert read([*by, *LONG]) == ("report", "long", by)


@pytest.mark.parametrize("by", [["metric"], ["metric", "estimate"], ["estimate"]])
def test_by_columns_may_have_the_names_of_columns_of_the_other_layout(by):
    assert read([*by, "n", "accuracy", *DETAILS]) == ("report", "wide", by)


@cases(
    ("names", "expected"),
    [
        (["g", "label", "recall", "support"], ("classes", "", ["g"])),
        (["criterion", "measure", "estimate", "metric"], ("fairness", "", [])),
        (["g", "metric", "estimate", "difference"], ("gaps", "", ["g"])),
        (["g", "rule", "estimate", "status"], ("check", "", ["g"])),
        (["g", "h", "accuracy", "mine", ("of", "me")], ("report", "wide", ["g", "h"])),
        (["g", "model", "metric", "estimate", "difference", "reference"], ("gaps", "", ["g"])),
    ],
)
def test_the_method_with_the_most_declared_columns_is_recognized(names, expected):
    assert read(names) == expected


@cases(
    ("names", "message"),
    [
        (["g", "y", "p"], "bf.table cannot display a frame with the columns 'g', 'y', 'p'; give"),
        ([], "cannot display a frame with no columns; give a result of"),
        (["g", "rule", "estimate"], "A result of check also has 'status'"),
        (
            ["g", "n", "metric", "difference", "estimate"],
            "result of gaps has these columns in another",
        ),
        (
            ["g", "metric", "n", "estimate"],
            "result of report has these columns in another",
        ),
        (["g", "n", "accuracy", "roc_auc"], "for a result of report, give method='report'"),
        (["g", "oe_ratio", "n", "roc_auc"], "of calibration, give method='calibration'"),
        (["g", "oe_ratio_lower", "oe_ratio_upper"], "result of calibration also has 'oe_ratio'"),
        (["g", "role"], r"your own columns at the end\.$"),
    ],
)
def test_frames_that_are_no_result_are_refused(names, message):
    with pytest.raises(bf.InvalidInputError, match=message):
        recognize_result(names)


def test_an_explicit_method_overrides_recognition():
    assert read(["g", "n", "accuracy", "roc_auc"], "report") == ("report", "wide", ["g"])
    assert read(["label", "support", "recall"], "report") == (
        "report",
        "wide",
        ["label", "support"],
    )
    with pytest.raises(bf.InvalidInputError, match=r"give a result of gaps\. .* also has 'metric'"):
        recognize_result(["g", "n", "accuracy"], "gaps")
    with pytest.raises(bf.UnknownNameError, match="method 'gap' not found; did you mean 'gaps'"):
        recognize_result(["g", "n", "accuracy"], "gap")


def test_ambiguous_results_are_refused_without_an_explicit_method():
    @bf.metric(range=(0, 1))
    def mean(c):
        """A metric with the name of a column of another method: accuracy."""
        return c.total_correct / c.total

    with pytest.raises(
        bf.InvalidInputError,
        match="may be the result of posterior or of report; name one, as in method='posterior'",
    ):
        recognize_result(["g", "mean"])
    assert read(["g", "mean"], "report") == ("report", "wide", ["g"])
    assert read(["g", "mean"], "posterior") == ("posterior", "", ["g"])
