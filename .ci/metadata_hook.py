"""The addresses of the project, and the README as an index shows it: hatchling reads this."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY = "OWNER/balframe"  # the account that holds it, and its name
SOURCE = f"https://github.com/{REPOSITORY}"
RAW = f"https://raw.githubusercontent.com/{REPOSITORY}"
SITE = f"https://{REPOSITORY.split('/')[0]}.github.io/balframe"

_LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)\s]+)(?=\))")


def urls() -> dict[str, str]:
    """Return what an index lists beside the description."""
    return {
        "Homepage": SITE,
        "Documentation": SITE,
        "Source": SOURCE,
        "Issues": f"{SOURCE}/issues",
        "Changelog": f"{SOURCE}/blob/main/CHANGELOG.md",
        "Security": f"{SOURCE}/security/policy",
    }


def with_absolute_links(readme: str, version: str) -> str:
    """Lead links and pictures to the files of a version: an index has none of them."""

    def absolute(match: re.Match[str]) -> str:
        path = match[1]
        is_picture = path.endswith((".svg", ".png"))
        base = f"{RAW}/v{version}" if is_picture else f"{SOURCE}/blob/v{version}"
        return f"{base}/{path}"

    return _LINK.sub(absolute, readme)


class MetadataHook(MetadataHookInterface):
    """Adds what `dynamic` of pyproject.toml leaves to this file."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the addresses and the README."""
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["urls"] = urls()
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": with_absolute_links(readme, metadata["version"]),
        }
