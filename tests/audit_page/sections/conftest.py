"""Sections are asked for as a page asks for them."""

import pytest


@pytest.fixture(autouse=True)
def as_a_page(within_a_call):
    """Ask within a call."""
