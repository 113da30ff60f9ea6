"""Words of the help, in which Rich takes brackets for styles."""


def literal(text: str) -> str:
    """Have Rich show a text as it is; a text without brackets does not need Rich."""
    if "[" not in text:
        return text
    from rich.markup import escape

    return escape(text)
