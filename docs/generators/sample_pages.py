"""Pages of audits on the site: those that a guide saves and links to, as its code makes them."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from . import running

_GUIDE = "how-to/audit.md"
_LINKS = re.compile(r"\]\(([\w-]+\.html)\)")


def every(pages: Path) -> dict[str, str]:
    """Run the guide; give the pages that it links to, by their paths on the site."""
    guide = pages / _GUIDE
    names = _LINKS.findall(guide.read_text(encoding="utf-8"))
    with TemporaryDirectory() as directory:
        running.run(guide, Path(directory))
        found = {name: (Path(directory) / name).read_text(encoding="utf-8") for name in names}
    folder = Path(_GUIDE).parent
    return {(folder / name).as_posix(): text for name, text in found.items()}
