"""Every page of the docs and the README is run; so are pages that have to be refused."""

from pathlib import Path

import polars as pl
import pytest
from sybil.example import SybilFailure

from docs.generators.running import PageError, charts_of, run
from tests.support.cases import cases

pytestmark = pytest.mark.any_version

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.relative_to(ROOT) for path in (ROOT / "docs" / "pages").rglob("*.md"))

A_CHART = """
```python
import altair as alt
import polars as pl

bars = alt.Chart(pl.DataFrame({"x": [1]})).mark_bar()
nothing = None
```
"""


@pytest.fixture
def page(tmp_path):
    """Write a page; its path, and a directory to run it in."""

    def written(text):
        path = tmp_path / "page.md"
        path.write_text(text)
        directory = tmp_path / "here"
        directory.mkdir(exist_ok=True)
        return path, directory

    return written


def in_lane(path):
    """Run with the engines what loads other projects, and with processes what starts many."""
    marks = pytest.mark.engines if path.name.startswith("recipes") else ()
    marks = pytest.mark.processes if path.name == "tutorial-shell.md" else marks
    return pytest.param(path, id=str(path), marks=marks)


@pytest.mark.parametrize("path", [*map(in_lane, [Path("README.md"), *PAGES])])
def test_examples_of_every_page_run_with_their_output(path, tmp_path):
    run(ROOT / path, tmp_path)


@cases(
    "block",
    [
        "```pycon\n>>> 1 + 1\n3\n```",
        "```pycon\n>>> 1 + 1\n2\n\n>>> 1 + 1\n3\n\n```",
        '=== "pandas"\n\n    ```pycon\n    >>> 1 + 1\n    3\n\n    ```\n',
        "<!--\n```pycon\n>>> 1 + 1\n3\n\n```\n-->",
        "```sh\nexit 3\n```",
        "```sh\nfalse\ntrue\n```",
        "```sh\nfalse | true\n```",
        "```sh\ntrue\n# exit code 1\n```",
        "```sh\necho $NO_SUCH_VARIABLE\n```",
        "```console\n$ echo a\nb\n```",
        "```console\n$ echo a\na\n$ echo b\n```",
        "```console\n$ echo a\na\n$ false\n```",
    ],
)
def test_wrong_output_or_exit_code_in_a_block_fails(page, block):
    with pytest.raises(SybilFailure):
        run(*page(f"Text.\n\n{block}\n"))


def test_an_error_in_a_block_of_python_is_noticed(page):
    with pytest.raises(ZeroDivisionError):
        run(*page("```python\n1 / 0\n```\n"))


@cases(
    ("text", "message"),
    [
        ("```python no-run\n1 / 0\n```", "line 1, column 1: 'python no-run' is neither a language"),
        ("```{.python}\n1 / 0\n```", "is neither a language"),
        ("```\nx\n```", "'' is neither a language"),
        ("```py\n1 / 0\n```", "'py' is not a language that is run"),
        ("```bash\nfalse\n```", "'bash' is not a language that is run"),
        ("```pycon\n1 + 1\n```", "begins with >>>"),
        ("```console\necho a\n```", "begins with a prompt"),
        ("```pycon\n>>> 1 / 0  # doctest: +SKIP\n```", "skips nothing"),
        ("Text.\n\n>>> 1 + 1\n3\n", "line 3, column 1: code has to be in a fenced block"),
        ('```toml title="../x.toml"\n```', "'../x.toml' is outside of the page"),
        ("<!-- chart: bars -->", "has to be <!-- chart: name |"),
        ("<!-- chart: bars | no sentence -->", "has to be <!-- chart: name |"),
        ("<!-- chart bars | Bars. -->", "has to be <!-- chart: name |"),
        (f"{A_CHART}\n<!-- chart: dots | Dots. -->", "line 10: there is no chart 'dots'"),
        (f"<!-- chart: bars | Bars. -->\n{A_CHART}", "line 1: there is no chart 'bars'"),
        (f"{A_CHART}\n<!-- chart: nothing | Bars. -->", "'nothing' is a NoneType, not a chart"),
        ("<!-- figure: bars | Bars. -->", "there is no figure 'bars'"),
    ],
)
def test_invalid_blocks_are_refused(page, text, message):
    with pytest.raises(PageError) as error:
        run(*page(f"{text}\n"))
    assert message in str(error.value)


def test_blocks_share_a_namespace_and_a_directory(page):
    run(
        *page(
            '```toml title="here/gate.toml"\na = 1\n```\n\n'
            "<!--\n```python\nimport pathlib\n```\n-->\n\n"
            '=== "one"\n\n    ```pycon\n    >>> pathlib.Path("here/gate.toml").read_text()\n'
            "    'a = 1\\n'\n\n    ```\n\n"
            "```sh\npython -c 'raise SystemExit(7)'\n# exit code 7\n```\n\n"
            "```pycon\n>>> pathlib.__name__\n'pathlib'\n```\n"
        )
    )


def test_charts_of_a_page_are_returned_with_their_captions(page):
    text = f"{A_CHART}\n<!-- chart: bars | One bar. -->\n\n```text\n<!-- chart: x -->\n```\n"

    for charts in (run(*page(text)), charts_of(*page(text))):
        assert [(type(one.chart).__name__, one.caption) for one in charts] == [
            ("Chart", "One bar.")
        ]


def test_settings_of_a_page_are_reset_after_it(page):
    run(*page("```python\nimport polars as pl\n\npl.Config(float_precision=2)\n```\n"))

    assert "0.125" in str(pl.Series([0.125]))


def test_a_page_without_charts_is_not_run_for_them(page):
    assert charts_of(*page("```python\n1 / 0\n```\n")) == []
