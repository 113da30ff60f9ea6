"""How the page was computed: methods, terms, software, and the fingerprint of the counts."""

from collections.abc import Collection

from balframe._text import metric_title
from balframe.audit_page.design import design_columns, design_terms
from balframe.audit_page.document import Block, Code, Heading, Section, Terms
from balframe.audit_page.numbers import count
from balframe.audit_page.results import Adjustment, Audit
from balframe.audit_page.text import caller_text, capitalize, package_version, plural
from balframe.audit_page.unlabelled_rows import method_meanings
from balframe.metrics.lookup import find_metric

_SOFTWARE = ("balframe", "numpy", "scipy")  # which numbers depend on
_METHODS = (  # section that needs it, term, meaning
    ("", "Confidence interval of a rate", "Wilson score interval, of each row alone"),
    ("right", "Interval of balanced accuracy", "score interval of a weighted mean of rates"),
    (
        "chance",
        "Difference from all others",
        "skewness-corrected score interval (Laud 2017) and the p-value of the same statistic",
    ),
    (
        "whom",
        "Many comparisons",
        "all p-values of differences on this page, except those of combinations of groups, are "
        "adjusted together by the method of Benjamini and Hochberg (1995); a difference is "
        "established where the adjusted p-value is below 1 less the confidence level; the "
        "confidence intervals of all these differences have one higher level, at which they "
        "leave out zero exactly there (Benjamini and Yekutieli 2005)",
    ),
    (
        "whom",
        "Furthest groups",
        "intervals of all pairs that hold together (Tukey's critical value); the lower limit is "
        "raised to that of a group that differs from all others",
    ),
    (
        "worst",
        "Combinations of groups",
        "one-sided test against all other rows (the count behind the rate of a combination is "
        "hypergeometric), with p-values and intervals for all combinations searched together in "
        "one rate; one is left out if those before it explain its rate; the one that is named in "
        "brief has to be clear among the searches in all rates",
    ),
    (
        "threshold",
        "Area under the curve",
        "method 5 of Newcombe (2006), with its variance scaled towards that of DeLong (1988)",
    ),
    (
        "threshold",
        "Best threshold",
        "interval from a band that holds at all thresholds together (Kolmogorov and Smirnov)",
    ),
    (
        "calibrated",
        "Same scores",
        "difference of Mantel and Haenszel over strata of scores, with the intervals of "
        "Klingenberg (2014); a further test of each column detects differences that change with "
        "the score",
    ),
    (
        "calibrated",
        "Scores as probabilities",
        "ratio of what happened to the mean score, and slope of a logistic regression on the "
        "scores (Cox 1958), with intervals that hold for the two together",
    ),
    (
        "selections",
        "Ratios to the highest",
        "score intervals of Gart and Nam (1988), corrected for skewness and widened for the choice "
        "of the highest",
    ),
    (
        "rules",
        "Rules",
        "judged by decision limits that are wide enough for few errors (Clopper-Pearson for a "
        "rate), with Bonferroni over the groups of a rule",
    ),
    (
        "models",
        "Two models",
        "score interval for paired rows (Tango 1998); of rows in clusters, as the difference of "
        "two groups in the same clusters",
    ),
    (
        "time",
        "Rates over time",
        "test that all periods have the same rate (Rao 1948), with p-values among those that are "
        "adjusted",
    ),
    (
        "changes",
        "Change since the baseline",
        "the interval and the p-value of a difference between groups, of data and baseline as two "
        "independent groups",
    ),
)


def section(audit: Audit, keys: Collection[str]) -> Section:
    """State how the page was computed; `keys` are those of its sections."""
    request = audit.request
    metrics = dict.fromkeys(rate.metric for model in audit.models for rate in model.rates.all)
    meanings = method_meanings(request)
    support = f"{plural(request.min_support, 'row', 'rows')} in a denominator"
    blocks: list[Block] = [
        Terms(
            [
                *(
                    (term, meanings.get(term, meaning))
                    for key, term, meaning in _METHODS
                    if key in {"", *keys}
                ),
                *design_terms(audit.models[0].cells),
            ]
        ),
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
                ("Level of intervals of differences", f"{100 * audit.adjustment.level:.6g}%"),
                ("Comparisons adjusted together", _comparisons(audit.adjustment)),
                ("Smallest group that is compared", support),
                ("Columns used", ", ".join(map(caller_text, _columns(audit)))),
                ("Fingerprint of the counts", _fingerprint(audit)),
            ]
        ),
    ]
    return Section("computed", "How was it computed?", blocks)


def _comparisons(adjustment: Adjustment) -> str:
    """Return how many comparisons there are, and of what."""
    n = count(adjustment.n_tests)
    return f"{n} ({adjustment.kinds})" if adjustment.n_tests else n


def _fingerprint(audit: Audit) -> str:
    if not audit.fingerprint:
        return "withheld, since small counts could be guessed from it"
    return f"sha256 {audit.fingerprint}"


def _columns(audit: Audit) -> list[object]:
    request = audit.request
    names = [*([] if request.is_of_outcomes else [request.y_true]), *request.by]
    for model in request.models:
        names += [model.y_pred, model.y_score]
    names += [*request.verdicts, request.label_probability]
    names += [request.options["counts"], *design_columns(request)]
    return list(dict.fromkeys(name for name in names if name is not None))
