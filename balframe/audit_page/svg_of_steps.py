"""A chart of step curves, as what a template draws."""

from collections.abc import Sequence
from dataclasses import dataclass

from balframe.audit_page.document import Line, Steps

WIDTH, HEIGHT = 440, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 22, 10, 24  # room around the curves, for the texts of the ticks


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart in pixels: a path for each line, ticks as (pixel, text), and the edges."""

    paths: Sequence[str]
    x_ticks: Sequence[tuple[str, str]]
    y_ticks: Sequence[tuple[str, str]]
    here: str | None
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = HEIGHT - _BOTTOM


def drawing(steps: Steps) -> Drawing:
    """Lay out a chart."""
    return Drawing(
        [_path(line) for line in steps.lines],
        [(_x(at), text) for at, text in steps.x_ticks],
        [(_y(at), text) for at, text in steps.y_ticks],
        None if steps.here is None else _x(steps.here),
    )


def _path(line: Line) -> str:
    """Draw the height of a point from the point before up to it."""
    (x, y), *others = line.points
    return f"M{_x(x)} {_y(y)}" + "".join(f"V{_y(y)}H{_x(x)}" for x, y in others)


def _x(position: float) -> str:
    return _pixels(_LEFT + position * (WIDTH - _LEFT - _RIGHT))


def _y(position: float) -> str:
    return _pixels(HEIGHT - _BOTTOM - position * (HEIGHT - _TOP - _BOTTOM))


def _pixels(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
