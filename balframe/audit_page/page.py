"""A page to hand over, which saves itself as HTML, as Markdown, and as evidence in JSON."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from balframe._atomic_write import check_place, replace
from balframe._text import capitalize_first, metric_title, replace_illegible
from balframe._traceback import short_traceback
from balframe.audit_page.document import Document
from balframe.audit_page.evidence.gather import evidence_text, read_schema
from balframe.audit_page.render_markdown import render_markdown
from balframe.audit_page.text import render_isolates
from balframe.errors import InvalidInputError, MissingExtraError, listed, parameter
from balframe.frames.engines.registry import check_installed
from balframe.tables.gt_table import DARK_NOTEBOOKS, LIGHT_NOTEBOOKS

_DATA = "audited rows"
_KINDS = ("rate", "area")  # of figures that are metrics of a model


def model_index_text(
    evidence: Mapping[str, Any],
    *,
    name: str | None,
    dataset_name: str | None,
    dataset_type: str | None,
    task_type: str,
) -> str:
    """Return the block of all models of a page."""
    cover = evidence["cover"]
    name = name or cover.get("system") or evidence["title"]
    data = dataset_name or cover.get("source") or evidence["subtitle"] or _DATA
    data_text = data if isinstance(data, str) else ", ".join(data)
    models = [model["y_pred"] for model in evidence["options"]["columns"]["models"]]
    blocks = [
        {
            "name": str(name) if len(models) == 1 else f"{name} ({model})",
            "results": [
                {
                    "task": {"type": task_type},
                    "dataset": {"type": dataset_type or data_text, "name": data_text},
                    "metrics": [*_metrics(evidence, model)],
                }
            ],
        }
        for model in models
    ]
    return "\n".join(_yaml({"model-index": blocks})) + "\n"


def _metrics(evidence: Mapping[str, Any], model: str) -> Iterator[dict[str, Any]]:
    """Return the figures of all rows that are defined."""
    for figure in evidence["figures"]:
        is_overall = figure["model"] == model and figure["group"] is None
        if not is_overall or figure["kind"] not in _KINDS or figure["estimate"] is None:
            continue
        label = figure["pos_label"]
        positive = {} if label is None else {"pos_label": label}
        yield {
            "type": figure["metric"],
            "value": figure["estimate"],
            "name": capitalize_first(metric_title(figure["metric"])),
            "args": {
                "lower": figure["lower"],
                "upper": figure["upper"],
                "confidence_level": figure["interval_level"],
                "n": figure["n"],
                **positive,
            },
        }


# YAML


def _yaml(value: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Write a mapping as lines of YAML: mappings and lists as blocks, others as JSON has them."""
    for key, item in value.items():
        if isinstance(item, Mapping):
            yield f"{indent}{key}:"
            yield from _yaml(item, f"{indent}  ")
        elif isinstance(item, Sequence) and not isinstance(item, str):
            yield f"{indent}{key}:"
            for entry in item:
                first, *others = _yaml(entry, f"{indent}  ")
                yield f"{indent}- {first.removeprefix(f'{indent}  ')}"
                yield from others
        else:
            yield f"{indent}{key}: {_scalar(item)}"


def _scalar(value: str | float | bool | None) -> str:
    """Write a value as JSON, which YAML is too, but for characters that YAML has to escape."""
    text = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, str):
        return _with_point(text)
    return "".join(
        character if character.isprintable() else _escape(character) for character in text
    )


def _with_point(text: str) -> str:
    """Write a number so that YAML 1.1 reads an exponent too: 1.0e-07."""
    start, mark, exponent = text.partition("e")
    return f"{start}.0e{exponent}" if mark and "." not in start else text


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


_HTML, _MARKDOWN, _JSON = (".html", ".htm"), (".md", ".markdown"), (".json",)
# The colour scheme of a frame decides which one the page inside it follows.
_STYLE = (
    f"<style>:is({DARK_NOTEBOOKS}) .balframe-page {{ color-scheme: dark; }} "
    f":is({LIGHT_NOTEBOOKS}) .balframe-page {{ color-scheme: light; }}</style>"
)
_FRAME = (
    '<iframe class="balframe-page" title="{title}" sandbox="" srcdoc="{page}" '
    'style="width:100%;height:44rem;border:1px solid #8888"></iframe>'
)


def check_can_be_html() -> None:
    """Raise if there is nothing to write HTML with."""
    check_installed("jinja2", "audit", "pages of audit")


@dataclass(frozen=True, slots=True, repr=False)
class Page:
    """A page about the predictions of a classifier, as `audit` makes it.

    A notebook displays it. The same counts and options give the same bytes.

    Attributes
    ----------
    document : Document
        What the page says: its title, sections and blocks.
    data : mapping
        The same as data, of which `evidence` returns a copy.
    """

    document: Document
    data: Mapping[str, Any] = field(default_factory=dict)

    @short_traceback
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, as a whole or not at all.

        Parameters
        ----------
        path : str or path
            Where to write. A path that ends in `.html` or `.htm` is written as HTML, one that ends
            in `.md` or `.markdown` as Markdown, and one that ends in `.json` is written as the JSON
            of `evidence`. An existing file is replaced.

        Raises
        ------
        InvalidInputError
            If the path has another ending, is a directory, or lies in a folder that does not exist.
        MissingExtraError
            If HTML is requested and jinja2 is not installed.
        """
        out = Path(path)
        extension = out.suffix.lower()
        if extension not in _HTML + _MARKDOWN + _JSON:
            raise InvalidInputError(
                "{path} has none of the extensions that a page can have. Use one of {} for HTML, "
                "{} for Markdown, or {} for the evidence.",
                listed(_HTML),
                listed(_MARKDOWN),
                listed(_JSON),
                path=str(out),
            )
        check_place(out, parameter("path", str(out)))
        text = (
            self.html()
            if extension in _HTML
            else self.markdown()
            if extension in _MARKDOWN
            else evidence_text(self.data)
        )
        replace(out, text.encode())

    @short_traceback
    def html(self) -> str:
        """Return the page as one file of HTML, which holds no script and loads nothing.

        Returns
        -------
        str
            A whole document, with its style inside.

        Raises
        ------
        MissingExtraError
            If jinja2 is not installed.
        """
        check_can_be_html()
        from balframe.audit_page.render_html import render_html

        return render_html(self.document)

    @short_traceback
    def markdown(self) -> str:
        """Return the page as Markdown, for a pull request or a model card.

        Returns
        -------
        str
            The same sentences and numbers, without the plots, in the Markdown of GitHub.
        """
        return render_markdown(self.document)

    @short_traceback
    def evidence(self) -> dict[str, Any]:
        """Return what the page says as data, for programs and for an archive.

        Returns
        -------
        dict
            Values that `json.dumps` writes. `schema` names the form, `balframe.audit/1`, which
            `evidence_schema` describes. `figures` has an estimate with its confidence interval in
            each record, `comparisons` a difference or ratio with its p-value and whether it is
            established. `examined`, `left_out`, `columns`, `confusion`, `combinations`,
            `searches`, `scores`, `thresholds`, `calibration`, `selections` and `rules` are lists of
            records too. `statements` are the sentences of the summary, and `limitations` what
            cannot be said. `cover`, `call`, `options`, `adjustment`, `software` and `fingerprint`
            describe what was audited and how. Numbers are not rounded, and None where undefined.

        Notes
        -----
        A comparison is the value of its group less that of `compared_with`, or divided by it where
        `null_value` is 1. Its kind is "difference" from all others or from the only other group;
        "spread", the test that any groups of a column differ; "furthest", the two groups furthest
        apart, whose limits agree with all tests of the metric; "criterion", the same for a named
        criterion; "ratio" to the highest; "same scores"; or "crossing", the test that also detects
        differences that change with the score.
        """
        return deepcopy(dict(self.data))

    @staticmethod
    def evidence_schema() -> dict[str, Any]:
        """Return the JSON Schema of `evidence`, of the draft 2020-12.

        Returns
        -------
        dict
            The schema that the package ships as `balframe/audit_page/audit-1.schema.json`. It
            allows no other fields than those that it describes.
        """
        return read_schema()

    @short_traceback
    def model_index(
        self,
        name: str | None = None,
        *,
        dataset_name: str | None = None,
        dataset_type: str | None = None,
        task_type: str = "tabular-classification",
    ) -> str:
        """Return the metrics of all rows as the block `model-index` of a model card.

        Parameters
        ----------
        name : text, optional
            The name of the model; by default the system that the cover names, or the title. With
            several models, the column of predictions follows in brackets.
        dataset_name : text, optional
            The name of the data; by default the source that the cover names, or the subtitle, or
            "audited rows".
        dataset_type : text, optional
            The identifier of the data on the hub; by default `dataset_name`.
        task_type : text, default "tabular-classification"
            The identifier of the task.

        Returns
        -------
        str
            YAML to paste between the lines `---` at the start of a README. Each metric has its
            value, and in `args` its confidence interval, the number of rows and the positive label.
        """
        return model_index_text(
            self.data,
            name=name,
            dataset_name=dataset_name,
            dataset_type=dataset_type,
            task_type=task_type,
        )

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in its theme, in a frame that keeps its style to itself."""
        return _STYLE + _FRAME.format(title=escape(self._title()), page=escape(self.html()))

    def _title(self) -> str:
        return render_isolates(self.document.title, replace_illegible, replace_illegible)

    def __repr__(self) -> str:
        """Return what the page is about, how many sections it has, and how large it is."""
        parts = [repr(self._title()), f"{len(self.document.sections)} sections"]
        with suppress(MissingExtraError):
            parts.append(f"{len(self.html().encode()) / 1000:.0f} kB")
        return f"Page({', '.join(parts)})"
