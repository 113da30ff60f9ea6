"""The files around the package: workflows, templates, citation, and notes on a release."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import balframe as bf
from tests.support.cases import cases

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*$")
PACKAGE = '"""Docs."""\n\n__version__ = "1.2.0"\n'
CHANGELOG = """\
# Changelog

## [Unreleased]

## [1.2.0] - 2027-01-31

### Added

- One thing.

## [1.1.0] - 2026-12-24

- Another.
"""


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def notes():
    return script("release_notes").notes


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_hash(path):
    used = re.findall(r"uses: .*", path.read_text("utf-8"))

    assert used
    assert not [line for line in used if not PINNED.match(line)]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_may_read_only_unless_a_job_says_more(path):
    workflow = yaml.safe_load(path.read_text("utf-8"))

    assert workflow["permissions"] == {"contents": "read"}
    more = {name: job.get("permissions") for name, job in workflow["jobs"].items()}
    allowed = {
        "publish": {"id-token": "write"},
        "announce": {"contents": "write"},
        "documentation": {"contents": "write"},
    }
    assert {name: value for name, value in more.items() if value} == (
        allowed if path.name == "release.yml" else {}
    )


def test_only_the_protected_job_publishes():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]

    publishing = [name for name, job in jobs.items() if "pypi-publish" in str(job["steps"])]
    assert publishing == ["publish"]
    assert jobs["publish"]["environment"] == "pypi"
    assert jobs["publish"]["needs"] == "build"


def test_documentation_is_built_without_a_token_and_after_publishing():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    job = jobs["documentation"]

    checkout, *_, build, push = job["steps"]
    assert job["needs"] == "publish"
    assert checkout["with"]["persist-credentials"] is False
    assert "mike deploy" in build["run"]
    assert "token" not in str(build["env"])
    assert push["run"].endswith(" gh-pages")


def test_notes_are_the_section_of_the_version(notes):
    assert notes("v1.2.0", PACKAGE, CHANGELOG) == "### Added\n\n- One thing.\n"


@pytest.mark.parametrize(
    ("tag", "changelog", "message"),
    [
        ("v1.2.1", CHANGELOG, "the tag is v1.2.1, and the package v1.2.0"),
        ("v1.2.0", CHANGELOG.replace("1.2.0", "1.3.0"), "the changelog has no section"),
        ("v1.2.0", CHANGELOG.replace("### Added\n\n- One thing.\n", ""), "has no section"),
    ],
)
def test_notes_need_tag_package_and_changelog_to_agree(notes, tag, changelog, message):
    with pytest.raises(SystemExit, match=message):
        notes(tag, PACKAGE, changelog)


@pytest.mark.parametrize("name", ["bug", "statistics", "wish"])
def test_forms_of_issues_are_complete(name):
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml").read_text())

    assert {"name", "description", "body"} <= form.keys()
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)


def test_citation_names_the_licence_and_the_authors_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = (ROOT / "pyproject.toml").read_text("utf-8")

    assert citation["cff-version"] == "1.2.0"
    assert f'license = "{citation["license"]}"' in project
    assert f'name = "{citation["authors"][0]["name"]}"' in project


EXAMPLE = """\
│ race  ┆ n   ┆ n_labels ┆ fpr      ┆ fpr_lower ┆ fpr_upper │
│ str   ┆ i64 ┆ i64      ┆ f64      ┆ f64       ┆ f64       │
│ Asian ┆ 32  ┆ 2        ┆ 0.086957 ┆ 0.02418   ┆ 0.26796   │
│ Other ┆ 377 ┆ 2        ┆ 0.14754  ┆ 0.108515  ┆ 0.197493  │
"""
PRINTED = """\
race,n,n_labels,fpr,fpr_lower,fpr_upper
Asian,32,2,0.08695652,0.02417,0.26796
Other,377,2,0.14754021,0.10851,0.19749
"""


def test_the_dry_run_accepts_a_command_that_prints_what_the_example_prints():
    script("dry_run").compare(PRINTED, EXAMPLE)


@cases(
    ("printed", "message"),
    [
        (PRINTED.replace("0.1475", "0.1476"), "the command prints Other,377,2,0.14764021"),
        (PRINTED.replace(",32,", ",33,"), "the command prints Asian,33,2"),
        (PRINTED.replace("Asian", "Other"), "the command prints Other,32,2"),
        (PRINTED.partition("Other")[0], "the command prints 1 rows, and the example 2"),
        ("", "the command prints 0 rows, and the example 2"),
    ],
)
def test_the_dry_run_fails_if_command_and_example_differ(printed, message):
    with pytest.raises(SystemExit, match=f"the release would fail: {message}"):
        script("dry_run").compare(printed, EXAMPLE)


def test_hooks_before_a_commit_are_commands_of_the_session_lint():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    session = (ROOT / ".ci" / "noxfile.py").read_text("utf-8").partition("def lint(")[2]
    lint = re.findall(r'run\(session, (".*")\)', session.partition("@nox")[0])
    commands = {" ".join(re.findall('"([^"]+)"', words)).removesuffix(" .") for words in lint}

    (local,) = config["repos"]  # other repositories would have versions of their own
    entries = {hook["id"]: hook["entry"] for hook in local["hooks"]}
    assert entries.pop("whitespace") == "git diff --cached --check"
    programs = {entry.removesuffix(" --force-exclude") for entry in entries.values()}
    assert programs == {f".venv/bin/{command}" for command in commands - {"mypy"}}  # which is slow
    line = ".venv/bin/ruff check . && .venv/bin/ruff format . && .venv/bin/mypy && .venv/bin/lint"
    assert line in (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def test_the_recipe_for_conda_agrees_with_the_package():
    recipe = yaml.safe_load((ROOT / ".ci" / "conda" / "recipe.yaml").read_text("utf-8"))
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project = pyproject["project"]
    oldest = f">={recipe['context']['python_min']}"

    def specifiers(lines):
        return {str(Requirement(line.replace(" ", ""))) for line in lines}

    host, run = recipe["requirements"]["host"], recipe["requirements"]["run"]
    imports, command = recipe["tests"]
    assert recipe["package"]["name"] == project["name"]
    assert recipe["context"]["version"] == bf.__version__
    assert oldest == project["requires-python"]
    assert run[0] == "python >=${{ python_min }}"
    assert specifiers(run[1:]) == specifiers(project["dependencies"])
    assert specifiers(host[1:]) == specifiers(["pip", *pyproject["build-system"]["requires"]])
    assert specifiers(command["requirements"]["run"]) == specifiers(
        project["optional-dependencies"]["cli"]
    )
    assert imports["python"]["imports"] == ["balframe", "pytest_balframe"]
    assert recipe["build"]["python"]["entry_points"] == [
        f"{name} = {target}" for name, target in project["scripts"].items()
    ]
    about = recipe["about"]
    assert about["summary"] == project["description"]
    assert about["license"] == project["license"]
    assert [about["license_file"]] == project["license-files"]


PAPER = ROOT / "docs" / "paper"
SECTIONS = (
    "Summary",
    "Statement of need",
    "State of the field",
    "Software design",
    "Research impact statement",
    "AI usage disclosure",
    "Acknowledgements",
    "References",
)


@pytest.fixture(scope="module")
def paper():
    """Return the header of the paper, and its text without comments."""
    _, header, text = (PAPER / "paper.md").read_text("utf-8").split("---\n", 2)
    return yaml.safe_load(header), re.sub("(?s)<!--.*?-->", "", text)


def test_paper_has_the_form_that_the_journal_requires(paper):
    header, text = paper
    affiliations = {one["index"] for one in header["affiliations"]}

    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= header.keys()
    assert {author["affiliation"] for author in header["authors"]} <= affiliations
    assert re.fullmatch(r"\d{1,2} [A-Z][a-z]+ 20\d\d", header["date"])
    assert (PAPER / header["bibliography"]).is_file()
    assert tuple(re.findall("(?m)^# (.*)", text)) == SECTIONS
    assert 750 <= len(text.split()) <= 1750


def test_paper_cites_every_entry_of_its_bibliography_and_no_other(paper):
    bibliography = (PAPER / "paper.bib").read_text("utf-8")
    entries = re.findall(r"(?m)^@\w+\{(\w+),", bibliography)

    assert len(entries) == bibliography.count("@") == len({*entries})
    assert {*re.findall(r"@(\w+)", paper[1])} == {*entries}


def test_citation_has_the_version_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    package = (ROOT / "balframe" / "__init__.py").read_text("utf-8")

    assert f'__version__ = "{citation["version"]}"' in package


def test_the_package_opens_no_connection_of_its_own():
    names = "aiohttp|ftplib|http|httpx|requests|smtplib|socket|ssl|urllib.request|urllib3"
    clients = rf"(?m)^\s*(?:import|from) (?:{names})\b"
    sources = [ROOT / "pytest_balframe.py", *(ROOT / "balframe").rglob("*.py")]

    assert re.search(clients, "def fetch():\n    from urllib.request import urlopen")
    assert not [path for path in sources if re.search(clients, path.read_text("utf-8"))]
