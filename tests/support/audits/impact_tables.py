"""Tables of impact ratios made by hand."""

from dataclasses import replace

import polars as pl

from balframe.audit_page.groups import Difference
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.queries import ModelCells
from balframe.audit_page.rates import Rates
from balframe.audit_page.results import Adjustment, Audit, ModelFigures
from balframe.audit_page.sections.impact_figures import Category, ImpactFigures, ImpactTable
from tests.support.audits.figures import make_request


def model_of(labels=(0, 1), **request):
    """Make a model of two by-columns, or of those requested, whose figures are made by hand."""
    asked = make_request(**{"by": ["race", "sex"], **request})
    rows = pl.DataFrame({"truth": [0, 1], "prediction": [0, 1], "n": [50, 50]})
    positive = labels[1] if len(labels) == 2 else None
    cells = ModelCells(asked, asked.models[0], rows, labels, positive, None, 0)
    return ModelFigures("", cells, Rates([], []), None, [], None)


def audit_of_models(*models):
    """Make the audit of models that share a request; several have a name."""
    if len(models) > 1:
        models = [replace(model, name=f"model {i}") for i, model in enumerate(models)]
    return Audit(models[0].request, None, models, "0" * 64, Adjustment({}, 0, 0.05))


def category(value, ratio=(None, None, None), p_adjusted=None, role="compared", **changes):
    """Make a category of 100 people, of whom 30 are on the side measured."""
    values = {
        "n": 100,
        "n_measured": 30,
        "rate": Estimate(0.3, 0.2, 0.4, 100),
        "unknown_bounds": (0.25, 0.5),
        **changes,
    }
    return Category(
        values=value if isinstance(value, tuple) else (value,),
        role=role,
        difference=Difference(Estimate(*ratio, values["n"]), p_adjusted, p_adjusted, 0.05),
        **values,
    )


TOP = category("Top", (1.0, 0.9, 1.0))
LOW = category("Low", (0.36, 0.29, 0.45), 0.0001)
ABOVE = category("Above", (0.9, 0.83, 0.97), 0.005)
OPEN = category("Open", (0.85, 0.7, 1.02), 0.09)
FEW = category("Few", (0.2, 0.1, 0.3), 0.0001, n=29)  # of 30 for a sentence
SMALL = category("Small", role="small", n=2, n_measured=1, unknown_bounds=(None, None))


def table(*categories, columns=(0,), n_unknown=0, n_measured_unknown=0, withheld=()):
    """Make a table whose first category has the highest rate."""
    highest = categories[0]
    return ImpactTable(columns, categories, highest, n_unknown, n_measured_unknown, withheld)


def tables(*categories, **changes):
    """Make the figures of a model with one table."""
    return ImpactFigures([table(*categories, **changes)], [], None)
