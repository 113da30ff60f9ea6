"""Files of every kind that the command line reads, and damage done to them."""

import io
import re

import polars as pl
from hypothesis import strategies as st

KINDS = ("csv", "tsv", "ndjson", "parquet", "arrow")
ROWS = pl.DataFrame(
    {
        "y": ["yes", "no", "yes", "no"] * 5,
        "p": ["yes", "yes", "no", "no"] * 5,
        "g": ["a", "b", "ü", "", None] * 4,
        "w": [0.5, 1.0, 2.0, 1.5] * 5,
        "k": [1, 2, 0, 3] * 5,
        "s": [0.1, 0.2, 0.9, 0.6] * 5,
    }
)
LABELS = ("--y-true", "y", "--y-pred", "p")
COMMANDS = (  # each way to read: rows, rows that count for more, rules, scores, pairs of models
    ("report", *LABELS, "--by", "g"),
    ("report", *LABELS, "--sample-weight", "w", "--counts", "k", "--missing", "drop"),
    ("confusion", *LABELS, "--by", "w"),
    ("curve", "--y-true", "y", "--y-score", "s", "--pos-label", "yes"),
    ("check", *LABELS, "--rule", "accuracy >= 0.5", "--allow-inconclusive"),
    ("compare", *LABELS, "--y-pred", "g"),
)
ODD = (
    *(b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b'"', b"'", b"\n", b"\r"),
    *(
        b",",
        b"\t",
        b"{",
        b"[",
        b'{"y":',
        b"null",
        b"NaN",
        b"-",
        b"1e999",
        b"true",
        b"2024-01-01T99",
    ),
    *(b"9" * 400, b"x" * 70_000, b"\xff" * 8, b"\x7f" * 4),
)


def written(kind: str, compression: str = "uncompressed") -> bytes:
    """Write the rows as a file of that kind."""
    content = io.BytesIO()
    match kind:
        case "parquet":
            ROWS.write_parquet(content, compression=compression)
        case "arrow":
            ROWS.write_ipc(content, compression=compression)
        case "ndjson":
            ROWS.write_ndjson(content)
        case _:
            ROWS.write_csv(content, separator="\t" if kind == "tsv" else ",")
    return content.getvalue()


@st.composite
def damaged(draw, kind):
    """Cut, overwrite, repeat and put in, at one to six places of a file that is whole."""
    content = bytearray(written(kind, draw(st.sampled_from(["uncompressed", "zstd", "lz4"]))))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(content)))
        width = draw(st.sampled_from([1, 2, 4, 8, 50]))
        match draw(st.sampled_from(["cut", "overwrite", "drop", "repeat", "odd"])):
            case "cut":
                del content[at:]
            case "overwrite":
                content[at : at + width] = draw(st.binary(min_size=width, max_size=width))
            case "drop":
                del content[at : at + width]
            case "repeat":
                content[at:at] = content[at : at + width]
            case "odd":
                content[at:at] = draw(st.sampled_from(ODD))
    return bytes(content)


_CELLS = st.one_of(
    st.sampled_from(["yes", "no", "", "1", "0.5", "null", '"', '"a\nb"', "\ufeff", "\x00", "שלום"]),
    st.text(max_size=8),
)
_HEADERS = st.sampled_from(
    ["y,p,g,w,k,s", "y,p", "y,y,p", "y,p,", "", '"y",p', "\ufeffy,p,g", "Y;P"]
)


@st.composite
def ragged(draw):
    """Write text with separators as no library would, in an encoding that may be another."""
    lines = draw(st.lists(st.lists(_CELLS, max_size=7), max_size=6))
    ends = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    text = ends.join([draw(_HEADERS), *map(",".join, lines)])
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]))
    return text.encode(encoding, errors="replace")


_FIELDS = st.sampled_from(["yes", "no", "", "1,250", "a;b", 'say ""x""', "a\nb", "1", "\u00fc"])
_QUOTED = re.compile(r'[,;\n"]')


@st.composite
def texts_with_separators(draw):
    """Write rows with quotes where they are needed, some with too few or too many fields.

    The header may be longer than what is read first, and may have a name twice.
    """
    names = ["y", "p", *draw(st.permutations(["g", "w", "note"]))]
    wide, is_ragged = draw(st.sampled_from([0, 0, 0, 9_000])), draw(st.booleans())
    names += [f"feature_{number}" for number in range(wide)]
    names += draw(st.sampled_from([[], [], [], ["y"], ["feature_1"], ["feature_12"]]))
    separator = draw(st.sampled_from([",", ";", "\t"]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    rows = draw(st.lists(st.lists(_FIELDS, min_size=5, max_size=5), min_size=1, max_size=8))
    lines = [names]
    for values in rows:
        labels = [draw(st.sampled_from(["yes", "no"])) for _ in range(2)]
        extra = draw(st.sampled_from([0, 0, 0, 1, 2, -1])) if is_ragged else 0
        fields = [*labels, *values[: len(names) - 2], *["5"] * (len(names) - 7)]
        lines.append([*fields, *values[:extra]] if extra >= 0 else fields[:extra])
    text = end.join(separator.join(map(_quoted_field, line)) for line in lines)
    return text.encode(), separator, names


def _quoted_field(field):
    is_quoted = '""' in field or _QUOTED.search(field) or "\t" in field
    return f'"{field}"' if is_quoted else field


def files(kind: str) -> st.SearchStrategy[bytes]:
    """Draw damaged files of a kind, and what was never one."""
    others = [ragged()] if kind in ("csv", "tsv") else []
    return st.one_of(damaged(kind), damaged(kind), st.binary(max_size=64), *others)


_SPACES = st.sampled_from(["", " ", "\t", "\n"])
_TOKENS = st.one_of(
    st.sampled_from(
        [
            *("recall", "difference", "ratio", "(", ")", ">=", "<", "==", "=", "0.7", "1e999"),
            *(
                "nan",
                "n",
                "-",
                ".",
                "%",
                "and",
                "[red]",
                "rules",
                "where",
                "\x00",
                "\u202e",
                "\uff19",
            ),
        ]
    ),
    st.text(max_size=5),
)
RULES = st.lists(st.tuples(_TOKENS, _SPACES), max_size=8).map(
    lambda pairs: "".join(token + space for token, space in pairs)
)
_VALUES = st.recursive(
    st.one_of(RULES, st.integers(), st.floats(), st.booleans(), st.none()),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["rule", "rules", "where", "reason", "recall", "n"]), inner
        )
    ),
    max_leaves=6,
)


def _toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return repr(value)


@st.composite
def rule_files(draw):
    """Write rules as TOML or YAML, or what only looks like them: the ending and the content."""
    value = draw(_VALUES)
    text = (
        "\n".join(f"{key} = {_toml(one)}" for key, one in value.items())
        if (isinstance(value, dict))
        else _toml(value)
    )
    yaml = draw(
        st.sampled_from(
            ["- ", "rules:\n- ", "recall: ", "? ", "&a [*a, ", "!!int ", "--- ", "{", "<<: "]
        )
    )
    content = draw(st.sampled_from([text, yaml + text, yaml * 3 + draw(RULES)]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]))
    ending = draw(st.sampled_from(["toml", "yaml"]))
    return ending, content.encode(encoding, errors="replace")
