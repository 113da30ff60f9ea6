"""`balframe impact`: its result, its table on a terminal, and wrong use in the shell's words."""

import io

import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import assert_table, plain
from tests.support.frames.selected_people import ASKED, PEOPLE

COUNTED = ["--by", "sex", "--by", "race", "--counts", "n", "--favourable", "selected"]
FRAME = pl.DataFrame(PEOPLE).with_columns(
    t=pl.col("s").replace_strict({0: "no", 1: "yes"}), x=pl.int_range(pl.len()) / 4
)


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    FRAME.write_csv(path)
    return path


@cases(
    ("typed", "options"),
    [
        ("--selected s", {"selected": "s"}),
        ("--selected t", {"selected": "t"}),
        ("--selected t --pos-label no", {"selected": "t", "pos_label": "no"}),
        ("--score x --min-share 0", {"score": "x", "min_share": 0}),
        ("--score x --score s --bound 0.9", {"score": ["x", "s"], "bound": 0.9}),
        ("--selected s --adjust none --level 0.9", {"selected": "s", "adjust": None, "level": 0.9}),
    ],
)
def test_the_command_writes_the_result_of_the_function(run, people, typed, options):
    expected = bf.impact(FRAME, detail=True, **ASKED, **options)

    done = run("impact", people, *COUNTED, *typed.split())

    assert (done.code, done.err) == (0, "")
    found = pl.read_csv(io.StringIO(done.out), schema=expected.schema)
    assert_table(found, plain(expected))


def test_table_with_details_has_limits_beside_estimates_and_all_other_columns(run, people):
    done = run("impact", people, "--selected", "s", *COUNTED, "--format", "table", "--detail")

    head, *lines, empty, note = done.out.splitlines()
    assert (empty, note) == ("", "Brackets: confidence interval.")
    assert head.split() == [
        *["sex", "race", "grouped_by", "rate", "impact_ratio", "p_adjusted", "role", "n", "share"],
        *["n_favourable", "highest_sex", "highest_race", "highest", "bound", "p_value", "n_tests"],
        *["short_of_parity", "short_of_bound", "one_more_reverses", "n_unknown"],
        *["unknown_lower", "unknown_upper"],
    ]
    result = bf.impact(FRAME, "s", detail=True, **ASKED)
    assert len(lines) == len(result) == 17
    women, men, unknown, first_race, *_ = lines
    low, high = result.select("lower", "upper").row(0)
    assert women.split()[:2] == ["F", "sex"]
    assert f"0.60 [{low:.2f}, {high:.2f}]" in women
    assert " compared 100 0.455 " in " ".join(women.split())  # of 220 people
    assert men.split()[:2] == ["M", "sex"]
    assert unknown.split()[:2] == ["(missing)", "sex"]
    assert " unknown 7 3 " in " ".join(unknown.split())
    assert first_race.startswith(" ")  # the column sex does not make this table
    assert first_race.split()[:2] == ["A", "race"]
    markdown = run("impact", people, "--selected", "s", *COUNTED, "--format", "markdown").out
    assert "| (missing) |  | sex | 0.429 |  |  | unknown | 7 |" in markdown  # 3 of 7 selected


EITHER = (
    "impact needs either --selected, a column that shows who is selected, or --score, a column of "
    "scores, but {} given."
)


@cases(
    ("typed", "words"),
    [
        ("--by sex", EITHER.format("neither is")),
        ("--by sex --selected s --score x", EITHER.format("both are")),
        ("--selected s", "Missing --by COLUMN. See balframe impact --help."),
        (
            "--by sex --selected u",
            "--selected has the labels 'non', 'oui'; give the one that means selected as "
            "--pos-label. It has a default only if the labels are among 0 and 1, -1 and 1, no and "
            "yes, n and y, false and true, or negative and positive, in upper or lower case.",
        ),
        (
            "--by sex --selected t --pos-label ja",
            "--pos-label 'ja' is not a label; give one of 'no', 'yes', or add it to --label if "
            "it may be absent.",
        ),
        (
            "--by sex --score x --pos-label 1",
            "--pos-label '1' is for --selected, but --score is given, which has no labels; omit "
            "it.",
        ),
        (
            "--by sex --score n --by n",
            "column 'n' is given as --score and in --by; name the columns of categories in --by.",
        ),
        (
            "--by sex --selected s --min-share 0.95",
            "none of the 2 categories of 'sex' have the share of the rows that --min-share 0.95 "
            "requires, but an impact ratio compares at least two. Give a lower --min-share, where "
            "0 compares all categories, or combine small categories first.",
        ),
        (
            "--by t --selected s --min-share 2",
            "--min-share 2.0 is not a share; give a number from 0 up to 1, such as 0.02.",
        ),
        (
            "--by t --selected s --bound 80",
            "--bound 80.0 is not a ratio to keep; give a number above 0 and at most 1, such as "
            "0.8.",
        ),
        (
            "--by t --selected s --adjust by",
            "Invalid value for '--adjust': 'by' is not one of 'bh', 'holm', 'none'. See balframe "
            "impact --help.",
        ),
        (
            "--by k --selected s",
            "--by has one category that is known, in 'k', but an impact ratio compares at least "
            "two; name a column with more.",
        ),
        (
            "--by sex --score k",
            "no score in column 'k' is above the median, 1, which is also the highest score, so "
            "nobody counts as selected. Give finer scores, or a column of selections as "
            "--selected.",
        ),
        (
            "--by t --y-pred s",
            "No such option: --y-pred. Did you mean --type? See balframe impact --help.",
        ),
        ("--by t --selected s --sample-weight n", "No such option: --sample-weight. See balframe "
         "impact --help."),
        ("--by t --selected s --margins all", "No such option: --margins. See balframe impact "
         "--help."),
        ("--by sex race --selected s", "'race' is not a file; give the path of a file, or a "
         "pattern. To give an option several values, repeat it: --by sex --by age."),
    ])  # fmt: skip
def test_usage_errors_name_command_line_options(refused, people, typed, words):
    french = pl.col("t").replace_strict({"no": "non", "yes": "oui"})
    FRAME.with_columns(k=1, u=french).write_csv(people)

    assert refused("impact", people, *typed.split(), "--favourable", "selected") == words


def test_the_favourable_side_has_to_be_stated(refused, people):
    assert refused("impact", people, "--by", "sex", "--selected", "s") == (
        "impact needs --favourable: 'selected' if it is good for a person to be selected, as for a "
        "loan, or 'not selected' if it is bad, as for a high risk."
    )


def test_help_describes_the_result_and_lists_the_options(run):
    help_text = " ".join(run("impact", "--help").out.split())

    assert (
        "Return one row per category with its rate of the favourable result and its impact ratio."
        in help_text
    )
    for option in (
        "--selected",
        "--score",
        "--min-share",
        "--bound",
        "--pos-label",
        "--favourable",
    ):
        assert option in help_text
    assert "--sample-weight" not in help_text
