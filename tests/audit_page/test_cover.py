"""The cover: its facts in their order, its files, what is refused, and what it leaves as it is."""

import json
import re
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import balframe as bf
from balframe.audit_page.cover import Cover, CoverFile, cover_lines, read_cover, read_file
from balframe.errors import BalframeError, InvalidInputError, UnknownNameError, UnsupportedTypeError
from tests.support.audits.figures import make_request, plain
from tests.support.cases import cases

FRAME = pl.DataFrame({"y": [0, 1] * 30, "p": [0, 1, 1] * 20, "g": ["a", "b", "b", "a"] * 15})
SHA_256_OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2
SHA_256_OF_A_MILLION_A = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
FACTS = {  # in another order than that of the page
    "contact": "audit@example.org",
    "excluded": "few people",
    "date": date(2026, 5, 4),
    "auditor": ["Jane Doe", "J. Roe"],
    "distribution_date": "March 2024",
    "source": "all applications",
    "period": "2025",
    "purpose": "selection",
    "version": 2,
    "system": "screening",
    "organisation": "Example",
    "Sites audited": 0.5,
}
ENTRIES = [
    ("Organisation", ("Example",)),
    ("System", ("screening",)),
    ("Version", ("2",)),
    ("Purpose", ("selection",)),
    ("Period", ("2025",)),
    ("Source of the data", ("all applications",)),
    ("System first used", ("March 2024",)),
    ("Auditor", ("Jane Doe", "J. Roe")),
    ("Date of the audit", ("2026-05-04",)),
    ("Why small categories are excluded", ("few people",)),
    ("contact", ("audit@example.org",)),
    ("Sites audited", ("0.5",)),
]
TOML = """
contact = "audit@example.org"
excluded = "few people"
date = 2026-05-04
auditor = ["Jane Doe", "J. Roe"]
distribution_date = "March 2024"
source = "all applications"
period = "2025"
purpose = "selection"
version = 2
system = "screening"
organisation = "Example"
"Sites audited" = 0.5
"""


def audit(**options):
    return bf.audit(FRAME, "y", "p", by="g", **options)


def raised(kind, cover):
    with pytest.raises(kind) as error:
        audit(cover=cover)
    return str(error.value)


@pytest.fixture
def written(tmp_path):
    """Write a TOML file."""

    def write(text):
        path = tmp_path / "cover.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_known_keys_come_in_the_order_of_the_page_and_notes_as_they_were_given():
    assert read_cover(FACTS).entries == ENTRIES


def test_a_toml_file_gives_the_same_cover_as_a_mapping(written):
    path = written(TOML)

    assert read_cover(path) == read_cover(str(path)) == read_cover(FACTS)
    assert read_cover(written("\N{BOM}" + TOML)) == read_cover(FACTS)


def test_cover_as_a_mapping_can_be_written_as_json(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"abc")

    cover = read_cover(FACTS | {"files": [tmp_path / "a.txt"]}).with_files([], 3)

    assert list(json.loads(json.dumps(cover.as_dict())).items()) == [
        ("organisation", "Example"),
        ("system", "screening"),
        ("version", "2"),
        ("purpose", "selection"),
        ("period", "2025"),
        ("source", "all applications"),
        ("distribution_date", "March 2024"),
        ("auditor", ["Jane Doe", "J. Roe"]),
        ("date", "2026-05-04"),
        ("excluded", "few people"),
        ("files", [{"name": "a.txt", "sha256": SHA_256_OF_ABC}]),
        ("contact", "audit@example.org"),
        ("Sites audited", "0.5"),
        ("n_more_files", 3),
    ]
    assert Cover().as_dict() == {}


@cases(
    ("value", "text"),
    [
        ("a  b", "a  b"),
        (12, "12"),
        (-1.5, "-1.5"),
        (2.0, "2.0"),
        (np.int64(7), "7"),
        (np.float32(0.5), "0.5"),
        (date(2026, 5, 4), "2026-05-04"),
        (datetime(2026, 5, 4, 10, 30), "2026-05-04 10:30:00"),
        (pd.Timestamp(2026, 5, 4), "2026-05-04 00:00:00"),
        (["a", "b"], ("a", "b")),
        (("a",), ("a",)),
        (np.array(["a", "b"]), ("a", "b")),
    ],
)
@cases("key", ["purpose", "a note"])
def test_text_numbers_dates_and_lists_of_text_are_written_as_they_are(key, value, text):
    assert read_cover({key: value}).facts == {key: text}


def test_fractions_of_a_file_are_written_as_typed(written):
    assert read_cover(written("version = 1.10\nshare = 5e-1")).facts == {
        "version": "1.10",
        "share": "5e-1",
    }


def test_the_american_spelling_of_organisation_is_the_same_key():
    assert read_cover({"organization": "Example"}) == read_cover({"organisation": "Example"})
    message = raised(InvalidInputError, {"organization": "a", "organisation": "b"})
    assert message == "cover: 'organisation' is given under two spellings; give it once."


@cases(
    ("key", "meant"),
    [
        ("purpsoe", "purpose"),
        ("auditr", "auditor"),
        ("aduitor", "auditor"),
        ("organizaton", "organisation"),
        ("Organisation", "organisation"),
        ("peroid", "period"),
        ("distribution-date", "distribution_date"),
        ("Distribution date", "distribution_date"),
        ("verison", "version"),
        ("file", "files"),
        ("Files", "files"),
        ("dates", "date"),
        ("exclude", "excluded"),
    ],
)
def test_a_key_that_is_near_to_a_known_one_is_refused(key, meant):
    assert raised(UnknownNameError, {key: "a"}) == (
        f"cover: the key {key!r} is not known; did you mean {meant!r}? Known keys: organisation, "
        "system, version, purpose, period, source, distribution_date, auditor, date, excluded, "
        "files. Others are notes, whose keys must not be so similar to a known one."
    )


@cases("key", ["contact", "status", "author", "scope", "audit_date", "model_version", "licence"])
def test_a_key_that_is_not_near_to_a_known_one_is_a_note(key):
    assert read_cover({key: "a"}).entries == [(key, ("a",))]


@cases(
    "value",
    [
        *(None, True, np.bool_(True), float("nan"), float("inf"), 1j, pd.NaT),
        *("", " \n", b"a", [], ["a", ""], ["a", 3], [["a"]], {"a": 1}, {"a"}),
    ],
)
@cases("key", ["purpose", "a note"])
def test_values_of_other_kinds_are_refused(key, value):
    assert raised(InvalidInputError, {key: value}) == (
        f"cover: the value of {key!r} is {value!r}; give text, a number, a date or a list of "
        "texts, or leave the key out."
    )


def test_a_very_long_text_is_refused():
    audit(cover={"source": "a" * 2_000})
    assert raised(InvalidInputError, {"source": "a" * 2_001}) == (
        "cover: the value of 'source' has 2,001 characters; give at most 2,000."
    )


@cases("key", [3, None, "", "  "])
def test_keys_that_are_empty_or_not_text_are_refused(key):
    assert raised(InvalidInputError, {key: "a"}) == (
        f"cover: the key {key!r} is not text; give a word as the key."
    )


@cases("cover", [3, True, ["auditor"], b"cover.toml"])
def test_covers_of_other_types_are_refused(cover):
    assert raised(UnsupportedTypeError, cover) == (
        f"cover= has the type {type(cover).__name__}; give a mapping, such as "
        "{'auditor': 'Jane Doe'}, or the path of a .toml file."
    )


@cases(
    ("text", "message"),
    [
        ("auditor = Jane", "the cover is not valid TOML: Invalid value (at line 1, column 11)."),
        ("a = 1\na = 2", "the cover is not valid TOML: Cannot overwrite a value (at "),
        (b"a = '\xff'", "the cover is not valid TOML: 'utf-8' codec can't decode byte 0xff"),
        ("share = nan", "the cover is not valid TOML: nan is not a finite number. Correct the"),
        ("auditr = 'a'", "the key 'auditr' is not known; did you mean 'auditor'?"),
        ("[auditor]\nname = 'a'", "the value of 'auditor' is {'name': 'a'}; give text, a number,"),
        ("time = 10:30:00", "the value of 'time' is datetime.time(10, 30); give text, a number,"),
        ("files = ['none.pdf']", "the file '{folder}/none.pdf' cannot be read: No such file or"),
    ],
)
def test_an_error_in_a_file_names_the_file(written, text, message):
    path = written(text)

    message = message.replace("{folder}", str(path.parent))
    assert raised(BalframeError, path).startswith(f"{path}: {message}")


@cases("write", [str, Path])
def test_a_file_that_cannot_be_read_is_refused(tmp_path, write):
    absent = tmp_path / "no.toml"
    for path, reason in ((absent, "No such file or directory"), (tmp_path, "Is a directory")):
        assert raised(InvalidInputError, write(path)) == (
            f"{path}: the cover cannot be read: {reason}. Give the path of a .toml file."
        )


# Files


def test_a_file_has_its_name_and_the_sha_256_of_its_bytes(tmp_path):
    small, large = tmp_path / "a.txt", tmp_path / "b.txt"
    small.write_bytes(b"abc")
    large.write_bytes(b"a" * 1_000_000)  # more than a block

    cover = read_cover({"files": [small, str(large)]})

    files = CoverFile("a.txt", SHA_256_OF_ABC), CoverFile("b.txt", SHA_256_OF_A_MILLION_A)
    assert cover.files == files
    assert cover.entries == [("Files", files)]
    assert read_cover({"files": small}).files == files[:1]


def test_files_of_a_toml_file_are_beside_it(written, tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_bytes(b"abc")
    path = written("files = ['a.txt']")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)

    assert read_cover("../cover.toml").files == (CoverFile("a.txt", SHA_256_OF_ABC),)
    assert read_cover(path).files == read_cover("../cover.toml").files


def test_a_file_that_is_there_already_is_not_added_again(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"abc")
    file = read_file(tmp_path / "a.txt")
    other = CoverFile("b.txt", SHA_256_OF_ABC)

    cover = Cover(files=(file,)).with_files([other, file], 2)

    assert cover.entries == [("Files", (file, other, "2 more files"))]
    assert Cover().with_files([], 1).entries == [("Files", ("1 more file",))]


@cases("value", [[], [""], [3], 3, None, [None], {"a": 1}])
def test_files_that_are_no_paths_are_refused(value):
    assert raised(InvalidInputError, {"files": value}) == (
        f"cover: the value of 'files' is {value!r}; give a list of paths, or leave the key out."
    )


def test_a_missing_file_is_refused(tmp_path):
    path = tmp_path / "none.pdf"
    assert raised(InvalidInputError, {"files": [path]}) == (
        f"cover: the file '{path}' cannot be read: No such file or directory. Give the path of a "
        "file that exists."
    )
    assert "cannot be read: Is a directory." in raised(InvalidInputError, {"files": [tmp_path]})
    assert "cannot be read: embedded null byte." in raised(InvalidInputError, {"files": ["a\0"]})


# On the page


def test_the_page_has_the_cover_below_its_title_and_the_program_last(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"abc")
    cover = FACTS | {"files": [tmp_path / "a.txt"]}

    page = audit(cover=cover, words={"title": "Title", "subtitle": "Of applicants"})

    assert page.markdown().partition("## In brief")[0].splitlines() == [
        "# Title",
        "",
        "Of applicants",
        "",
        "- **Organisation**: Example",
        "- **System**: screening",
        "- **Version**: 2",
        "- **Purpose**: selection",
        "- **Period**: 2025",
        "- **Source of the data**: all applications",
        "- **System first used**: March 2024",
        "- **Auditor**:",
        "  - Jane Doe",
        "  - J. Roe",
        "- **Date of the audit**: 2026-05-04",
        "- **Why small categories are excluded**: few people",
        f"- **Files**: a.txt (`SHA-256 {SHA_256_OF_ABC}`)",
        "- **contact**: `audit@example.org`",
        "- **Sites audited**: 0.5",
        f"- **Made with**: balframe {bf.__version__}",
        "",
        "Rows **60** · Groups **g** · Fingerprint **" + fingerprint_of(page)[:12] + "**",
        "",
    ]


def test_html_has_the_cover_between_the_subtitle_and_the_figures():
    pytest.importorskip("jinja2")

    html = audit(cover={"auditor": ["<b>", "J. Roe"]}, words={"subtitle": "Of applicants"}).html()

    header = html.partition('<p class="subtitle">')[2].partition('<dl class="facts">')[0]
    assert header.splitlines()[1:] == [
        '<dl class="cover">',
        "<div><dt><bdi>Auditor</bdi></dt><dd><bdi>&lt;b&gt;</bdi></dd><dd><bdi>J. Roe</bdi></dd>"
        "</div>",
        f"<div><dt>Made with</dt><dd>balframe {bf.__version__}</dd></div>",
        "</dl>",
    ]


def test_a_text_on_the_page_is_not_shortened_and_stands_on_one_line():
    (line, _) = cover_lines(read_cover({"source": "word " * 399 + "\n\nend"}))

    assert plain(line.values[0][0]) == "word " * 399 + "end"


@cases("cover", [None, {}])
def test_without_a_cover_nothing_stands_below_the_title(cover):
    page = audit(cover=cover)

    assert page.document.cover == []
    assert page.markdown().splitlines()[:3] == ["# Audit of p", "", rows_line(page)]
    assert make_request().cover == Cover()


def test_covers_change_neither_the_fingerprint_nor_the_rest_of_the_page():
    pages = [audit(cover=cover) for cover in (None, {"auditor": "Jane Doe"}, FACTS)]

    assert len({page.markdown() for page in pages}) == 3
    assert len({fingerprint_of(page) for page in pages}) == 1
    assert len({but_for_cover_and_call(page) for page in pages}) == 1
    assert fingerprint_of(audit()) != fingerprint_of(bf.audit(FRAME, "y", "p"))


def test_the_same_cover_gives_the_same_bytes():
    pytest.importorskip("jinja2")

    assert audit(cover=FACTS).html() == audit(cover=dict(FACTS)).html()


def fingerprint_of(page):
    (fingerprint,) = re.findall("sha256 ([0-9a-f]{64})", page.markdown())
    return fingerprint


def rows_line(page):
    return f"Rows **60** · Groups **g** · Fingerprint **{fingerprint_of(page)[:12]}**"


def but_for_cover_and_call(page):
    title, _, rest = page.markdown().partition("\n")
    rest = rest[rest.index("Rows **") :]
    return title + re.sub("```\n.*?\n```", "", rest, flags=re.DOTALL)
