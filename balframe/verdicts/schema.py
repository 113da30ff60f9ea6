"""The JSON Schema of documents of verdicts."""

import json
from importlib.resources import files
from typing import Any

from balframe.api.checked_arguments import checked_arguments

SCHEMA = "balframe.verdicts/1"  # the name and the version, which every document has
_FILE = "verdicts-1.schema.json"


@checked_arguments
def verdicts_schema() -> dict[str, Any]:
    """Return the JSON Schema of the documents of `bf.verdicts_document`.

    It is in draft 2020-12. The number in "balframe.verdicts/1" changes if a field is removed,
    renamed or changes its meaning. So a program that reads documents should check `schema` first.
    Later versions with the same number may add fields inside `summary`, `options` and `verdicts`.

    Returns
    -------
    dict
        The schema that the package ships as `balframe/verdicts/verdicts-1.schema.json`.
        `jsonschema.validate(document, bf.verdicts_schema())` checks a document.

    Examples
    --------
    >>> import balframe as bf
    >>> sorted(bf.verdicts_schema()["properties"])  # doctest: +NORMALIZE_WHITESPACE
    ['command', 'inputs', 'method', 'options', 'schema', 'summary', 'verdicts', 'version']
    """
    text = files("balframe.verdicts").joinpath(_FILE).read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
