"""The namespace `.bal` of pandas and polars frames: every verb, as a method."""

from collections.abc import Callable
from importlib import import_module
from types import MethodType
from typing import Any, Literal

from balframe.errors import check_choice
from balframe.frames.namespace import register_in_dask, register_namespace


class _Verb:
    """A verb as a method, loaded when it is first asked for; its first argument is the frame."""

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, namespace: "Bal | None", _: type) -> Callable[..., Any]:
        verb: Callable[..., Any] = getattr(
            import_module(f"balframe.verbs.{self._name}"), self._name
        )
        return verb if namespace is None else MethodType(verb, namespace._frame)


class Bal:
    """The verbs of balframe on one frame: `df.bal.report("y", "yhat")`.

    Each is also a function, `bf.report(df, "y", "yhat")`.
    """

    def __init__(self, frame: Any) -> None:  # noqa: ANN401 (a frame of any library)
        self._frame = frame

    confusion = _Verb()
    classes = _Verb()
    report = _Verb()
    posterior = _Verb()
    gaps = _Verb()
    disparity = _Verb()
    fairness = _Verb()
    compare = _Verb()
    curve = _Verb()
    best_threshold = _Verb()
    ranking = _Verb()
    check = _Verb()
    require = _Verb()


def register(library: Literal["dask"]) -> None:
    """Give the frames of a library the attribute `bal`, where importing balframe does not.

    Parameters
    ----------
    library : {"dask"}
        The library. Frames of pandas and polars have the attribute already; for the others, call
        the functions, `bf.report(frame, ...)`.

    Raises
    ------
    InvalidInputError
        If the library is not one of the options.
    MissingExtraError
        If it is not installed; the message has the command that installs it.

    Examples
    --------
    >>> import balframe as bf
    >>> bf.register("dask")
    """
    check_choice("library", library, ("dask",))
    register_in_dask("bal", Bal)


def register_here() -> None:
    """Give the frames of pandas and polars the attribute."""
    register_namespace("bal", Bal)
