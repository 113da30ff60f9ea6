"""Names of metrics of scores, which metrics of labels are often asked for along with."""

from balframe.errors import BalframeError, InvalidInputError, UnknownNameError

RANKED = ("roc_auc", "average_precision", "ks_statistic", "brier_score")  # columns of `ranking`
_OTHER_NAMES = {
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "roc_auc_score": "roc_auc",
    "average_precision_score": "average_precision",
    "ks": "ks_statistic",
    "brier": "brier_score",
    "brier_score_loss": "brier_score",
}
_NOT_COMPUTED = (
    "cross_entropy",
    "d2_brier_score",
    "d2_log_loss_score",
    "log_loss",
    "mn_log_loss",
    "neg_brier_score",
    "neg_log_loss",
    "pr_auc",
    "roc_auc_ovo",
    "roc_auc_ovo_weighted",
    "roc_auc_ovr",
    "roc_auc_ovr_weighted",
    "top_k_accuracy",
    "top_k_accuracy_score",
)
OF_SCORES = {**{name: name for name in RANKED}, **_OTHER_NAMES, **dict.fromkeys(_NOT_COMPUTED)}


def needs_scores(name: str) -> BalframeError:
    """Say that a metric is computed from scores, and whether `ranking` returns it."""
    column = OF_SCORES[name]
    if column is None:
        return UnknownNameError(
            f"metric {name!r} not found: it is computed from scores, of which ranking returns only "
            f"{', '.join(RANKED)}."
        )
    return InvalidInputError(
        f"metric {name!r} is computed from scores, not from labels; call ranking, which returns "
        f"{column!r}."
    )
