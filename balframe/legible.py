"""Texts without characters that no file or page should hold."""

import re

# Controls, halves of surrogates, what Unicode says is no character, and what turns the direction of
# a text beyond its end. The marks of names are among the last: where they still stand, they are not
# in pairs.
_NOT_LEGIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef"
    + "".join(
        f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
    )
    + "]"
)


def legible(text: str) -> str:
    """Replace what cannot be read."""
    return _NOT_LEGIBLE.sub("\N{REPLACEMENT CHARACTER}", text)
