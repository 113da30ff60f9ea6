"""What users of pandas write by hand or with other libraries, each the best way we know."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from benchmarks.cases import Case
from benchmarks.data import positive


def three_keys(frame: pd.DataFrame, case: Case) -> pd.DataFrame:
    """Count alone."""
    grouped = frame.groupby([*case.by_columns, "y", "yhat"], sort=False, observed=True)
    counted = grouped["weight"].sum() if case.weighted else grouped.size()
    return counted.rename("n").reset_index()


def size(frame: pd.DataFrame, case: Case) -> pd.DataFrame:
    """Count alone, as pandas 3 does unless it is asked for something else."""
    grouped = frame.groupby([*case.by_columns, "y", "yhat"], observed=True)
    return grouped.size().rename("n").reset_index()


def three_keys_scored(frame: pd.DataFrame, case: Case) -> pd.DataFrame:
    """Count, then score any number of labels from the counts."""
    cells = three_keys(frame, case)
    cells["hits"] = cells["n"].where(cells["y"] == cells["yhat"], 0)
    by_label = cells.groupby([*case.by_columns, "y"], sort=False, observed=True)[["n", "hits"]]
    labels = by_label.sum()
    labels["recall"] = labels["hits"] / labels["n"]
    grouped = labels.groupby(level=case.by_columns, sort=False, observed=True)
    totals = grouped[["n", "hits"]].sum()
    return pd.DataFrame(
        {
            "accuracy": totals["hits"] / totals["n"],
            "balanced_accuracy": grouped["recall"].mean(),
        }
    ).reset_index()


def sums(frame: pd.DataFrame, case: Case) -> pd.DataFrame:
    """Score two labels from three sums of booleans, grouped by the segment alone."""
    true, called = (
        frame[name] if case.label_type == "bool" else frame[name] == positive(case)
        for name in ("y", "yhat")
    )
    chosen = {"positive": true, "called": called, "both": true & called}
    if case.weighted:
        weight = frame["weight"]
        chosen = {"n": weight, **{name: rows * weight for name, rows in chosen.items()}}
    grouped = (
        frame[case.by_columns].assign(**chosen).groupby(case.by_columns, sort=False, observed=True)
    )
    totals = grouped.sum()
    n = totals["n"] if case.weighted else grouped.size()
    both, negative = totals["both"], n - totals["positive"]
    neither = negative + both - totals["called"]
    recalls = pd.concat([both / totals["positive"], neither / negative], axis=1)
    return pd.DataFrame(
        {"accuracy": (both + neither) / n, "balanced_accuracy": recalls.mean(axis=1)}
    ).reset_index()


def numbered(frame: pd.DataFrame, case: Case) -> pd.DataFrame:
    """Factorize segments, and count labels that are numbers or codes with numpy's `bincount`."""
    n_labels = case.labels
    segment, segments = pd.factorize(frame["segment"])
    y, yhat = (_codes(frame[name]) for name in ("y", "yhat"))
    counts = np.bincount(
        (segment * n_labels + y) * n_labels + yhat,
        weights=frame["weight"].to_numpy() if case.weighted else None,
        minlength=len(segments) * n_labels**2,
    ).reshape(-1, n_labels, n_labels)
    support, hits = counts.sum(axis=2), counts.diagonal(axis1=1, axis2=2)
    recall = np.divide(hits, support, out=np.full(hits.shape, np.nan), where=support > 0)
    return pd.DataFrame(
        {
            "segment": segments,
            "accuracy": hits.sum(axis=1) / support.sum(axis=1),
            "balanced_accuracy": np.nanmean(recall, axis=1),
        }
    )


def _codes(labels: "pd.Series[int]") -> npt.NDArray[np.integer]:
    if isinstance(labels.dtype, pd.CategoricalDtype):
        return labels.cat.codes.to_numpy()
    return labels.to_numpy(dtype=np.int64)


def scikit_learn(frame: pd.DataFrame, case: Case) -> pd.DataFrame:
    """Call scikit-learn's functions for one segment after the other."""
    from sklearn.metrics import accuracy_score, balanced_accuracy_score

    (by,) = case.by_columns
    y, yhat = frame["y"].to_numpy(), frame["yhat"].to_numpy()
    scores = [
        (
            segment,
            accuracy_score(y[rows], yhat[rows]),
            balanced_accuracy_score(y[rows], yhat[rows]),
        )
        for segment, rows in frame.groupby(by, sort=False, observed=True).indices.items()
    ]
    return pd.DataFrame(scores, columns=[by, "accuracy", "balanced_accuracy"])


def fairlearn(frame: pd.DataFrame, case: Case) -> pd.DataFrame:
    """Give fairlearn the same two functions."""
    from fairlearn.metrics import MetricFrame
    from sklearn.metrics import accuracy_score, balanced_accuracy_score

    scores: pd.DataFrame = MetricFrame(
        metrics={"accuracy": accuracy_score, "balanced_accuracy": balanced_accuracy_score},
        y_true=frame["y"],
        y_pred=frame["yhat"],
        sensitive_features=frame[case.by_columns],
    ).by_group
    return scores.reset_index()
