"""How the page was computed: methods, terms, software, and the fingerprint of the counts."""

from collections.abc import Sequence
from importlib.metadata import version

from balframe._text import capitalize_first, metric_title
from balframe.audit_page.document import Block, Code, Heading, Section, Terms
from balframe.audit_page.results import Answer, Audited
from balframe.audit_page.tables import level_of
from balframe.audit_page.text import given, plural
from balframe.metrics.lookup import find_metric

_SOFTWARE = ("numpy", "scipy")  # which numbers depend on


def computed(audited: Audited, sections: Sequence[Answer]) -> Section:
    """Say how the page was computed."""
    asked = audited.asked
    keys = {one.key for one in sections if isinstance(one, Section)}
    metrics = dict.fromkeys(rate.metric for model in audited.models for rate in model.rates.every)
    terms = [
        (capitalize_first(metric_title(metric)), find_metric(metric).formula) for metric in metrics
    ]
    blocks: list[Block] = [
        Terms([term for key, *term in _METHODS if key in {"", *keys}]),  # type: ignore[misc]
        Heading("Terms"),
        Terms(terms),
        Heading("To repeat it"),
        Code(asked.call),
        Terms(
            [
                ("Software", ", ".join([f"balframe {_own()}", *map(_of, _SOFTWARE)])),
                ("Confidence level", level_of(asked)),
                (
                    "Smallest group that is ranked",
                    f"{plural(asked.min_support, 'row', 'rows')} in a denominator",
                ),
                ("Columns used", ", ".join(given(str(name)) for name in _columns(audited))),
                ("Fingerprint of the counts", f"sha256 {audited.fingerprint}"),
            ]
        ),
    ]
    return Section("computed", "How was it computed?", blocks)


_METHODS = (
    ("", "Limits of a rate", "Wilson score interval, of each row alone"),
    ("", "Limits of balanced accuracy", "score interval of a weighted mean of rates"),
    (
        "chance",
        "Difference from all others",
        "skewness-corrected score interval (Laud 2017) and the p-value of the same statistic",
    ),
    (
        "whom",
        "Many comparisons",
        "all p-values of differences on this page, but for those of the worst combinations, are "
        "adjusted together by the method of Benjamini and Hochberg (1995); a difference is called "
        "shown where the adjusted p-value is below 1 less the confidence level",
    ),
    (
        "errors",
        "Furthest groups",
        "limits of the groups that hold together (Bonferroni), of groups large enough to rank; a "
        "difference is called shown where the limits exclude 0",
    ),
    (
        "worst",
        "Worst combinations",
        "one-sided test against all other rows (the number of errors in a combination is "
        "hypergeometric), with p-values and limits for all combinations tested together; one is "
        "left out if those listed before it explain its errors",
    ),
    (
        "threshold",
        "Area under the curve",
        "method 5 of Newcombe (2006), with its variance scaled towards that of DeLong (1988)",
    ),
    (
        "threshold",
        "Best threshold",
        "limits from a band that holds at all thresholds together (Kolmogorov and Smirnov)",
    ),
    (
        "calibrated",
        "Same scores",
        "difference of Mantel and Haenszel over strata of scores, with the limits of Klingenberg "
        "(2014); a further test of each column finds differences that change with the score",
    ),
    (
        "calibrated",
        "Scores as probabilities",
        "ratio of what happened to the mean score, and slope of a logistic regression on the "
        "scores, with the score test of Cox (1958), which is not adjusted",
    ),
    (
        "selections",
        "Ratios to the highest",
        "score limits of Miettinen and Nurminen (1985), widened for the choice of the highest",
    ),
    (
        "rules",
        "Rules",
        "judged by limits that are wide enough for few errors (Clopper-Pearson for a rate), with "
        "Bonferroni over the groups of a rule",
    ),
    ("models", "Two models", "score interval for paired rows (Tango 1998)"),
)


def _own() -> str:
    return version("balframe")


def _of(package: str) -> str:
    return f"{package} {version(package)}"


def _columns(audited: Audited) -> list[object]:
    asked = audited.asked
    names = [asked.y_true, *asked.by]
    for model in asked.models:
        names += [model.y_pred, *([model.y_score] if model.y_score is not None else [])]
    counts = asked.options["counts"]
    return list(dict.fromkeys([*names, *([counts] if counts is not None else [])]))
