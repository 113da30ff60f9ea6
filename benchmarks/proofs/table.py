"""The rows of the README's table, each with the command that measures it."""

import re
from pathlib import Path
from typing import NewType

Figures = NewType("Figures", str)

README = Path(__file__).parents[2] / "README.md"


def command_of(proof: str) -> str:
    """Return what a reader types."""
    return f"python -m benchmarks.proofs {proof}"


def put(proof: str, figures: Figures, text: str) -> str:
    """Replace the figures in the row of a proof."""
    row = rf"^\| [^|\n]* \| `{re.escape(command_of(proof))}` \|$"
    written, n_rows = re.subn(
        row, lambda _: f"| {figures}. | `{command_of(proof)}` |", text, flags=re.MULTILINE
    )
    if n_rows != 1:
        raise SystemExit(f"the README has {n_rows} rows of `{command_of(proof)}`, not one")
    return written
