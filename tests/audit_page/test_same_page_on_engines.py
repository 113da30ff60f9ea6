"""The same counts give the same page, byte for byte: whatever holds the rows, and in any order."""

import os
import random
import re
import subprocess
import sys

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from tests.support.constructors import CONSTRUCTORS
from tests.support.programs import library

N = 400
RNG = random.Random(27)
ROWS = {
    "g": [RNG.choice(["é", "z", "Z", "a b"]) for _ in range(N)],
    "h": [RNG.choice([3, -1]) for _ in range(N)],
    "y": [RNG.choice([0, 1]) for _ in range(N)],
    "s": [RNG.choice([0.125, 0.25, 0.5, 0.75]) for _ in range(N)],
}
ROWS["p"] = [int(one >= 0.5) for one in ROWS["s"]]
ROWS["q"] = [RNG.choice([0, 1, 1]) for _ in range(N)]
ASKED = {
    "by": ["g", "h"],
    "y_score": "s",
    "rules": ["recall >= 0.3", {"rule": "n >= 10", "where": {"g": ["é", "z"]}}],
    "words": {"title": "A title", "unit": ("person", "people")},
}
PREDICTION = re.compile(r"<pre><code>.*?</code></pre>|```\n.*?\n```", re.DOTALL)
FINGERPRINT = re.compile(r"sha256 ([0-9a-f]{64})")
pytest.importorskip("jinja2")


def texts(page):
    return page.html(), page.markdown()


def but_for_the_call(page):
    return [PREDICTION.sub("", text) for text in texts(page)]


def asked(frame, **options):
    return bf.audit(frame, "y", "p", **ASKED | options)


@pytest.fixture(scope="module")
def expected():
    return texts(asked(pl.DataFrame(ROWS)))


class Once:
    """Speaks Arrow's protocol and nothing else, and gives its rows a single time."""

    def __init__(self):
        self.left = [pa.table(ROWS)]

    def __arrow_c_stream__(self, requested_schema=None):
        return self.left.pop().__arrow_c_stream__(requested_schema)


def test_every_library_gives_the_same_page(constructor, expected):
    frame = constructor(ROWS)

    assert texts(asked(frame)) == expected
    assert texts(asked(nw.from_native(frame))) == expected


HOLES = {
    **ROWS,
    "age": [None if RNG.random() < 0.1 else RNG.randrange(18, 90) for _ in range(N)],
    "y": [None if RNG.random() < 0.3 else one for one in ROWS["y"]],
    "p": [None if RNG.random() < 0.1 else one for one in ROWS["p"]],
}
WITH_HOLES = {
    "by": ["g", bf.bins("age", 3)],
    "missing": "drop",
    "rules": ["recall >= 0.3"],
}


@pytest.mark.thorough
def test_every_library_gives_the_same_page_of_bins_and_missing_values(constructor):
    expected = bf.audit(pl.DataFrame(HOLES), "y", "p", **WITH_HOLES)

    page = bf.audit(constructor(HOLES), "y", "p", **WITH_HOLES)

    assert texts(page) == texts(expected)
    assert " rows have no value of age" in expected.markdown()
    assert "were left out, because their outcome (" in expected.markdown()


def test_a_stream_is_read_once(expected):
    assert texts(asked(Once())) == expected
    assert texts(bf.audit(Once(), "y", ["p", "q"], by="g")) == texts(
        bf.audit(pl.DataFrame(ROWS), "y", ["p", "q"], by="g")
    )


def test_a_reader_of_batches_is_read_once(expected):
    batches = pa.table(ROWS).to_batches(max_chunksize=50)

    assert texts(asked(pa.RecordBatchReader.from_batches(batches[0].schema, batches))) == expected


def test_duckdb_gives_the_same_page(expected):
    with library("duckdb").connect() as connection:
        assert texts(asked(connection.from_arrow(pa.table(ROWS)))) == expected


@pytest.mark.engines
def test_dask_gives_the_same_page(expected):
    dataframe = library("dask.dataframe")
    frame = dataframe.from_pandas(pd.DataFrame(ROWS), npartitions=3)
    alone = {"scheduler": "sync", "dataframe.shuffle.method": "tasks"}  # beside clients of others

    with sys.modules["dask"].config.set(alone):
        assert texts(asked(frame)) == expected


@pytest.mark.engines
def test_ibis_gives_the_same_page(expected):
    assert texts(asked(library("ibis").memtable(pa.table(ROWS)))) == expected


def test_shuffled_rows_give_the_same_page(expected):
    for seed in (1, 2):
        assert texts(asked(pl.DataFrame(ROWS).sample(fraction=1, shuffle=True, seed=seed))) == (
            expected
        )


def test_rows_and_counted_rows_and_stored_cells_give_the_same_page(expected):
    frame = pl.DataFrame(ROWS)
    counted = frame.group_by("g", "h", "y", "p", "s").len("k")
    cells = bf.confusion(frame, "y", "p", by=["g", "h", "s"])
    complete = bf.confusion(frame, "y", "p", by=["h", "s", "g"], complete=True)
    of_counted = asked(counted, counts="k")
    pages = [
        asked(cells),
        asked(cells.to_pandas()),
        asked(complete),
    ]

    in_html, in_markdown = (PREDICTION.sub("", text) for text in expected)
    assert [but_for_the_call(page) for page in pages] == [[in_html, in_markdown]] * len(pages)
    own = ", <bdi>k</bdi>", ", k"  # the one more column that was used
    in_html, in_markdown = but_for_the_call(of_counted)
    assert [in_html.count(own[0]), in_markdown.count(own[1])] == [1, 1]
    assert [in_html.replace(own[0], ""), in_markdown.replace(own[1], "")] == but_for_the_call(
        pages[0]
    )
    assert "counts='k'" in of_counted.markdown()


def test_fingerprint_depends_on_counts_and_not_on_options(expected):
    (sha,) = FINGERPRINT.findall(expected[1])
    frame = pl.DataFrame(ROWS)
    other = frame.with_columns(
        p=pl.when(pl.int_range(pl.len()) == 0).then(1 - pl.col("p")).otherwise("p")
    )

    other_words = asked(frame, words={"title": "Other"}, level=0.9, min_support=10)
    assert FINGERPRINT.findall(other_words.markdown()) == [sha]
    assert FINGERPRINT.findall(asked(other).markdown()) != [sha]


@pytest.mark.any_version
@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (-1, 1)])
def test_every_library_gives_the_same_page_for_labels_of_each_type(labels):
    rows = {**ROWS, **{name: [labels[one] for one in ROWS[name]] for name in ("y", "p")}}

    pages = {
        texts(bf.audit(made(rows), "y", "p", by="g", pos_label=labels[1])) for made in CONSTRUCTORS
    }

    assert len(pages) == 1


CODE = """
import sys
import polars as pl
import balframe as bf
frame = pl.DataFrame({rows})
sys.stdout.write(bf.audit(frame, "y", "p", **{asked}).html())
"""


@pytest.mark.any_version
@pytest.mark.processes
def test_two_processes_give_the_same_page(expected):
    code = CODE.format(rows=ROWS, asked=ASKED)
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
        )
        assert done.stdout.decode() == expected[0]


def test_labels_of_an_enum_give_the_page_of_their_texts():
    words = {name: ["no" if one == 0 else "yes" for one in ROWS[name]] for name in ("y", "p")}
    frame = pl.DataFrame({**ROWS, **words})
    in_enum = frame.with_columns(pl.col("y", "p").cast(pl.Enum(["no", "yes"])))

    assert texts(asked(in_enum, pos_label="yes")) == texts(asked(frame, pos_label="yes"))
