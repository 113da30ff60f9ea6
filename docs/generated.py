"""Parts of the reference that are read from the package: verbs, charts, metrics, commands."""

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from typing import get_args

import balframe as bf
from balframe import accessor
from balframe.accessor import Bal, Plots, groups
from balframe.frames.engines.supported import ADVICE, ENGINES
from balframe.intervals.request import Method
from balframe.metrics.catalogue import listed
from balframe.metrics.registry import Metric

_CHANCES = {
    "uniform": "1/K, every label alike",
    "majority": "the share of the most frequent label",
}
_IN_NARWHALS = (
    "| narwhals | `narwhals.DataFrame`, `narwhals.LazyFrame` | narwhals | | "
    "no `.bal`; what holds any of the frames above, of the stable versions too |"
)
_NO_FRAMES = (
    "| columns, arrays, dicts, lists | | refused | | Make a frame of them, as by `pl.DataFrame`. |"
)
_HELP_OF_OPTION = re.compile(r"^(\* `.+?`: )(.*)$", re.MULTILINE)


def verbs() -> str:
    """Give a table of the verbs by what they are for, and a section for each."""
    rows = [
        f"| {group} | [`{name}`](#{name}) | {_summary(getattr(bf, name))} |"
        for group, names in groups(Bal).items()
        for name in names
    ]
    table = ["| about | verb | what it does |", "| --- | --- | --- |", *rows, ""]
    entries = (_entry(f"bf.{name}", name, getattr(bf, name)) for name in accessor.verbs())
    return "\n".join([*table, *entries])


def charts() -> str:
    """Give a section for each chart."""
    names = [name for names in groups(Plots).values() for name in names]
    return "\n".join(
        _entry(f"bf.plot.{name}", f"plot-{name}", getattr(bf.plot, name)) for name in names
    )


def _summary(function: Callable[..., object]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0].rstrip(".")


def _entry(heading: str, anchor: str, function: Callable[..., object]) -> str:
    """Have the signature and the docstring of a function shown below a heading."""
    path = f"{function.__module__}.{function.__name__}"
    return f"## {heading} {{ #{anchor} }}\n\n::: {path}\n"


def metrics() -> str:
    """Give a table of the metrics that balframe ships, and a section for each."""
    ours = [one for one in listed() if one.function.__module__.startswith("balframe.")]
    rows = [
        f"| [`{one.name}`](#{_anchor(one)}) | {one.meaning} | `{one.formula}` |" for one in ours
    ]
    table = ["| metric | what it says | formula |", "| --- | --- | --- |", *rows, ""]
    return "\n".join([*table, *map(_section, ours)])


def _anchor(one: Metric) -> str:
    """Name a section; a member of a family is looked for by the name before its number."""
    return one.name.partition("(")[0]


def _section(one: Metric) -> str:
    low, high = one.range
    facts = {
        "Formula": f"`{one.formula}`",
        "Also called": ", ".join(f"`{alias}`" for alias in one.aliases),
        "Range": f"{low:g} to {'infinity' if high == float('inf') else f'{high:g}'}",
        "Better": one.better or "neither direction",
        "Needs": ", ".join(f"`{need}=`" for need in one.needs),
        "Guessing scores": _CHANCES.get(one.chance, one.chance),
        "Interval": _intervals(one),
        "Source": one.source,
    }
    lines = [f"- {name}: {fact}" for name, fact in facts.items() if fact not in ("", None)]
    _, _, notes = (inspect.getdoc(one.function) or "").partition("\n\n")
    return "\n".join(
        [f"### {one.name} {{ #{_anchor(one)} }}", "", f"{one.meaning}.", "", notes, "", *lines, ""]
    )


def _intervals(one: Metric) -> str:
    default = one.interval.method_of(None)
    if not default:
        return "none"
    others = [name for name in one.interval.methods if name != default]
    named = [f'`"{name}"`' for name in others]
    by_default = f'`"{default}"`' if default in get_args(Method) else f"the {default} method"
    return f"{by_default}; also {' and '.join(named)}" if named else by_default


def command_line() -> str:
    """Give a section for each command, with its options, as Typer documents them."""
    program = [sys.executable, "-m", "typer", "balframe.cli.commands"]
    told = subprocess.run(
        [*program, "utils", "docs", "--name", "balframe"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    commands = told[told.index("\n## ") :]
    return _HELP_OF_OPTION.sub(lambda line: line[1] + line[2].replace("*", r"\*"), commands)


def frames() -> str:
    """Give a table of the frames that are read, and of those that are not."""
    rows = [
        f"| {one.name} | `{one.frame}` | {one.answer} | "
        f"{f'`balframe[{one.extra}]`' if one.extra else ''} | {one.notes} |"
        for one in ENGINES
    ]
    refused = [f"| {module} | | refused | | {advice} |" for module, advice in ADVICE.items()]
    head = "| | frame | what comes back | install | notes |\n| --- | --- | --- | --- | --- |"
    return "\n".join([head, *rows, _IN_NARWHALS, *refused, _NO_FRAMES])


PARTS = {
    "verbs": verbs,
    "charts": charts,
    "metrics": metrics,
    "command line": command_line,
    "frames": frames,
}
