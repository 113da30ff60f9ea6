"""What the site adds to MkDocs: charts, pages of audits, and what is read from the package."""

import re
from functools import cache
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from . import charts, generated, made_pages, sample_pages

_GENERATED = re.compile(r"^<!-- generated: (.+) -->$", re.MULTILINE)
_HIDDEN = re.compile(r"^[ \t]*<!--\n[ \t]*```.*?\n[ \t]*-->$", re.MULTILINE | re.DOTALL)

_script = cache(charts.script)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages that the package lists into the navigation."""
    config.nav = made_pages.navigation(config.nav)
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the script that draws charts, pages of audits, and pages without a file of their own."""
    files.append(File.generated(config, charts.SCRIPT, content=_script()))
    for path, text in sample_pages.every(Path(config.docs_dir)).items():
        files.append(File.generated(config, path, content=text))
    for page in made_pages.every():
        if files.get_file_from_path(page.path) is None:
            files.append(File.generated(config, page.path, content=page.text))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Leave out the blocks that are only run, and put in what is generated as its own blocks."""
    shown = _HIDDEN.sub("", markdown)
    return _GENERATED.sub(lambda marker: f"\n{generated.part(marker[1])}\n", shown)


def on_page_content(html: str, *, page: Page, **_: object) -> str:
    """Put in charts and tables, and the script where there are charts."""
    try:
        shown = charts.put_into(html, Path(str(page.file.abs_src_path)))
    except Exception as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from error
    if '<figure class="chart">' not in shown:
        return shown
    return f'{shown}<script src="{get_relative_url(charts.SCRIPT, page.url)}"></script>'
