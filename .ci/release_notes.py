"""Print what the changelog says of a tag, such as v1.0.0.

Tag, package and changelog have to agree.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
_VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)
_SECTION = r"^## \[{}\] - \d{{4}}-\d{{2}}-\d{{2}}\n(.*?)(?=^## |\Z)"


def notes(tag: str, package: str, changelog: str) -> str:
    """Return the section of the changelog on a tag, such as v1.0.0."""
    declared = _VERSION.search(package)
    if declared is None or tag != f"v{declared[1]}":
        raise SystemExit(f"the tag is {tag}, and the package v{declared and declared[1]}")
    section = re.search(
        _SECTION.format(re.escape(declared[1])), changelog, re.MULTILINE | re.DOTALL
    )
    if section is None or not section[1].strip():
        raise SystemExit(f"the changelog has no section '## [{declared[1]}] - YYYY-MM-DD'")
    return section[1].strip() + "\n"


if __name__ == "__main__":
    package, changelog = (
        (ROOT / name).read_text("utf-8") for name in ("balframe/__init__.py", "CHANGELOG.md")
    )
    sys.stdout.write(notes(sys.argv[1], package, changelog))
