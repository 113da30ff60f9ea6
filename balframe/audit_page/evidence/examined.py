"""Evidence on what was examined: how many rows, of which groups, and how they were predicted."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from balframe.audit_page.design import LabelShares, label_shares
from balframe.audit_page.disclosure import withheld_parts
from balframe.audit_page.evidence.records import (
    Record,
    group_at,
    group_of,
    json_value,
    model_name,
    number,
)
from balframe.audit_page.groups import ColumnFigures, GroupFigures
from balframe.audit_page.left_out_rows import LeftOutRows
from balframe.audit_page.queries import sum_matrix
from balframe.audit_page.results import Audit, ModelFigures
from balframe.audit_page.sections.missing_values import column_parts, has_withheld_counts
from balframe.audit_page.sections.overall_accuracy import MAX_MATRIX_LABELS, withheld_cells
from balframe.core.label_set import Label

_NO_TRUTH = {"n_true": None, "share_true": None}  # of outcomes


def what_was_examined(audit: Audit) -> Iterator[Record]:
    """Return the counts of all rows and of the groups that the page shows, for each model."""
    for model in audit.models:
        yield Record("examined", _counts(model, model.overall))
        for column in model.columns:
            for group in column.largest_groups:
                yield Record("examined", _counts(model, group))
        yield from _confusion(model)
        yield from _left_out(model)
        for column in model.columns:
            n_shown = sum(group.n for group in column.largest_groups)
            n_not_shown = sum(group.n for group in column.groups) - n_shown
            is_withheld = n_not_shown < (audit.request.suppress or 0)
            yield Record(
                "columns",
                {
                    "model": model_name(model),
                    "column": str(model.request.by[column.number]),
                    "bins": _bins(model, column),
                    "n_groups": len(column.groups),
                    "n_groups_not_shown": len(column.groups) - len(column.largest_groups),
                    "n_not_shown": None if is_withheld and n_not_shown else n_not_shown,
                },
            )


def _counts(model: ModelFigures, group: GroupFigures) -> dict[str, Any]:
    """Return the counts of a group, or of all rows with how many were left out."""
    is_overall, cells = group.column is None, model.cells
    is_withheld = cells.row_counts is not None and has_withheld_counts(model)
    has_missing = is_overall and not is_withheld
    is_n_withheld = group.is_withheld and group.n_text != f"{group.n:,}"
    is_whole = is_overall or cells.is_binary
    labels: Any = cells.labels if is_whole else [rate.positive for rate in model.rates.errors]
    shares = None if group.is_withheld else label_shares(cells, group)
    withheld = _withheld_labels(model) if is_overall else []
    return {
        "section": "examined",
        "model": model_name(model),
        "pos_label": json_value(cells.positive),
        "group": group_of(model.request, group),
        "n": None if is_n_withheld else group.n,
        "share": None if shares is None else number(shares.of_all),
        "n_labelled": group.n_labelled if model.request.is_corrected else None,
        "n_effective": cells.n_effective if is_overall and cells.is_weighted else None,
        "n_clusters": cells.n_clusters if is_overall and cells.has_clusters else None,
        "n_missing": cells.n_missing if has_missing else None,
        "n_only_selected": cells.n_only_selected if has_missing else None,
        "is_withheld": group.is_withheld,
        "labels": []
        if shares is None
        else [
            {
                **_label_counts(label, group, shares, is_withheld=label in withheld),
                **(_NO_TRUTH if model.request.is_of_outcomes else {}),
            }
            for label in labels
        ],
    }


def _label_counts(
    label: Label, group: GroupFigures, shares: LabelShares, *, is_withheld: bool
) -> dict[str, Any]:
    counts = {
        "n_true": group.n_true[label],
        "n_predicted": group.n_predicted[label],
        "share_true": number(shares.true[label]),
        "share_predicted": number(shares.predicted[label]),
    }
    return {"label": json_value(label), **(dict.fromkeys(counts) if is_withheld else counts)}


def _withheld_labels(model: ModelFigures) -> list[Label]:
    """Return the labels whose counts in all rows are small, and those that would reveal them."""
    least, overall, labels = model.request.suppress, model.overall, model.cells.labels
    if least is None:
        return []
    if model.request.is_of_outcomes:
        return []  # of which each has enough rows
    counts = [[overall.n_true[label], overall.n_predicted[label]] for label in labels]
    return [labels[i] for i in withheld_parts(counts, least)]


def _bins(model: ModelFigures, column: ColumnFigures) -> list[str] | None:
    """Return the bins that a column was cut into; None if it was not."""
    bins = model.cells.bins.get(column.number)
    return None if bins is None else list(bins.texts)


def _confusion(model: ModelFigures) -> Iterator[Record]:
    """Return the confusion matrix of predictions, if it is small enough for the page."""
    cells = model.cells
    if model.request.is_of_outcomes:
        return
    if not cells.is_binary and len(cells.labels) > MAX_MATRIX_LABELS:
        return
    withheld, weights = withheld_cells(model), cells.weights_of(None)[None]
    totals, _ = sum_matrix(weights, cells.labels)
    for truth, prediction in product(cells.labels, cells.labels):
        pair, total = (truth, prediction), totals[truth]
        share = weights.get(pair, 0) / total if total else None
        is_withheld = pair in withheld
        yield Record(
            "confusion",
            {
                "section": "right",
                "model": model_name(model),
                "y_true": json_value(truth),
                "y_pred": json_value(prediction),
                "n": None if is_withheld else cells.matrix.get(pair, 0),
                "share": None if is_withheld else share,
            },
        )


def _left_out(model: ModelFigures) -> Iterator[Record]:
    """Return how many rows of the data, and of each group, lack a value and were left out."""
    counts = model.cells.row_counts
    if counts is None:
        return
    is_withheld = has_withheld_counts(model)
    yield _left_out_rows(model, counts.total, is_withheld=is_withheld)
    if is_withheld:
        return
    for column in model.columns:
        for part in column_parts(model, column):
            yield _left_out_rows(
                model,
                part.rows,
                column=column.number,
                is_rest=part.is_rest,
                is_withheld=part.is_withheld,
            )


def _left_out_rows(
    model: ModelFigures,
    rows: LeftOutRows,
    *,
    is_withheld: bool,
    column: int | None = None,
    is_rest: bool = False,
) -> Record:
    group = None if column is None or is_rest else group_at(model.request, {column: rows.value})
    counts = {"n": rows.n, "n_examined": rows.n_examined, "n_left_out": rows.n_left_out}
    counts |= {f"n_without_{reason}": n for reason, n in rows.missing.items()}
    return Record(
        "left_out",
        {
            "section": "examined",
            "model": model_name(model),
            "columns": [] if column is None else [str(model.request.by[column])],
            "group": group,
            **(dict.fromkeys(counts) if is_withheld else counts),
            "is_withheld": is_withheld,
        },
    )
