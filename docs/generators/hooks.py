"""What the site adds to MkDocs: charts, pages of audits, and what is read from the package."""

import os
import re
from functools import cache
from pathlib import Path, PurePosixPath

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from . import charts, generated, llms, made_pages, notebooks, sample_pages
from .running import HIDDEN

_TITLE_ENDS = "</h1>"
_TO_OVERVIEW = re.compile(r"\[(`(?:plot\.)?(\w+)`)\]\(([./\w]*)(methods|plots)\.md\)")

_script = cache(charts.script)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages that the package lists into the navigation.

    What mike builds has a switch of versions. Other builds have none, as they are read without a
    server too, and have no list of versions beside them.
    """
    config.nav = made_pages.navigation(config.nav)
    if "MIKE_DOCS_VERSION" in os.environ:
        config.extra["version"] = {"provider": "mike"}
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the script of charts, pages of audits, notebooks, and pages without a file."""
    folder = Path(config.docs_dir)
    made = {
        charts.SCRIPT: _script(),
        **sample_pages.every(folder),
        **notebooks.every(folder, _root(config)),
    }
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    for page in made_pages.every():
        if files.get_file_from_path(page.path) is None:
            files.append(File.generated(config, page.path, content=page.text))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Leave out the blocks that are only run, and put in what is generated as its own blocks.

    A method or chart whose page is no file is linked to, too: files can only name the overview.
    """
    pages = {page.path for page in made_pages.every()}

    def to_page(link: re.Match[str]) -> str:
        text, name, above, folder = link.groups()
        is_page = f"reference/{folder}/{name}.md" in pages
        return f"[{text}]({above}{folder}/{name}.md)" if is_page else link[0]

    shown = _TO_OVERVIEW.sub(to_page, HIDDEN.sub("", markdown))
    return generated.MARKER.sub(lambda marker: f"\n{generated.part(marker[1])}\n", shown)


def on_page_content(html: str, *, page: Page, **_: object) -> str:
    """Put in charts and tables, the script where there are charts, and a link to the notebook."""
    if page.file.src_uri in notebooks.PAGES:
        html = html.replace(_TITLE_ENDS, f"{_TITLE_ENDS}\n{_to_notebook(page.file.src_uri)}", 1)
    try:
        shown = charts.put_into(html, Path(str(page.file.abs_src_path)))
    except Exception as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from error
    if '<figure class="chart">' not in shown:
        return shown
    return f'{shown}<script src="{get_relative_url(charts.SCRIPT, page.url)}"></script>'


def on_env(env: Environment, *, config: MkDocsConfig, files: Files) -> Environment:
    """Add the texts for language models, as all pages have their Markdown now."""
    texts = {file.src_uri: file.page.markdown or "" for file in files.documentation_pages()}
    every = list(llms.pages(config.nav, texts))
    about = config.site_name, config.site_description, every, _root(config) or ""
    for name, written in {llms.LIST: llms.listed, llms.FULL: llms.full}.items():
        files.append(File.generated(config, name, content=written(*about)))
    return env


def on_post_template(output: str, *, template_name: str, config: MkDocsConfig) -> str:
    """List the home page of the sitemap as the folder of the version.

    The switch of versions leads to the same page of another version only if the folder is listed.
    """
    root = _root(config)
    if template_name != "sitemap.xml" or root is None:
        return output
    return output.replace(f"<loc>{root}index.html</loc>", f"<loc>{root}</loc>")


def _root(config: MkDocsConfig) -> str | None:
    """Return the address of the site if it is known."""
    return f"{config.site_url.rstrip('/')}/" if config.site_url else None


def _to_notebook(page: str) -> str:
    name = PurePosixPath(notebooks.name_of(page)).name
    return f'<p><a href="{name}" download>Download this page as a notebook</a></p>'
