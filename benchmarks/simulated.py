"""What scripts that write to pages have in common: options, and where their tables go."""

import argparse
from pathlib import Path


def options(description: str | None, of: str, cores: int | None = None) -> argparse.Namespace:
    """Read how many repetitions are asked for, and on how many cores, where there may be several.

    `of` names what is repeated.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, help=f"print the tables of so many {of}")
    if cores is not None:
        parser.add_argument("--cores", type=int, default=cores)
    return parser.parse_args()


def put(made: str, page: Path, begin: str, end: str) -> None:
    """Replace what stands on a page between two marks."""
    before, rest = page.read_text(encoding="utf-8").split(begin)
    page.write_text(f"{before}{begin}\n{made}\n{end}{rest.split(end)[1]}", encoding="utf-8")
