"""The types of options that take several forms; the command line reads each in its own way."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Literal, get_args

from balframe.frames.adapter import Name

_Keyword = Literal["rest", "overall", "largest", "best", "worst"]
REFERENCE_KEYWORDS: tuple[str, ...] = get_args(_Keyword)
ReferenceOption = _Keyword | Mapping[Name, Any] | Any  # a keyword, or a segment


class DefaultKeyword(str):
    """A keyword that is the default of an option, so that no caller means a value by it."""

    __slots__ = ()


THE_REST: ReferenceOption = DefaultKeyword("rest")
BaselineOption = Name | object | None  # a column, or an earlier run
RunOption = Name | object  # a column, rows of an earlier run, or its cells
RowsOption = Name | Any  # a column, or rows of an earlier run
StreamBaselineOption = date | str | Mapping[str, Any] | object  # a day, or cells
ExpectOption = Sequence[Any] | Mapping[Name, Any] | object | None  # segments, in any form
ExcludeOption = Sequence[date | str] | date | str | None  # days, or texts of ISO 8601
