"""What all tests share: a frame constructor of every library."""

import pytest
from constructors import CONSTRUCTORS


@pytest.fixture(params=CONSTRUCTORS, ids=lambda constructor: constructor.__name__)
def constructor(request):
    """Make a frame from a dict of lists."""
    return request.param
