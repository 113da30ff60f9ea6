"""Measure everything and write docs/pages/benchmarks.md.

    python -m benchmarks            # all of it
    python -m benchmarks --quick    # 20 times fewer rows, printed instead of written

Needs the extra `bench`. Nothing is written until all is measured. The section about slices stays:
`python -m benchmarks.slices` writes it.
"""

import argparse
from pathlib import Path

from benchmarks.measurements import ROOT, measure
from benchmarks.page import page
from benchmarks.slices import kept

PAGE = ROOT / "docs" / "pages" / "benchmarks.md"
QUICK = 20


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help=f"the same as --shrink {QUICK}")
    parser.add_argument("--shrink", type=int, default=1, help="divide the numbers of rows by this")
    parser.add_argument("--page", type=Path, help="write here, not to the page of the docs")
    asked = parser.parse_args()
    divisor = QUICK if asked.quick else asked.shrink

    written = page(measure(divisor))
    if PAGE.exists():
        written += kept(PAGE.read_text(encoding="utf-8"))
    target = asked.page or (PAGE if divisor == 1 else None)
    if target is None:
        print(f"\n{written}")
    else:
        target.write_text(written, encoding="utf-8")
        print(f"\nwrote {target}")


if __name__ == "__main__":
    main()
