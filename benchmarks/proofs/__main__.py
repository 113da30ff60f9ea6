"""Measure the figures on the first pages, of the repository and of the site, and write them there.

    python -m benchmarks.proofs engines      # two minutes; needs Java and PostgreSQL
    python -m benchmarks.proofs intervals    # two minutes
    python -m benchmarks.proofs speed        # one minute

Needs the extra `bench`.
"""

import argparse
import importlib

from benchmarks.proofs.table import FIRST_PAGES, put

PROOFS = ("engines", "intervals", "speed")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.proofs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("proof", choices=PROOFS)
    proof = parser.parse_args().proof
    figures = importlib.import_module(f"benchmarks.proofs.{proof}").measure()
    for page in FIRST_PAGES:
        page.write_text(put(proof, figures, page.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{figures}.")


if __name__ == "__main__":
    main()
