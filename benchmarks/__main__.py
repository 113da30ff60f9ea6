"""Measure everything and write docs/pages/benchmarks.md.

    python -m benchmarks            # all of it
    python -m benchmarks --quick    # 20 times fewer rows, printed instead of written
    python -m benchmarks compare HEAD~1    # what has become slower or faster since then

Needs the extra `bench`. Nothing is written until all is measured. It goes between two marks; other
sections of the page have marks and scripts of their own.
"""

import argparse
import sys

from benchmarks import compare
from benchmarks.measurements import ROOT, measure
from benchmarks.page import page
from benchmarks.simulated import put

PAGE = ROOT / "docs" / "pages" / "benchmarks.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
QUICK = 20


def main() -> None:
    if sys.argv[1:2] == ["compare"]:
        compare.main(sys.argv[2:])
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help=f"the same as --shrink {QUICK}")
    parser.add_argument("--shrink", type=int, default=1, help="divide the numbers of rows by this")
    asked = parser.parse_args()
    divisor = QUICK if asked.quick else asked.shrink

    written = page(measure(divisor))
    if divisor > 1:
        print(f"\n{written}")
    else:
        put(written.strip(), PAGE, BEGIN, END)
        print(f"\nwrote {PAGE}")


if __name__ == "__main__":
    main()
