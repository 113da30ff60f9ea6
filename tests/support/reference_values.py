"""Reference values of other implementations and of published tables."""

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "reference"


def reference(name):
    """Return the values of a file."""
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
