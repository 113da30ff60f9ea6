"""What tools return in memory, in place of their own classes."""

from types import SimpleNamespace


class ByName(SimpleNamespace):
    """An object whose values are read by name, as results of ragas and braintrust are."""

    def __getitem__(self, name):
        return getattr(self, name)
