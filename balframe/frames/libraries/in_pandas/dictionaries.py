"""Pandas: dictionaries of Arrow, which are categories by another name."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from balframe.frames.library import Name


def with_categories(frame: pd.DataFrame, names: Iterable[Name]) -> pd.DataFrame:
    """Replace dictionaries of Arrow among these columns by categories; the frame stays as it is."""
    held = dictionaries(frame[list(names)])
    if held:
        frame = frame.copy(deep=False)
    for name in held:
        frame[name] = _categories(frame[name].array)
    return frame


def dictionaries(frame: pd.DataFrame) -> list[Name]:
    """List the columns that are dictionaries of Arrow."""
    return [name for name, dtype in frame.dtypes.items() if _is_dictionary(dtype)]


def _is_dictionary(dtype: object) -> bool:
    return isinstance(dtype, pd.ArrowDtype) and str(dtype).startswith("dictionary")


def _categories(array: Any) -> pd.Categorical:  # noqa: ANN401
    """Keep the order of the dictionary; a value may be there twice, or be null."""
    rows = array.__arrow_array__().unify_dictionaries().combine_chunks()
    position, levels = pd.factorize(rows.dictionary.to_pandas())
    codes = np.append(position, -1)[rows.indices.fill_null(-1).to_numpy()]
    return pd.Categorical.from_codes(codes, categories=levels, ordered=rows.type.ordered)
