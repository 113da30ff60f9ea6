"""Records all that users see of balframe as hashes, so that a change can be shown to alter none.

python .ci/unchanged.py record      write .ci/unchanged.json
python .ci/unchanged.py check       name the entries that differ from it; exit code 1 if any does
python .ci/unchanged.py show NAME   print the text behind an entry, to compare two checkouts

`--part PART` (several times) takes only these parts. PYTHONPATH says which checkout is imported.
Only what is public is used. Most entries are named by the call whose outcome they hold.
"""

# ruff: noqa
import os

os.environ |= {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
os.environ |= {"COLUMNS": "100", "LINES": "40", "NO_COLOR": "1", "TERM": "dumb"}
for name in ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "PYTHONUNBUFFERED"):
    os.environ.pop(name, None)

import argparse
import ast
import contextlib
import hashlib
import inspect
import io
import json
import random
import re
import runpy
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from datetime import date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import balframe as bf

DATA = Path(__file__).with_name("unchanged.json")
CHECKOUT = str(Path(bf.__file__).parents[1])
TEMPORARY = tempfile.mkdtemp(prefix="unchanged")

# ---------------------------------------------------------------- canonical text


def normalised(text):
    """Replace what differs from run to run: addresses and paths."""
    text = text.replace(TEMPORARY, "TMP").replace(CHECKOUT, "CHECKOUT")
    return re.sub(r"\b0x[0-9a-fA-F]{6,}\b", "0x", text)


def canonical(value):
    """Write a result as text, floats bit for bit."""
    if isinstance(value, pl.LazyFrame):
        return f"lazy {dict(value.collect_schema())!r}\n{canonical(value.collect())}"
    if isinstance(value, pl.DataFrame):
        columns = {name: value[name].to_list() for name in value.columns}
        return lines("polars", dict(value.schema), columns, len(value))
    if isinstance(value, pd.DataFrame):
        columns = {name: value[name].tolist() for name in value.columns}
        types = {name: repr(kind) for name, kind in value.dtypes.items()}
        return lines(f"pandas {value.index!r} {value.columns.dtype}", types, columns, len(value))
    if isinstance(value, pa.Table):
        types = {field.name: str(field) for field in value.schema}
        return lines("pyarrow", types, value.to_pydict(), len(value))
    if type(value).__name__ == "Page":
        return "\n".join(["Page", repr(value), value.markdown(), value.html(), value._repr_html_()])
    if type(value).__name__ == "GT":
        html = value.as_raw_html()
        for number, one in enumerate(dict.fromkeys(re.findall(r'\bid="(balframe_[0-9a-f]{10})"', html))):
            html = html.replace(one, f"ID{number}")
        return f"GT\n{html}"
    if hasattr(value, "to_dict") and type(value).__module__.startswith("altair"):
        text = json.dumps(value.to_dict(), indent=1, default=repr)
        named = dict.fromkeys(re.findall(r"\b(?:param|view|concat|selector)_\d+\b", text))
        for number, one in enumerate(named):
            text = re.sub(rf"\b{one}\b", f"{one.partition('_')[0]}_#{number}", text)
        return f"chart\n{text}"
    if isinstance(value, (bool, int, float, str, list, tuple, dict, type(None), np.ndarray)):
        return f"{type(value).__name__} {value!r}"
    return f"{type(value).__name__}\n{foreign(value)}"


def foreign(value):
    """Write frames of other libraries."""
    for method in ("pl", "compute", "to_pandas", "to_native"):
        if hasattr(value, method):
            return canonical(getattr(value, method)())
    return repr(value)


def lines(kind, types, columns, n_rows):
    """Write the columns of a frame, one a line."""
    shown = [f"{name!r} {types[name]!r} {values!r}" for name, values in columns.items()]
    return "\n".join([f"{kind} {n_rows} rows", *shown])


def outcome(function, brief=False):
    """Call a function: its result, or its error, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = function()
            text = type(value).__name__ if brief else canonical(value)
        except Exception as error:
            text = failure(error)
    said = [
        f"{one.category.__name__} {'here' if one.filename in (__file__, '<string>') else 'within'}: "
        f"{one.message} {getattr(one.message, 'parameters', '')}"
        for one in caught
        if issubclass(one.category, (bf.BalframeWarning, RuntimeWarning))  # others' vary
    ]
    return "\n".join([text, *said])


def failure(error):
    """Write an error, in Python's words and in others."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, bf.BalframeError):
        text += f"\n{error.parameters} {error.written(lambda name, value: f'<{name}|{value}>')}"
        text += f"\ncause {type(error.__cause__).__name__} {error.__suppress_context__}"
    if isinstance(error, bf.CheckFailed):
        text += f"\n{error.n_failed} {error.n_inconclusive}\n{canonical(error.frame)}"
    return text


# ---------------------------------------------------------------- data


def rows(n, seed, labels=(0, 1), skill=0.75, rate=0.4):
    """Make rows with predictions of two models, scores, groups, weights, clusters and days."""
    made = random.Random(seed)
    weights = [rate, *[(1 - rate) / (len(labels) - 1)] * (len(labels) - 1)][::-1]
    truth = made.choices(labels, weights, k=n)

    def predicted(skill):
        return [y if made.random() < skill else made.choice(labels) for y in truth]

    def scores(noise):
        top = labels[-1]
        return [round(min(max(made.gauss(0.35 + 0.3 * (y == top), noise), 0.0), 1.0), 2) for y in truth]

    day = date(2026, 1, 1)
    days = [day + timedelta(days=made.randrange(180)) for _ in range(n)]
    return {
        "y": truth,
        "p": predicted(skill),
        "q": predicted(skill - 0.1),
        "g": made.choices(["a", "b", "c", None], [8, 6, 3, 1], k=n),
        "sex": made.choices(["f", "m"], k=n),
        "region": made.choices([1, 2, 3], [5, 3, 2], k=n),
        "age": [made.randrange(18, 80) for _ in range(n)],
        "w": [round(made.uniform(0.2, 3), 2) for _ in range(n)],
        "k": [made.randrange(4) for _ in range(n)],
        "c": [made.randrange(1 + n // 4) for _ in range(n)],
        "s": scores(0.2),
        "t": scores(0.3),
        "d": days,
        "at": [datetime(one.year, one.month, one.day, made.randrange(24)) for one in days],
        "is_new": [made.random() < 0.3 for _ in range(n)],
    }


def holed(columns, seed=9):
    """Put nulls into some columns."""
    made = random.Random(seed)
    for name in ("y", "p", "q", "w", "s", "sex", "d"):
        columns[name] = [None if made.random() < 0.06 else one for one in columns[name]]
    return columns


def polars_frames():
    """Make the frames of all calls, by name."""
    two = pl.DataFrame(rows(260, 1))
    many = pl.DataFrame(rows(240, 3, ["ant", "bee", "cat", "dog", "rare"], rate=0.03))
    spoiled = {"words": pl.col("y").replace_strict({0: "no", 1: "yes"})}
    return {
        "two": two,
        "later": pl.DataFrame(rows(200, 2, skill=0.6)),
        "many": many,
        "numbers": pl.DataFrame(rows(150, 4, [1, 2, 3, 4], skill=0.5)),
        "words": pl.DataFrame(rows(120, 5, ["no", "yes"])),
        "truths": pl.DataFrame(rows(80, 6, [False, True])),
        "signs": pl.DataFrame(rows(80, 7, [-1, 1])),
        "floats": pl.DataFrame(rows(80, 8, [0.0, 1.0])),
        "days": pl.DataFrame(rows(60, 10, [date(2026, 1, 1), date(2026, 2, 1)])),
        "enums": pl.DataFrame(rows(90, 11, ["lo", "hi"])).with_columns(
            pl.col("y", "p", "q").cast(pl.Enum(["lo", "hi", "none"])), pl.col("g").cast(pl.Categorical)
        ),
        "holes": pl.DataFrame(holed(rows(140, 12))),
        "few": two.head(7),
        "single": two.filter(pl.col("y") == 1).head(20),
        "empty": two.clear(),
        "perfect": two.head(50).with_columns(p=pl.col("y")),
        "odd": two.head(60).with_columns(
            text=pl.col("p").cast(pl.String), **spoiled, negative=-pl.col("w"), big=pl.col("w") * 1e300
        ),
        "apart": two.head(40).with_columns(p=pl.col("p") + 5),
        "compas": bf.datasets.compas(),
        "people": bf.datasets.compas_by_age_and_sex(),
        "deciles": bf.datasets.compas_deciles(),
        "applicants": bf.datasets.applicants(),
    }


POLARS = polars_frames()
HEAVY = {}  # connections of engines, which frames need to live


def on_duckdb(frame):
    """Make a relation."""
    import duckdb

    if "duckdb" not in HEAVY:
        HEAVY["duckdb"] = duckdb.connect(config={"threads": 1})
    return HEAVY["duckdb"].from_arrow(frame.to_arrow())


def on_dask(frame):
    """Make a frame of two partitions."""
    import dask
    import dask.dataframe as dd

    dask.config.set(scheduler="synchronous")
    return dd.from_pandas(frame.to_pandas(), npartitions=2)


def on_ibis(frame):
    """Make a table in memory, which Ibis hands to DuckDB."""
    import ibis

    return ibis.memtable(frame.to_pandas())


LIBRARIES = {
    "polars": lambda frame: frame,
    "pandas": pl.DataFrame.to_pandas,
    "lazy": pl.DataFrame.lazy,
    "pyarrow": pl.DataFrame.to_arrow,
    "duckdb": on_duckdb,
    "dask": on_dask,
    "ibis": on_ibis,
}
KNOWN = {"date": date, "datetime": datetime, "object": object, "inf": float("inf"), "np": np}
KNOWN |= {"nan": float("nan"), "pl": pl, "pd": pd, "pa": pa, "bf": bf, "plot": None, "Path": Path}


class Names(dict):
    """The names in a call: frames of a library, and functions of balframe."""

    def __init__(self, library):
        super().__init__(KNOWN)
        self.convert = LIBRARIES[library]
        self["plot"] = bf.plot

    def __missing__(self, name):
        if name in POLARS:
            self[name] = self.convert(POLARS[name])
            return self[name]
        if name in bf.__all__:
            return getattr(bf, name)
        raise KeyError(name)


def evaluated(calls, libraries=("polars",)):
    """Make an entry of every call on every library."""
    for library in libraries:
        names = Names(library)
        for text in dict.fromkeys(calls):
            yield (f"{library}: {text}", lambda text=text, names=names: outcome(lambda: eval(text, {}, names)))


# ---------------------------------------------------------------- calls

# fmt: off
HEADS = {
    **dict.fromkeys(["report", "classes", "confusion", "posterior"], "y_true='y', y_pred='p'"),
    **dict.fromkeys(["gaps", "disparity", "fairness"], "y_true='y', y_pred='p', by='g'"),
    "monitor": "y_true='y', y_pred='p', time='d', every='1mo', reference={'until': '2026-02-28'}",
    "compare": "y_true='y', y_pred=['p', 'q']",
    "slices": "y_true='y', y_pred='p', over=['g', 'sex', 'age'], metric='accuracy', min_support=8",
    "impact": "selected='p', by='sex'",
    **dict.fromkeys(["curve", "best_threshold", "ranking"], "y_true='y', y_score='s'"),
    **dict.fromkeys(["calibration", "calibration_curve"], "y_true='y', y_score='s'"),
    "calibration_gaps": "y_true='y', y_score='s', by='g'",
    **dict.fromkeys(["check", "require", "power"], "y_true='y', y_pred='p', rules='recall >= 0.6'"),
    "audit": "y_true='y', y_pred='p'",
}
SHARED = [
    "", "by='g'", "by=['g', 'sex']", "by=['g', 'sex', 'region'], margins='all'",
    "by=['is_new', 'g'], margins='overall'", "by='g', sample_weight='w'", "by='g', counts='k'",
    "by='sex', cluster='c'", "by='sex', cluster='c', interval=True", "by='g', labels=[1, 0, 2], pos_label=1",
    "by='g', pos_label=0", "by='sex', y_pred=['p', 'q']", "by='sex', y_score=['s', 't'], margins='overall'",
    "by='g', missing='drop'", "by='sex', backend='pandas'", "by='sex', backend='polars'",
    "by='sex', backend='pyarrow'", "by='sex', time='d', every='1mo'", "by='sex', time='at', every='1w'",
    "by='g', level=0.8, interval=True", "by='g', class_weight='balanced'",
    "by='g', class_weight={0: 0.2, 1: 0.8}, metrics=['uar', 'baw']",
    "by='g', class_weight='prevalence', interval=True", "by='g', absent='zero'", "by='g', absent='null'",
    "by='g', adjust=None", "by='g', adjust='holm', level=0.9", "by='g', metrics='all', class_weight='balanced'",
    "by='g', metrics='fairness'", "by='sex', metrics='all', class_weight='balanced', cluster='c'",
    "by='sex', metrics={'hit rate': 'recall', 'F2': 'fbeta(2)'}", "by='g', min_support=5", "by='g', min_support=0",
    "by='g', resolution=20", "by='g', bins=4", "by='g', max_cells=3",
    *(f"by='g', reference={one!r}" for one in ["rest", "overall", "largest", "best", "worst", "b"]),
    *(f"by='sex', cluster='c', reference={one!r}" for one in ["best", "f", "rest"]),
    "by=['g', 'sex'], reference={'g': 'a', 'sex': 'f'}", "by='g', reference={'g': None}",
    *(f"by='g', metrics='all', class_weight='balanced', interval={one!r}, prior='jeffreys'" for one in [True, "score", "wilson", "scas", "jeffreys", "exact", "mover", "posterior"]),
]
OWN = {
    "report": [
        "layout='long'", "by='g', layout='long', interval=True, metrics='all', class_weight='balanced'",
        "by='sex', layout='long', interval=True, cluster='c', metrics='all', class_weight='balanced'",
    ],
    "classes": ["by='g', interval='exact'", "sample_weight='w', interval='scas'"],
    "confusion": [
        *(f"by='g', complete=True, normalize={one!r}" for one in ["true", "pred", "all"]),
        "by='g', sample_weight='w', normalize='all'", "by=['g', 'd'], cluster='c'",
    ],
    "posterior": ["above=0.7, by='g'", "prior='jeffreys', level=0.5"],
    "monitor": [
        "margin=0.2, alpha=0.2, looks=6, windows=[1, 2]",
        "by='sex', adjust=None, metrics=['accuracy', 'recall'], every='1w'", "dispersion='estimate', every='2d'",
        "time='at', every='1q', reference={'until': date(2026, 3, 31)}", "reference=confusion(later, 'y', 'p')",
        "by='sex', reference=confusion(later, 'y', 'p', by=['sex', 'd'])",
        "dispersion='estimate', reference=confusion(later, 'y', 'p', by='d')",
    ],
    "compare": ["by='sex', metrics='all', class_weight='balanced'", "y_pred=['q', 'p', 'y']"],
    "slices": [
        *(f"order={one!r}, level=0.01, top=4" for one in ["p_value", "lower", "impact"]),
        "bins={'age': [25, 45]}, depth=2, level=0.01",
        "bins=None, over=['g', 'region'], sample_weight='w', min_difference=0.01", "over=None, level=0.05",
        "metric='f1', over=['sex', 'g']", "metric='balanced_accuracy', counts='k', level=0.1, max_slices=3",
    ],
    "impact": [
        "by=['g', 'sex']", "selected=['p', 'q'], by='g', bound=0.9, min_share=0",
        "selected=None, score='s', by=['g', 'sex']", "selected=None, score=['s', 'age'], by='g', counts='k'",
        "by='g', min_share=0.2, adjust='holm', labels=[0, 1, 2]",
    ],
    "curve": [
        *(f"by='sex', thresholds={one}" for one in ["5", "[0.2, 0.5, inf]", "('quantiles', 4)"]),
        "band=True, interval=True, metrics=['uar', 'f1'], thresholds=7",
        "by='g', sample_weight='w', thresholds=4, interval='posterior', prior='jeffreys'",
    ],
    "best_threshold": [
        "by='g', metric='f1', thresholds=11", "metric='baw', class_weight='balanced'", "by='g', metric='fnr'",
        "sample_weight='w', by='sex', metric='informedness'",
    ],
    "ranking": ["by='sex', cluster='c', reference='rest', margins='overall'"],
    "check": [
        "by='g', rules=['recall >= 0.6', 'n >= 30', 'ratio(precision) >= 0.5', 'n_labels == 2']",
        "by='g', rules={'uar': '>= 0.7', 'difference(recall)': '<= 0.2'}, decide='estimate'",
        "by='g', rules='recall >= baseline - 0.1', baseline='q'",
        "by='g', rules='f1 > baseline', baseline=confusion(later, 'y', 'p', by='g')",
        "by='g', rules=[{'rule': 'f1 > 0.5', 'where': {'g': ['a', 'b']}, 'reason': 'agreed'}]",
        "by='sex', interval='scas', rules='uar >= 0.5', y_pred=['p', 'q'], margins='overall'",
        "by='sex', cluster='c', rules=['uar >= 0.5', 'accuracy >= baseline'], baseline='q'",
    ],
    "require": [
        "by='g', allow_inconclusive=True, rules='recall >= 0.1'",
        "by='g', rules=['uar >= 0.9', 'n >= 3'], allow_inconclusive=True", "rules='accuracy >= 0.2'",
    ],
    "power": [
        "by='g', power=[0.5, 0.9], rules=['uar >= 0.5', 'n >= 3', 'f1 >= 0.4']",
        "by='sex', rules='recall >= baseline - 0.1', baseline='q'",
        "by='sex', rules='recall >= baseline - 0.1', disagreement=0.2",
        "by='g', rules='uar >= baseline - 0.1', baseline=confusion(later, 'y', 'p', by='g')",
    ],
}
EDGES = {
    "many": ["by='g'", "by='g', pos_label='cat', metrics='all', class_weight='balanced'", "y_pred='q'"],
    "numbers": ["by='g', metrics='all', class_weight='balanced', pos_label=3, interval=True"],
    "words": ["by='g'", "by='g', pos_label='yes'", "pos_label='no', metrics='all', class_weight='balanced'"],
    "truths": ["by='g'", "labels=[True, False]"],
    "signs": ["by='g'", "pos_label=-1"],
    "floats": ["by='g'"],
    "days": ["by='g'", "by='g', pos_label=date(2026, 2, 1)"],
    "enums": ["by='g'", "by='g', pos_label='hi', metrics='fairness'"],
    "holes": ["by='sex'", "by='sex', missing='drop'", "by='sex', sample_weight='w', missing='drop'"],
    "few": ["by='g'", "by='g', interval=True, metrics='all', class_weight='balanced'"],
    "single": ["by='g'", "pos_label=1, interval=True", "pos_label=1, by='sex', margins='overall'"],
    "empty": ["", "by='g'", "by='g', pos_label=1, labels=[0, 1]"],
    "perfect": ["by='g', interval=True", "by='sex', cluster='c'"],
    "odd": ["y_pred='text'", "y_true='words', y_pred='words', pos_label='yes'", "sample_weight='negative'"],
    "apart": ["by='g'"],
}
# fmt: on
CELLS = "confusion(two, 'y', 'p', by=['g', 'sex'])"
# fmt: off
SINGLE = [
    *(f"report({CELLS}, 'y', 'p', by='g', {one})" for one in ["counts='n'", "cells=True"]),
    "report(confusion(two, 'y', 'p', by='g', sample_weight='w'), 'y', 'p', cells=True, interval=True)",
    "gaps(confusion(two, 'y', 'p', by='sex', cluster='c'), 'y', 'p', by='sex', cells=True, cluster='c')",
    f"combine([{CELLS}, {CELLS}, confusion(later, 'y', 'p', by=['g', 'sex'])])",
    f"combine([{CELLS}, confusion(later, 'y', 'p', by='g')])", f"combine({CELLS})", "combine([])",
    "slice_filter(two, {'on': 'sex, age', 'sex': 'f', 'age': '25 to 45'})",
    "slice_filter(two, {'on': 'g', 'g': None})", "slice_filter(two, {'on': 'age', 'age': 'over 45'})",
    "slice_filter(two, {'sex': 'f'})", "passed(check(two, 'y', 'p', rules='recall >= 0.1', by='sex'))",
    "passed(check(two, 'y', 'p', rules='recall >= 0.7', by='sex'), allow_inconclusive=True)", "passed(two)",
    "report(compas, 'reoffended', 'high_risk', by='race', counts='n', interval=True, metrics='all', " "class_weight='balanced')",
    "disparity(compas, 'reoffended', 'high_risk', by='race', counts='n', metrics='fairness')",
    "fairness(people, 'reoffended', 'high_risk', by=['race', 'sex'], counts='n', margins='all')",
    "slices(people, 'reoffended', 'high_risk', counts='n')",
    "ranking(deciles, 'reoffended', 'decile', by='race', counts='n', reference='worst')",
    "calibration_gaps(deciles, 'reoffended', 'decile', by='race', counts='n')",
    "impact(applicants, 'selected', by=['sex', 'race'], counts='n')",
    "impact(applicants, score='score', by=['sex', 'race'], counts='n')",
]
ALONE = [
    "from_matrix([[45, 11], [5, 39]], labels=[1, 0], rows='pred')",
    "from_matrix([[1, 2, 0], [3, 4, 1], [0, 0, 9]], ['a', 'b', 'c'], backend='pandas')",
    *(f"from_matrix({one})" for one in ["[[1, 2]]", "[[1, -2], [3, 4]]", "[[1.5]]", "[]", "'x'", "None"]),
    *(f"from_matrix([[1, 2], [3, 4]], {one})" for one in ["[1]", "[1, 1]", "'ab'", "rows='x'", "None"]),
    "list_metrics()", "list_metrics(backend='pandas')", "list_metrics(backend='pyarrow')",
    *(f"datasets.{name}({options})" for name in ("compas", "compas_by_age_and_sex", "compas_deciles", "applicants") for options in ("", "backend='pandas'", "expand=True", "backend='x'", "expand=1")),
    "register('spark')", "ClassCounts.from_matrix(np.array([[45, 5], [11, 39]])).recall",
]
# fmt: on


def call(method, frame, options, head=None):
    """Write a call: options replace what the method is given anyway."""
    given = {}
    for text in (HEADS[method.rpartition(".")[2]] if head is None else head, options):
        for word in ast.parse(f"f({text})", mode="eval").body.keywords:
            given[word.arg] = ast.unparse(word.value)
    return f"{method}({', '.join([frame, *(f'{name}={value}' for name, value in given.items())])})"


def fits(method, options):
    """Tell whether a method has all the parameters of some options."""
    words = ast.parse(f"f({options})", mode="eval").body.keywords
    function = getattr(bf.plot if "." in method else bf, method.rpartition(".")[2])
    return {one.arg for one in words} <= inspect.signature(function).parameters.keys()


METHODS = [name for name in HEADS if name != "audit"]


def all_calls():
    """List the calls of all methods on the usual frame, and on the others."""
    for method in METHODS:
        for options in [*filter(lambda one: fits(method, one), SHARED), *OWN.get(method, [])]:
            yield call(method, "two", options)
    for frame, choices in EDGES.items():
        for method in METHODS:
            yield from (call(method, frame, one) for one in choices if fits(method, one))
    yield from SINGLE


def results():
    """Results of every method."""
    calls = list(all_calls())
    yield from evaluated([*calls, *ALONE])
    yield from evaluated(calls, ["pandas"])
    yield from evaluated([one for one in calls if "2, later" not in one][::2], ["lazy"])
    yield from evaluated(calls[1::3], ["pyarrow"])
    yield from evaluated(calls[2::6], ["duckdb"])
    few = [call(one, "two", "by='sex'") for one in ("report", "gaps", "check")]
    few += [call("curve", "two", "by='sex', thresholds=4"), call("slices", "two", "depth=1")]
    yield from evaluated(few, ["dask", "ibis"])
    for library in ("polars", "pandas", "lazy"):  # as methods of frames
        names = Names(library)
        for method in METHODS:
            text = call(method, "", "by='sex'" if fits(method, "by='sex'") else "")
            text = f"two.bal.{text.replace('(, ', '(')}"
            yield (f"{library}: {text}", lambda text=text, names=names: outcome(lambda: eval(text, {}, names)))


# ---------------------------------------------------------------- charts, tables and pages

# fmt: off
CHARTS = {
    "report": ["by='g'", "by=['g', 'sex'], sort='name', numbers=True", "by='g', interval=None, most=2"],
    "confusion": ["by='g'", "normalize=None", "normalize='all', by='sex', most=2"],
    "gaps": ["by='g'", "by='g', metrics=['recall', 'accuracy'], numbers=False", "reference='a'"],
    "slices": ["level=0.01", "level=0.01, numbers=True, top=3", "order='impact', level=0.01"],
    "impact": ["by=['sex', 'g']", "by='g', bound=0.9, numbers=True", "selected=None, score='s'"],
    "monitor": ["", "by='sex', metrics=['accuracy', 'recall'], most=2", "every='2w', windows=[2]"],
    "power": ["by='g'", "rules=['recall >= 0.6', 'uar >= 0.5']", "by='sex', most=2, baseline=None"],
    "curve": ["by='g'", "by='sex', thresholds=5, metrics=['f1', 'recall']", "y_score=['s', 't']"],
    "roc": ["by='g'", "by='sex', cluster='c'", "y_score=['s', 't'], most=2"],
    "calibration": ["by='g'", "bins=4", "by='sex', y_score=['s', 't'], most=2"],
}
# fmt: on
HEADS["roc"] = HEADS["curve"]
ALSO = ["y_pred=['p', 'q']", "sample_weight='w', by='sex'", "by='sex', cluster='c'", "counts='k'"]


def charts():
    """The specifications of charts."""
    made = [
        call(f"plot.{name}", "two", options)
        for name, own in CHARTS.items()
        for options in [*own, *ALSO]
        if fits(f"plot.{name}", options)
    ]
    made += [call(f"plot.{name}", one, "") for name in CHARTS for one in ("many", "few", "empty")]
    made += [
        "plot.report(compas, 'reoffended', 'high_risk', by='race', counts='n')",
        "plot.slices(people, 'reoffended', 'high_risk', counts='n')",
        "plot.impact(applicants, 'selected', by=['sex', 'race'], counts='n')",
        "plot.roc(deciles, 'reoffended', 'decile', by='race', counts='n')",
    ]
    yield from evaluated(made)
    yield from evaluated([call(f"plot.{name}", "two", CHARTS[name][0]) for name in CHARTS], ["pandas"])
    text = "two.bal.plot.report('y', 'p', by='g')"
    yield text, lambda: outcome(lambda: eval(text, {}, Names("pandas")))


STYLES = ["title='T', subtitle='S', decimals=2, bars=False", "worst=2, min_support=0, max_rows=2"]


def tables():
    """Tables of all kinds of results."""
    answers = [
        call(method, frame, options)
        for method in METHODS
        if method != "require"
        for frame, options in [
            ("two", ""),
            ("two", "by='g'"),
            ("two", "by=['g', 'sex'], margins='all', y_pred=['p', 'q']"),
            ("two", "by=['g', 'sex'], margins='overall', y_score=['s', 't']"),
            ("two", "by='g', interval=True, metrics='all', class_weight='balanced'"),
            ("two", "by='sex', reference='f'"),
            ("two", "by='g', rules=['n >= 3', 'recall >= baseline'], baseline='q'"),
            ("two", "layout='long', interval=True"),
            ("many", "by='g'"),
            ("empty", "by='g', labels=[0, 1]"),
        ]
        if fits(method, options)
    ]
    yield from evaluated([f"table({one})" for one in answers])
    styled = [one for one in answers if "by='g')" in one and "two" in one]
    yield from evaluated([f"table({one}, {style})" for one in styled for style in STYLES])
    yield from evaluated([f"table({one})" for one in answers[::3]], ["pandas", "lazy", "pyarrow"])
    wrong = ["verb='x'", "verb='gaps'", "decimals=-1", "bars=2", "worst=-1", "max_rows=0", "title=3"]
    answer = call("report", "two", "by='g'")
    yield from evaluated([f"table({answer}, {one})" for one in [*wrong, "min_support=None"]])
    yield from evaluated(["table(two)", "table(3)", "table(None)", "table({'n': [1]})"])


WORDS = "title='T', subtitle='S', truth='re-arrested', call='called high risk', unit=('person', 'people')"
# fmt: off
AUDITS = [
    f"people, 'reoffended', 'high_risk', by=['sex', 'race', 'age'], counts='n', {WORDS}",
    "two, 'y', 'p', by=['g', 'sex'], y_score='s', rules=['recall >= 0.6', 'n >= 5'], level=0.9",
    "two, 'y', ['p', 'q'], by='g', y_score=['s', 't'], min_support=5",
    "many, 'y', 'p', by=['g', 'region'], rules={'uar': '>= 0.3'}", "holes, 'y', 'p', by='sex', missing='drop'",
    f"{CELLS}, 'y', 'p', by=['g', 'sex'], cells=True, rules='ratio(selection_rate) >= 0.8'",
    "deciles.with_columns(high=pl.col('decile') >= 5).with_columns(y=pl.col('reoffended') == 1), 'y', " "'high', by='race', y_score='decile', counts='n'",
    "words, 'y', 'p', pos_label='yes', by='is_new'", "perfect, 'y', 'p', by='g'", "few, 'y', 'p'",
    "empty, 'y', 'p', by='g'",
]
# fmt: on


def pages():
    """Pages of audit, as Markdown and HTML."""
    yield from evaluated([f"audit({one})" for one in AUDITS])
    yield from evaluated([f"audit({AUDITS[one]})" for one in (1, 2, 4)], ["pandas", "duckdb"])
    for ending in ("x.html", "x.md", "x.pdf", "no/x.md"):
        text = f"audit(few, 'y', 'p').save(Path({ending!r}))"

        def saved(ending=ending, text=text):
            with contextlib.chdir(TEMPORARY):
                said = outcome(lambda: eval(text, {}, Names("polars")))
                return said + (Path(ending).read_text() if Path(ending).exists() else "")

        yield text, saved


# ---------------------------------------------------------------- the program


def files():
    """Make the files of the command lines."""
    folder = Path(TEMPORARY, "files")
    if folder.exists():
        return folder
    (folder / "day").mkdir(parents=True)
    for name in ("two", "words", "many", "holes"):
        POLARS[name].write_csv(folder / f"{name}.csv")
    two = POLARS["two"]
    two.write_parquet(folder / "two.parquet")
    two.write_ipc(folder / "two.arrow")
    two.write_ndjson(folder / "two.ndjson")
    two.write_json(folder / "two.json")
    two.write_csv(folder / "two.tsv", separator="\t")
    two.write_csv(folder / "semi.csv", separator=";")
    two[:130].write_csv(folder / "day" / "1.csv")
    two[130:].write_csv(folder / "day" / "2.csv")
    for name in ("people", "applicants"):
        POLARS[name].write_csv(folder / f"{name}.csv")
    bf.confusion(POLARS["later"], "y", "p", by=["sex", "d"]).write_parquet(folder / "cells.parquet")
    bf.confusion(POLARS["later"], "y", "q", by="sex").write_parquet(folder / "earlier.parquet")
    made = {
        "gate.toml": 'rules = ["recall >= 0.6", "n >= 10"]\n',
        "gate.yaml": "rules:\n  - rule: recall >= 0.6\n    where: {sex: [f]}\n    reason: agreed\n",
        "bad.toml": "rules = [",
        "none.yaml": "rules: []",
        "gate.txt": "accuracy",
        "empty.csv": "",
        "ragged.csv": "y,p\n1,1\n1,1,1\n",
        "kinds.csv": "y,p\n1,a\n",
        "other.csv": "y,pp\n1,1\n",
        "short.csv": "y,p\n1,1\n1\n",
        "late.csv": "y,p\n" + "1,1\n" * 10_001 + "x,1\n",
        "broken.parquet": "not parquet",
        "broken.ndjson": '{"y": 1, "p": 1}\n{"y"',
        "noend": "y,p\n1,1\n",
        "data.docx": "",
    }
    for name, text in made.items():
        (folder / name).write_text(text)
    return folder


def program(words, stdin=b""):
    """Run the program in this process: its exit code, its output, and the file it wrote."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    given = sys.argv, sys.stdin
    sys.argv, sys.stdin = ["balframe", *words], SimpleNamespace(buffer=io.BytesIO(stdin))
    code = "no exit"
    before = set(files().rglob("*"))
    try:
        with (
            contextlib.chdir(files()),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(),
        ):
            try:
                runpy.run_module("balframe", run_name="__main__")
            except SystemExit as end:
                code = end.code or 0
            except Exception:
                code = traceback.format_exc()
    finally:
        sys.argv, sys.stdin = given
    written = [out.buffer.getvalue(), err.buffer.getvalue()]
    texts = [one.decode("utf-8", "replace") for one in written]
    for path in sorted(set(files().rglob("*")) - before):
        text = repr(pl.read_parquet(path).rows()) if path.suffix == ".parquet" else path.read_text()
        texts.append(f"{path.name}\n{text}")
        path.unlink()
    return "\n--\n".join([str(code), *texts])


def program_elsewhere(words, stdin=b"", **variables):
    """Run the program in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "balframe", *words],
        input=stdin,
        capture_output=True,
        cwd=files(),
        env=os.environ | variables,
        check=False,
    )
    return f"{done.returncode}\n{done.stdout.decode()}\n--\n{done.stderr.decode()}"


YP = "--y-true y --y-pred p"
YS = "--y-true y --y-score s"
# fmt: off
RIGHT = [
    *(f"report two.{one} {YP} --by g" for one in ("csv", "parquet", "arrow", "ndjson", "json", "tsv")),
    f"report semi.csv {YP}", f"report semi.csv {YP} --separator ;", f"report day {YP} --by sex",
    f"report day/*.csv {YP} --by sex --interval", f"report noend {YP} --input-format csv",
    *(f"{command} --format {one}" for one in ("table", "csv", "json", "ndjson", "markdown", "parquet", "junit") for command in (f"report two.csv {YP} --by g --interval", f"check two.csv {YP} --by g --rule recall>=0.6 --rule n>=20", "metrics", "demo")),
    *(f"gaps two.csv {YP} --by g --out out.{one}" for one in ("csv", "json", "md", "parquet", "txt")),
    f"report two.csv {YP} --by g --sort -accuracy --sort g",
    f"report two.csv {YP} --by g --by sex --margins all --metric all --class-weight balanced",
    f"report two.csv {YP} --metric acc=accuracy --metric f1 --interval-method exact --level 0.9",
    f"report two.csv {YP} --by sex --layout long --interval --cluster c --prior jeffreys",
    f"report two.csv {YP} --time d --every 1mo --absent zero --label 0 --label 1 --label 2",
    "report two.csv --y-true y --y-pred s --threshold 0.5 --by g", f"report holes.csv {YP} --missing drop",
    f"report holes.csv {YP}", f"report words.csv {YP} --pos-label yes --metric fairness --by g",
    f"report two.csv {YP} --y-pred q --sample-weight w", f"classes many.csv {YP} --by g --interval",
    f"confusion many.csv {YP} --complete --normalize true", f"posterior two.csv {YP} --by g --above 0.6",
    f"monitor two.csv {YP} --time d --every 1mo --until 2026-02-28 --by sex",
    f"monitor two.csv {YP} --time d --every 1w --reference cells.parquet --by sex --format table",
    f"monitor two.csv {YP} --time d --every 1mo --until 2026-02-28 --window 2 --dispersion estimate",
    f"gaps two.csv {YP} --by g --reference best --adjust none --counts k", f"gaps two.csv {YP} --by g --format table",
    f"disparity two.csv {YP} --by g --metric recall --min-support 5",
    f"fairness two.csv {YP} --by sex --margins overall", f"compare two.csv {YP} --y-pred q --by sex --adjust holm",
    f"slices two.csv {YP} --over sex --over age --bins age=25,45 --metric accuracy --level 0.01",
    "slices people.csv --y-true reoffended --y-pred high_risk --counts n --top 3 --format table",
    "impact applicants.csv --selected selected --by sex --by race --counts n",
    "impact applicants.csv --score score --by sex --counts n --bound 0.9 --format markdown",
    *(f"curve two.csv {YS} --thresholds {one}" for one in ("5", "0.25,0.5", "quantiles,4")),
    f"curve two.csv {YS} --thresholds 4 --band --interval --by sex",
    f"best-threshold two.csv {YS} --by g --metric f1", f"ranking two.csv {YS} --by g --reference rest --y-score t",
    f"calibration two.csv {YS} --by g", f"calibration-curve two.csv {YS} --bins 4 --resolution 50",
    f"calibration-gaps two.csv {YS} --by g --adjust holm",
    *(f"check two.csv {YP} --by sex --rules gate.{one}" for one in ("toml", "yaml")),
    f"check two.csv {YP} --by sex --baseline q --rule uar>=baseline-0.1 --format table",
    f"check two.csv {YP} --by sex --baseline earlier.parquet --rule uar>=baseline-0.1",
    f"check two.csv {YP} --by g --rule accuracy>=0.5 --decide estimate",
    f"check two.csv {YP} --rule accuracy>=0.7 --allow-inconclusive",
    f"require two.csv {YP} --by g --rule recall>=0.6", f"require two.csv {YP} --rule accuracy>=0.2",
    f"power two.csv {YP} --by g --rule uar>=0.5 --power 0.5 --power 0.9",
    f"power two.csv {YP} --rule uar>=baseline-0.1 --disagreement 0.2",
    f"audit two.csv {YP} --by g --y-score s --rule recall>=0.6 --format markdown",
    f"audit two.csv {YP} --by g --by sex --title T --unit person,people --out page.html",
    "audit people.csv --y-true reoffended --y-pred high_risk --counts n --by race --out page.md",
    "demo --data demo.csv --sort -n", "metrics --sort name --format csv", "--version",
]
# fmt: on
PIPED = [f"report - {YP} --by g", f"report - {YP} --input-format csv", f"confusion - {YP}"]
WRONG = [
    *(f"report {one} {YP}" for one in ("no.csv", "no*.csv", "data.docx", "noend", "empty.csv")),
    *(f"report {one}.csv {YP}" for one in ("ragged", "late", "short", "other", "kinds")),
    *(f"report {one} {YP}" for one in ("broken.parquet", "broken.ndjson", "two.csv two.csv")),
    *(f"report {one} {YP}" for one in ("two.csv two.parquet", "two.csv other.csv", ".", "--")),
    *(
        f"report two.csv {YP} {one}"
        for one in [
            "--by gg", "--by g s", "--by g --by g", "--y-pred p", "--metric acuracy", "--metric baw",
            "--metric all --metric all", "--pos-label 7", "--label 0", "--label 0 --label 0",
            "--class-weight 0=1", "--class-weight 0=a", "--class-weight even", "--class-weight",
            "--class-weight 0=1 --class-weight 0=2", "--level 95", "--level high", "--level -1",
            "--interval wilson", "--interval-method wald", "--margins some", "--missing keep",
            "--sample-weight g", "--counts s", "--cells", "--cells --counts n", "--max-cells 0",
            "--max-cells 1", "--sort nope", "--format xml", "--format junit", "--out out.xlsx",
            "--out out", "--out no/out.csv", "--format csv --out .", "--bogus", "--metrics f1",
            "--prior even", "--absent drop", "--layout tall", "--cluster zz", "--time d",
            "--every 1w", "--time d --every 3x", "--time g --every 1w", "--threshold x",
            "--threshold 0.5", "--cluster c --sample-weight w", "--separator ;;", "--input-format x",
        ]
    ),
    *(
        f"{command} two.csv {YP} {one}"
        for command, one in [
            ("gaps", ""), ("gaps", "--by g --reference z"), ("gaps", "--by g --adjust maybe"),
            ("disparity", "--by g --min-support -1"), ("compare", ""), ("fairness", ""),
            ("posterior", "--above x"), ("posterior", "--above 2"), ("posterior", "--prior even"),
            ("confusion", "--normalize rows"), ("require", ""), ("require", "--rule n>1 --by gg"),
            ("require", "--rule n>1 --format csv"), ("combine", ""), ("check", ""),
            ("check", "--rule n>1 --interval wald"), ("check", "--rule n>1 --absent drop"),
            ("check", "--rule n>1 --rules gate.toml"), ("check", "--rule accuracy"),
            ("check", "--rule acuracy>=0.5"), ("check", "--rule ratio(accuracy)>=0.5"),
            ("check", "--rules bad.toml"), ("check", "--rules none.yaml"), ("check", "--rules ."),
            ("check", "--rules gate.txt"), ("check", "--rules no.toml"), ("check", "--rule x(y)>1"),
            ("check", "--rule recall>=2"), ("check", "--rule recall>=baseline"),
            ("check", "--rule recall>=baseline --baseline zz"),
            ("check", "--rule recall>=baseline --baseline no.parquet"),
            ("check", "--rule n>1 --decide often"), ("power", ""), ("power", "--rule n>=3"),
            ("power", "--rule recall>=0.5 --power 2"), ("power", "--rule recall>=0.5 --power x"),
            ("monitor", ""), ("monitor", "--time d --every 1w"),
            ("monitor", "--time d --every 1w --until maybe"),
            ("monitor", "--time d --every 1w --reference no.parquet"),
            ("monitor", "--time d --every 1w --until 2026-02-01 --reference cells.parquet"),
            ("monitor", "--time d --every 1w --until 2026-02-01 --window 0"),
            ("monitor", "--time d --every 1w --until 2020-02-01"),
            ("slices", "--over zz"), ("slices", "--over g --metric zz"), ("slices", "--depth 0"),
            *(("slices", f"--over age --bins {one}") for one in ("x", "age=", "=3", "age=3,a")),
            ("audit", "--by zz"), ("audit", "--unit one"), ("audit", "--format pdf"),
            ("audit", "--out page.pdf"), ("audit", "--y-score zz"), ("audit", "--rule x"),
        ]
    ),
    *(
        f"{command} two.csv {YS} {one}"
        for command, one in [
            ("curve", "--thresholds many"), ("curve", "--thresholds quantiles"),
            ("curve", "--thresholds 1"), ("curve", "--thresholds nan"), ("curve", "--y-score g"),
            ("best-threshold", "--metric"), ("best-threshold", "--metric prevalence"),
            ("ranking", "--reference z --by g"), ("ranking", "--reference rest"),
            ("calibration", "--resolution 0"), ("calibration-curve", "--bins 0"),
            ("calibration-gaps", ""), ("calibration", "--y-score age"), ("curve", "--cells"),
        ]
    ),
    f"curve words.csv {YS}", f"ranking words.csv {YS}", f"report words.csv {YP} --metric recall",
    "impact two.csv --by sex", "impact two.csv --selected p", "impact two.csv --selected g --by sex",
    "impact two.csv --selected p --score s --by sex", "impact two.csv --selected p --by sex --bound 2",
    "reprot", "--bogus", "report", "gaps a.csv --y-pred p", "report --y_true y", "report a.csv --zzz",
    "report a.csv --y-true", "metrics --sort nam", "metrics extra", "demo extra", "demo --data x.pdf",
]  # fmt: skip


def commands():
    """Command lines, right and wrong."""
    for words in [*RIGHT, *WRONG]:
        yield f"balframe {words}", lambda words=words: program(words.split())
    for words in PIPED:
        for name in ("two.csv", "two.parquet", "two.ndjson"):
            yield (
                f"balframe {words} < {name}",
                lambda words=words, name=name: program(words.split(), (files() / name).read_bytes()),
            )
    for words in ("--version", "demo", f"report two.csv {YP} --by g", f"report two.csv {YP} --by gg"):
        yield f"python -m balframe {words}", lambda words=words: program_elsewhere(words.split())
    for line in ("balframe report two.csv --by ", "balframe rep", "balframe check --ru"):
        told = {"_BALFRAME_COMPLETE": "complete_bash", "COMP_WORDS": line}
        told["COMP_CWORD"] = str(len(line.split(" ")) - 1)
        yield f"completion {line}", lambda told=told: program_elsewhere([], **told)


def commands_of_program():
    """List the commands: the methods of frames, and two without files."""
    methods = [name for name in bf.__all__ if name in HEADS]
    return [name.replace("_", "-") for name in [*methods, "metrics", "demo"]]


def helps():
    """The help of the program and of its commands."""
    yield "balframe --help", lambda: program(["--help"])
    yield "balframe", lambda: program([])
    for name in commands_of_program():
        yield f"balframe {name} --help", lambda name=name: program([name, "--help"])


# ---------------------------------------------------------------- messages

BAD = ["None", "-1", "0", "1.5", "True", "'nonsense'", "[]", "{}", "object()", "nan", "'yy'", "['p', 3]"]
BAD_CALLS = [
    *(
        call(method, "odd" if "negative" in options or "big" in options else "two", options)
        for method in METHODS
        for options in [
            "y_true='Y'", "y_pred='pp'", "y_pred=['p', 'p']", "by='sexx'", "by=['g', 'g']",
            "sample_weight='g'", "counts='s'", "counts='w'", "cluster='zz'", "labels=[0, 0]",
            "labels=[0]", "labels=['x']", "pos_label='nix'", "class_weight={0: 1}", "time='g', every='1w'",
            "class_weight={0: -1, 1: 1}", "class_weight='even'", "metrics='acuracy'", "metrics=[]",
            "metrics=['recall', 'recall']", "metrics='fbeta'", "metrics='fbeta(-1)'", "time='d'",
            "y_score='g'", "y_score='age', pos_label=1", "sample_weight='w', cluster='c'",
            "sample_weight='negative'", "sample_weight='big'", "rules=['recall > 2', 'n']",
            "rules='recall >= baseline'", "rules='recall >='", "rules='x >= 1'", "rules='n > 1 2'",
            "rules={'recall': 0.5}", "rules=[{'rule': 'n > 1', 'were': {}}]", "rules='no.toml'",
            "rules=[{'rule': 'n > 1', 'where': {'g': 'zz'}}], by='g'", "baseline='zz'", "every='3x'",
            "cells=True", "cells=True, counts='n'", "by='d', time='d', every='1w'", "thresholds=[nan]",
            "thresholds=('quantiles', 1)", "reference='zz', by='g'", "reference={'zz': 1}, by='g'",
            "bins={'zz': 3}", "bins={'age': []}", "bins={'age': [2, 1]}", "over=['y']", "by='y'",
            "reference={'until': 'x'}", "windows=[0]", "windows=[]", "backend='dask'", "bogus=1",
            "reference=confusion(later, 'y', 'p', by='g')", "baseline=confusion(later, 'y', 'p', by='d')",
            "missing='dropp'", "max_cells=0",
        ]
        if options == "bogus=1" or fits(method, options)
    ),
    *(
        f"{method}({frame}, {HEADS[method]})"
        for method in HEADS
        if method != "roc"
        for frame in ["None", "3", "'two'", "[]", "{}", "object()", "np.zeros((2, 2))", "two['y']"]
    ),
    *(f"{method}(two)" for method in HEADS if method != "roc"),
    *(f"bf.{name}" for name in ("reports", "Report", "_report", "plots", "accuracy")),
    *(f"plot.{name}" for name in ("reports", "audit")),
    *(f"two.bal.{name}" for name in ("reports", "plot.reports")),
    "pl.DataFrame({'y': [[1], [2]], 'p': [1, 2]}).bal.report('y', 'p')",
    "pl.DataFrame({'y': [1.5, 2], 'p': [1, 2]}).bal.report('y', 'p')",
    "pl.DataFrame({'y': ['a', 'b'], 'p': ['A', 'B']}).bal.report('y', 'p')",
    "pl.DataFrame({'y': [b'a'], 'p': [b'a']}).bal.report('y', 'p')",
    "pl.DataFrame({'y': [0, 1], 'p': [0, 1], 'n': [1, 2], 'accuracy': [1, 1]}).bal.report('y', 'p', by='n')",
    "pl.DataFrame({'y': [0, 1], 'p': [0, 1], 'k': [-1, 2]}).bal.report('y', 'p', counts='k')",
    "pl.DataFrame({'y': [0, 1], 's': [0.5, inf]}).bal.curve('y', 's')",
    "pl.DataFrame({'y': [0, 1], 's': [0.5, nan]}).bal.ranking('y', 's')",
    "pl.DataFrame({'y': [0, 1, 2], 's': [0.5, 0.1, 2]}).bal.calibration('y', 's', pos_label=2)",
    "pd.DataFrame([[0, 1]], columns=['y', 'y']).bal.report('y', 'y')",
    "pd.DataFrame({'y': [1, 'a'], 'p': [1, 2]}).bal.report('y', 'p')",
    "pd.DataFrame({'y': [1, 2], 'p': [1, 2], 'bal': 1}).bal",
    "pd.DataFrame({0: [1, 2], 1: [1, 1]}).bal.report(0, 1)",
]  # fmt: skip


def messages():
    """Errors and warnings of wrong calls; of each parameter several values are one entry."""
    names = Names("polars")
    names["two"] = POLARS["two"].head(60)
    charted = [f"plot.{name}" for name in CHARTS]
    for method in [*METHODS, "audit", *charted]:
        function = getattr(bf.plot if method in charted else bf, method.rpartition(".")[2])
        values = BAD[1::2] if method in charted or method == "audit" else BAD
        for parameter in list(inspect.signature(function).parameters)[1:]:

            def tried(method=method, parameter=parameter, values=values):
                texts = []
                for value in values:
                    text = call(method, "two", f"{parameter}={value}")
                    said = outcome(lambda text=text: eval(text, {}, names), brief=True)
                    texts.append(f"{text}\n{said}")
                return "\n\n".join(texts)

            yield f"{method} {parameter}=", tried
    yield from evaluated(BAD_CALLS)
    yield from evaluated([one for one in BAD_CALLS if "(two, " in one][::4], ["pandas", "lazy", "duckdb"])


# ---------------------------------------------------------------- names, and what is loaded


def described(name, function):
    """Write the name, signature and docstring of a function or class."""
    signature = "none"
    with contextlib.suppress(TypeError, ValueError):
        signature = re.sub(r"\bbalframe(\.\w+)*\.(?=\w)", "", str(inspect.signature(function)))
    return f"{name} {getattr(function, '__name__', '')} {signature}\n{function.__doc__}"


def of_class(found):
    """Write the bases and the public attributes of a class."""
    public = {name: one for name, one in inspect.getmembers(found) if not name.startswith("_")}
    texts = [described(name, one) for name, one in public.items()]
    return "\n".join([described(found.__name__, found), *[one.__name__ for one in found.__mro__ if one.__name__[0] != "_"], *texts])


METRICS = ["range=(0, 1), better='lower', aliases=['half']", "range=(0, 1), chance=0.5, needs=['pos_label']"]
METRICS += [f"range=(0, 1), {one}" for one in ("better='up'", "needs=['x']", "aliases=['acc']", "chance='x'")]
METRICS += ["range=(1, 0)", "range=3"]


def api():
    """Names, signatures and docstrings."""
    yield "bf.__all__", lambda: repr(bf.__all__)
    yield "dir(bf)", lambda: repr(dir(bf))
    yield "bf.__doc__", lambda: f"{bf.__doc__}\n{bf.__version__}"
    yield "dir(bf.plot)", lambda: f"{dir(bf.plot)} {bf.plot.__all__} {bf.plot.__doc__}"
    for name in bf.__all__:
        found = getattr(bf, name)
        if isinstance(found, type):
            yield f"bf.{name}", lambda found=found: of_class(found)
        elif callable(found):
            yield f"bf.{name}", lambda name=name, found=found: described(name, found)
    for name in bf.plot.__all__:
        yield f"bf.plot.{name}", lambda name=name: described(name, getattr(bf.plot, name))
    public = [name for name in dir(bf.datasets) if name in ("applicants",) or "compas" in name]
    for name in filter(str.islower, public):
        yield f"bf.datasets.{name}", lambda name=name: described(name, getattr(bf.datasets, name))
    for frame in (POLARS["few"], POLARS["few"].to_pandas()):
        kind = type(frame).__module__.partition(".")[0]
        for name, one in ((f"{kind}.bal", frame.bal), (f"{kind}.bal.plot", frame.bal.plot)):
            yield name, lambda one=one: f"{one!r}\n{of_class(type(one))}"
    yield "type of bf.audit(...)", lambda: of_class(type(bf.audit(POLARS["few"], "y", "p")))
    for text in METRICS:
        code = f"import balframe as bf\n@bf.metric({text})\ndef halved(c):\n  'Half: R / 2.'\n  return c.mean_recall / 2"
        code += "\nprint(bf.list_metrics().rows(), bf.report(bf.from_matrix([[6, 2], [4, 4]]), 'actual', 'predicted', "
        code += "counts='n', metrics='halved', interval=True).rows(), hasattr(bf.passed, 'x'), dir(bf))"
        yield f"bf.metric({text})", lambda code=code: re.sub(r"(?s)Traceback.*\n(?=\S)", "", loaded(code))
    # Docstrings tell to import these: kinds of intervals for metrics of one's own.
    said = sorted(set(re.findall(r"`(balframe\.[\w.]+)`", bf.metric.__doc__)))
    said += [".".join(one) for one in re.findall(r"from (balframe[\w.]+) import (\w+)", bf.metric.__doc__)]
    for path in said:

        def found(path=path):
            module, _, name = path.rpartition(".")
            code = f"import importlib\ntry: print(hasattr(importlib.import_module({module!r}), {name!r}))"
            code += f"\nexcept ImportError: print(False)\ntry: print(importlib.import_module({path!r}) and True)"
            return loaded(f"{code}\nexcept ImportError: print(False)")

        yield f"documented {path}", found


def loaded(code):
    """Run code in a new process."""
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=files(), check=False)
    return f"{done.returncode}\n{done.stdout}\n{done.stderr}"


TOPS = """
tops = {one.partition(".")[0] for one in set(sys.modules) - before} - set(sys.stdlib_module_names)
print(sorted(one for one in tops if not one.startswith("_")), file=sys.stderr)
"""


def imports():
    """Which packages of others are loaded."""
    yield ("import balframe", lambda: loaded(f"import sys; before = set(sys.modules)\nimport balframe{TOPS}"))
    for words in (
        "--version", "--help", f"report two.csv {YP}", f"report two.csv {YP} --by g --interval",
        f"report two.parquet {YP}", f"check two.csv {YP} --rule recall>=0.6", "metrics", "demo",
        f"curve two.csv {YS}", f"audit two.csv {YP} --format markdown", f"slices two.csv {YP}",
    ):  # fmt: skip
        code = f"import sys, runpy; before = set(sys.modules); sys.argv = ['balframe', *{words.split()}]"
        code += "\ntry: runpy.run_module('balframe', run_name='__main__')\nexcept SystemExit: pass"
        yield f"loads balframe {words}", lambda code=code: loaded(code + TOPS)
    for text in ("report(two, 'y', 'p')", "report(two.to_pandas(), 'y', 'p', interval=True)"):
        code = "import sys, polars as pl, pandas; two = pl.read_csv('two.csv'); two.to_pandas()"
        code += f"\nbefore = set(sys.modules)\nimport balframe as bf\nbf.{text}"
        yield f"loads {text}", lambda code=code: loaded(code + TOPS)


# ---------------------------------------------------------------- record, check, show

PARTS = {
    "api": api,
    "help": helps,
    "results": results,
    "charts": charts,
    "tables": tables,
    "pages": pages,
    "commands": commands,
    "messages": messages,
    "imports": imports,
}


def entries(parts):
    """List the entries of some parts: part, name, and the function that makes the text."""
    for part in parts:
        for name, make in PARTS[part]():
            yield part, name, make


def text_of(make):
    """Make the text of an entry; a failure of this program is a text too."""
    try:
        return normalised(make())
    except Exception:
        return f"FAILED HERE {traceback.format_exc()}"


def hashed(parts):
    """Hash every entry, and say how long each part took."""
    found = {}
    for part in parts:
        start, found[part], failed = time.perf_counter(), {}, 0
        for _, name, make in entries([part]):
            text = text_of(make)
            if text.startswith("FAILED HERE"):
                failed += 1
                print(f"{name}: {text}", file=sys.stderr)
            found[part][name] = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:20]
        seconds = time.perf_counter() - start
        said = f", {failed} FAILED HERE" if failed else ""
        print(f"{part}: {len(found[part])} entries in {seconds:.1f} s{said}", file=sys.stderr)
    return found


def main():
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=["record", "check", "show"])
    parser.add_argument("name", nargs="?")
    parser.add_argument("--part", action="append", choices=list(PARTS))
    parser.add_argument("--data", type=Path, default=DATA)
    given = parser.parse_args()
    parts = given.part or list(PARTS)
    print(f"balframe of {CHECKOUT}", file=sys.stderr)
    if given.task == "show":
        makes = [make for _, name, make in entries(parts) if name == given.name]
        print("\n".join(map(text_of, makes)))
        return 0 if makes else 2
    known = json.loads(given.data.read_text()) if given.data.exists() else {}
    found = hashed(parts)
    if given.task == "record":
        given.data.write_text(json.dumps(known | found, indent=0, sort_keys=True) + "\n")
        return 0
    differing = 0
    for part in parts:
        names = {**known.get(part, {}), **found[part]}
        for name in names:
            before, after = known.get(part, {}).get(name), found[part].get(name)
            if before != after:
                differing += 1
                kind = "new" if before is None else "gone" if after is None else "differs"
                print(f"{kind}: [{part}] {name}")
    print(f"{differing} of {sum(map(len, found.values()))} entries differ", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    with contextlib.ExitStack() as stack:
        stack.callback(__import__("shutil").rmtree, TEMPORARY, ignore_errors=True)
        code = main()
    sys.exit(code)
