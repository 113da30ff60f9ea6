"""Links between pages, for what is read outside of the site: notebooks and texts."""

import posixpath
import re

_CODE = re.compile(r"^[ \t]*```.*?^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
_TARGET = re.compile(r"(?<=\]\()(?![\w+-]+:|/)(?P<path>[^)#\s]*)(?P<anchor>#[^)\s]*)?(?=\))")


def outside_of_code(pattern: re.Pattern[str], new: object, text: str) -> str:
    """Replace what matches, but not in blocks of code."""
    code = [*_CODE.findall(text), ""]
    prose = [pattern.sub(new, part) for part in _CODE.split(text)]  # type: ignore[call-overload]
    return "".join(part + block for part, block in zip(prose, code, strict=True))


def address(page: str) -> str:
    """Return where the site has a page, of Markdown or not, below its root."""
    return page.removesuffix(".md") + ".html" if page.endswith(".md") else page


def from_root(text: str, page: str, root: str) -> str:
    """Let the links of a page begin with `root`: the address of the site, or the way to it."""

    def target(link: re.Match[str]) -> str:
        path = posixpath.join(posixpath.dirname(page), link["path"]) if link["path"] else page
        return f"{root}{address(posixpath.normpath(path))}{link['anchor'] or ''}"

    return outside_of_code(_TARGET, target, text)
