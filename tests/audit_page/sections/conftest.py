"""Sections are asked for as a page asks for them."""

import pytest

from balframe.api.settings import settings_of_call


@pytest.fixture(autouse=True)
def within_a_call():
    """Let methods take the options of a request as they are."""
    with settings_of_call():
        yield
