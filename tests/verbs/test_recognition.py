import pytest

import balframe as bf
from balframe.api.columns import BY, METRIC, PREDICTED, SEGMENT_KEYS, TRUE, Role
from balframe.methods import declarations
from balframe.tables.recognize import recognize_result

COUNTS = ["n", "n_labels", "min_support"]
LONG = [*COUNTS, "metric", "estimate"]
LAYOUTS = [
    (name, layout, declared)
    for name, verb in declarations().items()
    for layout, declared in verb.layouts.items()
]
FILLED = {METRIC: "recall", BY: "g", TRUE: "y", PREDICTED: "p"}


def named(declared, *, without=()):
    """Name columns of an answer, by `g` or of the metric recall."""
    return [
        one.name if one.placeholder is None else one.fill(FILLED[one.placeholder]).name
        for one in declared
        if one.only_with not in without
    ]


def read(names, verb=None):
    found = recognize_result(names, verb)
    return found.method, found.layout, list(found.by)


@pytest.mark.parametrize(("verb", "layout", "declared"), LAYOUTS)
def test_every_layout_is_recognized_with_all_columns_and_with_those_that_tell(
    verb, layout, declared
):
    by = ["g"] * (SEGMENT_KEYS[0] in declared)
    options = {one.only_with for one in declared}
    tells = [one for one in declared if one.identifies]

    assert read(named(declared)) == (verb, layout, by)
    assert read(named(declared, without=options - {None})) == (verb, layout, by)
    assert read(named([one for one in declared if one.identifies or one.name == BY])) == (
        verb, layout, by
    )  # fmt: skip
    assert tells


@pytest.mark.parametrize(("verb", "layout", "declared"), LAYOUTS)
def test_any_column_that_does_not_tell_may_be_gone(verb, layout, declared):
    for gone in declared:
        if not gone.identifies and gone.name != BY:
            names = named([one for one in declared if one != gone])

            assert read(names)[:2] == (verb, layout), gone


def test_columns_have_their_roles_and_what_fills_their_places():
    found = recognize_result([("g", 1), "margin", "model", "n", "tpr", "tpr_lower", "tpr_upper"])

    assert found.by == (("g", 1),)
    assert {name: one.role for name, one in found.columns.items()} == {
        "margin": Role.KEY,
        "model": Role.KEY,
        "n": Role.COUNT,
        "tpr": Role.ESTIMATE,
        "tpr_lower": Role.LIMIT,
        "tpr_upper": Role.LIMIT,
    }
    assert (found.columns["tpr"].placeholder_value, found.columns["tpr_lower"].about) == (
        "tpr",
        "tpr",
    )


@pytest.mark.parametrize(
    "new",
    [
        ["hit rate"],
        ["hit rate", "hit rate_lower", "hit rate_upper"],
        ["hit rate", "hit rate_lower", "hit rate_upper", "mine", "mine_lower", "mine_upper"],
        ["hit rate", "accuracy"],
    ],
)
@pytest.mark.parametrize("by", [[], ["g"], ["hits", "threshold"]])
def test_a_report_is_recognized_if_its_metrics_have_new_names(new, by):
    found = recognize_result([*by, *COUNTS, *new])

    assert (found.method, found.layout, list(found.by)) == ("report", "wide", by)
    scores = [name for name, one in found.columns.items() if one.role is Role.ESTIMATE]
    limited = [one.about for one in found.columns.values() if one.role is Role.LIMIT]
    assert scores == [name for name in new if not name.endswith(("_lower", "_upper"))]
    assert limited == [name for name in scores if f"{name}_lower" in new for _ in range(2)]


def test_limits_of_metrics_with_new_names_are_recognized_in_a_curve():
    names = ["threshold", "n", "predicted_positive", "hits", "hits_lower", "hits_upper"]

    assert recognize_result(names).columns["hits_upper"].about == "hits"


def test_columns_of_other_verbs_are_no_metrics_with_new_names():
    names = ["g", "n", "n_positive", "roc_auc", "roc_auc_lower", "roc_auc_upper"]

    assert read(names) == ("ranking", "", ["g"])
    with pytest.raises(bf.InvalidInputError, match="cannot display a frame with"):
        recognize_result(["g", *COUNTS, "roc_auc_difference"])


@pytest.mark.parametrize(
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
        ["margin", "g"],
        ["recall", "roc_auc"],
    ],
)
def test_by_columns_may_have_the_names_of_columns_of_other_verbs(by):
    assert read([*by, *COUNTS, "accuracy"]) == ("report", "wide", by)
    assert read([*by, *LONG]) == ("report", "long", by)


@pytest.mark.parametrize("by", [["metric"], ["metric", "estimate"], ["estimate"]])
def test_by_columns_may_have_the_names_of_columns_of_the_other_layout(by):
    assert read([*by, *COUNTS, "accuracy"]) == ("report", "wide", by)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["g", "label", "support", "recall"], ("classes", "", ["g"])),
        (["criterion", "measure", "metric", "estimate"], ("fairness", "", [])),
        (["g", "metric", "estimate", "difference"], ("gaps", "", ["g"])),
        (["g", "rule", "estimate", "status"], ("check", "", ["g"])),
        (["g", "h", "accuracy", "mine", ("of", "me")], ("report", "wide", ["g", "h"])),
        (["g", "model", "metric", "estimate", "reference", "difference"], ("gaps", "", ["g"])),
    ],
)
def test_what_has_the_most_declared_columns_is_meant(names, expected):
    assert read(names) == expected


@pytest.mark.parametrize(
    ("names", "says"),
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
        (["g", "n", "accuracy", "roc_auc"], "for a result of report, give verb='report'"),
        (["g", "n", "roc_auc", "f1"], "for a result of ranking, give verb='ranking'"),
    ],
)
def test_what_is_no_answer_is_refused(names, says):
    with pytest.raises(bf.InvalidInputError, match=says):
        recognize_result(names)


def test_the_verb_may_be_given():
    assert read(["g", "n", "accuracy", "roc_auc"], "report") == ("report", "wide", ["g"])
    assert read(["label", "support", "recall"], "report") == (
        "report",
        "wide",
        ["label", "support"],
    )
    with pytest.raises(bf.InvalidInputError, match=r"give a result of gaps\. .* also has 'metric'"):
        recognize_result(["g", "n", "accuracy"], "gaps")
    with pytest.raises(bf.UnknownNameError, match="verb 'gap' not found; did you mean 'gaps'"):
        recognize_result(["g", "n", "accuracy"], "gap")


def test_what_may_be_of_two_verbs_is_refused_until_the_verb_is_given(registry_put_back):
    @bf.metric(range=(0, 1))
    def mean(c):
        """A metric with the name of a column of another verb: accuracy."""
        return c.total_correct / c.total

    with pytest.raises(
        bf.InvalidInputError,
        match="may be the result of posterior or of report; name one, as in verb='posterior'",
    ):
        recognize_result(["g", "n", "mean"])
    assert read(["g", "n", "mean"], "report") == ("report", "wide", ["g"])
    assert read(["g", "n", "mean"], "posterior") == ("posterior", "", ["g"])
