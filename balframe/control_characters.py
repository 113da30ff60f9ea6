"""Text of users, such as names of columns, as a terminal can show it."""

import re


def one_line(text: str) -> str:
    """Write control characters out, which would break the table or steer the terminal."""
    return re.sub("[\x00-\x1f\x7f-\x9f]", lambda found: repr(found[0])[1:-1], text)
