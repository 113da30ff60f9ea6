"""What stands in the place of a value of a by-column where there is none."""

MISSING, ALL, TOTAL = "(missing)", "(all)", "Total"


def told_apart(text: str) -> str:
    """Quote a text of the data that looks like a placeholder."""
    return f'"{text}"' if text in (MISSING, ALL) else text
