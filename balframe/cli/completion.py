"""What the shell offers behind an option: columns of the files typed so far, metrics, references.

A shell asks at every press of a key: whatever is wrong with the files, nothing is offered, and
nothing is written.
"""

import os
import re
import warnings
from collections.abc import Sequence

import typer

from balframe.api.option_types import REFERENCE_KEYWORDS
from balframe.cli import interrupts
from balframe.cli.files.open_files import Input, opened
from balframe.cli.panics import without_panics
from balframe.metrics.lookup import registered
from balframe.metrics.registry import PRESETS


def metrics(incomplete: str) -> list[tuple[str, str]]:
    """Offer the metrics with their first sentences, behind `acc=` too."""
    name, mark, _ = incomplete.rpartition("=")
    names = {one.name: one.meaning for one in registered()} | dict.fromkeys(PRESETS, "preset")
    return [(f"{name}{mark}{metric}", meaning) for metric, meaning in names.items()]


def references() -> list[str]:
    """Offer the words that stand for a segment."""
    return list(REFERENCE_KEYWORDS)


def columns(ctx: typer.Context) -> list[str]:
    """Offer the columns of the first file."""
    files = [*(ctx.params.get("files") or ()), *ctx.args]  # args: where an option lacks its value
    paths = [os.path.expandvars(os.path.expanduser(one)) for one in files if one != "-"]
    names = _columns_of(paths[:1])
    if os.environ.get("_BALFRAME_COMPLETE") == "complete_bash":  # other shells quote by themselves
        return [re.sub(r"([^\w@%+=:,./-])", r"\\\1", name) for name in names]
    return names


def _columns_of(files: Sequence[str]) -> list[str]:
    if not files:
        return []
    try:
        with warnings.catch_warnings(), without_panics(), interrupts.raised():
            warnings.simplefilter("ignore")
            with opened(Input(files)) as found:
                return found.rows.collect_schema().names()
    except Exception:
        return []
