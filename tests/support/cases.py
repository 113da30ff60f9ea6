"""Many cheap cases of one test, which runs them all and reports every one that fails."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

import pytest

Test = Callable[..., None]


def cases(names: str | Sequence[str], values: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test for every value, or every tuple of values, as a single test.

    It reads as `pytest.mark.parametrize` does, and may stand above another `cases`: then every
    combination is run. All cases share the fixtures of the test, so these must not keep what a case
    does to them.
    """
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    axis = [_case(columns, value) for value in values]
    assert axis, f"no cases of {names}"

    def fold(test: Test) -> Test:
        body, axes = getattr(test, "_cases", (test, []))
        axes = [axis, *axes]

        @functools.wraps(test)
        def run_cases(*arguments: Any, **fixtures: Any) -> None:
            failures = []
            combinations = [functools.reduce(dict.__or__, parts) for parts in product(*axes)]
            for case in combinations:
                try:
                    body(*arguments, **fixtures, **case)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"with {', '.join(map(_describe, case, case.values()))}")
                    failures.append(error)
            if failures:
                what = f"{len(failures)} of {len(combinations)} cases"
                raise BaseExceptionGroup(what, failures)

        signature = inspect.signature(test)
        assert signature.parameters.keys() >= {*columns}, f"{test.__name__} takes no {columns}"
        kept = [one for name, one in signature.parameters.items() if name not in columns]
        run_cases.__signature__ = signature.replace(parameters=kept)  # whose names pytest provides
        run_cases._cases = body, axes
        return run_cases

    return fold


def _case(columns: Sequence[str], value: Any) -> dict[str, Any]:
    if isinstance(value, type(pytest.param())):
        assert not value.marks, "a case has no marks of its own"
        row = value.values
    else:
        row = [value] if len(columns) == 1 else value
    return dict(zip(columns, row, strict=True))


def _describe(name: str, value: Any) -> str:
    text = getattr(value, "__name__", None) or repr(value)
    return f"{name}={text if len(text) <= 200 else f'{text[:200]}...'}"
