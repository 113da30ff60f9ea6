"""Two texts for language models, after llmstxt.org: a list of the pages, and all their Markdown."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import yaml

from . import links
from .running import MARKERS, NAME_AND_CAPTION

LIST, FULL = "llms.txt", "llms-full.txt"
GENERAL = "General"  # the section of pages that are in none

_DESCRIBED = re.compile(r"^::: (?P<path>[\w.]+)\n(?P<options>(?:[ \t]+.*\n)*)", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_ATTRIBUTES = re.compile(r" *\{ *#[\w-]+ *\}$", re.MULTILINE)
_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\([^)]*\)")
_SENTENCE = re.compile(r".*?[.!?:](?=\s|$)", re.DOTALL)
_TITLE = re.compile(r"\A# (?:\w+\.)?(?P<name>\w+)(?: \{|$)", re.MULTILINE)
_NO_PROSE = re.compile(r"[#|<>*=:-]|```|\d+\.|!\[")


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the navigation: its section, title, path, Markdown and first sentence."""

    section: str
    title: str
    path: str
    text: str
    about: str


def pages(nav: list, texts: dict[str, str], section: str = "") -> Iterator[Page]:
    """List the pages of a navigation in order, with their Markdown by path."""
    for title, target in (one for item in nav for one in item.items()):
        if isinstance(target, list):
            yield from pages(target, texts, f"{section}: {title}" if section else title)
        else:
            text = texts[target]
            yield Page(section or GENERAL, title, target, filled(text), sentence(text))


def filled(text: str) -> str:
    """Put docstrings and captions in the places of what only the site can show."""
    described = _DESCRIBED.sub(_description, text if text.endswith("\n") else f"{text}\n")
    for pattern, new in ((MARKERS, _caption), (_COMMENT, ""), (_ATTRIBUTES, "")):
        described = links.outside_of_code(pattern, new, described)
    return described.strip()


def _caption(marker: re.Match[str]) -> str:
    found = NAME_AND_CAPTION.fullmatch(marker["rest"])
    return f"*Figure: {found['caption']}*" if found else ""


def _object(path: str) -> Any:  # noqa: ANN401
    module, name = path.rsplit(".", 1)
    return getattr(import_module(module), name)


def _doc(described: object) -> str:
    return inspect.getdoc(described) or ""


def _description(directive: re.Match[str]) -> str:
    described = _object(directive["path"])
    options = (yaml.safe_load(directive["options"]) or {}).get("options", {})
    members = [getattr(described, member) for member in options.get("members") or []]
    return "\n".join(_signature_and_docstring(one) for one in [described, *members])


def _signature_and_docstring(described: Any) -> str:  # noqa: ANN401
    heading = ""
    if callable(described):
        heading = f"{described.__name__}({', '.join(map(str, _parameters(described)))})\n\n"
    return f"```text\n{heading}{_doc(described)}\n```\n"


def _parameters(described: Any) -> list[inspect.Parameter]:  # noqa: ANN401
    """List parameters without their types, which the docstring has."""
    known = inspect.signature(described).parameters.values()
    return [one.replace(annotation=one.empty) for one in known]


def sentence(text: str) -> str:
    """Return the first sentence of a page, or of the docstring of the object that it is about."""
    title, described = _TITLE.search(text), _DESCRIBED.search(text)
    if title and described and described["path"].endswith(f".{title['name']}"):
        return _doc(_object(described["path"])).partition("\n")[0]
    for paragraph in map(str.strip, text.split("\n\n")):
        if paragraph and not _NO_PROSE.match(paragraph):
            plain = " ".join(_LINK.sub(r"\g<text>", paragraph).split())
            found = _SENTENCE.match(plain)
            return re.sub(r":$", ".", found[0]) if found else f"{plain}."
    return ""


def listed(name: str, summary: str, every: list[Page], root: str) -> str:
    """List the pages by section, each with its address and first sentence."""
    all_pages = f"All pages are in one text: [{FULL}]({root}{FULL})."
    lines = [f"# {name}", "", f"> {summary}", "", all_pages]
    sections = dict.fromkeys(page.section for page in every)
    for section in sections:
        lines += ["", f"## {section}", ""]
        for page in (page for page in every if page.section == section):
            target = f"[{page.title}]({root}{links.address(page.path)})"
            lines.append(f"- {target}: {page.about}" if page.about else f"- {target}")
    return "\n".join([*lines, ""])


def full(name: str, summary: str, every: list[Page], root: str) -> str:
    """Join the Markdown of all pages, with links to the site."""
    texts = [links.from_root(page.text, page.path, root) for page in every]
    return "\n\n".join([f"# {name}", f"> {summary}", *texts]) + "\n"
