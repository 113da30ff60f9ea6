"""Pages as notebooks: which cells they have, and what these show when they are executed."""

import asyncio
import json
import re
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from docs.generators import notebooks

pytestmark = pytest.mark.any_version

ROOT = Path(__file__).parents[2]
SITE = "https://a.b/1.0/"
PAGE = """\
# A page { #page }

See [gates](gates.md#rules),
[the end](#end) and [elsewhere](https://c.d/e.md).

=== "pandas"

    ```pycon
    >>> x = 1  # doctest: +ELLIPSIS
    >>> for i in range(2):
    ...     x += i
    >>> x
    2
    >>> chart = str(x)

    ```

<!-- chart: chart | A chart, which is a text. -->

```toml title="gate.toml"
# [no link](gates.md)
```

```text
shown [as it is](gates.md) { #page }
```

<!--
```pycon
>>> 1 / 0
Traceback (most recent call last):
ZeroDivisionError: division by zero

```
-->

```sh
exit 1
# exit code 1
```

## The end { #end }
"""


def cells(text, site=SITE):
    """List the cells of a page below the first, which says where it comes from."""
    notebook = notebooks.converted(text, "how-to/page.md", site)
    nbformat.validate(notebook)
    return notebook["cells"][1:]


def code_of(notebook):
    """List the cells of code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_prose_and_code_of_a_page_are_cells_in_order():
    sources = [cell["source"] for cell in cells(PAGE)]

    assert sources == [
        "# A page\n\nSee [gates](https://a.b/1.0/how-to/gates.html#rules),\n[the end]"
        "(https://a.b/1.0/how-to/page.html#end) and [elsewhere](https://c.d/e.md).\n\n**pandas**",
        "x = 1\nfor i in range(2):\n    x += i\nx",
        "chart = str(x)",
        "chart",
        "*A chart, which is a text.*",
        "%%writefile gate.toml\n# [no link](gates.md)",
        "```text\nshown [as it is](gates.md) { #page }\n```",
        "1 / 0",
        "%%bash --no-raise-error\nexit 1\n# exit code 1",
        "## The end",
    ]


def test_hidden_code_is_folded_and_expected_errors_are_tagged():
    marked = {cell["source"]: cell["metadata"] for cell in cells(PAGE) if cell["metadata"]}

    folded = {"jupyter": {"source_hidden": True}, "tags": ["raises-exception"]}
    assert marked == {"1 / 0": folded}


def test_links_without_an_address_of_the_site_lead_to_the_pages_beside():
    first = cells("[a](gates.md), [b](../tutorial.md#c), [d](compas.html)\n", site=None)[0]

    assert first["source"] == (
        "[a](../how-to/gates.html), [b](../tutorial.html#c), [d](../how-to/compas.html)"
    )


def test_a_figure_of_the_site_is_refused():
    with pytest.raises(ValueError, match=r"how-to/page.md: <!-- figure: .* cannot be in a notebo"):
        cells("<!-- figure: coenen | A figure. -->")


@pytest.mark.parametrize("page", notebooks.PAGES)
def test_notebook_has_all_code_of_its_page(page):
    text = (ROOT / "docs" / "pages" / page).read_text(encoding="utf-8")
    lines = re.findall(r"^ *(?:>>>|\.\.\.) (.*)$", text, re.MULTILINE)
    for block in re.findall(r"^```(?:sh|python)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        lines += block.splitlines()
    charts = re.findall(r"<!-- chart: (\w+)", text)

    written = [
        line
        for cell in code_of(notebooks.converted(text, page))
        for line in cell["source"].splitlines()
        if not line.startswith("%%")
    ]

    assert lines
    assert sorted(written) == sorted(lines + charts)


def test_notebook_names_the_extras_that_pages_are_run_with():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (extras,) = re.findall(r'^docs = \["balframe\[([\w,]+)\]"', project, re.MULTILINE)

    first = notebooks.converted("# A\n", "a.md", SITE)["cells"][0]["source"]

    assert re.findall(r"`(\w+)`", first) == extras.split(",")
    assert "(https://a.b/1.0/a.html)" in first


@pytest.mark.processes
def test_an_error_in_a_cell_is_an_error_of_the_build():
    notebook = notebooks.converted("```pycon\n>>> 1 / 0\n0\n\n```\n", "page.md")

    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        asyncio.run(notebooks.execute(notebook))


@pytest.mark.browser
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("page", notebooks.PAGES)
def test_notebooks_of_the_site_are_executed_and_show_results(site, page):
    path = site / notebooks.name_of(page)
    text = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    code = code_of(notebook)
    outputs = [output for cell in code for output in cell["outputs"]]
    data = [output.get("data", {}) for output in outputs]
    shown = (ROOT / "docs" / "pages" / page).read_text(encoding="utf-8")

    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    assert all(
        "raises-exception" in cell["metadata"].get("tags", [])
        for cell in code
        if any(output["output_type"] == "error" for output in cell["outputs"])
    )
    assert sum("image/png" in one or "great_tables" in str(one) for one in data) >= (
        shown.count("<!-- chart: ")
    )
    assert any("<table" in one.get("text/html", "") for one in data) == ("\n┌" in shown)
    assert [
        place for place in (str(ROOT), sys.prefix, tempfile.gettempdir()) if place in text
    ] == []
    assert "\x1b" not in json.dumps([one.get("text", "") for one in outputs])
    links = re.findall(
        r"\]\((?!\w+:)([^)#]+)",
        "\n".join(cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "markdown"),
    )
    assert links
    assert [link for link in links if not (path.parent / link).is_file()] == []
    html = (site / page).with_suffix(".html").read_text(encoding="utf-8")
    assert f'<a href="{path.name}" download>Download this page as a notebook</a>' in html
