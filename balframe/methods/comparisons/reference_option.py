"""What a caller may give as the reference of a comparison."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from balframe.frames.adapter import Name

_Keyword = Literal["rest", "overall", "largest", "best", "worst"]
KEYWORDS: tuple[str, ...] = get_args(_Keyword)
ReferenceOption = _Keyword | Mapping[Name, Any] | Any
