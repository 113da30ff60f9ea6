"""Measure the figures of the README, and write them there. The site's first page reads them.

    python -m benchmarks.proofs engines      # one minute; needs Java and PostgreSQL
    python -m benchmarks.proofs families     # ten minutes
    python -m benchmarks.proofs intervals    # three minutes
    python -m benchmarks.proofs speed        # one minute

Needs the extra `bench`.
"""

import argparse
import importlib

from benchmarks.proofs.table import README, put

PROOFS = ("engines", "families", "intervals", "speed")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.proofs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("proof", choices=PROOFS)
    proof = parser.parse_args().proof
    figures = importlib.import_module(f"benchmarks.proofs.{proof}").measure()
    README.write_text(put(proof, figures, README.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{figures}.")


if __name__ == "__main__":
    main()
