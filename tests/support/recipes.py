"""The recipes of CONTRIBUTING.md: their code, by the files that it goes into."""

import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8")
_BLOCK = re.compile(r'^```python title="balframe/(.+?)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def recipe(heading):
    """Take the code of a section."""
    section = TEXT.partition(f"\n## Add {heading}\n")[2].partition("\n## ")[0]
    return dict(_BLOCK.findall(section))
