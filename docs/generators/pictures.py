"""The two pictures of the README: a page of an audit, and the comment of a gate.

    python -m docs.generators.pictures    # needs Chromium, its driver, bash and the extra `dev`

Both are made by balframe itself. Beside each picture, the words that it shows are kept as text: a
test compares them with what balframe says today.
"""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import markdown
import polars as pl

from . import sample_pages

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "pages" / "images"
_AUDIT = "how-to/compas.html"
_WIDTH = 1000
_STYLE = """
body { margin: 0; padding: 16px; font: 14px/1.5 -apple-system, "Segoe UI", "Noto Sans", Helvetica,
  Arial, sans-serif; color: #1f2328; background: #fff; }
.comment { border: 1px solid #d1d9e0; border-radius: 6px; }
.head { padding: 8px 16px; background: #f6f8fa; border-bottom: 1px solid #d1d9e0; color: #59636e; }
.body { padding: 8px 16px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid #d1d9e0; padding: 5px 12px; }
code { background: #eff1f3; border-radius: 6px; padding: 2px 5px; font-size: 85%; }
a { color: #0969da; }
"""


@dataclass(frozen=True)
class Picture:
    """A page, and how much of it is shown."""

    name: str
    html: str
    height: int

    @property
    def file(self) -> Path:
        """The picture."""
        return IMAGES / f"{self.name}.png"

    @property
    def words(self) -> Path:
        """The words in the picture, a line for each block."""
        return IMAGES / f"{self.name}.txt"


def audit() -> Picture:
    """Return the page of COMPAS that the guide to audits writes."""
    return Picture("audit", sample_pages.every(ROOT / "docs" / "pages")[_AUDIT], 785)


def _predictions(n_wrong: int) -> pl.DataFrame:
    """Return 1,000 rows of each of three groups; of the last, some are predicted wrongly."""
    y = pl.Series("y", [0, 1] * 500)
    wrong = {"north": 90, "south": 110, "west": n_wrong}
    return pl.concat(
        pl.DataFrame({"group": [group] * 1000, "y": y}).with_columns(
            yhat=pl.when(pl.int_range(1000) < n).then(1 - pl.col("y")).otherwise("y")
        )
        for group, n in wrong.items()
    )


def gate() -> Picture:
    """Return the comment that the action writes where one group has got worse."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "result").mkdir()
        _predictions(100).write_parquet(folder / "main.parquet")
        _predictions(210).write_parquet(folder / "predictions.parquet")
        columns = ["--y-true", "y", "--y-pred", "yhat", "--by", "group"]
        balframe = [sys.executable, "-m", "balframe"]
        subprocess.run(
            [*balframe, "confusion", "main.parquet", *columns, "--out", "cells.parquet"],
            cwd=folder,
            check=True,
        )
        rule = ["--rule", "balanced_accuracy >= baseline - 0.05", "--baseline", "cells.parquet"]
        also = ["--also", "result/table.md", "--format", "json"]
        done = subprocess.run(
            [*balframe, "check", "predictions.parquet", *columns, *rule, *also],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        return Picture("gate", _comment(folder), 350)


def _comment(folder: Path) -> str:
    """Let the action's script write the comment, and set it as a host of repositories does."""
    stub = folder / "gh"
    stub.write_text("#!/bin/sh\n")
    stub.chmod(0o755)
    values = {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "FOLDER": str(folder),
        "NAME": "gate",
        "PULL_REQUEST": "12",
        "HEAD_SHA": "0123456789abcdef",
        "VERDICT": "fail",
        "N_PASS": "2",
        "N_FAIL": "1",
        "N_INCONCLUSIVE": "0",
        "GITHUB_SERVER_URL": "https://example.org",
        "GITHUB_REPOSITORY": "team/model",
        "GITHUB_RUN_ID": "1",
    }
    script = ROOT / ".github" / "action" / "comment.sh"
    subprocess.run(["bash", script], env=os.environ | values, check=True)
    body = markdown.markdown((folder / "comment.md").read_text("utf-8"), extensions=["tables"])
    head = "<b>github-actions</b> bot commented"
    return (
        f"<!doctype html><meta charset='utf-8'><style>{_STYLE}</style><div class='comment'>"
        f"<div class='head'>{head}</div><div class='body'>{body}</div></div>"
    )


PICTURES = (audit, gate)


def draw(picture: Picture) -> None:
    """Open the page in Chromium, and keep what is in the window."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for argument in ("headless=new", "no-sandbox", "hide-scrollbars"):
        options.add_argument(f"--{argument}")
    browser = webdriver.Chrome(options)
    try:
        screen = {
            "width": _WIDTH,
            "height": picture.height,
            "deviceScaleFactor": 1.5,
            "mobile": False,
        }
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            path.write_text(picture.html, encoding="utf-8")
            browser.get(path.as_uri())
            browser.save_screenshot(str(picture.file))
            words = browser.execute_script(_WORDS)
    finally:
        browser.quit()
    picture.words.write_text("\n".join(words) + "\n", encoding="utf-8")


_WORDS = """
const lines = [];
for (const element of document.querySelectorAll("h1, h2, h3, p, li, th, td")) {
  const box = element.getBoundingClientRect();
  if (box.height > 0 && box.bottom <= window.innerHeight && box.top >= 0)
    lines.push(element.textContent.replace(/\\s+/g, " ").trim());
}
return lines.filter(line => line);
"""


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for make in PICTURES:
        draw(make())
