"""Declarations of the columns of a method's result.

A name may hold a place: `{metric}` for every metric asked for, `{by}` for every by-column, and
`{y_true}` and `{y_pred}` for the names of the columns of labels.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, partial
from itertools import groupby
from typing import NamedTuple

from balframe.errors import InvalidInputError, listed
from balframe.frames.adapter import Name
from balframe.frames.query import MARGIN, MODEL, WEIGHT, WEIGHT_SQ, N, Query

BY, METRIC, TRUE, PREDICTED = "{by}", "{metric}", "{y_true}", "{y_pred}"
ESTIMATE = "estimate"  # of the metric or rule of its row
MIN_SUPPORT = "min_support"  # rows of the rarest label present
NOTE = "note"  # why something is null in a row
OF_SEVERAL = "predicted"  # labels, of models that a column names


class Role(Enum):
    """What a column is for."""

    KEY = "identifies rows"
    COUNT = "counts rows, labels, segments or tests"
    ESTIMATE = "is a score, or a difference or ratio of scores"
    LIMIT = "is the lower or upper limit of a confidence interval"
    STATISTIC = "is a test statistic"
    TEST = "is a p-value"
    STATUS = "is a verdict"
    PLACE = "is a threshold or a bound"
    NOTE = "gives further information on the row"


class Kind(Enum):
    """What the values of a column are; those of by-columns and labels are as in the frame."""

    BY = "values of a by-column"
    LABEL = "labels"
    INTEGER = "integers"
    INTEGER_OR_NULL = "integers, or null"
    FLOAT = "floats"
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
    AS_MEASURED = "as the rule or the measure of its row has it"


@dataclass(frozen=True, slots=True)
class Statuses:
    """The texts of a status: one that is good, one that is bad, and one that is undecided.

    The command of the method fails where a status is bad. It counts those of the last value of the
    key `last_of` only, if there is one, and then it does not fail where they are undecided.
    """

    good: str
    bad: str
    undecided: str
    last_of: str | None = None

    @property
    def texts(self) -> tuple[str, str, str]:
        """List them."""
        return self.good, self.bad, self.undecided


@cache
def _place(name: str) -> str | None:
    return next((one for one in (BY, METRIC, TRUE, PREDICTED) if one in name), None)


def _filled(name: Name, value: Name) -> Name:
    """Put a value into the place that a name holds; one that is no text stays itself."""
    held = _place(str(name))
    if held is None:
        return name
    return value if name == held else str(name).replace(held, str(value))


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an answer.

    One that is there only under an option has the word for that in `under`. A column that `tells`
    is one by which an answer, some of whose columns may be gone, is known as that of the method.

    Tables read the rest. `about` names the estimate of which it holds a limit, the bound or the
    segment. `heading` is for keys that stand above their rows: what comes before them there.
    In an estimate that `marks`, the worst segments are marked; by one that `ranks`, the rows to
    show are chosen where there are many. `support` names the column that counts the rows of its
    smallest denominator, `of_rest` those of the other labels of the segment. One that is `hidden`
    repeats what another column says, or is a detail. `statuses` are the texts of a status.
    """

    name: Name
    role: Role
    kind: Kind
    under: str | None = None
    tells: bool = False
    of: Name = None  # what fills the place in its name, or the metric that it is named by
    about: str | None = None
    naming: Naming | None = None
    heading: str = ""
    span: Span | None = None
    marks: bool = False
    ranks: bool = False
    support: str = N
    of_rest: bool = False
    hidden: bool = False
    statuses: Statuses | None = None

    @property
    def place(self) -> str | None:
        """Give the place that the name holds."""
        return _place(str(self.name))

    @property
    def is_as_given(self) -> bool:
        """Tell whether it holds thresholds or bounds, whose numbers are never rounded."""
        return self.role is Role.PLACE or (self.role is Role.KEY and self.kind is Kind.FLOAT)

    def filled(self, value: Name) -> "Column":
        """Put a value into the place."""
        about = None if self.about is None else str(_filled(self.about, value))
        return replace(self, name=_filled(self.name, value), of=value, about=about)


# columns by what they are for; what else is said of them is given by name
key = partial(Column, role=Role.KEY, kind=Kind.TEXT)
count = partial(Column, role=Role.COUNT, kind=Kind.INTEGER)
estimate = partial(Column, role=Role.ESTIMATE, kind=Kind.FLOAT)  # without a span it has no bar
count_or_null = partial(Column, role=Role.COUNT, kind=Kind.INTEGER_OR_NULL)
limit = partial(Column, role=Role.LIMIT, kind=Kind.FLOAT)
test = partial(Column, role=Role.TEST, kind=Kind.FLOAT)
statistic = partial(Column, role=Role.STATISTIC, kind=Kind.FLOAT)
status = partial(Column, role=Role.STATUS, kind=Kind.TEXT)
place = partial(Column, role=Role.PLACE, kind=Kind.FLOAT)
note = partial(Column, role=Role.NOTE, kind=Kind.TEXT)


def score(name: str, *, tells: bool = False, compared: bool = False, support: str = N) -> Column:
    """Declare the scores by the metric that the column is named by."""
    one = estimate(name, tells=tells, of=None if name == METRIC else name, span=Span.METRIC)
    return replace(one, marks=compared, ranks=compared, support=support)


compared_estimate = partial(  # of a metric of labels, in which segments are compared
    estimate, ESTIMATE, span=Span.METRIC, marks=True, support=MIN_SUPPORT
)


def limits(
    of: str = "", under: str | None = None, *, about: str | None = None
) -> tuple[Column, Column]:
    """Declare the limits of an estimate, whose name is part of theirs where it is given."""
    start, about = (f"{of}_", about or of) if of else ("", about)
    lower, upper = (limit(start + end, under=under, about=about) for end in ("lower", "upper"))
    return lower, upper


BESIDE = " \N{MIDDLE DOT} "  # between the parts of a heading
ROLLED_UP = (key(MARGIN, under="margins"), key(MODEL, under="models", heading=BESIDE))
SEGMENTS = (key(BY, kind=Kind.BY), *ROLLED_UP)
COUNTED = (count(N), count("n_labels"), count(MIN_SUPPORT))
N_CLUSTERS = count("n_clusters", under="cluster")
DESIGN = (
    count("effective_clusters", kind=Kind.FLOAT, under="cluster"),
    estimate("design_effect", under="cluster"),
)
LABELLED = tuple(key(one, kind=Kind.LABEL, tells=True) for one in (TRUE, PREDICTED))
METRICS = key("metric", tells=True, naming=Naming.METRIC, heading=BESIDE)
EXTREMES = tuple(
    note(f"{which}_{BY}", kind=Kind.BY, about=which) for which in ("lowest", "highest")
)
N_COMPARED = (count("n_segments"), count("n_left_out"))
TESTS = (test("p_value"), test("p_adjusted"), count("n_tests"))
ADJUSTED = tuple(replace(one, hidden=one.name != "p_adjusted") for one in TESTS)
WEIGHTS = tuple(count(one, kind=Kind.FLOAT, under="weights") for one in (WEIGHT, WEIGHT_SQ))


class Shown(NamedTuple):
    """A column of one answer: its name, what its values are, and what fills its name's place."""

    name: Name
    kind: Kind
    of: Name = None


Blocks = Sequence[tuple[str | None, Sequence[Column]]]  # columns together by the place they hold


def blocks(declared: Iterable[Column]) -> Blocks:
    """Put columns that stand together and hold the same place into a block."""
    return [(held, list(some)) for held, some in groupby(declared, lambda one: one.place)]


def expanded(
    declared: Blocks, query: Query, metrics: Sequence[str], shown: Collection[str]
) -> list[Shown]:
    """List the columns of one answer: those that are shown, with all places filled.

    Columns of metrics that stand together are repeated together: a score, then its limits. Names
    that clash raise.
    """
    under = {None, *shown, *_under(query)}
    found: list[Shown] = []
    for held, together in declared:
        columns = [(one.name, one.kind) for one in together if one.under in under]
        if held is None:
            found += [Shown(*column) for column in columns]
        elif held == METRIC:
            found += [Shown(_filled(n, of), kind, of) for of in metrics for n, kind in columns]
        else:
            true, predicted = names_of_labels(query)
            values = {BY: query.by, TRUE: (true,), PREDICTED: (predicted,)}[held]
            found += [Shown(_filled(n, of), kind, of) for n, kind in columns for of in values]
    _check_distinct([one.name for one in found], query)
    return found


def _check_distinct(names: Sequence[Name], query: Query) -> None:
    """Raise where two columns would have one name; a by-column may be none of those added."""
    taken = [name for name in query.added if name in query.by]
    if taken or len(set(names)) < len(names):
        twice = sorted({str(name) for name in names if names.count(name) > 1 or name in taken})
        raise InvalidInputError(
            f"the output would have more than one column named {listed(map(repr, twice))}. Columns "
            "given must differ from each other and from the columns of the output; rename one "
            f"first, for example to {twice[0] + '_'!r}."
        )


def names_of_labels(query: Query) -> tuple[Name, Name]:
    """Name the columns of the true and the predicted labels in cells."""
    return query.y_true, OF_SEVERAL if query.several else query.y_pred[0]


def _under(query: Query) -> Iterable[str]:
    """Name the options of a query that add columns to every answer."""
    yield from ["margins"] if MARGIN in query.added else []
    yield from ["models"] if query.several else []
    yield from ["missing"] if query.drops_missing else []
    yield from ["cluster"] if query.cluster is not None else []
    yield from ["weights"] if query.sample_weight is not None else []
