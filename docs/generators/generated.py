"""Parts of pages, read from the package (methods, charts, metrics, commands) or measured.

    python -m docs.generators.generated    # writes what pages show where the site is not built

A marker is where the site has a part. What stands between a marker and its end is for readers of
the files, as on a code host: the part itself in brief, since links lead to pages of the site.
"""

import html
import inspect
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from inspect import getmodule
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal, get_args

import click

import balframe as bf
from balframe.accessor import Bal, Plots, groups
from balframe.api.columns import Column, Role
from balframe.api.method import Method
from balframe.cli.app import make_program
from balframe.frames.engines.registry import ENGINES, NOT_FRAMES
from balframe.frames.eval_logs.read import eval_readers
from balframe.methods import declarations as declared
from balframe.metrics.base import BaseMetric
from balframe.metrics.lookup import all_metrics
from balframe.metrics.registry import PRESETS, Metric
from balframe.metrics.score_metrics import ScoreMetric
from balframe.stats.base import IntervalMethod

from . import growth

_MARKER = r"^<!-- generated: ((?:(?!-->).|\n)+?)\s-->$"
MARKER = re.compile(rf"{_MARKER}(?:\n((?:(?!<!--).*\n)*)<!-- end -->$)?", re.MULTILINE)
_ROOT = Path(__file__).parents[2]
_REFERENCE = _ROOT / "docs" / "pages" / "reference"
_HEADS = ("chart", "metric", "command", "---")
_TO_PAGE = re.compile(r"\[(`\w+`)\]\(([^)]+)\)")
_PRESETS = {
    "default": "those that a method returns without `metrics=`",
    "all": "every metric without a number in its name; "
    "those that need `class_weight=` only if it is given",
}
_CHANCES = {
    "uniform": "1/K, with K labels present",
    "majority": "the share of the most frequent label",
}
_UNDER = {  # which is not the name of an option
    "missing": '`missing="drop"`',
    "models": "several models",
    "pairs": "more than two models or `detail=True`",
    "tables": "several by-columns or `detail=True`",
    "reasons": "rules that have a reason",
    "weights": "`sample_weight=`",
}
_IN_NARWHALS = (
    "| narwhals | `narwhals.DataFrame`, `narwhals.LazyFrame` | narwhals | | "
    "no `.bal`; around any of the frames above; `narwhals.stable` too |"
)
_NO_FRAMES = (
    "| columns, arrays, dicts, lists | | refused | | "
    "Make a frame of them first, for example with `pl.DataFrame`. |"
)


def names_of(namespace: type) -> list[str]:
    """List the methods of a namespace, in the order of its groups."""
    return [name for names in groups(namespace).values() for name in names]


def methods() -> str:
    """Return a table of the methods for each of their groups."""
    return _overview("method", "methods", Bal, bf)


def charts() -> str:
    """Return a table of the charts for each of their groups."""
    return _overview("chart", "plots", Plots, bf.plot)


def _overview(what: str, folder: str, namespace: type, functions: object) -> str:
    lines: list[str] = []
    for group, names in groups(namespace).items():
        heading = f"{what}s {group}" if group.startswith("of ") else group
        lines += [f"## {heading.capitalize()}", "", f"| {what} | what it does |", "| --- | --- |"]
        for name in names:
            lines.append(
                f"| [`{name}`]({folder}/{name}.md) | {_summary(getattr(functions, name))} |"
            )
        lines.append("")
    return "\n".join(lines)


def _summary(described: object) -> str:
    return (inspect.getdoc(described) or "").partition("\n")[0].rstrip(".")


def method(name: str) -> str:
    """Return the signature, the docstring and the columns of a method, and where else it is."""
    forms = [
        f"`df.bal.{name}(...)`",
        f"`bf.{name}(df, ...)`",
        f"[`balframe {_command(name)}`](../commands/{_command(name)}.md)",
    ]
    calls = f"Call it as {_listed(forms, 'or')}."
    if name in names_of(Plots):
        calls += f" [`df.bal.plot.{name}(...)`](../plots/{name}.md) draws the result as a chart."
    tables = _tables(declared()[name]) if name in declared() else ""
    return f"## Parameters and result\n\n{calls}\n\n{_described(getattr(bf, name))}\n{tables}"


def _tables(declaration: Method) -> str:
    by = "by" if "by" in declaration.parameters else "over"
    layouts = declaration.layouts.items()
    return "\n".join(_columns(layout, columns, by) for layout, columns in layouts)


def _command(name: str) -> str:
    return name.replace("_", "-")


def _columns(layout: str, columns: tuple[Column, ...], by: str) -> str:
    heading = f'## Columns with `layout="{layout}"`' if layout else "## Columns"
    rows = [f"| {_name(one, by)} | {one.kind.value} | {_when(one)} |" for one in columns]
    head = "| column | values | only with |\n| --- | --- | --- |"
    return "\n".join([f"{heading}\n", head, *rows, ""])


def _name(column: Column, by: str) -> str:
    """Return the name of a column, with what stands for others in angle brackets."""
    name = str(column.name).replace("{by}", f"<{by}>")
    return f"`{name.replace('{', '<').replace('}', '>')}`"


def _when(column: Column) -> str:
    """Return when a column is there, in words of a call."""
    under = column.only_with
    option = [] if under is None else [_UNDER.get(under, f"`{under}=`")]
    return " and ".join([*option, *(["`detail=True`"] if column.detail else [])])


def columns_of_methods() -> str:
    """Return a table of the columns of every method, without and with details.

    Those that further options add are on the page of the method.
    """
    lines = ["| method | columns | further columns with `detail=True` |", "| --- | --- | --- |"]
    for name in (name for name in names_of(Bal) if name in declared()):
        declaration = declared()[name]
        by = "by" if "by" in declaration.parameters else "over"
        for layout, columns in declaration.layouts.items():
            call = f', `layout="{layout}"`' if layout and layout != "wide" else ""
            always = [one for one in columns if one.only_with is None]
            few, more = (
                ", ".join(_name(one, by) for one in always if one.detail == is_detail)
                for is_detail in (False, True)
            )
            lines.append(f"| [`{name}`](methods/{name}.md){call} | {few} | {more} |")
    return "\n".join(lines)


def chart(name: str) -> str:
    """Return the signature and the docstring of a chart, and where it is shown."""
    drawn = (
        f" It draws the result of [`{name}`](../methods/{name}.md)." if name in declared() else ""
    )
    shown = f"The [gallery](../../gallery.md) shows examples.{drawn}"
    return f"{shown}\n\n{_described(getattr(bf.plot, name))}"


def _described(function: Callable[..., object]) -> str:
    """Have the signature and the docstring of a function shown."""
    return f"::: {function.__module__}.{function.__name__}\n"


def metrics_by_kind() -> dict[str, list[BaseMetric]]:
    """Return the metrics that balframe ships by the file that has them."""
    kinds: dict[str, list[BaseMetric]] = {}
    for one in all_metrics():
        if one.is_shipped:
            kinds.setdefault(one.function.__module__.rpartition(".")[2], []).append(one)
    return kinds


def metrics(of: Literal["labels", "scores"]) -> str:
    """Return a table of the metrics that balframe ships."""
    rows = [
        f"| [`{one.name}`](metrics/{kind}.md#{_anchor(one)}) | {one.meaning} | `{one.formula}` |"
        for kind, some in metrics_by_kind().items()
        for one in some
        if isinstance(one, Metric) == (of == "labels")
    ]
    return "\n".join(["| metric | meaning | formula |", "| --- | --- | --- |", *rows, ""])


def metrics_of(kind: str) -> str:
    """Return a section for each metric of one file."""
    some = metrics_by_kind()[kind]
    about = inspect.getdoc(import_module(some[0].function.__module__)) or ""
    return "\n".join([about, "", *map(_section, some)])


def presets() -> str:
    """Return a table of the presets and their metrics."""
    named = {
        name: _PRESETS[name] if some is None else ", ".join(f"`{one}`" for one in some)
        for name, some in PRESETS.items()
    }
    rows = [f'| `"{name}"` | {metrics} |' for name, metrics in named.items()]
    return "\n".join(["| preset | metrics |", "| --- | --- |", *rows])


def _anchor(one: BaseMetric) -> str:
    """Name a section; a member of a family is looked for by the name of its function."""
    return one.function.__name__


def _section(one: BaseMetric) -> str:
    facts = {
        "Formula": f"`{one.formula}`",
        "Also called": ", ".join(f"`{alias}`" for alias in one.aliases),
        "Range": " to ".join(f"{end:g}".replace("inf", "infinity") for end in one.range),
        "Better": one.better or "neither direction",
        **(_facts_of_labels(one) if isinstance(one, Metric) else _facts_of_scores(one)),
        "Source": one.source,
    }
    lines = [f"- {name}: {fact}" for name, fact in facts.items() if fact not in ("", None)]
    _, _, notes = (inspect.getdoc(one.function) or "").partition("\n\n")
    return "\n".join(
        [f"## {one.name} {{ #{_anchor(one)} }}", "", f"{one.meaning}.", "", notes, "", *lines, ""]
    )


_NEEDS = {"label_order": "labels with an order"}  # others are options


def _facts_of_labels(one: Metric) -> dict[str, object]:
    return {
        "Needs": ", ".join(_NEEDS.get(need, f"`{need}=`") for need in one.needs),
        "Score of guessing": _CHANCES.get(one.chance, one.chance),
        "Interval": _intervals(one),
    }


def _facts_of_scores(one: ScoreMetric) -> dict[str, object]:
    (columns,) = declared()[one.method].layouts.values()
    ends = [
        f"`{column.name}`"
        for column in columns
        if column.role is Role.LIMIT and column.about == one.name
    ]
    return {
        "Returned by": f"[`{one.method}`](../methods/{one.method}.md)",
        "Interval": f"in {_listed(ends)}" if ends else "beside it" if "(" in one.name else "none",
    }


def _intervals(one: Metric) -> str:
    default = one.interval.method_of(None)
    if not default:
        return "none"
    others = [name for name in one.interval.methods if name != default]
    named = [f'`"{name}"`' for name in others]
    by_default = (
        f'`"{default}"`' if default in get_args(IntervalMethod) else f"the {default} method"
    )
    return f"{by_default}; also {_listed(named)}" if named else by_default


def _listed(names: list[str], word: str = "and") -> str:
    """Write a list as in a sentence."""
    *first, last = names
    return f"{', '.join(first)} {word} {last}" if first else last


@cache
def commands() -> dict[str, str]:
    """Return the description, the usage, the arguments and the options of each command."""
    program = make_program()
    ctx = click.Context(program, info_name="balframe")
    made = {name: program.get_command(ctx, name) for name in program.list_commands(ctx)}
    return {name: _command_reference(ctx, command) for name, command in made.items()}


def _command_reference(ctx: click.Context, command: Any) -> str:  # noqa: ANN401
    usage = " ".join([f"balframe {command.name}", *command.collect_usage_pieces(ctx)])
    sections = [html.escape(command.help), f"**Usage**:\n\n```console\n$ {usage}\n```"]
    kinds = {"Arguments": click.Argument, "Options": click.Option}
    for title, kind in kinds.items():
        lines = [_parameter_reference(one) for one in command.params if isinstance(one, kind)]
        if lines:
            sections.append("\n".join([f"**{title}**:\n", *lines]))
    examples = "\n".join(f"$ {line}" for line in command.examples)
    sections.append(f"**Examples**:\n\n```console\n{examples}\n```")
    return "\n\n".join(sections)


def _parameter_reference(one: Any) -> str:  # noqa: ANN401
    """Return a list item: what is typed, what it does, and whether it is needed."""
    names = [" / ".join([*one.opts, *one.secondary_opts])] if one.opts[0].startswith("-") else []
    typed = " ".join([*names, *filter(None, [one.metavar])])
    remark = f"  [default: {one.default_text}]" if one.default_text else ""
    remark += "  [required]" if one.required else ""
    text = html.escape(one.help).replace("*", r"\*")
    return f"* `{typed}`: {text}{remark}"


def command_line() -> str:
    """Return a table of the commands."""
    rows = [
        f"| [`{name}`](commands/{name}.md) | {text.partition(chr(10))[0].rstrip('.')} |"
        for name, text in commands().items()
    ]
    return "\n".join(["| command | what it does |", "| --- | --- |", *rows, ""])


def command(name: str) -> str:
    """Return the arguments and options of a command."""
    return commands()[name]


def frames() -> str:
    """Return a table of the frames that are read, and of those that are not."""
    rows = [
        f"| {one.name} | `{one.frame}` | {one.result} | "
        f"{f'`balframe[{one.extra}]`' if one.extra else ''} | {one.notes} |"
        for one in ENGINES
    ]
    refused = [f"| {kind} | | refused | | {advice} |" for kind, _, advice in NOT_FRAMES]
    head = "| library | frame | result | install | notes |\n| --- | --- | --- | --- | --- |"
    return "\n".join([head, *rows, _IN_NARWHALS, *refused, _NO_FRAMES])


def eval_logs() -> str:
    """Return a table of the tools whose logs are read; what they write, their modules say."""
    rows = [
        f"| {reader.tool} | {(getmodule(reader.read).__doc__ or '').partition(chr(10))[0]} | "
        f"{reader.versions} |"
        for reader in sorted(eval_readers(), key=lambda reader: reader.tool.lower())
    ]
    return "\n".join(["| tool | what is read | versions |", "| --- | --- | --- |", *rows])


def docstring(described: str) -> str:
    """Have the signature and the docstring of an object shown; options may follow its path."""
    return f"::: {described}\n"


def start_of_readme() -> str:
    """Return what the README has between its title and what it does, with links of the site."""
    readme = (_ROOT / "README.md").read_text(encoding="utf-8")
    start = readme.partition("\n")[2].partition("\n## What it does\n")[0]
    return start.replace("](docs/pages/", "](")


PARTS: dict[str, Callable[..., str]] = {
    "start of the README": start_of_readme,
    "methods": methods,
    "columns of methods": columns_of_methods,
    "method": method,
    "charts": charts,
    "chart": chart,
    "metrics": metrics,
    "metrics of": metrics_of,
    "presets": presets,
    "command line": command_line,
    "command": command,
    "eval logs": eval_logs,
    "frames": frames,
    "docstring": docstring,
    "costs": growth.costs,
    "plan": growth.plan,
}


def part(marker: str) -> str:
    """Return a part by its marker, as in "frames" or "method: report"."""
    name, _, of = marker.partition(": ")
    return PARTS[name](*filter(None, [of]))


def _linked_files(table: str) -> str:
    """Keep the links to pages that are files."""
    return _TO_PAGE.sub(
        lambda link: link[0] if (_REFERENCE / link[2]).is_file() else link[1], table
    )


def _names(table: str) -> str:
    """Return what the first column of a table has, as a list."""
    rows = [row for row in table.splitlines() if row.startswith("| ")]
    names = [re.sub(r"\[(.+)\]\(.+\)", r"\1", row[2:].split(" | ")[0]) for row in rows]
    return f"{', '.join(name for name in dict.fromkeys(names) if name not in _HEADS)}."


BRIEF: dict[str, Callable[[str], str]] = {
    "methods": _linked_files,
    "presets": str,
    "charts": _names,
    "metrics": _names,
    "command line": _names,
    "eval logs": str,
    "frames": lambda _: f"{'; '.join(dict.fromkeys(one.name for one in ENGINES))}; narwhals.",
    "docstring": lambda described: f"{_summary(resolve_name(described.split()[1]))}.",
}


def with_brief_parts(text: str) -> str:
    """Write what readers of a file see in the places of its markers."""

    def filled(marker: re.Match[str]) -> str:
        name = marker[1].partition(": ")[0]
        if name not in BRIEF:
            return marker[0]
        opening = marker[0].partition("-->")[0]
        return f"{opening}-->\n\n{BRIEF[name](part(marker[1])).strip()}\n\n<!-- end -->"

    return MARKER.sub(filled, text)


if __name__ == "__main__":
    for page in sorted(_REFERENCE.rglob("*.md")):
        page.write_text(with_brief_parts(page.read_text(encoding="utf-8")), encoding="utf-8")
