"""Declarations of the columns of a method's result.

A name may hold a placeholder: `{metric}` for every metric of the request, `{by}` for every
by-column, and `{y_true}` and `{y_pred}` for the names of the columns of labels.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, partial
from itertools import groupby
from typing import NamedTuple

from balframe.errors import InvalidInputError, listed
from balframe.frames.adapter import Name
from balframe.frames.query import GROUPED_BY, MODEL, WEIGHT, WEIGHT_MAX, WEIGHT_SQ, N, Query

BY, METRIC, TRUE, PREDICTED = "{by}", "{metric}", "{y_true}", "{y_pred}"
DIFFERENCE = "difference"  # of the estimate from that of the reference
ESTIMATE = "estimate"  # of the metric or rule of its row
MIN_SUPPORT = "min_support"  # rows of the rarest label present
NOTE = "note"  # why something is null in a row
UNDECIDED = "undecided"  # why the status of a row is inconclusive
PREDICTED_OF_MODELS = "predicted"  # labels, where a column names the model
CORRECTED = "corrected"  # option of rows of which some lack a true label
TABLES = "tables"  # option whose columns are details where they name one table only


class Role(Enum):
    """What a column is for."""

    KEY = "identifies rows"
    COUNT = "counts rows, labels, segments or tests"
    ESTIMATE = "is a score, or a difference or ratio of scores"
    LIMIT = "is the lower or upper limit of a confidence interval"
    STATISTIC = "is a test statistic"
    TEST = "is a p-value"
    STATUS = "is a verdict"
    THRESHOLD_OR_BOUND = "is a threshold or a bound"
    NOTE = "gives further information on the row"


class Kind(Enum):
    """What the values of a column are; those of by-columns and labels are as in the frame."""

    BY = "values of a by-column"
    LABEL = "labels"
    INTEGER = "integers"
    INTEGER_OR_NULL = "integers, or null"
    FLOAT = "floats"
    DATE_OR_NULL = "dates, or null"
    FLAG_OR_NULL = "true or false, or null"
    TEXT = "text"


class Naming(Enum):
    """What the texts of a column name."""

    METRIC = "the metrics of the estimates"
    RULE = "rules, as `check` takes them"
    MEASURE = "how segments are compared: their difference or ratio"
    CRITERION = "criteria of fairness"
    METHOD = "methods of the intervals"
    TABLE = "by-columns that make a table"
    ROLE = "whether categories are compared"


class Span(Enum):
    """What the bar of an estimate spans."""

    METRIC = "the range of its metric"
    UNIT = "from 0 to 1"
    EXTREMES = "how far apart two scores of the metric can be"
    AROUND_ZERO = "as far on both sides as the furthest difference or limit of the metric"
    BY_ROW = "as the rule or the measure of its row has it"


CONFIDENCE_INTERVAL, DECISION_LIMITS = "confidence interval", "decision limits"


@dataclass(frozen=True, slots=True)
class Statuses:
    """The texts of a status: one that is good, one that is bad, and one that is undecided.

    The command of the method fails where a status is bad. It counts those of the last value of the
    key `last_key` only, if there is one; there, it ends as undecided only for rows without data.
    Where they are not verdicts, they only describe: no command fails for them.
    """

    good: str
    bad: str
    undecided: str
    last_key: str | None = None
    are_verdicts: bool = True

    @property
    def texts(self) -> tuple[str, str, str]:
        """Return all three."""
        return self.good, self.bad, self.undecided


@cache
def _placeholder(name: str) -> str | None:
    return next((text for text in (BY, METRIC, TRUE, PREDICTED) if text in name), None)


def _fill_name(name: Name, value: Name) -> Name:
    """Put a value in place of a name's placeholder; without other text, it keeps its type."""
    placeholder = _placeholder(str(name))
    if placeholder is None:
        return name
    return value if name == placeholder else str(name).replace(placeholder, str(value))


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a result.

    A column that is there only with an option has the word for that in `only_with`, and a `detail`
    only with `detail=True`. A result, some of whose columns may be gone, is recognized as that of
    the method by a column that `identifies` it. `placeholder_value` is what was put in place of the
    placeholder in its name, or the metric that it is named after.

    Tables read the rest. `about` names the estimate of which the column holds a limit, the bound or
    the segment. `heading` is for keys that stand above their rows: what comes before them there. In
    an estimate that is `tested_by` a column of verdicts, the worst segments are marked among those
    that are significantly worse than the reference; by one that `ranks_rows`, the rows
    to show are chosen where there are many. `support` names the column that counts the rows of its
    smallest denominator. A `hidden` column repeats what another column says, or is a detail.
    `statuses` are the texts of a status. `limits_name` is what a limit and its counterpart are
    together.
    """

    name: Name
    role: Role
    kind: Kind
    only_with: str | None = None
    detail: bool = False
    identifies: bool = False
    placeholder_value: Name = None
    about: str | None = None
    naming: Naming | None = None
    heading: str = ""
    span: Span | None = None
    tested_by: str | None = None
    ranks_rows: bool = False
    support: str = N
    hidden: bool = False
    statuses: Statuses | None = None
    limits_name: str = CONFIDENCE_INTERVAL

    @property
    def placeholder(self) -> str | None:
        """Return the placeholder in the name."""
        return _placeholder(str(self.name))

    @property
    def is_bound(self) -> bool:
        """Return whether it holds bounds, which callers give and tables do not round."""
        return self.role is Role.THRESHOLD_OR_BOUND and self.about is not None

    @property
    def is_threshold(self) -> bool:
        """Return whether it holds thresholds, which tables round as far as they stay distinct."""
        is_float_key = self.role is Role.KEY and self.kind is Kind.FLOAT
        return is_float_key or (self.role is Role.THRESHOLD_OR_BOUND and self.about is None)

    def fill(self, value: Name) -> "Column":
        """Put a value in place of the placeholder."""
        name = _fill_name(self.name, value)
        about = None if self.about is None else str(_fill_name(self.about, value))
        return replace(self, name=name, placeholder_value=value, about=about)


# columns by role; their other fields are given by name
key = partial(Column, role=Role.KEY, kind=Kind.TEXT)
count = partial(Column, role=Role.COUNT, kind=Kind.INTEGER)
estimate = partial(Column, role=Role.ESTIMATE, kind=Kind.FLOAT)  # without a span it has no bar
count_or_null = partial(Column, role=Role.COUNT, kind=Kind.INTEGER_OR_NULL)
limit = partial(Column, role=Role.LIMIT, kind=Kind.FLOAT)
test = partial(Column, role=Role.TEST, kind=Kind.FLOAT)
statistic = partial(Column, role=Role.STATISTIC, kind=Kind.FLOAT)
status = partial(Column, role=Role.STATUS, kind=Kind.TEXT)
threshold_or_bound = partial(Column, role=Role.THRESHOLD_OR_BOUND, kind=Kind.FLOAT)
note = partial(Column, role=Role.NOTE, kind=Kind.TEXT)


def score(name: str, *, identifies: bool = False, ranks_rows: bool = False) -> Column:
    """Declare the scores of the metric that the column is named after."""
    return estimate(
        name,
        identifies=identifies,
        placeholder_value=None if name == METRIC else name,
        span=Span.METRIC,
        ranks_rows=ranks_rows,
    )


metric_estimate = partial(estimate, ESTIMATE, span=Span.METRIC)  # of the metric of its row


def limits(
    of: str = "",
    only_with: str | None = None,
    *,
    about: str | None = None,
    name: str = CONFIDENCE_INTERVAL,
) -> tuple[Column, Column]:
    """Declare the limits of an estimate, whose name is part of theirs if it is given."""
    prefix, about = (f"{of}_", about or of) if of else ("", about)
    lower, upper = (
        limit(prefix + end, only_with=only_with, about=about, limits_name=name)
        for end in ("lower", "upper")
    )
    return lower, upper


def details(*columns: Column) -> tuple[Column, ...]:
    """Declare columns that are there only with `detail=True`."""
    return tuple(replace(column, detail=True) for column in columns)


HEADING_SEPARATOR = " \N{MIDDLE DOT} "  # between the parts of a heading
ROLL_UP_KEYS = (
    key(GROUPED_BY, only_with="margins"),
    key(MODEL, only_with="models", heading=HEADING_SEPARATOR),
)
SEGMENT_KEYS = (key(BY, kind=Kind.BY), *ROLL_UP_KEYS)
SUPPORT_COLUMNS = (count("n_labels"), count(MIN_SUPPORT))
COUNT_COLUMNS = (count(N), *SUPPORT_COLUMNS)
N_CLUSTERS = count("n_clusters", only_with="cluster")
N_LABELLED = count("n_labelled", only_with=CORRECTED)
FEWEST_LABELS = count("fewest_labels", only_with=CORRECTED)
DESIGN_COLUMNS = (
    count("effective_clusters", kind=Kind.FLOAT, only_with="cluster"),
    estimate("design_effect", only_with="cluster"),
)
LABEL_COLUMNS = tuple(key(name, kind=Kind.LABEL, identifies=True) for name in (TRUE, PREDICTED))
METRIC_KEY = key("metric", identifies=True, naming=Naming.METRIC, heading=HEADING_SEPARATOR)
EXTREME_COLUMNS = tuple(
    note(f"{which}_{BY}", kind=Kind.BY, about=which) for which in ("lowest", "highest")
)
P_ADJUSTED = test("p_adjusted")
BETTER, WORSE, NOT_DECIDED = "better", "worse", "not decided"
VERDICTS = (BETTER, WORSE, NOT_DECIDED, "higher", "lower")  # the last two without a direction
VERDICT = status("verdict", statuses=Statuses(BETTER, WORSE, NOT_DECIDED, are_verdicts=False))
UNADJUSTED_TEST_COLUMNS = (test("p_value"), count("n_tests"))
HIDDEN_TEST_COLUMNS = tuple(replace(column, hidden=True) for column in UNADJUSTED_TEST_COLUMNS)
WEIGHT_COLUMNS = tuple(
    count(name, kind=Kind.FLOAT, only_with="weights") for name in (WEIGHT, WEIGHT_SQ, WEIGHT_MAX)
)


class ResultColumn(NamedTuple):
    """A column of one result: its name, its declaration, and what its placeholder became."""

    name: Name
    declared: Column
    placeholder_value: Name = None


ColumnBlocks = Sequence[tuple[str | None, Sequence[Column]]]  # by their placeholder


def column_blocks(columns: Iterable[Column]) -> ColumnBlocks:
    """Put columns that stand together and have the same placeholder into a block."""
    return [(text, list(block)) for text, block in groupby(columns, lambda c: c.placeholder)]


def expand_columns(
    blocks: ColumnBlocks, query: Query, metrics: Sequence[str], optional_columns: Collection[str]
) -> list[ResultColumn]:
    """List the columns of one result, with all placeholders filled.

    Columns of metrics that stand together are repeated together: a score, then its limits. Names
    that clash raise.
    """
    included = {None, *optional_columns, *_added_by_query(query)}
    columns: list[ResultColumn] = []
    for placeholder, block in blocks:
        block = [column for column in block if column.only_with in included]
        if placeholder is None:
            columns += [ResultColumn(column.name, column) for column in block]
        elif placeholder == METRIC:
            columns += [
                ResultColumn(_fill_name(column.name, metric), column, metric)
                for metric in metrics
                for column in block
            ]
        else:
            true, predicted = label_column_names(query)
            values = {BY: query.by, TRUE: (true,), PREDICTED: (predicted,)}[placeholder]
            columns += [
                ResultColumn(_fill_name(column.name, value), column, value)
                for column in block
                for value in values
            ]
    _check_names_distinct([column.name for column in columns], query)
    return columns


def _check_names_distinct(names: Sequence[Name], query: Query) -> None:
    """Raise if two columns would have the same name, or a by-column that of a column added."""
    clashing = [name for name in query.added_columns if name in query.by]
    if clashing or len(set(names)) < len(names):
        twice = sorted({str(name) for name in names if names.count(name) > 1 or name in clashing})
        raise InvalidInputError(
            f"the output would have more than one column named {listed(map(repr, twice))}. Columns "
            "given must differ from each other and from the columns of the output; rename one "
            f"first, for example to {twice[0] + '_'!r}."
        )


def label_column_names(query: Query) -> tuple[Name, Name]:
    """Return the names of the columns of true and of predicted labels in cells."""
    return query.y_true, PREDICTED_OF_MODELS if query.has_several_models else query.y_pred[0]


def _added_by_query(query: Query) -> Iterable[str]:
    """List the options of a query that add columns to every result."""
    yield from ["margins"] if GROUPED_BY in query.added_columns else []
    yield from [TABLES] if len(query.by) > 1 else []
    yield from ["models"] if query.has_several_models else []
    yield from ["missing"] if query.drops_missing else []
    yield from ["cluster"] if query.cluster is not None else []
    yield from ["weights"] if query.sample_weight is not None else []
