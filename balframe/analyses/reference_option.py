"""What a caller may give as the reference of a comparison."""

from collections.abc import Mapping
from typing import Any, Literal

from balframe.frames.library import Name

KEYWORDS = ("rest", "overall", "largest", "best", "worst")
ReferenceOption = Literal["rest", "overall", "largest", "best", "worst"] | Mapping[Name, Any] | Any
