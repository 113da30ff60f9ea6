"""People with a sex, a race and a selection, as counts: rows for tests of `impact`.

By sex, F 30 of 100 selected, M 60 of 120, unknown 3 of 7. By race, A 62 of 134, B 28 of 75, C 1 of
3, unknown 2 of 15. By both, 208 known, of whom 3 have the race C, and 19 unknown, 4 of these
selected.
"""

SELECTED = {  # selected, and all
    ("F", "A"): (20, 60),
    ("F", "B"): (8, 30),
    ("F", "C"): (1, 2),
    ("F", None): (1, 8),
    ("M", "A"): (40, 70),
    ("M", "B"): (20, 45),
    ("M", "C"): (0, 1),
    ("M", None): (0, 4),
    (None, "A"): (2, 4),
    (None, None): (1, 3),
}
BY = ["sex", "race"]
PEOPLE = {
    "sex": [sex for sex, _ in SELECTED for _ in range(2)],
    "race": [race for _, race in SELECTED for _ in range(2)],
    "s": [1, 0] * len(SELECTED),
    "n": [k for x, n in SELECTED.values() for k in (x, n - x)],
}
ASKED = {"by": BY, "counts": "n", "favourable": "selected"}
