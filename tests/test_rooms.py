"""Where files lie: rooms are folders without code of their own, and file names differ."""

from collections import Counter
from pathlib import Path

HOUSE = Path(__file__).parents[1] / "balframe"
LIBRARIES = HOUSE / "frames" / "libraries"


def test_the_init_files_of_rooms_are_empty():
    inits = [path for path in HOUSE.rglob("__init__.py") if path.parent != HOUSE]

    assert len(inits) > 10
    assert [path for path in inits if path.read_text("utf-8")] == []


def test_no_two_files_have_one_name_unless_they_do_the_same():
    names = Counter(
        path.name
        for path in HOUSE.rglob("*.py")
        if path.name != "__init__.py" and LIBRARIES not in path.parents
    )

    assert {name for name, times in names.items() if times > 1} == set()
