"""How the page was computed: methods, terms, software, and the fingerprint of the counts."""

from collections.abc import Collection

from balframe._text import metric_title
from balframe.audit_page.document import Block, Code, Heading, Section, Terms
from balframe.audit_page.results import Audit
from balframe.audit_page.text import caller_text, capitalize, package_version, plural
from balframe.metrics.lookup import find_metric

_SOFTWARE = ("balframe", "numpy", "scipy")  # which numbers depend on
_METHODS = (  # section that needs it, term, meaning
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
        "limits of all pairs that hold together (Tukey's critical value), of groups large enough "
        "to rank; a difference is called shown where the limits exclude 0",
    ),
    (
        "worst",
        "Worst combinations",
        "one-sided test against all other rows (the number of errors in a combination is "
        "hypergeometric), with p-values and limits for all combinations tested together in one "
        "error; one is left out if those listed before it explain its errors; the one that is "
        "named first has to be clear among the searches for all errors",
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
        "scores, with a test of both (Cox 1958, with saddlepoint tails), which is not adjusted",
    ),
    (
        "selections",
        "Ratios to the highest",
        "score limits of Gart and Nam (1988), corrected for skewness and widened for the choice of "
        "the highest",
    ),
    (
        "rules",
        "Rules",
        "judged by decision limits that are wide enough for few errors (Clopper-Pearson for a "
        "rate), with Bonferroni over the groups of a rule",
    ),
    ("models", "Two models", "score interval for paired rows (Tango 1998)"),
)


def section(audit: Audit, keys: Collection[str]) -> Section:
    """State how the page was computed; `keys` are those of its sections."""
    request = audit.request
    metrics = dict.fromkeys(rate.metric for model in audit.models for rate in model.rates.all)
    support = f"{plural(request.min_support, 'row', 'rows')} in a denominator"
    blocks: list[Block] = [
        Terms([(term, meaning) for key, term, meaning in _METHODS if key in {"", *keys}]),
        Heading("Terms"),
        Terms(
            [(capitalize(metric_title(metric)), find_metric(metric).formula) for metric in metrics]
        ),
        Heading("To repeat it"),
        Code(request.call),
        Terms(
            [
                ("Software", ", ".join(f"{name} {package_version(name)}" for name in _SOFTWARE)),
                ("Confidence level", request.percent_level),
                ("Smallest group that is ranked", support),
                ("Columns used", ", ".join(map(caller_text, _columns(audit)))),
                ("Fingerprint of the counts", f"sha256 {audit.fingerprint}"),
            ]
        ),
    ]
    return Section("computed", "How was it computed?", blocks)


def _columns(audit: Audit) -> list[object]:
    request = audit.request
    names = [request.y_true, *request.by]
    for model in request.models:
        names += [model.y_pred, model.y_score]
    names.append(request.options["counts"])
    return list(dict.fromkeys(name for name in names if name is not None))
