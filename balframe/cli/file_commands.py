"""Commands over files: their options, and the values that these give the parameters."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from inspect import getdoc
from typing import Any

import click
import polars as pl

from balframe.api.method import Parameter
from balframe.api.settings import settings_of_call
from balframe.cli.baseline_files import is_file, is_stored_run
from balframe.cli.command import Command, CommandArgument, CommandOption, either
from balframe.cli.config.configured_command import ConfiguredCommand, config_options, config_path
from balframe.cli.files.column_types import NAMED_TYPES, Roles, read_types, with_common_types
from balframe.cli.files.formats import FORMATS, titles
from balframe.cli.files.logs import read_eval_options
from balframe.cli.files.open_files import Input
from balframe.cli.option_parser import CommandLine
from balframe.cli.options import option_name, option_values, parameter_options
from balframe.cli.parse_values import not_separated, read_dates
from balframe.cli.run import one_line_errors
from balframe.cli.threshold_option import (
    predict_at_threshold,
    predict_in_baseline,
    threshold_option,
)
from balframe.cli.toml.forms import TYPES, named_files

# Examples in the help of commands, made of what the parameters declare.


_FILE = "predictions.csv"
_NEEDED: Mapping[str, str] = {  # where a parameter is required
    "y_true": "--y-true actual",
    "y_pred": "--y-pred predicted",
    "y_score": "--y-score score",
    "by": "--by group",
    "time": "--time day --every 1mo",
    "baseline": "--baseline 2026-06-30",
    "table": "--table runs",
    "run": "--run 2026-11-01",
    "rules": "--rule 'accuracy >= 0.7'",
}
_FILES: Mapping[str, str] = {
    "diff": "old.csv new.csv",
    "diff-slices": "old.csv new.csv",
}
_OF_COMMANDS: Mapping[str, str] = {  # what declarations do not show
    "compare": "--y-pred other",
    "impact": "--selected predicted --favourable selected",
    "slices": "--over group --over age",
    "diff-slices": "--over group --over age",
}
_PAIRS: Mapping[str, tuple[str, str]] = {  # commands that return no table: what each example adds
    "audit": ("--by group --out audit.html", "--by group --rule 'accuracy >= 0.7' --out audit.md"),
    "store": ("--by group --date 2026-11-01", "--by group --time day --replace"),
}
_OUT: Mapping[str, str] = {"check": "verdicts.md", "diff": "diff.md"}


def command_examples(
    name: str,
    parameters: Mapping[str, Parameter],
    options: Sequence[CommandOption],
    output: Sequence[CommandOption],
) -> list[str]:
    """Return the shortest use of a command, and one with more options."""
    needed = [text for key, text in _NEEDED.items() if _is_needed(parameters, key)]
    files, own = _FILES.get(name, _FILE), _OF_COMMANDS.get(name)
    words = [f"balframe {name} {files}", *needed, *([] if own is None else [own])]
    if name in _PAIRS:
        return [" ".join([*words, added]) for added in _PAIRS[name]]
    more = []
    if "by" in parameters and not parameters["by"].is_required:
        more.append(_NEEDED["by"])
    if any(option.name == "interval" and option.is_flag for option in options):
        more.append("--interval")
    if any(option.name == "out" for option in output):
        more.append(f"--out {_OUT.get(name, f'{name}.csv')}")
    return [" ".join(words), " ".join([*words, *more])]


def _is_needed(parameters: Mapping[str, Parameter], name: str) -> bool:
    """Return whether a parameter is required; of predictions or scores, these are predictions."""
    if name not in parameters:
        return False
    return parameters[name].is_required or (name == "y_pred" and "y_score" in parameters)


# What the columns of parameters are for; those of others are names, too.
_LABELS = ("y_true", "y_pred", "selected", "verdict", "baseline")
_GROUPS = ("by", "over", "cluster")
_NUMBERS = ("y_score", "score", "outcome", "sample_weight", "counts", "label_probability")

_OF_FILES = ("baseline", "expect")  # parameters that may be rows of other files

Run = Callable[[Input, dict[str, Any]], None]


def file_command(
    function: Callable[..., Any],
    run: Run,
    parameters: Mapping[str, Parameter],
    output: Sequence[CommandOption],
    *,
    panel: str,
    note: str = "",
) -> Command:
    """Make the command of a function, which runs with files and with the values of options."""
    options = function_options(parameters)

    def callback(**values: Any) -> None:  # noqa: ANN401 (of each option)
        reading = [values[str(option.name)] for option in options if option.reads_file]
        config = config_path(click.get_current_context())
        source = Input(
            values.pop("files"),
            values.pop("input_format"),
            values.pop("separator"),
            _column_names(parameters, values),
            values.get("out"),
            [
                *([] if config is None else [str(config)]),
                *(
                    str(file)
                    for value in reading
                    for item in option_values(value)
                    for file in named_files(item)
                ),
            ],
            values["null"] or (),
        )
        with settings_of_call():  # options are the parts of values
            with one_line_errors():
                evals = read_eval_options(values["eval"] or ())
                source = replace(source, roles=_roles(parameters, values), evals=evals)
            run(source, values)

    name = function.__name__.replace("_", "-")
    summary, *_ = (getdoc(function) or "").split("\n\n")
    return ConfiguredCommand(
        name,
        callback,
        [_files_argument(), *options, *input_options(), *output, *config_options()],
        help=f"{summary}\n\n{note}".rstrip(),
        panel=panel,
        examples=command_examples(name, parameters, options, output),
    )


def _roles(parameters: Mapping[str, Parameter], values: Mapping[str, Any]) -> Roles:
    """Return what columns are for: a threshold turns scores into labels, and bins cut numbers."""

    def named(options: Collection[str]) -> list[str]:
        return [name for option in options for name in option_values(values.get(option))]

    scores = [] if values.get("threshold") is None else named(("y_pred", "baseline"))
    bins = [text for text in option_values(values.get("bins")) if isinstance(text, str)]
    cut = [text.rpartition("=")[0] for text in bins if not text.endswith("=none")]
    return Roles(
        named(_LABELS),
        named(_GROUPS),
        [*named(_NUMBERS), *scores, *cut],
        named(("over",)),
        "over" in parameters and values.get("over") is None,
        read_types(values["type"] or ()),
        [*named(("outcome",)), *scores],
    )


def function_options(parameters: Mapping[str, Parameter]) -> list[CommandOption]:
    """Make the options of parameters, and that which turns scores into predictions."""
    members = parameter_options(parameters)
    options = [option for member in members for option in member.options(parameters)]
    return [*options, *([threshold_option()] if "y_pred" in parameters else [])]


def _files_argument() -> CommandArgument:
    formats = [title.upper() if title.islower() else title for title in titles()]
    return CommandArgument(
        "files",
        help=f"{either(formats)} files, folders of such files, patterns such as "
        "'day=*/*.parquet', or - for standard input.",
        metavar="FILES...",
        nargs=-1,
        required=True,
        type=click.Path(readable=False),
    )


def input_options() -> list[CommandOption]:
    """Make the options that describe the files."""
    return [
        CommandOption(
            "--input-format",
            panel="Input",
            help=f"One of {either(list(FORMATS))}. By default it follows from the file "
            "extension or, for standard input, from the first bytes.",
            metavar="FORMAT",
            type=click.Choice(list(FORMATS)),
        ),
        CommandOption(
            "--separator",
            panel="Input",
            help="Character that separates the fields of csv, such as ';' or tab. By default it "
            "is detected.",
            metavar="CHARACTER",
        ),
        CommandOption(
            "--null",
            panel="Input",
            help="Text that means that there is no value, such as NA or '?', in csv, JSON and "
            "xlsx, and in files beside them. An empty field of csv always does. Repeat for "
            "several.",
            metavar="TEXT",
            multiple=True,
        ),
        CommandOption(
            "--type",
            panel="Input",
            help=f"Type of a column, one of {either(list(NAMED_TYPES))}, such as version=str. By "
            "default, a column of text that names something has whole numbers or texts. Repeat "
            "for several.",
            metavar="COLUMN=TYPE",
            multiple=True,
            form=TYPES,
        ),
        CommandOption(
            "--eval",
            panel="Input",
            help="How logs of evaluations are read: metric=NAME for one of several, category=FIELD "
            "of the metadata, errors=fail to count errors as failed, or invalid=drop. Repeat for "
            "several.",
            metavar="KEY=VALUE",
            multiple=True,
            form=TYPES,
        ),
    ]


def _column_names(parameters: Mapping[str, Parameter], values: Mapping[str, Any]) -> list[str]:
    """List the columns that options name, each as often as they do."""
    names: list[str] = []
    for name, parameter in parameters.items():
        value = values.get(name)
        if "column name" in parameter.type_text and value is not None:
            names += value if isinstance(value, list) else [value]
    if "time" not in parameters and values.get("time") is not None:  # it is in by
        names.append(values["time"])
    baseline = values.get("baseline")
    is_column = baseline is None or not (is_file(baseline) or is_stored_run(baseline))
    return [name for name in names if name != baseline or is_column]


def _check_separate_names(
    parameters: Mapping[str, Parameter], columns: Collection[str], values: Mapping[str, Any]
) -> None:
    """Raise where names of columns are separated by commas, instead of given one by one."""
    for name, parameter in parameters.items():
        value = values.get(name)
        if "column name" in parameter.type_text and isinstance(value, list):
            for text in value:
                names = [part.strip() for part in text.split(",")]
                if text not in columns and len(names) > 1 and {*names} <= {*columns}:
                    raise not_separated("column", option_name(name), text, names)


def rows_and_arguments(
    parameters: Mapping[str, Parameter], rows: pl.LazyFrame, values: Mapping[str, Any]
) -> tuple[pl.LazyFrame, dict[str, Any]]:
    """Return rows with their predictions, and the arguments that options give parameters."""
    _check_separate_names(parameters, rows.collect_schema(), values)
    if values.get("threshold") is not None:
        columns = _column_names(parameters, values)
        rows = predict_at_threshold(rows, values["threshold"], values, columns)
    beside = Input(
        (),
        columns=_column_names(parameters, values),
        null_values=values["null"] or (),
        roles=_roles(parameters, values).of_cells(),
        is_beside=True,
    )
    line = CommandLine(values, read_dates(rows, values.get("time")), beside)
    members = parameter_options(parameters)
    own = {m.parameter.name: m.value(line) for m in members if m.parameter.name in _OF_FILES}
    frames = {name: value for name, value in own.items() if isinstance(value, pl.DataFrame)}
    rows, frames = with_common_types(line.rows, frames, beside.columns, beside.roles)
    line = replace(line, rows=rows)
    arguments = {
        name: frames[name] if name in frames else member.value(line)
        for member in members
        for name in [member.parameter.name]
    }
    baseline = arguments.get("baseline")
    if values.get("threshold") is not None and isinstance(baseline, pl.DataFrame):
        arguments["baseline"] = predict_in_baseline(baseline, values["threshold"], values)
    return line.rows, arguments
