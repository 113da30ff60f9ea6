"""Pages of the reference that the package lists: of methods, charts, commands, kinds of metric.

Each has no more than its title and what is generated. A file of `docs/pages` with the same path is
shown in its stead: it has the same marker, and an introduction and examples before it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from balframe.accessor import Bal, Plots

from . import generated


@dataclass(frozen=True, slots=True)
class Made:
    """A page: its path below `docs/pages`, its title in the navigation, and its text."""

    path: str
    title: str
    text: str

    @classmethod
    def of(cls, path: str, title: str, anchor: str, marker: str) -> "Made":
        """Make a page of one generated part."""
        return cls(path, title, f"# {title} {{ #{anchor} }}\n\n<!-- generated: {marker} -->\n")


def _of_methods() -> Iterator[Made]:
    for name in generated.names_of(Bal):
        yield Made.of(f"reference/methods/{name}.md", name, name, f"method: {name}")


def _of_charts() -> Iterator[Made]:
    for name in generated.names_of(Plots):
        path, anchor = f"reference/plots/{name}.md", f"plot-{name}"
        yield Made.of(path, f"plot.{name}", anchor, f"chart: {name}")


def _of_metrics() -> Iterator[Made]:
    for kind in generated.metrics_by_kind():
        yield Made.of(
            f"reference/metrics/{kind}.md", kind.capitalize(), kind, f"metrics of: {kind}"
        )


def _of_commands() -> Iterator[Made]:
    for name in generated.commands():
        path, title = f"reference/commands/{name}.md", f"balframe {name}"
        yield Made.of(path, title, f"balframe-{name}", f"command: {name}")


# by the page that gives an overview of them, behind which they stand
BY_OVERVIEW: dict[str, Callable[[], Iterator[Made]]] = {
    "reference/methods.md": _of_methods,
    "reference/plots.md": _of_charts,
    "reference/metrics.md": _of_metrics,
    "reference/command-line.md": _of_commands,
}


def every() -> list[Made]:
    """List all these pages."""
    return [page for pages in BY_OVERVIEW.values() for page in pages()]


def navigation(nav: list) -> list:
    """Put the pages behind their overviews."""
    return [_expanded(title, target) for item in nav for title, target in item.items()]


def _expanded(title: str, target: str | list) -> dict:
    if isinstance(target, list):
        return {title: navigation(target)}
    if target not in BY_OVERVIEW:
        return {title: target}
    pages = [{page.title: page.path} for page in BY_OVERVIEW[target]()]
    return {title: [{"Overview": target}, *pages]}
