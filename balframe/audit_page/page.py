"""A page to hand over, which saves itself as HTML and as Markdown."""

import os
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path

from balframe._atomic_write import check_place, replace
from balframe._text import replace_illegible
from balframe._traceback import short_traceback
from balframe.audit_page.document import Document
from balframe.audit_page.render_markdown import render_markdown
from balframe.audit_page.text import render_isolates
from balframe.errors import InvalidInputError, MissingExtraError, listed, parameter
from balframe.frames.engines.registry import check_installed

_HTML, _MARKDOWN = (".html", ".htm"), (".md", ".markdown")
_FRAME = (
    '<iframe title="{title}" sandbox="" srcdoc="{page}" '
    'style="width:100%;height:44rem;border:1px solid #8888"></iframe>'
)


def check_can_be_html() -> None:
    """Raise if there is nothing to write HTML with."""
    check_installed("jinja2", "audit", "pages of audit")


@dataclass(frozen=True, slots=True, repr=False)
class Page:
    """A page about the calls of a classifier, as `audit` makes it.

    In a notebook it shows itself. The same counts and options give the same bytes.

    Attributes
    ----------
    document : Document
        What the page says: its title, sections and blocks.
    """

    document: Document

    @short_traceback
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, as a whole or not at all.

        Parameters
        ----------
        path : str or path
            Where to. A path that ends in `.html` or `.htm` is written as HTML, one that ends in
            `.md` or `.markdown` as Markdown. A file that is there is replaced.

        Raises
        ------
        InvalidInputError
            If the path has another ending, is a directory, or lies in a folder that does not exist.
        MissingExtraError
            If HTML is requested and jinja2 is not installed.
        """
        out = Path(path)
        extension = out.suffix.lower()
        if extension not in _HTML + _MARKDOWN:
            raise InvalidInputError(
                "{path} has none of the extensions that a page can have. Use one of {} for HTML or "
                "{} for Markdown.",
                listed(_HTML),
                listed(_MARKDOWN),
                path=str(out),
            )
        check_place(out, parameter("path", str(out)))
        text = self.html() if extension in _HTML else self.markdown()
        replace(out, text.encode())

    @short_traceback
    def html(self) -> str:
        """Return the page as one file of HTML, which holds no script and loads nothing.

        Returns
        -------
        str
            A whole document, with its style inside.

        Raises
        ------
        MissingExtraError
            If jinja2 is not installed.
        """
        check_can_be_html()
        from balframe.audit_page.render_html import render_html

        return render_html(self.document)

    @short_traceback
    def markdown(self) -> str:
        """Return the page as Markdown, for a pull request or a model card.

        Returns
        -------
        str
            The same sentences and numbers, without the plots, in the Markdown of GitHub.
        """
        return render_markdown(self.document)

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame that keeps its style to itself."""
        return _FRAME.format(title=escape(self._title()), page=escape(self.html()))

    def _title(self) -> str:
        return render_isolates(self.document.title, replace_illegible, replace_illegible)

    def __repr__(self) -> str:
        """Return what the page is about, how many sections it has, and how large it is."""
        parts = [repr(self._title()), f"{len(self.document.sections)} sections"]
        with suppress(MissingExtraError):
            parts.append(f"{len(self.html().encode()) / 1000:.0f} kB")
        return f"Page({', '.join(parts)})"
