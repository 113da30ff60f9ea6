"""What the shell offers after an option: columns of the files typed so far, metrics, references.

A shell asks at every press of a key: whatever is wrong with the files, nothing is offered, and
nothing is written. Each function loads what it needs, because options name all of them.
"""

import os
import re
import warnings
from typing import TYPE_CHECKING

import click

from balframe.cli import process

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def complete_metric(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> "list[CompletionItem]":
    """Offer the metrics with their first sentences, after `acc=` too."""
    from click.shell_completion import CompletionItem

    from balframe.metrics.lookup import registered_metrics
    from balframe.metrics.registry import PRESETS

    alias, mark, _ = incomplete.rpartition("=")
    meanings = {metric.name: metric.meaning for metric in registered_metrics()}
    meanings |= dict.fromkeys(PRESETS, "preset")
    words = {f"{alias}{mark}{name}": meaning for name, meaning in meanings.items()}
    return [
        CompletionItem(word, help=meaning)
        for word, meaning in words.items()
        if word.startswith(incomplete)
    ]


def complete_reference(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Offer the keywords that stand for a segment."""
    from balframe.api.option_types import REFERENCE_KEYWORDS

    return [word for word in REFERENCE_KEYWORDS if word.startswith(incomplete)]


def complete_column(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Offer the columns of the first file."""
    files = [*(ctx.params.get("files") or ()), *ctx.args]  # args: where an option lacks its value
    paths = [os.path.expandvars(os.path.expanduser(file)) for file in files if file != "-"]
    names = _column_names(paths[0]) if paths else []
    names = [name for name in names if name.startswith(incomplete)]
    if os.environ.get("_BALFRAME_COMPLETE") == "bash_complete":
        # Other shells quote by themselves. Of two backslashes, click's script takes one.
        return [re.sub(r"([^\w@%+=:,./-])", r"\\\\\1", name) for name in names]
    return names


def _column_names(file: str) -> list[str]:
    from balframe.cli.files.open_files import Input, open_input
    from balframe.cli.files.paths import is_url
    from balframe.cli.files.read_errors import without_panic_output

    if is_url(file):  # which may take long to answer
        return []
    try:
        with warnings.catch_warnings(), without_panic_output(), process.interruptible():
            warnings.simplefilter("ignore")
            with open_input(Input([file])) as opened:
                return opened.rows.collect_schema().names()
    except Exception:
        return []
