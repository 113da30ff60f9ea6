"""How docstrings are read: a choice `{"a", "b"}` is shown as it is written.

Griffe alone would take the first of the options for the default, whatever the signature says.
"""

import re

from griffe import Extension, Object

_CHOICE = re.compile(r"^( *\w+ : )\{(.+?)\}", re.MULTILINE)


class Choices(Extension):
    """Turn choices into words, before docstrings are parsed."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = _CHOICE.sub(_in_words, obj.docstring.value)


def _in_words(choice: re.Match[str]) -> str:
    several = "one of " if "," in choice[2] else "only "
    return choice[1] + several + choice[2]
