"""Pages as Jupyter notebooks: their prose and code as cells, executed, with the outputs.

A notebook has nothing that its page has not. Blocks that the page hides are cells whose code is
folded in, and a file that the page shows is written by a cell.
"""

import asyncio
import os
import re
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sybil import Document

import balframe

from . import links
from .running import BLOCKS, EXIT_CODE, INFO, MARKERS, NAME_AND_CAPTION, examples_of_doctest

PAGES = (
    "tutorial.md",
    "how-to/audit.md",
    "how-to/compare-releases.md",
    "how-to/evaluate-llms.md",
    "how-to/worst-slices.md",
)
SECONDS = 300  # that a cell may take

_ANCHOR = re.compile(r"^(#+ .*?) *\{ *#[\w-]+ *\}$", re.MULTILINE)
_TAB = re.compile(r'^=== "(.+)"$', re.MULTILINE)
_DIRECTIVE = re.compile(r" *# doctest:.*")
_OPENED = re.compile(r"<!--\s*\Z")  # a comment, which hides the block behind it
_CLOSED = re.compile(r"\A\s*-->")
_SETTINGS = (  # pictures are shown without a network or trust; commands write without an animation
    "import altair; altair.renderers.enable('png')",
    "import os; os.environ.pop('FORCE_COLOR', None)",
)
_KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def name_of(page: str) -> str:
    """Return the name of a page's notebook, which is beside it."""
    return page.removesuffix(".md") + ".ipynb"


def every(pages: Path, site: str | None) -> dict[str, str]:
    """Return all notebooks as JSON by their names, with links to the site."""
    texts = {page: (pages / page).read_text(encoding="utf-8") for page in PAGES}
    return _executed(tuple(texts.items()), site)


@cache
def _executed(texts: tuple[tuple[str, str], ...], site: str | None) -> dict[str, str]:
    made = {page: converted(text, page, site) for page, text in texts}
    asyncio.run(_execute_all([*made.values()]))
    return {name_of(page): nbformat.writes(notebook) + "\n" for page, notebook in made.items()}


async def _execute_all(made: list[NotebookNode]) -> None:
    for error in await asyncio.gather(*map(execute, made), return_exceptions=True):
        if error is not None:
            raise error


def converted(text: str, page: str, site: str | None = None) -> NotebookNode:
    """Make the cells of a page, without their outputs."""
    root = site if site is not None else "../" * page.count("/")
    cells = [_origin(page, root), *_cells(text, page, root)]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # the same in every build
    return new_notebook(cells=cells, metadata={"kernelspec": _KERNEL})


def _origin(page: str, root: str) -> NotebookNode:
    version = balframe.__version__
    return new_markdown_cell(
        f"This notebook is [a page of the documentation]({root}{links.address(page)}) of balframe "
        f"{version}. Its code needs the extras `audit`, `cli`, `pandas`, `plot` and `table`."
    )


def _cells(text: str, page: str, root: str) -> Iterator[NotebookNode]:
    place, hides = 0, False
    for block in BLOCKS(Document(text, page)):
        code = _code(block.lexemes["info"].strip(), block.lexemes["source"])
        if not code:
            continue
        prose = text[place : block.start]
        yield from _prose(_CLOSED.sub("", prose) if hides else prose, page, root)
        hides, place = bool(_OPENED.search(prose)), block.end
        for cell in code:
            if hides:
                cell["metadata"]["jupyter"] = {"source_hidden": True}
            yield cell
    prose = text[place:]
    yield from _prose(_CLOSED.sub("", prose) if hides else prose, page, root)


def _prose(text: str, page: str, root: str) -> Iterator[NotebookNode]:
    """Make cells of Markdown, and one of code where the page shows a chart or table."""
    place = 0
    for marker in MARKERS.finditer(text):
        found = NAME_AND_CAPTION.fullmatch(marker["rest"])
        if found is None or marker["kind"] != "chart":
            raise ValueError(f"{page}: {marker[0]} cannot be in a notebook.")
        yield from _markdown(text[place : marker.start()], page, root)
        yield new_code_cell(found["name"])
        yield from _markdown(f"*{found['caption']}*", page, root)
        place = marker.end()
    yield from _markdown(_OPENED.sub("", text[place:]), page, root)


def _markdown(text: str, page: str, root: str) -> Iterator[NotebookNode]:
    shown = links.outside_of_code(_ANCHOR, r"\1", text)
    shown = links.outside_of_code(_TAB, r"**\1**", shown)
    if shown.strip():
        yield new_markdown_cell(links.from_root(shown, page, root).strip())


def _code(info: str, source: str) -> list[NotebookNode]:
    """Make the cells of a block, or none if the block is only shown."""
    found = INFO.fullmatch(info)
    if found is None:
        return []
    if found["title"] is not None:
        return [new_code_cell(f"%%writefile {found['title']}\n{source}".rstrip())]
    if found["language"] == "pycon":
        return [*_examples(source)]
    if found["language"] == "python":
        return [new_code_cell(source.rstrip())]
    if found["language"] == "sh":
        fails = " --no-raise-error" if EXIT_CODE.search(source) else ""
        return [new_code_cell(f"%%bash{fails}\n{source}".rstrip())]
    return []


def _examples(source: str) -> Iterator[NotebookNode]:
    """Make a cell of the lines up to each output, for a cell shows its last value only."""
    lines: list[str] = []
    examples = [region.parsed for region in examples_of_doctest(source, "")]
    for example in examples:
        lines.append(_DIRECTIVE.sub("", example.source.rstrip()))
        if example.want or example is examples[-1]:
            cell = new_code_cell("\n".join(lines))
            if example.exc_msg is not None:
                cell["metadata"]["tags"] = ["raises-exception"]
            yield cell
            lines = []


async def execute(notebook: NotebookNode) -> None:
    """Run the cells in an empty folder, and put their outputs into the notebook."""
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    settings = [f"--InteractiveShellApp.exec_lines={line}" for line in _SETTINGS]
    with TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            record_timing=False,
            resources={"metadata": {"path": folder}},
            coalesce_streams=True,
            extra_arguments=["--log-level=ERROR", *settings],
        )
        await client.async_execute(env=os.environ | {"PATH": path})
