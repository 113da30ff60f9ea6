"""What the guide on type checkers says, mypy says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "pages" / "how-to" / "type-checkers.md"


@pytest.mark.any_version
@pytest.mark.processes
def test_mypy_reports_the_errors_that_the_comments_name_and_no_others(tmp_path):
    code = "\n\n".join(re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S))
    path = tmp_path / "page.py"
    path.write_text(code, "utf-8")
    comments = {
        number: match[1]
        for number, line in enumerate(code.splitlines(), 1)
        if (match := re.search(r"  # ((?:Unex|Arg|\").*)", line))
    }

    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    errors = dict(re.findall(r"page\.py:(\d+): error: (.*)", done.stdout))
    assert {int(number) for number in errors} == set(comments), done.stdout + done.stderr
    assert len(comments) == 5
    for number, words in comments.items():
        assert errors[str(number)].startswith(words)
