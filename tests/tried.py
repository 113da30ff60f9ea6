"""What a run of the tests has tried: inputs drawn, and verbs and commands asked about them."""

from collections import Counter

TRIED: Counter[str] = Counter()  # of the test that is running
