"""The parser of each parameter: by its name, its type, or the type in its docstring."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import click

from balframe.api.method import Parameter
from balframe.api.metric_selection import ClassWeight, Metrics
from balframe.api.option_types import (
    REFERENCE_KEYWORDS,
    BaselineOption,
    ExcludeOption,
    ExpectOption,
    ReferenceOption,
    RowsOption,
    RunOption,
    StreamBaselineOption,
)
from balframe.cli import completion, parse_values
from balframe.cli.audit_cover import read_cover_options
from balframe.cli.baseline_files import (
    read_audit_baseline,
    read_baseline,
    read_expect,
    read_stream_baseline,
)
from balframe.cli.command import FILE, FLOAT, INTEGER, either
from balframe.cli.option_parser import CommandLine, OptionSpec, Parser, choice_parser, choices_of
from balframe.cli.toml import forms
from balframe.core.label_set import Label
from balframe.frames.by_entries import Period
from balframe.frames.slice_binning import BinsOption
from balframe.frames.thresholds import ThresholdsOption
from balframe.methods.gates.rules import RulesOption
from balframe.stats.base import IntervalMethod, IntervalOption

OTHERS = "What to compute"  # the panel of parameters that no panel names


class _RuleFile(click.Path):
    """The path of a file of rules, or the rules of a configuration, which are in none."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401 (as in click)
        """Return rules as they are."""
        is_inline = isinstance(value, forms.InlineRules)
        return value if is_inline else super().convert(value, param, ctx)


def _interval(line: CommandLine, is_given: bool, method: IntervalMethod | None) -> IntervalOption:
    return method if method is not None else (True if is_given else None)


def _reference(line: CommandLine, text: str) -> Any:  # noqa: ANN401
    by = line.values["by"] or []
    if text in REFERENCE_KEYWORDS or len(by) != 1:
        return text
    return parse_values.label(text, line.rows, by[0])


def _run_parser(files: str) -> Parser:
    """Read an earlier run: a column, or what the help says of files."""
    return Parser(
        [
            OptionSpec(
                click.STRING,
                "COLUMN|FILE",
                "The old run, in place of the first file: another column of predictions of the "
                f"same rows, {files}",
                complete=completion.complete_column,
                reads_file=True,
                form=forms.TEXT_OR_FILE,
            )
        ],
        lambda line, text: read_baseline(
            text, line.rows, line.by, line.values, line.beside, is_old_run=True
        ),
        panel=OTHERS,
    )


_COLUMN = Parser([OptionSpec(click.STRING, "COLUMN", complete=completion.complete_column)])
_COLUMNS = Parser(
    [
        OptionSpec(
            click.STRING,
            "COLUMN",
            "{description} Repeat for several: --{name} a --{name} b.",
            complete=completion.complete_column,
            is_repeatable=True,
        )
    ],
    lambda line, names: parse_values.one_or_more(names),
)
_BINS = OptionSpec(
    click.STRING,
    "BINS",
    "Cut a column of numbers in --by into bins: give their number, for about equally many rows in "
    "each, or the edges between them, as in age=4 or age=18,25,45. Repeat for several columns.",
    name="bins",
    is_repeatable=True,
    is_optional=True,
    form=forms.BINS,
)
_PERIOD_OPTIONS = [
    OptionSpec(
        click.STRING,
        "COLUMN",
        "A column of dates or datetimes, whose periods are one more by-column. Give --every too.",
        name="time",
        complete=completion.complete_column,
        is_optional=True,
    ),
    OptionSpec(
        click.STRING,
        "LENGTH",
        "Length of the periods of --time: 1d, 1w, 1mo, 1q, 1y, or a multiple such as 2w.",
        name="every",
        is_optional=True,
    ),
]
_INTERSECTION = OptionSpec(
    click.STRING,
    "COLUMNS",
    "Columns whose intersection has a table of selection rates, such as sex,race. Repeat for "
    "several, or give none. The default is all pairs of two or three columns.",
    name="intersection",
    is_repeatable=True,
    is_optional=True,
    form=forms.COLUMNS_IN_ONE,
)
_RULES = Parser(
    [
        OptionSpec(
            click.STRING,
            "RULE",
            "A rule that every segment must satisfy, such as 'recall >= 0.7' or "
            "'difference(recall) <= 0.1'. Repeat for several.",
            name="rule",
            is_repeatable=True,
            form=forms.RULE_TEXTS,
        ),
        OptionSpec(
            _RuleFile(readable=False, path_type=Path),
            "FILE",
            "Read the rules from a .toml or .yaml file, instead of --rule. Repeat for several.",
            name="rules",
            is_repeatable=True,
            reads_file=True,
            form=forms.RULE_FILES,
        ),
    ],
    lambda line, texts, files: parse_values.rules(texts, files),
    alternatives=True,
)
_BY_TYPE_TEXT = {  # where the type does not say enough: the type as docstrings have it
    "column name": _COLUMN,
    "column name or list of column names": _COLUMNS,
    "list of column names": _COLUMNS,
    "frame": Parser(
        [
            OptionSpec(
                click.STRING,
                "FILE",
                "A file with the data of an earlier audit: rows with the same columns, or cells, "
                "as balframe confusion writes them; or a run of a Delta table, as in runs@last. A "
                "section compares them with the data, and rules may too, such as 'recall >= "
                "baseline - 0.02'.",
                reads_file=True,
                form=forms.TEXT_OR_FILE,
            )
        ],
        lambda line, text: read_audit_baseline(
            text, [*line.by, *line.names("cluster")], line.values.get("time"), line.beside
        ),
    ),
    "label": Parser(
        [OptionSpec(click.STRING, "LABEL", form=forms.DATA_VALUE)],
        lambda line, text: line.label(text),
    ),
    "date": Parser([OptionSpec(click.STRING, "DATE")]),
    "path or URI of a Delta table": Parser([OptionSpec(click.STRING, "TABLE")]),
    "metric name": Parser(
        [OptionSpec(click.STRING, "METRIC", complete=completion.complete_metric)]
    ),
    "text": Parser([OptionSpec(click.STRING, "TEXT")]),
}
_BY_TYPE: Mapping[Any, Parser] = {
    bool: Parser([OptionSpec(click.BOOL)]),
    int: Parser([OptionSpec(INTEGER, "NUMBER")]),
    float: Parser([OptionSpec(FLOAT, "NUMBER")]),
    tuple[str, str]: Parser(
        [
            OptionSpec(
                click.STRING,
                "ONE,MANY",
                "{description} Separate them by a comma.",
                form=forms.TWO_WORDS,
            )
        ],
        lambda line, text: parse_values.nouns(text),
    ),
    Metrics: Parser(
        [
            OptionSpec(
                click.STRING,
                "METRIC",
                "{description} Repeat for several; acc=accuracy shows accuracy as acc. `balframe "
                "metrics` lists all metrics.",
                complete=completion.complete_metric,
                is_repeatable=True,
                form=forms.METRICS,
            )
        ],
        lambda line, names: parse_values.metrics(names),
    ),
    Sequence[Label]: Parser(
        [
            OptionSpec(
                click.STRING,
                "LABEL",
                "{description} Repeat for each label.",
                is_repeatable=True,
                form=forms.DATA_VALUE,
            )
        ],
        lambda line, texts: line.labels(texts),
    ),
    ClassWeight | None: Parser(
        [
            OptionSpec(
                click.STRING,
                "LABEL=NUMBER",
                "{description} Repeat for each label, as in yes=0.8, or give balanced or "
                "prevalence.",
                is_repeatable=True,
                form=forms.CLASS_WEIGHTS,
            )
        ],
        lambda line, texts: parse_values.class_weights(texts, line.rows, line.values["y_true"]),
    ),
    IntervalOption: Parser(
        [
            OptionSpec(click.BOOL, is_negatable=True, form=forms.INTERVAL),
            OptionSpec(
                click.Choice(get_args(IntervalMethod)),
                "METHOD",
                "Add confidence intervals by this method: "
                f"{either(get_args(IntervalMethod))}. Implies --{{name}}.",
                name="{name}-method",
            ),
        ],
        _interval,
        alternatives=True,
    ),
    ThresholdsOption: Parser(
        [
            OptionSpec(
                click.STRING,
                "THRESHOLDS",
                "{description} Give all for every distinct score, 101 for 101 thresholds from 0 to "
                "1, 0.2,0.5 for these two, or quantiles,10 for 10 quantiles of the scores.",
                form=forms.THRESHOLDS,
            )
        ],
        lambda line, text: parse_values.thresholds(text),
    ),
    BinsOption: Parser(
        [
            OptionSpec(
                click.STRING,
                "BINS",
                "{description} Give 4, none to take each value on its own, or either of them or "
                "edges for a column: age=4, age=18,25,45. Repeat for several columns.",
                is_repeatable=True,
                form=forms.BINS,
            )
        ],
        lambda line, texts: parse_values.bins(texts),
    ),
    BaselineOption: Parser(
        [
            OptionSpec(
                click.STRING,
                "COLUMN|FILE",
                "{description} Give another column of predictions, a file with the cells of an "
                "earlier run, as balframe confusion writes them, or a run of a Delta table: its id "
                "or date after the table, as in runs@2026-03-31, or runs@last.",
                complete=completion.complete_column,
                reads_file=True,
                form=forms.TEXT_OR_FILE,
            )
        ],
        lambda line, text: read_baseline(text, line.rows, line.by, line.values, line.beside),
    ),
    RunOption: _run_parser(
        "a file of rows or of cells, as balframe confusion writes them, or a run of a Delta table, "
        "as in runs@2026-03-31 or runs@last."
    ),
    RowsOption: _run_parser("or a file of rows."),
    ExpectOption: Parser(
        [
            OptionSpec(
                click.STRING,
                "COLUMN=VALUES|FILE",
                "The segments that must have rows: a by-column with its values, as in "
                "race=White,Black, a file with the by-columns, such as the result of last month, "
                "or a run of a Delta table, as in runs@last. Quote a value that has a comma, as in "
                "'race=\"Black, other\",White'; an empty one is null. Repeat for several columns.",
                is_repeatable=True,
                reads_file=True,
                form=forms.EXPECT,
            )
        ],
        lambda line, texts: read_expect(texts, line.rows, line.values["by"] or [], line.beside),
    ),
    float | Sequence[float]: Parser(
        [OptionSpec(FLOAT, "NUMBER", "{description} Repeat for several.", is_repeatable=True)],
        lambda line, numbers: numbers if len(numbers) > 1 else numbers[0],
    ),
    ExcludeOption: Parser(
        [
            OptionSpec(
                click.STRING,
                "DATE",
                "{description} Repeat for several, as in 2026-12-25.",
                is_repeatable=True,
                form=forms.DATE,
            )
        ]
    ),
    StreamBaselineOption: Parser(
        [
            OptionSpec(
                click.STRING,
                "DATE|FILE",
                "What every period is compared with: the rows up to and including a day, as in "
                "2026-03-31, a file with the cells of a run, such as that of the launch, as "
                "balframe confusion writes them, or a run of a Delta table, as in runs@launch.",
                reads_file=True,
                form=forms.DATE_OR_FILE,
            )
        ],
        lambda line, text: read_stream_baseline(text, line.values["time"], line.by, line.beside),
        panel=OTHERS,
    ),
    ReferenceOption: Parser(
        [
            OptionSpec(
                click.STRING,
                "SEGMENT",
                complete=completion.complete_reference,
                form=forms.DATA_VALUE,
            )
        ],
        _reference,
    ),
    Period: Parser(
        [replace(spec, is_optional=False) for spec in _PERIOD_OPTIONS],
        lambda line, time, every: parse_values.period(time, every),
    ),
    RulesOption: _RULES,
    RulesOption | None: _RULES,
}

_BY_NAME: Mapping[str, Parser] = {
    "cover": Parser(
        [
            OptionSpec(
                FILE,
                "FILE",
                "Read facts about the audit from a .toml file: who made it, when, and for what. "
                "The page shows them below its title, with the SHA-256 of the files of rows.",
                reads_file=True,
                form=forms.COVER,
            ),
            OptionSpec(
                click.STRING,
                "KEY=VALUE",
                "A fact about the audit, such as auditor='Jane Doe', in place of that of "
                "--{name}. Repeat for several.",
                name="note",
                is_repeatable=True,
                form=forms.FACTS,
            ),
        ],
        lambda line, file, notes: read_cover_options(file, notes),
    ),
    "detail": Parser(
        [
            OptionSpec(
                click.BOOL,
                help="{description} It is for tables and Markdown; other formats have all columns.",
            )
        ]
    ),
}


def _by_parser(parameter: Parameter, others: Collection[str]) -> Parser:
    """Read by-columns, and by options of their own, those that are computed."""
    specs = [*_COLUMNS.options]
    if "bins" not in others:
        specs.append(_BINS)
    if "time" not in others:
        specs += _PERIOD_OPTIONS
    if "bf.intersection" in parameter.text:
        specs.append(_INTERSECTION)
    names = [spec.name.format(name=parameter.name) for spec in specs]
    return Parser(
        specs,
        lambda line, *values: parse_values.by_entries(dict(zip(names, values, strict=True))),
    )


def _without_none(of_type: Any) -> Any:  # noqa: ANN401
    """Take None off a type that has only one other member."""
    members = [member for member in get_args(of_type) if member is not type(None)]
    is_union = get_origin(of_type) in (Union, UnionType)
    return members[0] if is_union and len(members) == 1 else of_type


def parser_of(parameter: Parameter, others: Collection[str]) -> Parser:
    """Choose the parser of a parameter: by its name, its type, or the type in its docstring.

    `others` are the names of all parameters.
    """
    if parameter.name == "by":
        return _by_parser(parameter, others)
    if parameter.name in _BY_NAME:
        return _BY_NAME[parameter.name]
    type_text = parameter.type_text.partition(",")[0]
    of_type = parameter.flat_type
    parser = _BY_TYPE.get(_without_none(of_type)) or _BY_TYPE_TEXT.get(type_text)
    if parser is None:
        choices = choices_of(of_type)
        assert choices, f"{parameter.name}: the command line has no parser for {parameter.type}"
        parser = choice_parser(choices, parameter.default)
    return parser
