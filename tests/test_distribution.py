"""What is built, installed and executed."""

import ast
import importlib.metadata
import re
import subprocess
import sys
import zipfile
from email.parser import BytesParser
from pathlib import Path

import pytest
from packaging.metadata import Metadata
from packaging.requirements import Requirement

from tests.support.cases import cases

ROOT = Path(__file__).parents[1]
PACKAGE = sorted((ROOT / "balframe").rglob("*.py"))
pytestmark = pytest.mark.xdist_group("distribution")


def built(source, folder, *targets):
    """Build from a folder, without a network."""
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder), *targets]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def distribution(tmp_path_factory):
    return built(ROOT, tmp_path_factory.mktemp("built"))


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_holds_the_package_and_its_plugin_and_nothing_else(distribution):
    (wheel,) = distribution.glob("*.whl")

    names = [name for name in contents(wheel) if ".dist-info/" not in name]

    files = [path for path in (ROOT / "balframe").rglob("*") if path.is_file()]
    expected = {path.relative_to(ROOT).as_posix() for path in files if path.suffix != ".pyc"}
    assert set(names) == expected | {"pytest_balframe.py"}
    assert {"balframe/py.typed", "balframe/__main__.py"} <= set(names)
    assert wheel.name.endswith("-py3-none-any.whl")  # no compiler is needed


def test_the_wheel_stays_small(distribution):
    (wheel,) = distribution.glob("*.whl")

    # Of 1.24 MB in November 2026, a quarter is docstrings. What adds to it is worth a thought:
    # jobs and functions in the cloud install it each time they start.
    assert wheel.stat().st_size <= 1_250_000


def test_the_source_distribution_builds_the_same_wheel(distribution, tmp_path):
    (source,), (wheel,) = distribution.glob("*.tar.gz"), distribution.glob("*.whl")
    subprocess.run([sys.executable, "-m", "tarfile", "-e", source, tmp_path], check=True)
    (folder,) = tmp_path.iterdir()

    (again,) = built(folder, tmp_path / "again", "-t", "wheel").glob("*.whl")

    assert again.name == wheel.name
    assert contents(again) == contents(wheel)


def test_the_metadata_are_valid_and_show_the_readme(distribution):
    (wheel,) = distribution.glob("*.whl")
    (raw,) = (text for name, text in contents(wheel).items() if name.endswith("/METADATA"))

    metadata = Metadata.from_email(raw, validate=True)

    assert metadata.description_content_type == "text/markdown"
    assert metadata.description == (ROOT / "README.md").read_text("utf-8")
    assert metadata.license_expression == "MIT"
    assert BytesParser().parsebytes(raw)["Requires-Python"] == ">=3.11"


@pytest.mark.any_version
def test_twine_accepts_the_built_distributions(distribution):
    files = map(str, sorted(distribution.iterdir()))
    command = [sys.executable, "-m", "twine", "check", "--strict", *files]

    checked = subprocess.run(command, capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert checked.stdout.count("PASSED") == 2


def test_installed_versions_satisfy_the_requirements():
    extras = set(importlib.metadata.metadata("balframe").get_all("Provides-Extra"))

    for line in importlib.metadata.requires("balframe"):
        needed = Requirement(line)
        asked = [{"extra": extra} for extra in extras & {"all", "docs", "dev"}]
        is_asked = needed.marker is None or any(map(needed.marker.evaluate, asked))
        if is_asked and needed.name != "balframe":
            assert importlib.metadata.version(needed.name) in needed.specifier, line


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, what is compiled has no own tag")
def test_installed_packages_were_not_compiled_locally():
    built = {one.name: one.read_text("WHEEL") or "" for one in importlib.metadata.distributions()}

    compiled = [name for name, wheel in built.items() if re.search("(?m)^Tag: .*-linux_", wheel)]
    assert "Tag: cp" in built["numpy"]  # an index takes no `linux`, only `manylinux` and such
    assert compiled == []


EXECUTING = {"eval", "exec", "compile", "__import__", "system", "popen"}
SAFE_YAML = {"safe_load", "compose"}  # the second makes nodes, not objects
MODULES = {"pickle", "marshal", "shelve", "subprocess", "ctypes", "code"}


def executed(tree):
    """List what could execute text or bytes: calls, imports, and YAML that makes objects."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield from {node.func.id} & EXECUTING
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            value = getattr(node.func.value, "id", "")
            yield from {node.func.attr} & (EXECUTING - {"compile"})
            if value == "yaml" and node.func.attr not in SAFE_YAML:
                yield f"yaml.{node.func.attr}"
        elif isinstance(node, ast.Import):
            yield from {alias.name.split(".")[0] for alias in node.names} & MODULES
        elif isinstance(node, ast.ImportFrom):
            yield from {(node.module or "").split(".")[0]} & MODULES


def test_the_package_has_no_code_that_executes_input():
    found = {path.name: [*executed(ast.parse(path.read_text("utf-8")))] for path in PACKAGE}

    assert len(found) > 50
    assert {name: calls for name, calls in found.items() if calls} == {}


@cases(
    "code",
    ["eval(x)", "import pickle", "from subprocess import run", "yaml.load(x)", "os.system(x)"],
)
def test_code_that_executes_input_is_detected(code):
    assert len(list(executed(ast.parse(code)))) == 1
