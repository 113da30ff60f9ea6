"""Words and numbers as charts and tables show them."""

from collections.abc import Sequence

_INITIALS = {"npv": "NPV", "f1": "F1", "matthews": "Matthews", "cohen": "Cohen's"}
_INITIALS |= {"roc": "ROC", "auc": "AUC"}


def in_words(name: str) -> str:
    """Write the name of a metric as people do."""
    words = [_INITIALS.get(word, word) for word in name.split("_")]
    return " ".join(words).replace("corrcoef", "correlation")


def sentence(text: str) -> str:
    """Begin with a capital letter."""
    return text[:1].upper() + text[1:]


def percent(level: float) -> str:
    """Write a confidence level."""
    return f"{100 * level:.6g}%"


def intervals(level: float, cluster: object = None) -> str:
    """Say which limits are drawn."""
    held = "" if cluster is None else f"; rows in clusters by {cluster}"
    return f"{percent(level)} confidence intervals{held}"


def titled(text: str, by: Sequence[object]) -> str:
    """Make a title: what is shown, and the columns of segments."""
    *most, last = map(str, by or [""])
    names = f"{', '.join(most)} and {last}" if most else last
    return sentence(text) + (f" by {names}" if by else "")
